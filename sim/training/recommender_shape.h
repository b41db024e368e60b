// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a recommender is made of: embedding tables, of which a sample looks up rows, and the matrices that its samples pass.
 *
 * DLRM with a cross network of low rank (Naumov et al., arXiv:1906.00091; Wang et al., "DCN V2", arXiv:2008.13535): vectors of a table's rows are added up,
 * and stand beside what the bottom layers make of the dense features; x' = x0 ⊙ (W V x + b) + x crosses them, then come the top layers.
 */
#ifndef MOEFABRIC_TRAINING_RECOMMENDER_SHAPE_H
#define MOEFABRIC_TRAINING_RECOMMENDER_SHAPE_H

#include <stdint.h>

/** An embedding table. */
struct recommender_table {
    uint32_t rows;
    uint32_t looked_up; /**< rows of a sample, which are added up */
};

/** A recommender. */
struct recommender_shape {
    const char *name; /**< of the preset */
    const struct recommender_table *tables;
    uint32_t n_tables;
    uint32_t width;                     /**< elements of a row */
    uint32_t features;                  /**< dense ones */
    const uint32_t *bottom, *top;       /**< outputs of layers, 0 ends them */
    uint32_t cross_layers, cross_width; /**< the latter: the rank of their matrices */
    const char *source;
};

/** The shape of a preset; NULL if it is no recommender. */
const struct recommender_shape *recommender_shape_find(const char *preset);

/** Names of all of them, NULL-terminated. */
extern const char *const recommender_shape_names[];

/** Rows that a sample looks up in all tables. */
uint32_t recommender_shape_looked_up(const struct recommender_shape *shape);

/** Operations of a sample, forward: a multiplication and an addition are two. */
struct recommender_operations {
    double bottom, crossing, top;
};

/** Of all matrices. */
struct recommender_operations recommender_shape_operations(const struct recommender_shape *shape);

/** Matrices, one after the other. */
uint32_t recommender_shape_layers(const struct recommender_shape *shape);

/** Elements of matrices and what is added to them: those that every GPU has. */
double recommender_shape_dense(const struct recommender_shape *shape);

/** Elements of all tables. */
double recommender_shape_embeddings(const struct recommender_shape *shape);

#endif
