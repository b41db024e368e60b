// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/calibrate_file.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE_BYTES = 1 << 20 };

/* Whether a line is `name:` with nothing but a comment after it, or with anything. */
static bool begins_with_key(const char *text, size_t length, const char *name) {
    const size_t size = strlen(name);
    return length > size && strncmp(text, name, size) == 0 && text[size] == ':';
}

static bool is_one_line(const char *text, size_t length, const char *name) {
    size_t at = strlen(name) + 1;
    while (at < length && isblank((unsigned char)text[at])) {
        at++;
    }
    return at < length && text[at] != '#' && text[at] != '\r';
}

static void put(FILE *stream, const struct calibrate_change *change) {
    fprintf(stream, "  %s: %s\n", change->key, change->value);
}

/* The changes of a section right after its head. */
static void put_section(FILE *stream, const char *section, const struct calibrate_change *changes, size_t n,
                        bool *done) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(changes[i].section, section) == 0) {
            put(stream, &changes[i]);
            done[i] = true;
        }
    }
}

/* Whether a line of a section is what a change replaces. */
static bool is_replaced(const struct line *line, const char *section, const struct calibrate_change *changes,
                        size_t n) {
    size_t indent = 0;
    while (indent < line->length && isblank((unsigned char)line->text[indent])) {
        indent++;
    }
    for (size_t i = 0; indent > 0 && i < n; i++) {
        if (strcmp(changes[i].section, section) == 0 &&
            begins_with_key(line->text + indent, line->length - indent, changes[i].key)) {
            return true;
        }
    }
    return false;
}

static bool refuse(struct error *error, const char *path, const struct line *line, const char *section) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_VALUE_TYPE,
              "section `%s` is written in one line: its keys cannot be changed in place", section);
    error_hint(error, "one key a line");
    line_locate(line, path, 0, error);
    return false;
}

/* The next line, whatever it holds; false at the end of the text. */
static bool take_line(struct line *line) {
    const char *end = strchr(line->next, '\n');
    if (*line->next == '\0') {
        return false;
    }
    line->text = line->next;
    line->length = end != NULL ? (size_t)(end - line->text) : strlen(line->text);
    line->next = line->text + line->length + (end != NULL);
    line->number++;
    return true;
}

static bool copy(FILE *stream, const char *path, const char *text, const struct calibrate_change *changes, size_t n,
                 bool *done, struct error *error) {
    const char *section = "";
    struct line line = {.next = text};
    while (take_line(&line)) {
        if (is_replaced(&line, section, changes, n)) {
            continue;
        }
        fprintf(stream, "%.*s\n", (int)line.length, line.text);
        if (line.length > 0 && isalpha((unsigned char)line.text[0])) {
            section = "";
        }
        for (size_t i = 0; i < n && section[0] == '\0'; i++) {
            if (begins_with_key(line.text, line.length, changes[i].section)) {
                section = changes[i].section;
                if (is_one_line(line.text, line.length, section)) {
                    return refuse(error, path, &line, section);
                }
                put_section(stream, section, changes, n, done);
            }
        }
    }
    return true;
}

/* Sections that the file does not have. */
static void append(FILE *stream, const struct calibrate_change *changes, size_t n, bool *done) {
    for (size_t i = 0; i < n; i++) {
        if (!done[i]) {
            fprintf(stream, "\n%s:\n", changes[i].section);
            put_section(stream, changes[i].section, changes, n, done);
        }
    }
}

bool calibrate_file_write(const char *from, const char *to, const struct calibrate_change *changes, size_t n,
                          struct error *error) {
    struct file_text text;
    bool done[8] = {false};
    REQUIRE(n <= sizeof done / sizeof done[0], "%zu changes", n);
    if (!file_read(from, LARGEST_FILE_BYTES, &text, error)) {
        return false;
    }
    char *written = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&written, &size);
    REQUIRE(stream != NULL, "no memory for a topology");
    bool good = copy(stream, from, text.bytes, changes, n, done, error);
    append(stream, changes, n, done);
    fclose(stream);
    struct file_writer writer = {0};
    good = good && file_writer_open(&writer, to, error);
    if (good) {
        fwrite(written, 1, size, writer.stream); /* the commit tells if that failed */
        good = file_writer_commit(&writer, error);
    }
    free(written);
    free(text.bytes);
    return good;
}
