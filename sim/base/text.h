// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * UTF-8 as a terminal shows it, and how names end.
 */
#ifndef MOEFABRIC_BASE_TEXT_H
#define MOEFABRIC_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/** Does this byte continue the character before it? */
static inline bool text_continues(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/** Columns that a text takes on a terminal: its characters, none of which is wide in what this program prints. */
static inline int text_width(const char *text) {
    int width = 0;
    for (; *text != '\0'; text++) {
        width += !text_continues(*text);
    }
    return width;
}

/** Does a text end so? */
static inline bool text_ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

#endif
