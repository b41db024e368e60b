// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/parts_print.h"

#include "base/quantity.h"
#include "base/table.h"

#include <inttypes.h>
#include <math.h>

enum { INDENT = 2 };
static const double joules_a_kilowatt_hour = 3.6e6;

double parts_print_energy(const struct parts *parts, const struct parts_prices *prices, double seconds) {
    const double overhead = prices != NULL ? prices->overhead : 1;
    return parts->typical_watts * overhead * seconds / joules_a_kilowatt_hour;
}

static void watts_cell(struct table *table, double watts) {
    char text[QUANTITY_TEXT_SIZE];
    if (watts > 0 && watts != floor(watts)) {
        table_cell(table, "%.1f W", watts);
    } else {
        table_cell(table, "%s", watts > 0 ? quantity_print(text, QUANTITY_POWER, (uint64_t)watts) : "-");
    }
}

static void price_cell(struct table *table, double price) {
    if (isnan(price)) {
        table_cell(table, "-");
    } else {
        table_cell(table, price == floor(price) ? "%.0f" : "%.2f", price);
    }
}

static void add_columns(struct table *table, const struct parts_prices *prices) {
    table_column(table, "parts", TABLE_LEFT);
    table_column(table, "count", TABLE_RIGHT);
    table_column(table, "typical each", TABLE_RIGHT);
    table_column(table, "maximum each", TABLE_RIGHT);
    if (prices != NULL) {
        char title[PARTS_CURRENCY_SIZE + 16];
        snprintf(title, sizeof title, "%s%seach", prices->currency, prices->currency[0] != '\0' ? " " : "");
        table_column(table, title, TABLE_RIGHT);
        snprintf(title, sizeof title, "%s%sin all", prices->currency, prices->currency[0] != '\0' ? " " : "");
        table_column(table, title, TABLE_RIGHT);
    }
}

static void add_line(struct table *table, const struct parts *parts, uint32_t i, const struct parts_cost *cost) {
    table_cell(table, "%s", parts->lines[i].name);
    table_cell(table, "%" PRIu64, parts->lines[i].count);
    watts_cell(table, parts->lines[i].typical_watts);
    watts_cell(table, parts->lines[i].maximum_watts);
    if (cost != NULL) {
        price_cell(table, cost->each[i]);
        price_cell(table, cost->each[i] * (double)parts->lines[i].count);
    }
}

/** "54 d", "9.5 s". */
static void print_time(FILE *stream, double seconds) {
    if (seconds >= 2 * 86400) {
        fprintf(stream, "%.4g d", seconds / 86400);
    } else if (seconds >= 2 * 3600) {
        fprintf(stream, "%.4g h", seconds / 3600);
    } else {
        fprintf(stream, seconds >= 120 ? "%.4g min" : "%.4g s", seconds >= 120 ? seconds / 60 : seconds);
    }
}

static void print_energy(FILE *stream, const struct parts *parts, const struct parts_prices *prices, double seconds) {
    const double energy = parts_print_energy(parts, prices, seconds);
    fprintf(stream, "  Energy of ");
    print_time(stream, seconds);
    fprintf(stream, " at typical power%s: %.4g kWh",
            prices != NULL && prices->overhead > 1 ? ", with the building's overhead" : "", energy);
    if (prices != NULL && prices->energy > 0) {
        fprintf(stream, ", %.4g %s", energy * prices->energy, prices->currency);
    }
    fprintf(stream, "\n");
}

void parts_print(FILE *stream, const struct parts *parts, const struct parts_prices *prices,
                 const struct parts_cost *cost, double seconds) {
    struct table *table = table_create();
    add_columns(table, prices);
    for (uint32_t i = 0; i < parts->n_lines; i++) {
        add_line(table, parts, i, cost);
    }
    table_cell(table, cost != NULL ? "power and cost of the parts whose figure is known"
                                   : "power of the parts whose figure is known");
    table_cell(table, "%s", "");
    watts_cell(table, parts->typical_watts);
    watts_cell(table, parts->maximum_watts);
    if (cost != NULL) {
        table_cell(table, "%s", "");
        price_cell(table, cost->total);
    }
    table_print(table, stream, INDENT);
    table_free(table);
    if (cost != NULL && cost->n_without > 0) {
        fprintf(stream, "  %" PRIu32 " kinds of parts have no price: the total is without them.\n", cost->n_without);
    }
    if (seconds > 0) {
        print_energy(stream, parts, prices, seconds);
    }
}
