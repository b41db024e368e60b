// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A training step of a recommender (recommender_shape.h) whose tables are spread over all GPUs (table_plan.h) and whose matrices are on each.
 *
 * As HugeCTR orders it (NVIDIA-Merlin/HugeCTR src/pybind/model_pipeline.cpp, 2f28608, with train_intra_iteration_overlap, which NVIDIA's submissions set):
 * each GPU looks up its pieces' rows for the whole batch and adds them up; vectors go to the GPUs of their samples, the bottom layers beside them;
 * pieces of a table are added up; cross and top layers, forward and backward; gradients of vectors go back, beside the bottom layers' backward pass and
 * the all-reduce of gradients of matrices and of tables that every GPU has; each GPU adds up the gradients of each row, and reads and writes the row and its sum of squares (AdaGrad).
 *
 * Kernels of rows take what they read and write ÷ the memory's rate × training.memory_efficiency; of rows that are looked up more than once each is read
 * again, and no two look-ups of a table find the same row while it has rows enough: the most that a GPU can have to read and write. Matrices are as layers'.
 */
#ifndef MOEFABRIC_TRAINING_RECOMMENDER_H
#define MOEFABRIC_TRAINING_RECOMMENDER_H

#include "training/table_plan.h"
#include "training/training_step.h"

/** Samples of a step on each GPU. */
uint64_t recommender_samples(const struct training_setup *setup);

/** Who holds what of the setup's tables. Ends with table_plan_fini. */
struct table_plan recommender_plan(const struct training_setup *setup);

/** What the GPU of most pieces sends to every other GPU forward, and gets backward, bytes. */
uint64_t recommender_message_bytes(const struct training_setup *setup, const struct table_plan *plan);

/** As training_step, of a setup that has a recommender. Its exchanges are TRAINING_COMBINE forward and TRAINING_COMBINE_BACKWARD. */
bool recommender_step(const struct training_setup *setup, void (*observe)(void *, const struct pipeline_span *),
                      void *context, struct training_result *result, struct error *error);

#endif
