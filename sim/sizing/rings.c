// SPDX-License-Identifier: GPL-3.0-or-later
#include "sizing/rings.h"

#include "base/memory.h"

#include <stdlib.h>

double rings_share(const struct topology *topology, const struct fabric *fabric, uint32_t stride, uint32_t group) {
    const uint32_t used = topology->gpus_used, racks = fabric->n_endpoints / used;
    uint32_t most = 0;
    if (stride == 0 || group <= stride || topology->fabric.spines == 0) {
        return 1;
    }
    uint32_t *leaving = memory_allocate(fabric->plane_leaves, sizeof *leaving);
    for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
        const uint32_t rack = endpoint / used, first = rack / group * group;
        const uint32_t next = first + (rack - first + stride) % group;
        const uint32_t leaf = fabric->endpoints[endpoint].leaf;
        if (next < racks && fabric->endpoints[next * used + endpoint % used].leaf != leaf) {
            leaving[leaf]++;
            most = leaving[leaf] > most ? leaving[leaf] : most;
        }
    }
    free(leaving);
    const double uplinks = topology->fabric.leaf_uplinks;
    return most > uplinks ? uplinks / most : 1;
}
