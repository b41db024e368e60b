// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Values that can be simulated together, but that nobody would run together knowingly.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_DOUBT_H
#define MOEFABRIC_CONFIG_EXPERIMENT_DOUBT_H

#include "config/experiment.h"
#include "config/tree.h"

/**
 * Appends a note for each policy that re-orders packets where NICs cannot place them, and for each policy `flowlet` whose gap is shorter
 * than paths differ in delay (experiment_doubt_skew_ps). They are run all the same: what comes of it may be what the user wants to see.
 */
void experiment_doubt(const struct experiment *experiment, const struct tree_node *root, struct error_list *notes);

/** Does the path policy of this name send packets of one queue pair over several paths at once? As sim/path says (`reorders`), which this room cannot ask. */
bool experiment_doubt_reorders(const char *path);

/**
 * By how much two paths easily differ in delay: the queues of one are empty, those of the other stand at ecn_minimum_bytes, where marking
 * begins (two of them, one up and one down; four on three tiers). A switch that does not mark counts with one packet. 0 without spines.
 */
uint64_t experiment_doubt_skew_ps(const struct topology *topology);

#endif
