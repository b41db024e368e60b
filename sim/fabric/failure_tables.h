// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Routing tables over time, where cables fail: which ports of a switch still lead to a leaf. Part of failure_plan.h.
 *
 * Tables depend on which cables between switches are down and on nothing else: times at which the same ones are down
 * share their tables. What is as without failures takes no room but for one number a switch and leaf.
 */
#ifndef MOEFABRIC_FABRIC_FAILURE_TABLES_H
#define MOEFABRIC_FABRIC_FAILURE_TABLES_H

#include "fabric/failure_plan.h"

struct failure_tables;

/** Tables that follow changes (ascending in time; of both links of a cable) after convergence_ps. The fabric must outlive them. */
struct failure_tables *failure_tables_create(const struct fabric *fabric, const struct failure_change *changes,
                                             uint32_t n_changes, uint64_t convergence_ps);

/** Frees tables; NULL is allowed. */
void failure_tables_free(struct failure_tables *tables);

/** See failure_plan_tables. */
uint32_t failure_tables_at(const struct failure_tables *tables, uint64_t time_ps);

/** See failure_plan_ports. */
struct failure_ports failure_tables_ports(const struct failure_tables *tables, uint32_t number, uint32_t ordinal,
                                          uint32_t leaf);

/** Bytes of memory that they hold. */
size_t failure_tables_bytes(const struct failure_tables *tables);

#endif
