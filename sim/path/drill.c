// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/drill.h"

#include "base/error.h"
#include "base/memory.h"
#include "path/ecmp.h"
#include "path/sample.h"

struct port_view {
    uint64_t depth_bytes; /* at the last refresh */
    uint32_t best_after; /* a range of candidates, by its first port: 1 + the port of the packet before; 0 = none yet */
};

struct path_state {
    struct ecmp_rule rule; /* of ordered packets */
    uint64_t stream, samples;
    uint32_t n_ports;
    struct port_view views[];
};

static struct path_state *drill_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                       uint32_t n_ports) {
    struct path_state *state = memory_allocate(1, sizeof *state + n_ports * sizeof(struct port_view));
    state->rule = ecmp_rule_of(parameters, seed, device);
    state->stream = hash_stream(seed, HASH_PURPOSE_PATH, device, 0);
    state->n_ports = n_ports;
    return state;
}

static void drill_refresh(struct path_state *state, const struct path_port *ports) {
    for (uint32_t port = 0; port < state->n_ports; port++) {
        state->views[port].depth_bytes = ports[port].depth_bytes;
    }
}

static uint16_t shallower(const struct path_state *state, uint16_t port, uint16_t other) {
    return state->views[other].depth_bytes < state->views[port].depth_bytes ? other : port;
}

static uint16_t drill_choose(struct path_state *state, const struct path_request *request) {
    if (!request->adaptive) {
        return ecmp_rule_port(&state->rule, request);
    }
    const uint32_t first = request->first_port, end = first + request->count;
    REQUIRE(end <= state->n_ports, "candidates %u+%u of %u ports", first, request->count, state->n_ports);
    const struct sample sample = sample_take(state->stream, state->samples++, request);
    uint16_t best = shallower(state, sample.first, sample.second);
    const uint32_t remembered = state->views[first].best_after;
    if (remembered > 0 && path_is_candidate(request, remembered - 1)) { /* ranges may differ in their ends */
        best = shallower(state, best, (uint16_t)(remembered - 1));
    }
    state->views[first].best_after = best + 1u;
    return best;
}

const struct path_policy drill_policy = {
    .name = "drill",
    .reads_ports = true,
    .reorders = true,
    .create = drill_create,
    .refresh = drill_refresh,
    .choose = drill_choose,
};
