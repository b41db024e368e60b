// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/adaptive.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "path/ecmp.h"

#include <stddef.h>

enum { GRADE_PAUSED = 4 };

/* What is known of one port. The fields of a range are kept with its first port. */
struct port_view {
    uint64_t stream;      /* of the draws for packets that came in here */
    uint64_t draws;       /* made so far */
    uint64_t listed_at;   /* range: generation for which best[] holds; 0 = never */
    uint16_t range_first; /* the range that this port belongs to; range_count 0 = none yet */
    uint16_t range_count;
    uint16_t n_best; /* range: best[first] … best[first + n_best - 1] are its best ports */
    uint8_t grade;   /* at the last refresh */
};

/* One block: the views are followed by the list of best ports, so that free() suffices. */
struct path_state {
    struct path_parameters parameters;
    struct ecmp_rule rule; /* of ordered packets */
    uint64_t generation;   /* grows when a refresh changes a grade; from 1 */
    uint32_t n_ports;
    uint16_t *best;
    struct port_view views[];
};

unsigned adaptive_grade(const struct path_parameters *parameters, const struct path_port *port) {
    if (port->paused) {
        return GRADE_PAUSED;
    }
    unsigned grade = 0;
    while (grade < 3 && port->depth_bytes >= parameters->grade_bounds_bytes[grade]) {
        grade++;
    }
    return grade;
}

static struct path_state *adaptive_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                          uint32_t n_ports) {
    const size_t per_port = sizeof(struct port_view) + sizeof(uint16_t);
    struct path_state *state = memory_allocate(1, sizeof *state + n_ports * per_port);
    state->parameters = *parameters;
    state->rule = ecmp_rule_of(parameters, seed, device);
    state->generation = 1;
    state->n_ports = n_ports;
    state->best = (uint16_t *)&state->views[n_ports];
    for (uint32_t port = 0; port < n_ports; port++) {
        state->views[port].stream = hash_stream(seed, HASH_PURPOSE_ADAPTIVE, device, port);
    }
    return state;
}

static void adaptive_refresh(struct path_state *state, const struct path_port *ports) {
    const uint64_t first_bound_bytes = state->parameters.grade_bounds_bytes[0];
    bool changed = false;
    for (uint32_t port = 0; port < state->n_ports; port++) {
        const bool idle = ports[port].depth_bytes < first_bound_bytes && !ports[port].paused; // as most are
        const uint8_t grade = idle ? 0 : (uint8_t)adaptive_grade(&state->parameters, &ports[port]);
        changed |= grade != state->views[port].grade;
        state->views[port].grade = grade;
    }
    state->generation += changed; /* an idle switch keeps its lists */
}

/* Lists the best ports of a range; room: one place a candidate. Returns how many. */
static uint16_t best_list(const struct path_state *state, uint16_t first, uint16_t count, uint16_t *room) {
    uint8_t least = UINT8_MAX;
    uint16_t n = 0;
    for (uint32_t port = first; port < (uint32_t)first + count; port++) {
        const uint8_t grade = state->views[port].grade;
        if (grade < least) {
            least = grade;
            n = 0;
        }
        if (grade == least) {
            room[n++] = (uint16_t)port;
        }
    }
    return n;
}

/* Whether the range has lists of its own: identical to one that has been seen, or apart from all. */
static bool range_known(struct path_state *state, uint16_t first, uint16_t count) {
    struct port_view *range = &state->views[first];
    if (range->range_count == count && range->range_first == first) {
        return true;
    }
    for (uint32_t port = first; port < (uint32_t)first + count; port++) {
        if (state->views[port].range_count != 0) {
            return false;
        }
    }
    for (uint32_t port = first; port < (uint32_t)first + count; port++) {
        state->views[port].range_first = first;
        state->views[port].range_count = count;
    }
    return true;
}

/* The pick-th best port of a range without a list: counts, then walks. */
static uint16_t range_scan(const struct path_state *state, const struct path_request *request, uint64_t draw) {
    uint8_t least = UINT8_MAX;
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->count; i++) {
        const uint8_t grade = state->views[path_candidate(request, i)].grade;
        n = grade < least ? 1 : n + (grade == least);
        least = grade < least ? grade : least;
    }
    uint32_t pick = hash_below(draw, n);
    uint32_t i = 0;
    while (state->views[path_candidate(request, i)].grade != least || pick-- > 0) {
        i++;
    }
    return path_candidate(request, i);
}

static uint32_t weight_of(const struct path_request *request, uint32_t index) {
    return request->weights[path_candidate(request, index) - request->first_port];
}

/* One of the best ports, in proportion to their weights: adds up, then walks. */
static uint16_t weighted_scan(const struct path_state *state, const struct path_request *request, uint64_t draw) {
    uint8_t least = UINT8_MAX;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < request->count; i++) {
        const uint8_t grade = state->views[path_candidate(request, i)].grade;
        sum = grade < least ? 0 : sum;
        least = grade < least ? grade : least;
        sum += grade == least ? weight_of(request, i) : 0;
    }
    uint32_t pick = hash_below(draw, sum);
    for (uint32_t i = 0;; i++) {
        const uint16_t port = path_candidate(request, i);
        const uint32_t weight = state->views[port].grade == least ? weight_of(request, i) : 0;
        if (pick < weight) {
            return port;
        }
        pick -= weight;
    }
}

static uint16_t adaptive_choose(struct path_state *state, const struct path_request *request) {
    if (!request->adaptive) {
        return ecmp_rule_port(&state->rule, request);
    }
    const uint16_t first = request->first_port;
    REQUIRE((uint32_t)first + request->count <= state->n_ports && request->count > 0 &&
                request->ingress_port < state->n_ports,
            "candidates %u+%u, ingress %u of %u ports", first, request->count, request->ingress_port, state->n_ports);
    struct port_view *ingress = &state->views[request->ingress_port];
    const uint64_t draw = hash_draw(ingress->stream, ingress->draws++);
    if (request->weights != NULL) {
        return weighted_scan(state, request, draw);
    }
    if (request->ports != NULL || !range_known(state, first, request->count)) {
        return range_scan(state, request, draw);
    }
    struct port_view *range = &state->views[first];
    if (range->listed_at != state->generation) {
        range->n_best = best_list(state, first, request->count, &state->best[first]);
        range->listed_at = state->generation;
    }
    return state->best[first + hash_below(draw, range->n_best)];
}

const struct path_policy adaptive_policy = {
    .name = "adaptive",
    .reads_ports = true,
    .reorders = true,
    .weighs = true,
    .create = adaptive_create,
    .refresh = adaptive_refresh,
    .choose = adaptive_choose,
};
