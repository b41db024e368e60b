// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which GPU holds which pieces of a recommender's tables.
 *
 * As NVIDIA's submissions plan it (MLPerf Training v5.0, dlrm_dcnv2, sharding/planner.py, plan `auto`): a table is whole, or cut by rows into a power of 2 of
 * pieces. A GPU's cost is the rows of a sample that it looks up, and so much for each piece, whose vectors it sends. Pieces, hottest first, go to the GPU of
 * least cost that has none of the table and has room; then the table of the hottest piece is cut in two again. Of 20 such plans the one whose costliest GPU
 * costs least is taken.
 */
#ifndef MOEFABRIC_TRAINING_TABLE_PLAN_H
#define MOEFABRIC_TRAINING_TABLE_PLAN_H

#include "training/recommender_shape.h"

/** Who holds what. Ends with table_plan_fini. */
struct table_plan {
    const struct recommender_shape *shape;
    uint32_t gpus;
    uint32_t *cut;    /**< [tables] pieces */
    uint32_t *first;  /**< [gpus + 1] of a GPU's pieces */
    uint32_t *tables; /**< [pieces] of which table each is, GPU by GPU */
};

/** The plan for so many GPUs, 1 or more. */
struct table_plan table_plan_create(const struct recommender_shape *shape, uint32_t gpus);

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

/** Frees what it holds. */
void table_plan_fini(struct table_plan *plan);

#endif
