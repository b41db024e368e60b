// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_near.h"

#include "base/memory.h"

#include <stdlib.h>

void placement_near_init(struct placement_near *near, const struct placement *placement) {
    near->placement = placement;
    near->rank = memory_allocate(placement->replicas, sizeof *near->rank);
    near->count = memory_allocate(placement->experts, sizeof *near->count);
}

void placement_near_fini(struct placement_near *near) {
    free(near->rank);
    free(near->count);
    *near = (struct placement_near){0};
}

/* How far a replica is: on the rank itself, in its domain, elsewhere. */
static uint32_t distance(uint32_t source, uint32_t rank, const uint32_t *domain_of_rank) {
    return rank == source ? 0 : domain_of_rank[rank] == domain_of_rank[source] ? 1 : 2;
}

uint32_t placement_near_of(const struct placement *placement, uint32_t expert, uint32_t source,
                           const uint32_t *domain_of_rank, bool even, uint32_t *ranks) {
    uint32_t nearest = UINT32_MAX, count = 0;
    for (uint32_t i = placement->first[expert]; i < placement->first[expert + 1]; i++) {
        const uint32_t far = even ? 0 : distance(source, placement->rank[i], domain_of_rank);
        if (far < nearest) {
            nearest = far;
            count = 0;
        }
        if (far == nearest) {
            ranks[count++] = placement->rank[i];
        }
    }
    return count;
}

void placement_near_find(struct placement_near *near, uint32_t source, const uint32_t *domain_of_rank, bool even) {
    const struct placement *placement = near->placement;
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        near->count[expert] =
            placement_near_of(placement, expert, source, domain_of_rank, even, near->rank + placement->first[expert]);
    }
}
