// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The list of policies of a configuration, in short or long form.
 *
 * Short form: PATH[(QUEUE_PAIRS)]+CONGESTION[+split_messages][+early_pacing][+polarised][+global_context], e.g. "ecmp(4)+dcqcn".
 */
#ifndef MOEFABRIC_CONFIG_POLICY_READER_H
#define MOEFABRIC_CONFIG_POLICY_READER_H

#include "config/experiment.h"
#include "config/tree.h"

/** Reads the value of `policies` (a list, or one policy) into experiment->policies. Mistakes are reported at their places. */
void policy_reader_read(const struct tree_node *node, struct experiment *experiment, struct error_list *errors);

/** Writes a policy's short form into a buffer of size bytes. */
void policy_reader_print(char *buffer, size_t size, const struct experiment_policy *policy);

#endif
