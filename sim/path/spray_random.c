// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/spray_random.h"

#include "base/hash.h"
#include "base/memory.h"
#include "path/ecmp.h"

struct path_state {
    struct ecmp_rule rule; /* of ordered packets */
    uint64_t stream, draws;
};

static struct path_state *spray_random_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                              uint32_t n_ports) {
    (void)n_ports;
    struct path_state *state = memory_allocate(1, sizeof *state);
    state->rule = ecmp_rule_of(parameters, seed, device);
    state->stream = hash_stream(seed, HASH_PURPOSE_PATH, device, 0);
    return state;
}

static void spray_random_refresh(struct path_state *state, const struct path_port *ports) {
    (void)state; /* load does not matter */
    (void)ports;
}

static uint16_t spray_random_choose(struct path_state *state, const struct path_request *request) {
    if (!request->adaptive) {
        return ecmp_rule_port(&state->rule, request);
    }
    return path_candidate(request, hash_below(hash_draw(state->stream, state->draws++), request->count));
}

const struct path_policy spray_random_policy = {
    .name = "spray_random",
    .reads_ports = false,
    .reorders = true,
    .create = spray_random_create,
    .refresh = spray_random_refresh,
    .choose = spray_random_choose,
};
