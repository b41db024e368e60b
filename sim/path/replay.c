// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/replay.h"

#include "base/error.h"
#include "base/memory.h"
#include "path/ecmp.h"

#include <stdlib.h>

static uint16_t replay_port(uint64_t switch_seed, const struct replay_flow *flow, uint16_t n_uplinks) {
    const struct path_request request = {
        .source = flow->source,
        .destination = flow->destination,
        .entropy = flow->entropy,
        .first_port = 0,
        .count = n_uplinks,
    };
    return ecmp_choose_port(switch_seed, &request);
}

struct replay_load replay_max_load(uint64_t switch_seed, const struct replay_flow *flows, size_t n_flows,
                                   uint16_t n_uplinks) {
    REQUIRE(n_flows > 0 && n_uplinks > 0, "%zu flows on %u uplinks", n_flows, n_uplinks);
    uint32_t *loads = memory_allocate(n_uplinks, sizeof *loads);
    for (size_t i = 0; i < n_flows; i++) {
        loads[replay_port(switch_seed, &flows[i], n_uplinks)]++;
    }
    const double even = (double)n_flows / n_uplinks;
    struct replay_load load = {0};
    double carried = 0; /* a flow gets 1 / its load of an uplink, at most 1 / k: together min(load, k) × 1 / k */
    for (uint32_t i = 0; i < n_uplinks; i++) {
        load.max_load = loads[i] > load.max_load ? loads[i] : load.max_load;
        load.idle_uplinks += loads[i] == 0;
        carried += loads[i] < even ? loads[i] : even;
    }
    load.mean_share = carried / (double)n_flows;
    free(loads);
    return load;
}
