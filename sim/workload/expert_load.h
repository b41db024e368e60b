// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How often the experts of each layer are chosen: measured frequencies or counts, as gates and placements take them.
 */
#ifndef MOEFABRIC_WORKLOAD_EXPERT_LOAD_H
#define MOEFABRIC_WORKLOAD_EXPERT_LOAD_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EXPERT_LOAD_NAME_SIZE = 48,
    EXPERT_LOAD_LARGEST_EXPERTS = 65536,
    EXPERT_LOAD_LARGEST_LAYERS = 4096,
    EXPERT_LOAD_LARGEST_DOMAINS = 256,
};

/** Name of one domain: a column of a file. */
struct expert_load_domain {
    char name[EXPERT_LOAD_NAME_SIZE];
};

/**
 * Loads of every expert of every layer, for each domain of texts and each step. Loads are finite and not negative; of any scale: shares of tokens
 * or counts. Owns its arrays.
 */
struct expert_load {
    uint32_t n_layers, n_experts;
    uint32_t n_domains;                 /**< 1 or more; number 0 is the whole where a file has one */
    uint32_t n_steps;                   /**< 1 or more; files of frequencies have one */
    uint32_t first_layer;               /**< number that the file gives its first layer; tensors: 0 */
    struct expert_load_domain *domains; /**< [n_domains] */
    double *load;                       /**< [n_steps][n_domains][n_layers][n_experts] */
    char file[ERROR_FILE_SIZE];         /**< where it is from, for messages */
};

/** Zero loads of these sizes; freed by expert_load_free. */
struct expert_load *expert_load_create(uint32_t n_steps, uint32_t n_domains, uint32_t n_layers, uint32_t n_experts);

/** Frees the loads; NULL is allowed. */
void expert_load_free(struct expert_load *load);

/** The loads [n_experts] of a layer (counted from 0, whatever the file calls it). */
static inline double *expert_load_row(const struct expert_load *load, uint32_t step, uint32_t domain, uint32_t layer) {
    return load->load + (((size_t)step * load->n_domains + domain) * load->n_layers + layer) * (size_t)load->n_experts;
}

/** Sum of the loads of a layer: for shares of tokens the experts that a token picks. */
double expert_load_sum(const struct expert_load *load, uint32_t step, uint32_t domain, uint32_t layer);

/** Number of the domain of this name, or n_domains. */
uint32_t expert_load_find_domain(const struct expert_load *load, const char *name);

/**
 * Largest load ÷ mean load of `parts` ranks that each hold the same number of consecutive experts of a layer (parts = n_experts: of the experts
 * themselves). parts divides n_experts; 0 if nothing is loaded.
 */
double expert_load_imbalance(const struct expert_load *load, uint32_t step, uint32_t domain, uint32_t layer,
                             uint32_t parts);

#endif
