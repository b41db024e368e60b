// SPDX-License-Identifier: GPL-3.0-or-later
#include "sizing/rings.h"

#include "base/memory.h"

#include <stdlib.h>

/* The GPU that this one sends to. Blocks of all stages take turns: number n of a stage is in its block n ÷ block. */
static uint32_t next_of(const struct rings *rings, uint32_t gpu) {
    const uint64_t turn = (uint64_t)rings->block * rings->stages, stage = gpu / rings->block % rings->stages;
    const uint64_t number = gpu / turn * rings->block + gpu % rings->block;
    const uint64_t next = (number + rings->stride) % rings->stage;
    return (uint32_t)(next / rings->block * turn + stage * rings->block + next % rings->block);
}

double rings_share(const struct topology *topology, const struct fabric *fabric, const struct rings *rings) {
    const uint64_t gpus = (uint64_t)rings->stages * rings->stage;
    uint32_t most = 0;
    if (rings->stride == 0 || rings->stage <= rings->stride || topology->fabric.spines == 0) {
        return 1;
    }
    uint32_t *leaving = memory_allocate(fabric->plane_leaves, sizeof *leaving);
    for (uint32_t gpu = 0; gpu < fabric->n_endpoints && gpu < gpus; gpu++) {
        const uint32_t next = next_of(rings, gpu), leaf = fabric->endpoints[gpu].leaf;
        if (next < fabric->n_endpoints && fabric->endpoints[next].leaf != leaf) {
            leaving[leaf]++;
            most = leaving[leaf] > most ? leaving[leaf] : most;
        }
    }
    free(leaving);
    const double uplinks = topology->fabric.leaf_uplinks;
    return most > uplinks ? uplinks / most : 1;
}
