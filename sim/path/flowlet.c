// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/flowlet.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "path/ecmp.h"

struct entry {
    uint64_t
        until_ps; /* a packet that comes later begins a flowlet; 0: none came yet, for a packet takes time to come */
    uint64_t pick;
};

struct path_state {
    uint64_t switch_seed, stream, draws, gap_ps;
    uint32_t n_entries;
    struct entry entries[];
};

static struct path_state *flowlet_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                         uint32_t n_ports) {
    (void)n_ports;
    const uint32_t n_entries = parameters->flowlet_entries;
    REQUIRE(n_entries > 0, "a flowlet table of %u places", n_entries);
    struct path_state *state = memory_allocate(1, sizeof *state + n_entries * sizeof(struct entry));
    state->switch_seed = ecmp_switch_seed(seed, device, false);
    state->stream = hash_stream(seed, HASH_PURPOSE_PATH, device, 0);
    state->gap_ps = parameters->flowlet_gap_ps;
    state->n_entries = n_entries;
    return state;
}

static void flowlet_refresh(struct path_state *state, const struct path_port *ports) {
    (void)state; /* load does not matter */
    (void)ports;
}

static uint16_t flowlet_choose(struct path_state *state, const struct path_request *request) {
    const uint64_t hash = ecmp_hash(state->switch_seed, request->source, request->destination, request->entropy);
    struct entry *entry = &state->entries[hash_below(hash, state->n_entries)];
    if (request->now_ps > entry->until_ps) {
        entry->pick = hash_draw(state->stream, state->draws++);
    }
    entry->until_ps = request->now_ps + state->gap_ps;
    return path_candidate(request, hash_below(entry->pick, request->count));
}

const struct path_policy flowlet_policy = {
    .name = "flowlet",
    .reads_ports = false,
    .reorders = false,
    .create = flowlet_create,
    .refresh = flowlet_refresh,
    .choose = flowlet_choose,
};
