// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a run will cost, before it starts: packets, memory, time.
 */
#ifndef MOEFABRIC_COMMAND_ESTIMATE_H
#define MOEFABRIC_COMMAND_ESTIMATE_H

#include "base/error.h"
#include "command/plan.h"
#include "fabric/fabric.h"

/** One run of an experiment, as the mean over its policies. */
struct estimate {
    struct plan_volume volume;                                    /**< of the measured traffic */
    struct plan_volume background;                                /**< of what runs beside it */
    struct background_volume backgrounds[EXPERIMENT_BACKGROUNDS]; /**< the same, for each item */
    double data_packets;                                          /**< put on fabric links by NICs */
    double records;                                               /**< put on NVLink by GPUs */
    double hops;                                                  /**< packet-hops, acknowledgements included */
    double memory_bytes;
    double cpu_seconds;
    uint32_t collectives; /**< steps: how many are begun */
    uint64_t compute_ps;  /**< steps: what every rank computes */
    uint64_t digest;      /**< of the traffic of the first seed */
    uint64_t ideal_ps;    /**< least time of the phases one after the other; 0 = unknown */
};

/** Draws the traffic of the first seed, with all that any policy sends; ends with plan_fini. False with *error if it cannot be. */
bool estimate_prepare(struct plan *plan, const struct experiment *experiment, struct error *error);

/** Estimates one run of a plan. */
void estimate_plan(const struct plan *plan, const struct experiment *experiment, const struct fabric *fabric,
                   struct estimate *estimate);

/** Both: draws the traffic of the first seed and estimates one run. False with *error (may be NULL) if the traffic cannot be. */
bool estimate_run(const struct experiment *experiment, const struct fabric *fabric, struct estimate *estimate,
                  struct error *error);

#endif
