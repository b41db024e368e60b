// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which layers each part of a pipeline holds: consecutive ones, given or so that the largest part is least.
 */
#ifndef MOEFABRIC_TRAINING_PIPELINE_LAYOUT_H
#define MOEFABRIC_TRAINING_PIPELINE_LAYOUT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/** Cuts layers into parts: part p holds layers first[p] … first[p + 1] - 1. */
struct pipeline_layout {
    uint32_t n_parts;
    uint32_t *first; /**< [n_parts + 1] */
};

/**
 * The cut of layers with these costs whose largest part is least; the lower parts are filled first. Where stages have several parts (part p is on stage
 * p mod n_stages) single layers are then given to other parts as long as the largest stage becomes smaller, or stages and then parts more even: it is stages
 * that wait for each other. Every part has a layer: n_layers ≥ n_parts ≥ 1, and n_stages divides n_parts. Ends with pipeline_layout_fini.
 */
void pipeline_layout_balance(struct pipeline_layout *layout, const uint64_t *costs, uint32_t n_layers, uint32_t n_parts,
                             uint32_t n_stages);

/** Reads "4,4,3": so many layers in each part. False with *error (without a place) if they are not n_parts numbers from 1 with the sum n_layers. */
bool pipeline_layout_read(struct pipeline_layout *layout, const char *text, uint32_t n_layers, uint32_t n_parts,
                          struct error *error);

/** Frees what it holds. */
void pipeline_layout_fini(struct pipeline_layout *layout);

#endif
