// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Measured loads of a layer as shares of tokens: what of a file a gate follows, and whether it fits the model.
 */
#ifndef MOEFABRIC_WORKLOAD_GATE_MEASURED_H
#define MOEFABRIC_WORKLOAD_GATE_MEASURED_H

#include "workload/expert_load.h"
#include "workload/gate.h"

/** The part of a file that a gate follows. Ends with gate_measured_close. */
struct gate_measured {
    struct expert_load *load;
    uint32_t layer; /**< counted from 0 */
    uint32_t first_step;
    uint32_t first_domain, n_domains; /**< columns */
    uint32_t top_k;
};

/** Reads routing.path (else routing.file) and finds layer, steps and domain. False with *error; close it even so. */
bool gate_measured_open(struct gate_measured *measured, const struct gate_parameters *parameters, uint32_t n_steps,
                        struct error *error);

/**
 * Shares [experts] of one of the domains and steps: probability that a token picks the expert, of sum top_k. Loads of which none is above 1 and whose
 * sum is not above 1.05 × top_k are shares of tokens: their sum must be at least 0.9 × top_k (measurements lose a few tokens). Others are counts: no
 * expert can have been picked by more than all tokens, sum ÷ top_k.
 */
bool gate_measured_shares(const struct gate_measured *measured, uint32_t domain, uint32_t step, double *shares,
                          struct error *error);

/** Frees what it holds. */
void gate_measured_close(struct gate_measured *measured);

#endif
