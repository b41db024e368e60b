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

void placement_near_find(struct placement_near *near, uint32_t source, const uint32_t *domain_of_rank, bool even) {
    const struct placement *placement = near->placement;
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        const uint32_t first = placement->first[expert], end = placement->first[expert + 1];
        uint32_t nearest = 2, count = 0;
        for (uint32_t i = first; i < end && !even; i++) {
            const uint32_t far = distance(source, placement->rank[i], domain_of_rank);
            nearest = far < nearest ? far : nearest;
        }
        for (uint32_t i = first; i < end; i++) {
            if (even || distance(source, placement->rank[i], domain_of_rank) == nearest) {
                near->rank[first + count++] = placement->rank[i];
            }
        }
        near->count[expert] = count;
    }
}
