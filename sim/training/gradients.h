// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Gradients and parameters of a part of the model between copies of it: how long to reduce the one and to gather the other.
 */
#ifndef MOEFABRIC_TRAINING_GRADIENTS_H
#define MOEFABRIC_TRAINING_GRADIENTS_H

#include "training/training_step.h"

/** What reduces (or gathers) elements of so many bytes each of what a GPU holds of a part: what copies share, then experts. Segments are allocated, the caller frees them. */
struct pipeline_pass gradients_pass(const struct training_setup *setup, const struct model_parameters *held,
                                    uint32_t bytes);

/** How long that takes alone; picoseconds. */
uint64_t gradients_exchange_ps(const struct training_setup *setup, const struct model_parameters *held, uint32_t bytes);

/** To add up the norm of all gradients over all GPUs, a few bytes; picoseconds. */
uint64_t gradients_norm_ps(const struct training_setup *setup);

#endif
