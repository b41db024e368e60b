// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Escape sequences of a terminal, or empty texts. */
struct style {
    const char *bold, *red, *green, *reset;
};

static const struct style style_plain = {"", "", "", ""};
static const struct style style_colour = {"\033[1m", "\033[1;31m", "\033[1;32m", "\033[0m"};

/** Colour only where a person looks on: https://no-color.org */
static const struct style *style_of(FILE *stream) {
    const char *no_colour = getenv("NO_COLOR");
    const int descriptor = fileno(stream);
    const bool wanted = no_colour == NULL || no_colour[0] == '\0';
    return wanted && descriptor >= 0 && isatty(descriptor) ? &style_colour : &style_plain;
}

bool error_set(struct error *error, enum exit_code exit_code, int id, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        *error = (struct error){.id = id, .exit_code = exit_code};
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return false;
}

bool error_set_file(struct error *error, enum exit_code exit_code, int id, const char *file, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        *error = (struct error){.id = id, .exit_code = exit_code};
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        snprintf(error->file, sizeof error->file, "%s", file != NULL ? file : "");
    }
    return false;
}

void error_hint(struct error *error, const char *format, ...) {
    if (error == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->hint, sizeof error->hint, format, arguments);
    va_end(arguments);
}

void error_list_add(struct error_list *list, const struct error *error) {
    if (list == NULL) {
        return;
    }
    for (unsigned i = 0; i < list->count; i++) { // one value may stand for two: a spine takes over what its leaf says
        const struct error *other = &list->errors[i];
        if (other->line == error->line && other->column == error->column && other->id == error->id &&
            strcmp(other->message, error->message) == 0 && strcmp(other->file, error->file) == 0) {
            return;
        }
    }
    if (list->count == ERROR_LIST_LIMIT) {
        list->dropped++;
        return;
    }
    list->errors[list->count++] = *error;
}

/** Prints text with control characters other than tabs as '?', so that a hostile file cannot steer the terminal. */
static void print_text(FILE *stream, const char *text) {
    while (*text != '\0') {
        const size_t length = *text == '\t' ? 0 : text_control(text);
        fputc(length > 0 ? '?' : *text, stream);
        text += length > 0 ? length : 1;
    }
}

/** `file:line:column: `, as far as known; the program's name where no file is at fault. */
static void print_place(FILE *stream, const struct error *error, const struct style *style) {
    fputs(style->bold, stream);
    print_text(stream, error->file[0] != '\0' ? error->file : "moefabric");
    fputc(':', stream);
    if (error->line > 0) {
        fprintf(stream, "%u:", error->line);
        if (error->column > 0) {
            fprintf(stream, "%u:", error->column);
        }
    }
    fprintf(stream, "%s ", style->reset);
}

/** The source line and a caret under the column (columns count characters, not bytes); tabs are kept so that the caret stays under its character. */
static void print_source(FILE *stream, const struct error *error, const struct style *style) {
    fputs("    ", stream);
    print_text(stream, error->source);
    char padding[ERROR_SOURCE_SIZE];
    unsigned column = 1, length = 0;
    for (const char *byte = error->source; *byte != '\0' && column < error->column; byte++) {
        if (text_continues(*byte)) {
            continue; /* continuation bytes of UTF-8 take no room */
        }
        padding[length++] = *byte == '\t' ? '\t' : ' ';
        column++;
    }
    padding[length] = '\0';
    fputc('\n', stream);
    if (column == error->column) {
        fprintf(stream, "    %s%s^%s\n", padding, style->green, style->reset);
    }
}

void error_print(FILE *stream, const struct error *error) {
    const struct style *style = style_of(stream);
    print_place(stream, error, style);
    if (error->exit_code == EXIT_CODE_OK) {
        fprintf(stream, "%snote:%s ", style->bold, style->reset);
    } else if (error->id > 0) {
        fprintf(stream, "%serror[MF-%03d]:%s ", style->red, error->id, style->reset);
    } else {
        fprintf(stream, "%serror:%s ", style->red, style->reset);
    }
    print_text(stream, error->message);
    fputc('\n', stream);
    if (error->source[0] != '\0') {
        print_source(stream, error, style);
    }
    if (error->hint[0] != '\0') {
        fputs("    hint: ", stream);
        print_text(stream, error->hint);
        fputc('\n', stream);
    }
}

/** By file, line, column. Errors of one place keep the order in which they were found. */
static bool comes_after(const struct error *left, const struct error *right) {
    const int files = strcmp(left->file, right->file);
    if (files != 0) {
        return files > 0;
    }
    return left->line != right->line ? left->line > right->line : left->column > right->column;
}

void error_list_print(FILE *stream, const struct error_list *list) {
    unsigned order[ERROR_LIST_LIMIT];
    for (unsigned i = 0; i < list->count; i++) {
        unsigned place = i;
        for (; place > 0 && comes_after(&list->errors[order[place - 1]], &list->errors[i]); place--) {
            order[place] = order[place - 1];
        }
        order[place] = i;
    }
    for (unsigned i = 0; i < list->count; i++) {
        error_print(stream, &list->errors[order[i]]);
    }
    if (list->dropped > 0) {
        fprintf(stream, "… and %u more\n", list->dropped);
    }
}

_Noreturn void bug_abort(const char *file, int line, const char *format, ...) {
    fflush(stdout);
    fprintf(stderr, "moefabric: bug at %s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\nPlease report this with the command line and the configuration.\n", stderr);
    abort();
}
