// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the software of communication kernels takes, beside what the network takes: nothing, or what the platform's figures say.
 *
 * A phase is one kernel a rank. It begins with a base latency and with the scan of the routing map by its streaming multiprocessors (SMs);
 * only then does it send. Messages for the NIC are handed over one after the other. A combine ends only when all that has come is summed up.
 * How fast SMs copy what goes over NVLink is in the hands of the devices (nvlink_parameters).
 */
#ifndef MOEFABRIC_WORKLOAD_KERNEL_H
#define MOEFABRIC_WORKLOAD_KERNEL_H

#include "config/experiment.h"

#include <stdint.h>

/** Figures of a kernel; all 0: it takes no time. */
struct kernel {
    uint64_t base_latency_ps;
    uint64_t floor_ps;           /**< the shortest phase */
    uint64_t message_ps;         /**< between two messages that are handed to the NIC */
    uint64_t map_ps;             /**< of a phase, for the whole routing map */
    uint64_t copy_ps_per_byte;   /**< of all its SMs together, as base/rate.h keeps it; 0 = not limiting */
    uint64_t reduce_ps_per_byte; /**< the same of what is summed up */
};

/** The kernel of an experiment whose routing map has so many (token, rank) pairs a rank; nothing but zeros under kernel ideal. */
struct kernel kernel_of(const struct experiment *experiment, uint64_t map_pairs);

/** From the begin of a phase to its first message. */
static inline uint64_t kernel_before_ps(const struct kernel *kernel) {
    return kernel->base_latency_ps + kernel->map_ps;
}

/** The end of a phase that began at start_ps and would else end at end_ps. */
static inline uint64_t kernel_end_ps(const struct kernel *kernel, uint64_t start_ps, uint64_t end_ps) {
    return end_ps - start_ps < kernel->floor_ps ? start_ps + kernel->floor_ps : end_ps;
}

#endif
