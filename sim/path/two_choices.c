// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/two_choices.h"

#include "base/error.h"
#include "base/memory.h"
#include "path/ecmp.h"
#include "path/sample.h"

struct path_state {
    struct ecmp_rule rule; /* of ordered packets */
    uint64_t stream, samples;
    uint32_t n_ports;
    uint64_t depths_bytes[]; /* by port, at the last refresh */
};

static struct path_state *two_choices_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                             uint32_t n_ports) {
    struct path_state *state = memory_allocate(1, sizeof *state + n_ports * sizeof(uint64_t));
    state->rule = ecmp_rule_of(parameters, seed, device);
    state->stream = hash_stream(seed, HASH_PURPOSE_PATH, device, 0);
    state->n_ports = n_ports;
    return state;
}

static void two_choices_refresh(struct path_state *state, const struct path_port *ports) {
    for (uint32_t port = 0; port < state->n_ports; port++) {
        state->depths_bytes[port] = ports[port].depth_bytes;
    }
}

static uint16_t two_choices_choose(struct path_state *state, const struct path_request *request) {
    if (!request->adaptive) {
        return ecmp_rule_port(&state->rule, request);
    }
    REQUIRE((uint32_t)request->first_port + request->count <= state->n_ports, "candidates %u+%u of %u ports",
            request->first_port, request->count, state->n_ports);
    const struct sample sample = sample_take(state->stream, state->samples++, request);
    return state->depths_bytes[sample.second] < state->depths_bytes[sample.first] ? sample.second : sample.first;
}

const struct path_policy two_choices_policy = {
    .name = "two_choices",
    .reads_ports = true,
    .reorders = true,
    .create = two_choices_create,
    .refresh = two_choices_refresh,
    .choose = two_choices_choose,
};
