// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A connection matrix (config/connection_matrix.h) as a traffic plan: each flow is one message over the fabric. A flow that waits for a trigger is
 * posted by its source once all flows that pull the trigger have been delivered there.
 */
#ifndef MOEFABRIC_WORKLOAD_CONNECTION_PLAN_H
#define MOEFABRIC_WORKLOAD_CONNECTION_PLAN_H

#include "config/connection_matrix.h"
#include "workload/traffic.h"

struct connection_plan;

/** A plan for a matrix that was read without a mistake and has no more nodes than there are ranks. The matrix may be ended afterwards. Freed by connection_plan_free. */
struct connection_plan *connection_plan_create(const struct connection_matrix *matrix, uint32_t n_ranks);

/** Frees a plan; NULL is allowed. */
void connection_plan_free(struct connection_plan *plan);

/** As the devices see it. The plan stays the owner. */
struct traffic connection_plan_traffic(struct connection_plan *plan);

/** A hash of all flows: equal for policies that are shown the same. */
uint64_t connection_plan_digest(const struct connection_plan *plan);

/** Payload of all flows. */
uint64_t connection_plan_bytes(const struct connection_plan *plan);

/** How many flows there are. */
uint32_t connection_plan_count(const struct connection_plan *plan);

/** How many flows have been delivered to the ranks that run in this process. */
uint32_t connection_plan_delivered(const struct connection_plan *plan);

#endif
