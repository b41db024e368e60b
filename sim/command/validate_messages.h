// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A list of messages over a row's fabric, in place of the configuration's traffic.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_MESSAGES_H
#define MOEFABRIC_COMMAND_VALIDATE_MESSAGES_H

#include "command/validate_kind.h"
#include "workload/traffic_list.h"

/** What a kind reads off a finished network. */
typedef double validate_messages_measure(const struct validate_row *row, const struct fabric *fabric,
                                         const struct network *network);

/**
 * Runs the messages under the row's one policy with every seed; run->simulated becomes the mean of what was measured, NAN if a run did not
 * finish. False with *error if one could not start.
 */
bool validate_messages(const struct validate_row *row, struct traffic_list *list, const uint64_t *seeds,
                       uint32_t n_seeds, validate_messages_measure *measure, struct validate_kind_run *run,
                       struct error *error);

#endif
