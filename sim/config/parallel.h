// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Words of parallel training and inference that files and plans share: collective operations, and the groups of ranks that they are among.
 */
#ifndef MOEFABRIC_CONFIG_PARALLEL_H
#define MOEFABRIC_CONFIG_PARALLEL_H

/** What a group of ranks does together. Bytes of an operation are those of the whole buffer of a rank: what all-gather ends with, what the others begin with. */
enum parallel_operation {
    PARALLEL_NONE,
    PARALLEL_ALL_REDUCE,
    PARALLEL_ALL_GATHER,
    PARALLEL_REDUCE_SCATTER,
    PARALLEL_ALL_TO_ALL,
    PARALLEL_OPERATIONS
};

/** Which ranks form a group; workload/collective.h has the rules. */
enum parallel_group {
    PARALLEL_TENSOR,      /**< ranks that share a layer's weights */
    PARALLEL_DATA,        /**< ranks that hold the same part of the weights */
    PARALLEL_EXPERT,      /**< ranks among which a layer's experts are spread */
    PARALLEL_EXPERT_DATA, /**< ranks that hold the same experts */
    PARALLEL_GROUPS
};

#endif
