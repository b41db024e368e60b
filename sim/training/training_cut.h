// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which layers each part of a pipeline holds: as the configuration says, or the cut whose largest part is least.
 */
#ifndef MOEFABRIC_TRAINING_TRAINING_CUT_H
#define MOEFABRIC_TRAINING_TRAINING_CUT_H

#include "training/layer_time.h"

/** Parts of the model: stages × virtual stages. */
uint32_t training_cut_parts(const struct training_setup *setup);

/** Cuts the layers. False with *error if they cannot be cut so; else the layout is to be ended with pipeline_layout_fini. */
bool training_cut(const struct training_setup *setup, const struct layer_time *layers, uint32_t n_layers,
                  struct pipeline_layout *layout, struct error *error);

#endif
