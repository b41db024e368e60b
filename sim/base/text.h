// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * UTF-8 as a terminal shows it, what would steer that terminal, and how names end.
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

/** Bytes of the control character at this place (C0, DEL, or C1 in UTF-8: what a terminal obeys instead of showing it); 0 if there is none. */
static inline size_t text_control(const char *text) {
    const unsigned char first = (unsigned char)text[0];
    if (first == 0xc2) {
        const unsigned char second = (unsigned char)text[1];
        return second >= 0x80 && second < 0xa0 ? 2 : 0;
    }
    return (first != '\0' && first < ' ') || first == 0x7f ? 1 : 0;
}

/** Puts '?' in place of each control character, so that a text of unknown origin can be shown. */
static inline void text_disarm(char *text) {
    char *to = text;
    for (size_t length; *text != '\0'; to++) {
        length = text_control(text);
        *to = length > 0 ? '?' : *text;
        text += length > 0 ? length : 1;
    }
    *to = '\0';
}

/** Does a text end so? */
static inline bool text_ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

#endif
