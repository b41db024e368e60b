// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/expert_load.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct expert_load *expert_load_create(uint32_t n_steps, uint32_t n_domains, uint32_t n_layers, uint32_t n_experts) {
    struct expert_load *load = memory_allocate(1, sizeof *load);
    load->n_steps = n_steps;
    load->n_domains = n_domains;
    load->n_layers = n_layers;
    load->n_experts = n_experts;
    load->domains = memory_allocate(n_domains, sizeof *load->domains);
    load->load = memory_allocate((size_t)n_steps * n_domains * n_layers * n_experts, sizeof *load->load);
    return load;
}

void expert_load_free(struct expert_load *load) {
    if (load) {
        free(load->domains);
        free(load->load);
        free(load);
    }
}

double expert_load_sum(const struct expert_load *load, uint32_t step, uint32_t domain, uint32_t layer) {
    const double *row = expert_load_row(load, step, domain, layer);
    double sum = 0;
    for (uint32_t expert = 0; expert < load->n_experts; expert++) {
        sum += row[expert];
    }
    return sum;
}

uint32_t expert_load_find_domain(const struct expert_load *load, const char *name) {
    uint32_t domain = 0;
    while (domain < load->n_domains && strcmp(load->domains[domain].name, name) != 0) {
        domain++;
    }
    return domain;
}

double expert_load_imbalance(const struct expert_load *load, uint32_t step, uint32_t domain, uint32_t layer,
                             uint32_t parts) {
    const double *row = expert_load_row(load, step, domain, layer);
    const uint32_t size = load->n_experts / parts;
    double largest = 0, sum = 0;
    REQUIRE(size * parts == load->n_experts, "%u experts on %u ranks", load->n_experts, parts);
    for (uint32_t part = 0; part < parts; part++) {
        double held = 0;
        for (uint32_t i = 0; i < size; i++) {
            held += row[part * size + i];
        }
        sum += held;
        largest = held > largest ? held : largest;
    }
    return sum > 0 ? largest * parts / sum : 0;
}
