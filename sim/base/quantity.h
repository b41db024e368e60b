// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Quantities with units as people write them ("800 Gb/s", "1.5 us", "4 KiB") to and from whole numbers of a base unit.
 *
 * Units are case-sensitive: b is bits, B is bytes; K, M, G, T are powers of 1000, Ki, Mi, Gi powers of 1024. A number is
 * decimal, may have a fraction and an exponent (1.5, 2e6), and is converted exactly: what is no whole number of the base
 * unit is refused, never rounded. Zero needs no unit. Nothing here depends on the locale.
 */
#ifndef MOEFABRIC_BASE_QUANTITY_H
#define MOEFABRIC_BASE_QUANTITY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum quantity_kind {
    QUANTITY_RATE,      /**< bits per second; also written in bytes per second: 50 GB/s = 400 Gb/s */
    QUANTITY_BYTE_RATE, /**< the same units, kept in bytes per second */
    QUANTITY_BYTES,     /**< bytes */
    QUANTITY_TIME,      /**< picoseconds */
    QUANTITY_LENGTH,    /**< metres */
    QUANTITY_POWER,     /**< watts */
    QUANTITY_COUNT,     /**< pieces, no unit */
    QUANTITY_SHARE,     /**< part of a whole: 0.8 or 80 % */
    QUANTITY_REAL,      /**< a plain number that may have a fraction */
    QUANTITY_DURATION,  /**< seconds, of what lasts hours and days; real */
    QUANTITY_KINDS
};

enum { QUANTITY_TEXT_SIZE = 48 };

/** Reads text as a whole number of the base unit (b/s, B/s, B, ps, m, W, pieces). On failure fills *error (id, message, hint) without a place. */
bool quantity_parse(const char *text, enum quantity_kind kind, uint64_t *value, struct error *error);

/** Reads text as a real number of the base unit (shares as a fraction of 1). On failure fills *error as quantity_parse does. */
bool quantity_parse_real(const char *text, enum quantity_kind kind, double *value, struct error *error);

/** Reads a whole number that may be negative. On failure fills *error as quantity_parse does. */
bool quantity_parse_signed(const char *text, int64_t *value, struct error *error);

/** Writes a value so that quantity_parse gives it back exactly, in the unit that reads best. Returns buffer (at least QUANTITY_TEXT_SIZE bytes). */
char *quantity_print(char *buffer, enum quantity_kind kind, uint64_t value);

/** Writes a real value with as few digits as give it back exactly through quantity_parse_real. Returns buffer (at least QUANTITY_TEXT_SIZE bytes). */
char *quantity_print_real(char *buffer, enum quantity_kind kind, double value);

/** For people: a number with about four significant digits, without an exponent below 1e9 ("126400"). Returns buffer (at least QUANTITY_TEXT_SIZE bytes). */
char *quantity_print_number(char *buffer, double value);

/** For people: about four significant digits in the unit that reads best ("1.234 ms"); – where it is no number. Returns buffer (at least QUANTITY_TEXT_SIZE bytes). */
char *quantity_print_short(char *buffer, enum quantity_kind kind, double value);

/** The kind in words with its article ("a time"). */
const char *quantity_kind_name(enum quantity_kind kind);

/** The units of a kind, comma-separated ("ps, ns, us, ms, s"); empty for plain numbers. */
const char *quantity_units(enum quantity_kind kind);

/** A regular expression (ECMA-262, as JSON Schema wants) that texts of the kind match. */
const char *quantity_pattern(enum quantity_kind kind);

#endif
