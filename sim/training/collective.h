// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How long collectives take, by the formulae of their publications: n GPUs, m of them in an NVLink domain, with so many bytes each.
 *
 * Reduce-scatter and all-gather (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", 2005): (n − 1) steps and
 * (n − 1) ÷ n of the bytes. `rings`: as many rings as a domain has GPUs of the group, so that all their NICs carry a share at once with NVLink.
 * `hierarchical`: first in the domain, then an m-th of it between domains, one after the other. `nvls`: the same, reduced and multiplied by the switches of
 * NVLink: no steps there, at the share of the rate that NCCL reckons with. `sharp`: between domains too, by the switches of InfiniBand.
 * A step takes what NCCL reckons with (src/graph/tuning.cc, hwLatencies).
 */
#ifndef MOEFABRIC_TRAINING_COLLECTIVE_H
#define MOEFABRIC_TRAINING_COLLECTIVE_H

#include "config/experiment.h"

#include <stdint.h>

/** Who takes part. */
struct collective {
    enum experiment_collective algorithm;
    uint32_t gpus;      /**< of the group */
    uint32_t in_domain; /**< of them in an NVLink domain */
    double nvlink_bytes_per_s, nic_bytes_per_s;
};

/** What one takes, and how long of it each kind of link would be busy at its rate. */
struct collective_time {
    double all_s, nvlink_s, nic_s;
};

/** A reduce-scatter, or an all-gather, of so many bytes of each GPU; seconds. */
struct collective_time collective_scatter(const struct collective *collective, double bytes);

/** An all-reduce of a few bytes, by trees: up and down as many steps as levels; seconds. */
double collective_small_s(const struct collective *collective);

#endif
