// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/ecmp.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stddef.h>

struct path_state {
    uint64_t switch_seed;
};

uint64_t ecmp_switch_seed(uint64_t seed, uint32_t device, bool polarised) {
    return hash_stream(seed, HASH_PURPOSE_ECMP, polarised ? 0 : device, 0);
}

uint64_t ecmp_hash(uint64_t switch_seed, uint32_t source, uint32_t destination, uint16_t entropy) {
    const uint64_t pair = (uint64_t)source << 32 | destination;
    return hash_draw(hash_mix(switch_seed + pair), entropy);
}

uint16_t ecmp_choose_port(uint64_t switch_seed, const struct path_request *request) {
    const uint64_t hash = ecmp_hash(switch_seed, request->source, request->destination, request->entropy);
    return (uint16_t)(request->first_port + hash_below(hash, request->count));
}

static struct path_state *ecmp_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                      uint32_t n_ports) {
    (void)n_ports;
    struct path_state *state = memory_allocate(1, sizeof *state);
    state->switch_seed = ecmp_switch_seed(seed, device, parameters->polarised);
    return state;
}

static void ecmp_refresh(struct path_state *state, const struct path_port *ports) {
    (void)state; /* load does not matter */
    (void)ports;
}

static uint16_t ecmp_choose(struct path_state *state, const struct path_request *request) {
    return ecmp_choose_port(state->switch_seed, request);
}

const struct path_policy ecmp_policy = {
    .name = "ecmp",
    .reads_ports = false,
    .create = ecmp_create,
    .refresh = ecmp_refresh,
    .choose = ecmp_choose,
};
