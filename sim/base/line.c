// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/line.h"

#include <string.h>

bool line_next(struct line *line) {
    while (*line->next != '\0') {
        const size_t end = strcspn(line->next, "\n");
        line->text = line->next;
        line->length = end - (end > 0 && line->text[end - 1] == '\r');
        line->number++;
        line->next += end + (line->text[end] == '\n');
        const size_t blank = strspn(line->text, " \t\r");
        if (blank < line->length && line->text[blank] != '#') {
            return true;
        }
    }
    return false;
}

void line_locate(const struct line *line, const char *file, size_t column, struct error *error) {
    snprintf(error->file, sizeof error->file, "%s", file);
    error->line = line->number;
    error->column = (unsigned)column;
    if (line->text != NULL) {
        snprintf(error->source, sizeof error->source, "%.*s", (int)line->length, line->text);
    }
}

size_t line_number(const char *text, uint64_t *number) {
    size_t digits = 0;
    for (*number = 0; text[digits] >= '0' && text[digits] <= '9'; digits++) {
        if (__builtin_mul_overflow(*number, (uint64_t)10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(text[digits] - '0'), number)) {
            *number = UINT64_MAX;
        }
    }
    return digits;
}
