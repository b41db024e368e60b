// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What kernels take in a mixture-of-experts plan (kernel.h), beside the time before a phase. Inside of the plan; not for other rooms.
 *
 * Sums: the SMs of a rank read all that comes back to it, while it comes. A forwarder's chunk is summed up when it and all chunks before it are read,
 * from when its kernel was there, and at the earliest when it alone is, from its last part on; only then it returns. A phase that goes back ends when
 * all copies are read: the results for its own tokens, and what it gathered for others.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_KERNEL_H
#define MOEFABRIC_WORKLOAD_MOE_KERNEL_H

#include "workload/moe_plan.h"

/** A rank hands so many messages to its NIC, from start_ps on, or when it has handed over those before; returns when the first one is there. */
uint64_t moe_kernel_hand_over(const struct moe *moe, uint32_t rank, uint64_t start_ps, uint64_t messages);

/** All parts of a chunk are at its forwarder (number: run-wide). Returns when it is summed up; 0: at once. */
uint64_t moe_kernel_sum_up(const struct moe *moe, enum moe_phase phase, uint32_t forwarder, uint32_t number);

/** When a phase ends at a rank that has nothing more to come at now_ps. */
uint64_t moe_kernel_end_ps(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t now_ps);

#endif
