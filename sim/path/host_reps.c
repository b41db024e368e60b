// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/host_reps.h"

#include "base/hash.h"
#include "base/memory.h"
#include "path/ecmp.h"

struct path_state {
    struct ecmp_rule rule;
};

uint64_t host_reps_stream(uint64_t seed, uint32_t endpoint, uint32_t queue_pair) {
    return hash_stream(seed, HASH_PURPOSE_ENTROPY, endpoint, queue_pair);
}

static uint16_t random_entropy(struct host_reps *reps) {
    return (uint16_t)hash_draw(reps->stream, reps->draws++);
}

/* The oldest entry that is fresh: entries are written in turn, so the search begins at the one to be written next. */
static uint16_t oldest_fresh(struct host_reps *reps) {
    uint32_t entry = reps->next;
    while (!(reps->fresh >> entry & 1)) {
        entry = (entry + 1) % HOST_REPS_ENTRIES;
    }
    reps->fresh &= (uint8_t) ~(1u << entry);
    return reps->entropies[entry];
}

uint16_t host_reps_next(struct host_reps *reps) {
    if (reps->frozen && reps->filled > 0) {
        reps->turn = (uint8_t)(reps->turn % reps->filled);
        reps->fresh &= (uint8_t) ~(1u << reps->turn);
        return reps->entropies[reps->turn++];
    }
    if (reps->explores > 0) {
        reps->explores--;
        return random_entropy(reps);
    }
    return reps->fresh == 0 ? random_entropy(reps) : oldest_fresh(reps);
}

static void thaw(struct host_reps *reps) {
    reps->frozen = false;
    reps->fresh = 0;
    reps->next = reps->turn = reps->filled = 0;
    reps->explores = HOST_REPS_EXPLORATIONS;
}

void host_reps_acknowledged(struct host_reps *reps, uint16_t entropy, bool marked, uint64_t now_ps) {
    if (reps->frozen && now_ps >= reps->frozen_until_ps) {
        thaw(reps);
    }
    if (marked) {
        return;
    }
    reps->entropies[reps->next] = entropy;
    reps->fresh |= (uint8_t)(1u << reps->next);
    reps->next = (uint8_t)((reps->next + 1) % HOST_REPS_ENTRIES);
    reps->filled += reps->filled < HOST_REPS_ENTRIES;
}

void host_reps_timed_out(struct host_reps *reps, uint64_t now_ps) {
    if (!reps->frozen && reps->explores == 0) {
        reps->frozen = true;
        reps->turn = 0;
        reps->frozen_until_ps = now_ps + HOST_REPS_FREEZE_PS;
    }
}

static struct path_state *host_reps_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                           uint32_t n_ports) {
    (void)n_ports;
    struct path_state *state = memory_allocate(1, sizeof *state);
    state->rule = ecmp_rule_of(parameters, seed, device);
    return state;
}

static void host_reps_refresh(struct path_state *state, const struct path_port *ports) {
    (void)state; /* load shows in marks, at the sender */
    (void)ports;
}

static uint16_t host_reps_choose(struct path_state *state, const struct path_request *request) {
    return ecmp_rule_port(&state->rule, request);
}

const struct path_policy host_reps_policy = {
    .name = "host_reps",
    .reads_ports = false,
    .reorders = true,
    .recycles = true,
    .create = host_reps_create,
    .refresh = host_reps_refresh,
    .choose = host_reps_choose,
};
