// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What parts cost: only what a file of the user's says. No price is built in: list prices are not public, and nobody pays them.
 *
 *     currency: USD
 *     prices:                                   # of one; names as `moefabric topology` prints them, * and ? stand for other characters
 *       "Ethernet switch SN5600*": 50000
 *       "optical module*SR*": 700
 *     energy: 0.10                              # of a kilowatt-hour
 *     overhead: 1.3                             # power of the building ÷ power of the parts (PUE); 1 without
 */
#ifndef MOEFABRIC_FABRIC_PARTS_PRICES_H
#define MOEFABRIC_FABRIC_PARTS_PRICES_H

#include "base/error.h"
#include "fabric/parts.h"

#include <stdbool.h>
#include <stdint.h>

enum { PARTS_PRICES = 128, PARTS_CURRENCY_SIZE = 16 };

/** One line of `prices`. */
struct parts_price {
    char pattern[PARTS_NAME_SIZE];
    double price;
    unsigned line, column; /**< in the file */
};

/** A file of prices. */
struct parts_prices {
    char path[ERROR_FILE_SIZE];
    char currency[PARTS_CURRENCY_SIZE];
    struct parts_price prices[PARTS_PRICES];
    uint32_t n_prices;
    double energy;   /**< of a kilowatt-hour; 0 = not given */
    double overhead; /**< at least 1 */
};

/** What a list of parts costs. */
struct parts_cost {
    double each[PARTS_LINES]; /**< of each line of the list; NAN = no price is given */
    double total;             /**< of those that have a price */
    uint32_t n_without;       /**< lines without */
};

/** Reads a file of prices. False with all mistakes appended to *errors. */
bool parts_prices_read(const char *path, struct parts_prices *prices, struct error_list *errors);

/** Prices a list: of several patterns that fit a part the first counts. Patterns that fit none are noted in *notes (may be NULL). */
void parts_prices_apply(const struct parts_prices *prices, const struct parts *parts, struct parts_cost *cost,
                        struct error_list *notes);

#endif
