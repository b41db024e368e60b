// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/spray_round_robin.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "path/ecmp.h"

struct turn {
    uint64_t stream, orders; /* of which so many have begun */
    uint64_t left;           /* packets that the present order is good for */
    uint32_t place, step;    /* of the packet to come, from the first port; and between packets */
    uint32_t count;          /* that they were drawn for */
};

struct path_state {
    struct ecmp_rule rule; /* of ordered packets */
    uint32_t n_ports, rounds;
    struct turn turns[]; /* a range of candidates: by its first port */
};

static struct path_state *spray_round_robin_create(const struct path_parameters *parameters, uint64_t seed,
                                                   uint32_t device, uint32_t n_ports) {
    struct path_state *state = memory_allocate(1, sizeof *state + n_ports * sizeof(struct turn));
    state->rule = ecmp_rule_of(parameters, seed, device);
    state->n_ports = n_ports;
    state->rounds = parameters->round_robin_rounds;
    for (uint32_t port = 0; port < n_ports; port++) {
        state->turns[port].stream = hash_stream(seed, HASH_PURPOSE_PATH, device, port);
    }
    return state;
}

static void spray_round_robin_refresh(struct path_state *state, const struct path_port *ports) {
    (void)state; /* load does not matter */
    (void)ports;
}

static bool have_common_divisor(uint32_t a, uint32_t b) {
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a != 1;
}

static void begin_order(const struct path_state *state, struct turn *turn, uint32_t count) {
    const uint64_t number = turn->orders++;
    turn->place = hash_below(hash_draw(turn->stream, 2 * number), count);
    turn->step = 1;
    if (state->rounds > 0 && count > 1) {
        turn->step += hash_below(hash_draw(turn->stream, 2 * number + 1), count - 1);
        while (have_common_divisor(turn->step, count)) {
            turn->step++;
        }
    }
    turn->count = count;
    turn->left = state->rounds > 0 ? (uint64_t)state->rounds * count : UINT64_MAX;
}

static uint16_t spray_round_robin_choose(struct path_state *state, const struct path_request *request) {
    if (!request->adaptive) {
        return ecmp_rule_port(&state->rule, request);
    }
    REQUIRE(request->first_port < state->n_ports, "first candidate %u of %u ports", request->first_port,
            state->n_ports);
    struct turn *turn = &state->turns[request->first_port];
    if (turn->left == 0 || turn->count != request->count) {
        begin_order(state, turn, request->count);
    }
    const uint32_t place = turn->place;
    turn->place = place + turn->step < turn->count ? place + turn->step : place + turn->step - turn->count;
    turn->left--;
    return path_candidate(request, place);
}

const struct path_policy spray_round_robin_policy = {
    .name = "spray_round_robin",
    .reads_ports = false,
    .reorders = true,
    .create = spray_round_robin_create,
    .refresh = spray_round_robin_refresh,
    .choose = spray_round_robin_choose,
};
