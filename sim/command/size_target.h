// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a design reaches: exchanges by the fluid model or by packets, put into a training step where one is described.
 */
#ifndef MOEFABRIC_COMMAND_SIZE_TARGET_H
#define MOEFABRIC_COMMAND_SIZE_TARGET_H

#include "config/size_check.h"
#include "fabric/parts_prices.h"
#include "sizing/design_figures.h"
#include "sizing/front.h"

/** Exchanges that have been simulated: designs that differ in nothing an exchange knows share one. Zero-initialise; ends with size_cache_fini. */
struct size_cache {
    struct size_cache_entry *entries;
    uint32_t n_entries;
};

/** How designs are measured. */
struct size_measure {
    enum experiment_network_model model; /**< fluid: the first seed alone; packet: all seeds */
    unsigned threads;
    struct size_cache *cache;
};

/** What is asked, from a section. */
struct front_demand size_target_demand(const struct experiment *experiment);

/** All that needs no simulation: parts, power, cost (prices may be NULL), memory. False with *error if the design cannot be built. */
bool size_target_describe(const struct experiment *experiment, const struct parts_prices *prices,
                          struct design_figures *figures, struct error *error);

/**
 * Measures a design: its value, state, and what follows from a step. False with *error if a run could not start, did not finish, or was interrupted (exit
 * code 130).
 */
bool size_target_measure(const struct experiment *experiment, const struct size_measure *measure,
                         struct design_figures *figures, struct error *error);

/** Frees what a cache holds. */
void size_cache_fini(struct size_cache *cache);

#endif
