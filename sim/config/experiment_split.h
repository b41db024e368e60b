// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How a mixture-of-experts layer is split over the cluster: expert-parallel groups, NVLink domains, nodes, chunks.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_SPLIT_H
#define MOEFABRIC_CONFIG_EXPERIMENT_SPLIT_H

#include "config/contradiction.h"
#include "config/experiment.h"

enum {
    EXPERIMENT_SPLIT_COUNTS_HEADER_BYTES = 64, /**< of a counts message: estimate, as a grant; then 4 bytes an expert */
    EXPERIMENT_SPLIT_LARGEST_DOMAINS = 1 << 13, /**< NVLink domains of a group under two_hop: tags have 13 bits */
    EXPERIMENT_SPLIT_LARGEST_CHUNKS = 1 << 15,  /**< of a source: tags have 15 bits */
    EXPERIMENT_SPLIT_LARGEST_NODES = 1024,      /**< that a gate may choose from */
};

/** Bytes of what a rank is told before dispatch: 4 for each expert of the one who is told. */
uint64_t experiment_split_counts_bytes(uint64_t experts_per_gpu);

/** Experts, replicas included, of each GPU of a group of `parallel` (a placement file: as if there were no replicas; what it says is not known here). */
uint64_t experiment_split_slots(const struct experiment *experiment, uint64_t parallel);

/** Reports every split that does not come out even, and every part that is beyond what tags and packets can say; pattern moe, gpus > 0. */
void experiment_split_check(const struct experiment *experiment, uint64_t gpus,
                            const struct contradiction_scope *scope);

/** Peers of a GPU with which it has queue pairs, at most: those beyond its NVLink domain that it may send payload to. Any pattern. */
uint64_t experiment_split_peers(const struct experiment *experiment, uint64_t gpus);

#endif
