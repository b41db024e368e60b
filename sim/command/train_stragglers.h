// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What goes wrong in a training step, and what it would be without: slow GPUs, uneven clocks and stages, NICs and links, popular experts.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_STRAGGLERS_H
#define MOEFABRIC_COMMAND_TRAIN_STRAGGLERS_H

#include "command/batch.h"
#include "command/train_report.h"

/**
 * Fills copies with the slow GPUs of a configuration, and has the setup refer to them (not if all GPUs are alike). Loads of experts are those of
 * the first seed. False with *error if slow GPUs are wrong. Ends with straggler_copies_fini in any case.
 */
bool train_stragglers_init(struct straggler_copies *copies, const struct experiment *experiment,
                           struct training_setup *setup, struct error *error);

/**
 * The share of its rate that the slowest NIC of a cluster has left, over links that are slow from the beginning and for good: rings of gradients
 * pass through all NICs, so the slowest sets their pace. False with *error as failures_init.
 */
bool train_stragglers_nic_share(double *share, const struct experiment *experiment, const struct fabric *fabric,
                                struct error *error);

/**
 * Each thing that goes wrong taken away in turn, those of the network and of the gate by simulating again. Nothing is printed if nothing goes wrong.
 * columns: of the policies of the batch; a batch without a fabric is of a dense model; cache: as train_exchanges_find has it. False with *error if a step cannot be made.
 */
bool train_stragglers_report(FILE *stream, const struct batch *batch, const struct training_setup *setup,
                             const char *cache, const struct train_column *columns, uint32_t n_columns,
                             struct error *error);

#endif
