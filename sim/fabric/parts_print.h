// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The parts list for people: counts, power, and with a file of prices what they cost.
 */
#ifndef MOEFABRIC_FABRIC_PARTS_PRINT_H
#define MOEFABRIC_FABRIC_PARTS_PRINT_H

#include "fabric/parts_prices.h"

#include <stdio.h>

/** Kilowatt-hours of the parts, at typical power, with the building's overhead, over a time. */
double parts_print_energy(const struct parts *parts, const struct parts_prices *prices, double seconds);

/** Prints the list; prices (and cost) may be NULL. seconds: of a step or a training run, for the energy; 0 = none. */
void parts_print(FILE *stream, const struct parts *parts, const struct parts_prices *prices,
                 const struct parts_cost *cost, double seconds);

#endif
