// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Policies × seeds, each an independent run, spread over threads. The order of the results is fixed whatever the number of threads.
 */
#ifndef MOEFABRIC_COMMAND_BATCH_H
#define MOEFABRIC_COMMAND_BATCH_H

#include "base/error.h"
#include "command/simulation.h"
#include "results/comparison.h"
#include "results/store.h"

/** What to run. */
struct batch {
    const struct experiment *experiment;
    const struct fabric *fabric;
    const uint32_t *policies; /**< [n_policies] indexes into the experiment's */
    uint32_t n_policies;
    unsigned threads;
    struct exchange *exchange;     /**< NULL, or the ranks that every run is spread over, one run after the other */
    double expected_hops;          /**< of one run, for the progress; 0 = unknown */
    bool quiet;                    /**< no progress */
    _Atomic uint64_t *thousandths; /**< receives the share done, where expected_hops is known; may be NULL */
};

/** What came of it. Ends with batch_result_fini. */
struct batch_result {
    struct measurement **measurements; /**< [policy × n_seeds + seed]; NULL = not run (interrupted before it began) */
    uint32_t count;
    enum exit_code exit_code;         /**< the worst outcome */
    enum measurement_outcome stopped; /**< the limit of the machine that ended it early, else MEASUREMENT_FINISHED */
    uint64_t hops;
};

/** Whether a column is simulated by the fluid model: all, or of both models the second of each policy. */
static inline bool batch_is_fluid(const struct experiment *experiment, uint32_t column) {
    return experiment->network_model == EXPERIMENT_NETWORK_FLUID ||
           (experiment->network_model == EXPERIMENT_NETWORK_BOTH && column % 2 == 1);
}

/** Runs all. SIGINT, SIGTERM, SIGHUP (interrupt.h) and the limits of wall time and memory stop it: runs under way are kept as interrupted, others are not begun. False with *error if a run could not start. */
bool batch_run(const struct batch *batch, struct batch_result *result, struct error *error);

/** Frees the measurements. */
void batch_result_fini(struct batch_result *result);

#endif
