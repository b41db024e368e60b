// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How switches that decide packet by packet spread what they send over all shortest ways, in the mean.
 */
#ifndef MOEFABRIC_FLUID_SPLIT_H
#define MOEFABRIC_FLUID_SPLIT_H

#include "fabric/fabric.h"
#include "fabric/failure_plan.h"
#include "path/path.h"

#include <stdbool.h>

struct split;

/** A limit, and the part of the bytes that use it. */
struct split_part {
    uint32_t limit;
    double share;
};

/** For a policy that reorders. Capacities (one a link) are read while it lives unless split_add_limits takes them over; failures may be NULL. Freed by split_free. */
struct split *split_create(const struct fabric *fabric, const struct failure_plan *failures, enum path_kind kind,
                           double *capacities);

/** Frees it; NULL is allowed. */
void split_free(struct split *split);

/**
 * Adds the limits that stand for several links, where a fabric is even: uplinks of a leaf, downlinks to a leaf, links of a pod's spines up and
 * down. Takes the capacities of links over and returns those of all limits.
 */
double *split_add_limits(struct split *split, double *capacities, uint32_t *n_limits);

/** The limit that a link between switches is part of: itself, where it stands alone. */
uint32_t split_limit(const struct split *split, uint32_t link);

/** Spreads what goes from a leaf to another one of its plane. False if there is no way. */
bool split_find(struct split *split, uint32_t plane, uint32_t from, uint32_t to);

/** The parts that the last split_find found; *count says how many. */
const struct split_part *split_parts(const struct split *split, uint32_t *count);

/** Ports of a switch (device number) that lead to a leaf other than itself, once tables have followed the failures (NULL: none). */
struct failure_ports split_ports(const struct fabric *fabric, const struct failure_plan *failures, uint32_t device,
                                 uint32_t leaf);

#endif
