// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `train` prints: the layout, a table with a column a policy, and what each cause costs.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_REPORT_H
#define MOEFABRIC_COMMAND_TRAIN_REPORT_H

#include "base/table.h"
#include "training/training_step.h"

#include <stdio.h>

/** A step in shares, the mean of all stages; times in seconds. */
struct train_figures {
    double step_s, computing_s, exposed_s, hidden_s, waiting_s, gradients_s, gathered_s, overhead_s;
    double evaluation_s; /**< of one evaluation, beside the step */
    double imbalance, tokens_per_s_gpu, tflops_per_gpu;
    double pair_hidden_share; /**< of exchanges where a forward and a backward pass run together; 0 = they never do */
};

/** A policy's steps over seeds. */
struct train_column {
    const char *policy;
    struct training_exchange exchange; /**< mean over seeds */
    struct train_figures mean;
    double least_step_s, most_step_s; /**< over seeds */
};

/** The shares of a step. */
struct train_figures train_report_figures(const struct training_setup *setup, const struct training_result *result);

/** Of all steps of a run, with its evaluations; seconds. */
double train_report_run_s(const struct experiment_training *training, const struct train_figures *figures);

/** How the model is cut and who works together. */
void train_report_layout(FILE *stream, const struct training_setup *setup, const struct training_result *result);

/** The table. seeds: how many there were. */
void train_report_table(FILE *stream, const struct training_setup *setup, const struct train_column *columns,
                        uint32_t n_columns, uint32_t seeds);

/** A cell: a step with something changed, and how much shorter or longer than the column's it is. */
void train_report_changed_cell(struct table *table, const struct train_column *column, double step_s);

/** Each cause removed in turn, for every policy. False with *error if a step cannot be made. */
bool train_report_causes(FILE *stream, const struct training_setup *setup, const struct train_column *columns,
                         uint32_t n_columns, struct error *error);

#endif
