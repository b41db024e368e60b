// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a GPU of each stage has to hold: weights, gradients and optimiser of its layers, and activations of the micro-batches that are on the way.
 */
#ifndef MOEFABRIC_TRAINING_TRAINING_MEMORY_H
#define MOEFABRIC_TRAINING_TRAINING_MEMORY_H

#include "training/training_step.h"

/** All of it. */
double training_memory_sum(const struct training_memory *memory);

/** What a GPU of a stage moves through its memory in the optimiser's step, bytes. */
double training_memory_optimiser_bytes(const struct training_setup *setup, const struct model_parameters *held);

/** Activations of one token of a layer that its backward pass needs, bytes. */
double training_memory_layer_bytes(const struct training_setup *setup, enum model_layer layer);

/** Parameters of layers first to end − 1 on a GPU. */
struct model_parameters training_memory_held(const struct training_setup *setup, uint32_t first, uint32_t end);

/** The fullest stage's GPU. */
struct training_memory training_memory_most(const struct training_setup *setup, const struct pipeline_layout *layout);

/** False with *error, which shows the arithmetic and what would fit, if it is more than the GPU has. */
bool training_memory_check(const struct training_setup *setup, const struct training_memory *memory,
                           struct error *error);

#endif
