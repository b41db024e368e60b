// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"

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
    if (error == NULL) {
        return false;
    }
    *error = (struct error){.id = id, .exit_code = exit_code};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
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
    if (list->count == ERROR_LIST_LIMIT) {
        list->dropped++;
        return;
    }
    list->errors[list->count++] = *error;
}

/** `file:line:column: `, as far as known; the program's name where no file is at fault. */
static void print_place(FILE *stream, const struct error *error, const struct style *style) {
    fprintf(stream, "%s%s:", style->bold, error->file[0] != '\0' ? error->file : "moefabric");
    if (error->line > 0) {
        fprintf(stream, "%u:", error->line);
        if (error->column > 0) {
            fprintf(stream, "%u:", error->column);
        }
    }
    fprintf(stream, "%s ", style->reset);
}

/** The source line and a caret under the column; tabs are kept so that the caret stays under its character. */
static void print_source(FILE *stream, const struct error *error, const struct style *style) {
    fprintf(stream, "    %s\n", error->source);
    if (error->column == 0 || error->column > strlen(error->source) + 1) {
        return;
    }
    fputs("    ", stream);
    for (unsigned i = 0; i + 1 < error->column; i++) {
        const unsigned char byte = (unsigned char)error->source[i];
        if ((byte & 0xc0) != 0x80) { /* continuation bytes of UTF-8 take no room */
            fputc(byte == '\t' ? '\t' : ' ', stream);
        }
    }
    fprintf(stream, "%s^%s\n", style->green, style->reset);
}

void error_print(FILE *stream, const struct error *error) {
    const struct style *style = style_of(stream);
    print_place(stream, error, style);
    if (error->id > 0) {
        fprintf(stream, "%serror[MF-%03d]:%s %s\n", style->red, error->id, style->reset, error->message);
    } else {
        fprintf(stream, "%serror:%s %s\n", style->red, style->reset, error->message);
    }
    if (error->source[0] != '\0') {
        print_source(stream, error, style);
    }
    if (error->hint[0] != '\0') {
        fprintf(stream, "    hint: %s\n", error->hint);
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
