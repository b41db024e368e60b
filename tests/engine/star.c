// SPDX-License-Identifier: GPL-3.0-or-later
#include "star.h"

#include "base/memory.h"
#include "fabric/irregular.h"

#include <stdlib.h>

struct fabric *star_create(uint32_t n_endpoints, uint64_t latency_ps) {
    uint32_t *leaves = memory_allocate(n_endpoints, sizeof(*leaves));
    const struct irregular_figures figures = {.rate_bits_per_s = UINT64_C(400000000000), .latency_ps = latency_ps};
    const struct irregular_description description = {
        .n_domains = 1,
        .domain_gpus = &n_endpoints,
        .n_leaves = 1,
        .endpoint_leaf = leaves,
        .host = {.up = figures, .down = figures},
    };
    struct fabric *fabric = irregular_build(&description);
    free(leaves);
    return fabric;
}

uint32_t star_up(const struct fabric *fabric, uint32_t endpoint) {
    return fabric->devices[endpoint].first_port;
}

uint32_t star_down(const struct fabric *fabric, uint32_t endpoint) {
    return fabric->links[star_up(fabric, endpoint)].reverse;
}
