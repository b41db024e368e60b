// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_layout.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The number of a domain, which is the next one where it has none yet. */
static uint32_t number_of(uint32_t *seen, struct placement_layout *layout, uint32_t domain) {
    uint32_t number = 0;
    while (number < layout->domains && seen[number] != domain) {
        number++;
    }
    if (number == layout->domains) {
        seen[layout->domains++] = domain;
    }
    return number;
}

void placement_layout_init(struct placement_layout *layout, const uint32_t *gpu, uint32_t ranks, uint32_t domain_gpus) {
    uint32_t *seen = memory_allocate(ranks, sizeof *seen);
    *layout = (struct placement_layout){.ranks = ranks, .places = domain_gpus};
    layout->domain = memory_allocate(ranks, sizeof *layout->domain);
    layout->place = memory_allocate(ranks, sizeof *layout->place);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        layout->domain[rank] = number_of(seen, layout, gpu[rank] / domain_gpus);
        layout->place[rank] = gpu[rank] % domain_gpus;
    }
    const size_t size = (size_t)layout->domains * domain_gpus;
    layout->rank_at = memory_allocate(size, sizeof *layout->rank_at);
    memset(layout->rank_at, 0xff, size * sizeof *layout->rank_at);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        layout->rank_at[layout->domain[rank] * domain_gpus + layout->place[rank]] = rank;
    }
    free(seen);
}

void placement_layout_init_whole(struct placement_layout *layout, uint32_t ranks, uint32_t domain_ranks) {
    uint32_t *gpu = memory_allocate(ranks, sizeof *gpu);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        gpu[rank] = rank;
    }
    placement_layout_init(layout, gpu, ranks, domain_ranks);
    free(gpu);
}

bool placement_layout_alike(const struct placement_layout *one, const struct placement_layout *other) {
    return one->ranks == other->ranks && memcmp(one->domain, other->domain, one->ranks * sizeof *one->domain) == 0;
}

void placement_layout_fini(struct placement_layout *layout) {
    free(layout->domain);
    free(layout->place);
    free(layout->rank_at);
    *layout = (struct placement_layout){0};
}
