// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The traffic of an experiment for one seed, whichever kind it is: a mixture-of-experts layer, a pattern, a connection matrix or a program of steps.
 */
#ifndef MOEFABRIC_COMMAND_PLAN_H
#define MOEFABRIC_COMMAND_PLAN_H

#include "base/error.h"
#include "config/experiment.h"
#include "engine/exchange.h"
#include "workload/background.h"
#include "workload/connection_plan.h"
#include "workload/moe.h"
#include "workload/pattern.h"
#include "workload/step_plan.h"

/** Exactly one of moe, pattern, connections and steps is set: the measured traffic. */
struct plan {
    struct moe *moe;
    struct pattern *pattern;
    struct connection_plan *connections;
    struct step_plan *steps;
    struct background *background; /**< NULL: none */
    uint64_t delivered_elsewhere;  /**< connections: delivered to ranks that other processes run */
    uint64_t background_elsewhere; /**< the same of the background */
    struct placement *experts;     /**< owned; NULL = contiguous */
    struct moe_placement placement;
};

/** Draws the traffic. False with *error if the experiment contradicts itself. Ends with plan_fini. */
bool plan_init(struct plan *plan, const struct experiment *experiment, bool early_pacing, uint64_t seed,
               struct error *error);

/** Frees what it holds. */
void plan_fini(struct plan *plan);

/** As the devices see it; the plan stays the owner. */
struct traffic plan_traffic(const struct plan *plan);

/** A hash of all traffic: equal for policies that are shown the same. */
uint64_t plan_digest(const struct plan *plan);

/** False while some rank has not finished what it was to do. */
bool plan_finished(const struct plan *plan, const struct experiment *experiment);

/** Collective: rank 0 learns when the GPUs of the other ranks finished what. */
void plan_gather(struct plan *plan, const struct experiment *experiment, const struct exchange *exchange);

/** What a plan puts on links, all ranks together. */
struct plan_volume {
    uint64_t fabric_bytes, fabric_messages; /**< payload over NICs */
    uint64_t nvlink_bytes, nvlink_messages; /**< payload over NVLink */
};

/** Sums the measured traffic of a plan. */
struct plan_volume plan_volume(const struct plan *plan, const struct experiment *experiment);

/** Sums what runs beside it. */
struct plan_volume plan_background_volume(const struct plan *plan, const struct experiment *experiment);

#endif
