// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * GPUs that compute slower than others: by how much they slow each stage of each copy of the model.
 *
 * GPUs of a block (struct training_groups) wait for each other in every layer, so the slowest of them sets its pace; blocks of the
 * same number in all stages are one copy of the pipeline. Copies wait for each other where gradients are reduced: the slowest makes the step.
 * Clocks of a cluster of one model of GPU differ: normal, with a given standard deviation (Sinha et al., "Not all GPUs are created equal", SC 2022, arXiv:2208.11035,
 * measured 8 % between GPUs of five clusters), drawn by the number of the GPU.
 */
#ifndef MOEFABRIC_TRAINING_STRAGGLER_H
#define MOEFABRIC_TRAINING_STRAGGLER_H

#include "config/experiment.h"
#include "training/training_groups.h"

/** By how much computing of a stage takes longer than with all clocks as they should be. */
struct straggler_slowness {
    double dense;   /**< all but experts: the slowest GPU of the group */
    double experts; /**< the largest of load ÷ clock, ÷ the largest load */
};

/** Copies of the pipeline, but for those than which another is no faster in any stage. Ends with straggler_copies_fini. */
struct straggler_copies {
    struct straggler_slowness *slowness; /**< [n × stages] */
    uint32_t n, stages;
};

/** Is any GPU slower than others? */
bool straggler_present(const struct experiment_stragglers *stragglers);

/** The clock of each of so many GPUs, 1 = as it should be; to be freed. NULL with *error if the list of slow GPUs is wrong. */
double *straggler_clocks(const struct experiment_stragglers *stragglers, uint32_t gpus, struct error *error);

/** Works out all copies. loads: [expert-parallel group] of its GPUs, in any unit, or NULL if all are alike. False with *error if the list of slow GPUs is wrong. */
bool straggler_copies_fill(struct straggler_copies *copies, const struct experiment_stragglers *stragglers,
                           const struct training_groups *groups, enum experiment_group_order order, const double *loads,
                           struct error *error);

/** Frees what it holds. */
void straggler_copies_fini(struct straggler_copies *copies);

#endif
