// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A forward and a backward pass through a part of the model that run together, by themselves: what of their exchanges is hidden.
 */
#ifndef MOEFABRIC_TRAINING_TRAINING_PAIR_H
#define MOEFABRIC_TRAINING_TRAINING_PAIR_H

#include "training/training_step.h"

/** What a pair takes. */
struct training_pair {
    uint64_t span_ps;    /**< from the first begin to the last end */
    uint64_t compute_ps; /**< computing, but for gaps between kernels while something is sent */
    uint64_t
        exchange_ps;    /**< dispatches and combines, waits for their GPUs counted, waits in kernels before them not */
    uint64_t hidden_ps; /**< of that, while a kernel computes: a segment of which gaps are a share g hides 1 - g */
};

/** Runs the pair of a part, counted from 0. False with *error if the model cannot be cut or has no such part. */
bool training_pair(const struct training_setup *setup, uint32_t part, struct training_pair *pair, struct error *error);

/** Sums over the pairs of all parts. False with *error if the model cannot be cut. */
bool training_pair_all(const struct training_setup *setup, struct training_pair *sum, struct error *error);

#endif
