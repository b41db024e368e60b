// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What computing, exchanges and gradients on their way do to each other while they run at once on a GPU.
 *
 * SMs: kernels of exchanges and of collectives keep theirs, and computing has the others. Memory: what SMs copy waits for the accesses of matrices, so an
 * exchange takes `latency` times as long, and gradients get through NVLink at 1 ÷ latency at most; to NICs they give less than their SMs can copy.
 * NVLink and NIC: each of the two gets what it wants, and if that is more than there is, at least half: max-min fair shares of a link's rate (Bertsekas,
 * Gallager, "Data Networks", 2nd edition, section 6.5.2), as sim/fluid has them.
 */
#ifndef MOEFABRIC_TRAINING_PIPELINE_SHARING_H
#define MOEFABRIC_TRAINING_PIPELINE_SHARING_H

#include <stdbool.h>
#include <stdint.h>

/** What a communication takes of a GPU's links by itself: shares of their rates, 0 to 1. */
struct pipeline_load {
    double nvlink, nic;
};

/** What is shared. */
struct pipeline_sharing {
    uint32_t sms; /**< of a GPU; 0: nothing slows anything */
    uint32_t exchange_sms, gradient_sms;
    double latency; /**< of memory beside computing ÷ alone, 1 or more */
};

/** How many times as long each takes as alone. */
struct pipeline_factors {
    double compute, network, gradients;
};

/** Works them out for what runs: computing or not, and an exchange and gradients of these loads, or NULL. */
struct pipeline_factors pipeline_sharing_factors(const struct pipeline_sharing *sharing, bool computing,
                                                 const struct pipeline_load *exchange,
                                                 const struct pipeline_load *gradients);

/** Nothing takes longer than so many times its own time. */
double pipeline_sharing_slowest(const struct pipeline_sharing *sharing);

#endif
