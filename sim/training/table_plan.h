// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which GPU holds which pieces of a recommender's tables.
 *
 * As NVIDIA's submissions plan it (MLPerf Training v5.0, dlrm_dcnv2, sharding/planner.py, plan `auto`): a table is whole, or cut by rows into a power of 2 of
 * pieces. A GPU's cost is the rows of a sample that it looks up, and so much for each piece, whose vectors it sends. Pieces, hottest first, go to the GPU of
 * least cost that has none of the table and has room; then the table of the hottest piece is cut in two again. Of 20 such plans, and one more with
 * every table over all GPUs, which is taken whatever room there is if no other fits, the one whose costliest GPU costs least is taken. Tables that are small enough may be on every GPU instead (DP_SHARDING_THRESHOLD): their own samples look them up.
 */
#ifndef MOEFABRIC_TRAINING_TABLE_PLAN_H
#define MOEFABRIC_TRAINING_TABLE_PLAN_H

#include "training/recommender_shape.h"

/** Who holds what. Ends with table_plan_fini. */
struct table_plan {
    const struct recommender_shape *shape;
    uint32_t gpus;
    uint32_t *cut;    /**< [tables] pieces; 0: every GPU has a copy */
    uint32_t *first;  /**< [gpus + 1] of a GPU's pieces */
    uint32_t *tables; /**< [pieces] of which table each is, GPU by GPU */
};

/** The plan for so many GPUs, 1 or more. Tables of less than copied_bytes, with AdaGrad's sums, are copied. */
struct table_plan table_plan_create(const struct recommender_shape *shape, uint32_t gpus, uint64_t copied_bytes);

/** Pieces of a GPU. */
uint32_t table_plan_pieces(const struct table_plan *plan, uint32_t gpu);

/** Pieces of the GPU that has most. */
uint32_t table_plan_most_pieces(const struct table_plan *plan);

/** Rows of a sample that a GPU looks up, on average. */
double table_plan_looked_up(const struct table_plan *plan, uint32_t gpu);

/** Rows that a GPU holds. */
double table_plan_rows(const struct table_plan *plan, uint32_t gpu);

/** Of what so many samples look up on a GPU, rows that are not the same, if no row of a large table is looked up twice: at most. */
double table_plan_distinct(const struct table_plan *plan, uint32_t gpu, double samples);

/** What every GPU has a copy of. */
struct table_plan_copies {
    uint32_t tables;
    double rows, looked_up; /**< the latter by a sample */
};

/** The copies of a plan. */
struct table_plan_copies table_plan_copied(const struct table_plan *plan);

/** Frees what it holds. */
void table_plan_fini(struct table_plan *plan);

#endif
