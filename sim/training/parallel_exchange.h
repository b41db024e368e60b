// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What GPUs that share a layer or a sequence send each other in a pass through it, as far as it is not hidden behind computing: bytes ÷ rate.
 */
#ifndef MOEFABRIC_TRAINING_PARALLEL_EXCHANGE_H
#define MOEFABRIC_TRAINING_PARALLEL_EXCHANGE_H

#include "training/model_shape.h"
#include "training/training_groups.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * Collectives of tensor parallelism with sequence parallelism in one direction: a gather and a scatter of all tokens around each of n_cut parts
 * of a layer whose matrices are cut (attention, feed-forward; arXiv:2205.05198, section 4.2.2). With hidden_by_ps > 0 they go in as many pieces as there are
 * GPUs, all but one behind so much computing.
 */
uint64_t parallel_exchange_tensor_ps(const struct training_groups *groups, int n_cut, uint32_t hidden,
                                     uint64_t hidden_by_ps);

/**
 * Keys and values of context parallelism in one direction of a layer whose scores and weighted values take attention_ps. Backward there are their gradients too. shape: NULL without attention.
 * By NVLink if the group is inside a domain, else by each GPU's NIC.
 */
uint64_t parallel_exchange_context_ps(const struct training_groups *groups, const struct model_shape *shape,
                                      enum experiment_context_exchange exchange, bool backward, uint64_t attention_ps);

/** Does context parallelism go by NVLink? Else by NICs. */
bool parallel_exchange_context_in_domain(const struct training_groups *groups);

#endif
