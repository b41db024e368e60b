// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The result of a sweep for people: what is swept against the headline metrics.
 */
#ifndef MOEFABRIC_RESULTS_SWEEP_PRINT_H
#define MOEFABRIC_RESULTS_SWEEP_PRINT_H

#include "results/sweep_table.h"

#include <stdio.h>

/**
 * Prints a row for each policy of each point: the swept keys, and means over seeds with their 95 % confidence interval (with fewer than five
 * seeds: lowest and highest) of the metrics that matter most; with detail of more. Points that are not done follow with the reason.
 */
void sweep_print(const struct sweep_table *table, bool detail, FILE *stream);

/** Indexes of the metrics that sweep_print shows, those that are defined somewhere; returns their number, at most `most`. */
uint32_t sweep_print_headlines(const struct sweep_table *table, bool detail, uint32_t *metrics, uint32_t most);

#endif
