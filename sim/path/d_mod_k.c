// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/d_mod_k.h"

#include "base/memory.h"

#include <stddef.h>

struct path_state {
    const struct fabric *fabric; /* NULL: the switch stands alone, and destinations are their own numbers */
    uint32_t device, pod;
    uint32_t leaf_endpoints; /* of the first leaf */
    uint32_t stride;         /* upwards */
};

static struct path_state *d_mod_k_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                         uint32_t n_ports) {
    (void)parameters; /* a table draws nothing */
    (void)seed;
    (void)device;
    (void)n_ports;
    return memory_allocate(1, sizeof(struct path_state));
}

/* From a leaf all uplinks lead to every other leaf. */
static struct fabric_route uplinks_of_first_leaf(const struct fabric *fabric) {
    return fabric->n_leaves > 1 ? fabric->routes[1] : (struct fabric_route){.count = 1};
}

static void d_mod_k_place(struct path_state *state, const struct fabric *fabric, uint32_t device) {
    const struct fabric_route uplinks = uplinks_of_first_leaf(fabric);
    state->fabric = fabric;
    state->device = device;
    state->pod = fabric->devices[device].pod;
    state->leaf_endpoints = uplinks.first_port;
    state->stride = fabric->devices[device].tier == FABRIC_TIER_SPINE ? uplinks.count : 1;
}

static void d_mod_k_refresh(struct path_state *state, const struct path_port *ports) {
    (void)state; /* load does not matter */
    (void)ports;
}

static uint16_t d_mod_k_choose(struct path_state *state, const struct path_request *request) {
    const struct fabric *fabric = state->fabric;
    if (fabric == NULL) {
        return path_candidate(request, request->destination % request->count);
    }
    const struct fabric_endpoint *to = &fabric->endpoints[request->destination];
    const struct fabric_route whole = fabric_route_to(fabric, state->device, request->destination);
    const bool down = fabric->devices[fabric->switch_devices[to->leaf]].pod == state->pod;
    const uint32_t number = (to->leaf * state->leaf_endpoints + to->leaf_port) / (down ? 1 : state->stride);
    const uint16_t port = (uint16_t)(whole.first_port + number % whole.count);
    return path_is_candidate(request, port) ? port : path_candidate(request, number % request->count);
}

const struct path_policy d_mod_k_policy = {
    .name = "d_mod_k",
    .reads_ports = false,
    .reorders = false,
    .create = d_mod_k_create,
    .place = d_mod_k_place,
    .refresh = d_mod_k_refresh,
    .choose = d_mod_k_choose,
};
