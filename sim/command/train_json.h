// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `train` prints as JSON (results/json.schema.json), and the page with the timeline of a step.
 */
#ifndef MOEFABRIC_COMMAND_TRAIN_JSON_H
#define MOEFABRIC_COMMAND_TRAIN_JSON_H

#include "command/train_report.h"

/** Prints one document: how the model is cut, and a step of each policy in shares. seeds: how many there were. */
void train_json_print(FILE *stream, const struct training_setup *setup, const struct train_column *columns,
                      uint32_t n_columns, uint32_t seeds);

/** Is this the name of a page? Then the timeline is drawn there, not written as a trace. */
bool train_json_is_page(const char *path);

/** Writes the page: the shares of all policies, and the timeline of the first one's step. False with *error. */
bool train_json_page(const char *path, const struct training_setup *setup, const struct train_column *columns,
                     uint32_t n_columns, uint32_t seeds, struct error *error);

#endif
