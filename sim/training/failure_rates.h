// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How often a cluster's parts fail, as published, and how many of them a job depends on.
 *
 * Parts fail independently and at constant rates (exponential times between failures), so that rates add up: a job that any of n parts
 * interrupts is interrupted n times as often as by one.
 */
#ifndef MOEFABRIC_TRAINING_FAILURE_RATES_H
#define MOEFABRIC_TRAINING_FAILURE_RATES_H

#include "config/experiment.h"

/** What fails. */
enum failure_component {
    FAILURE_GPU,
    FAILURE_NIC,
    FAILURE_HOST,
    FAILURE_NVLINK_SWITCH,
    FAILURE_HOST_LINK, /**< NIC to leaf, one a plane */
    FAILURE_LEAF,
    FAILURE_FABRIC_LINK, /**< leaf to spine and above */
    FAILURE_SPINE,       /**< and above */
    FAILURE_SOFTWARE,
    FAILURE_COMPONENTS
};

/** For people: "GPU", "leaf switch". */
extern const char *const failure_component_names[FAILURE_COMPONENTS];

/** A published rate. */
struct failure_rate {
    double per_hour;    /**< of one part; 0 = none is given */
    const char *source; /**< NULL where none is given */
};

/** The rate of one kind of part in a published set. */
const struct failure_rate *failure_rates_published(enum experiment_failure_source source,
                                                   enum failure_component component);

/** What a job depends on. */
struct failure_part {
    uint64_t count;
    double per_s;      /**< failures of one */
    bool interrupts;   /**< else traffic goes around it */
    uint32_t out_gpus; /**< that cannot be used until it is repaired; 0 = the job starts again on what it has */
};

/**
 * The parts of a job of so many GPUs on clusters as this topology describes them: what the topology has for its GPUs, in proportion; of
 * spines no more than their ports are needed.
 * Rates are those of failures->rates, where its own keys do not say otherwise.
 */
void failure_rates_fill(struct failure_part parts[FAILURE_COMPONENTS], const struct experiment_interruptions *failures,
                        const struct topology *topology, uint32_t gpus);

/** Interruptions a second, of all parts. */
double failure_rates_sum(const struct failure_part parts[FAILURE_COMPONENTS]);

#endif
