// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/swift.h"

#include "congestion/unused.h"

#include <assert.h>
#include <string.h>

enum { NEWTON_STEPS = 5 };

/* One queue pair. */
struct swift_state {
    uint64_t line_bits_per_s;
    uint64_t decrease_ps;   /* time of the last decrease */
    uint64_t round_trip_ps; /* the last one; at first that of the idle path */
    double window;
    double scaling_slope, scaling_offset; /* in ps: a and b */
    uint64_t target_ps;                   /* without scaling */
    uint32_t packet_bytes;
    uint32_t losses; /* since the last ACK */
};

static_assert(sizeof(struct swift_state) <= sizeof(struct congestion_state), "the state must fit");

static struct swift_state state_load(const struct congestion_state *words) {
    struct swift_state state;
    memcpy(&state, words, sizeof state);
    return state;
}

static void state_store(struct congestion_state *words, const struct swift_state *state) {
    memcpy(words, state, sizeof *state);
}

/* √x of a positive x: half the exponent as a first guess (within 7 %), then Newton's rule, which squares the error. */
static double square_root(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits >> 1) + (UINT64_C(1023) << 51);
    double root;
    memcpy(&root, &bits, sizeof root);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        root = (root + x / root) / 2;
    }
    return root;
}

static double clamp(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

static void swift_start(const struct congestion_parameters *parameters, struct congestion_state *words,
                        uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    (void)share;
    (void)now_ps;
    const struct swift_parameters *swift = &parameters->swift;
    const double at_least = 1 / square_root(swift->scaling_least_window);
    const double at_most = 1 / square_root(swift->scaling_most_window);
    const double slope = at_least > at_most ? (double)swift->scaling_range_ps / (at_least - at_most) : 0;
    const struct swift_state state = {
        .line_bits_per_s = line_bits_per_s, .window = 1, .scaling_slope = slope, .scaling_offset = -slope * at_most};
    state_store(words, &state);
}

static void swift_placed(const struct congestion_parameters *parameters, struct congestion_state *words,
                         const struct congestion_way *way) {
    const struct swift_parameters *swift = &parameters->swift;
    struct swift_state state = state_load(words);
    state.round_trip_ps = way->base_round_trip_ps;
    state.target_ps = swift->base_target_ps + swift->hop_ps * way->switches;
    state.packet_bytes = way->packet_bytes;
    const double packet_ps = (double)way->packet_bytes * 8e12 / (double)way->line_bits_per_s;
    const double first = swift->first_window > 0 ? swift->first_window : (double)way->base_round_trip_ps / packet_ps;
    state.window = clamp(first, swift->least_window, swift->most_window);
    state_store(words, &state);
}

/* Delay that is aimed at with the window as it is. */
static double target_ps(const struct swift_parameters *swift, const struct swift_state *state) {
    const double scaling = state->scaling_slope / square_root(state->window) + state->scaling_offset;
    return (double)state->target_ps + clamp(scaling, 0, (double)swift->scaling_range_ps);
}

static bool may_decrease(const struct swift_state *state, uint64_t now_ps) {
    return now_ps - state->decrease_ps >= state->round_trip_ps;
}

/* Takes on a new window. */
static void settle(const struct swift_parameters *swift, struct swift_state *state, double window, uint64_t now_ps) {
    const double before = state->window;
    state->window = clamp(window, swift->least_window, swift->most_window);
    if (state->window <= before) {
        state->decrease_ps = now_ps;
    }
}

static double window_raised(const struct swift_parameters *swift, double window, uint32_t packets) {
    const double step = swift->additive * packets;
    return window + (window >= 1 ? step / window : step);
}

static double window_cut(const struct swift_parameters *swift, double window, double delay_ps, double aim_ps) {
    const double factor = 1 - swift->decrease * (delay_ps - aim_ps) / delay_ps;
    const double least = 1 - swift->largest_decrease;
    return window * (factor > least ? factor : least);
}

static void swift_acknowledged(const struct congestion_parameters *parameters, struct congestion_state *words,
                               const struct congestion_acknowledgement *acknowledgement, uint64_t now_ps) {
    const struct swift_parameters *swift = &parameters->swift;
    struct swift_state state = state_load(words);
    state.losses = 0;
    if (acknowledgement->round_trip_ps > 0) {
        state.round_trip_ps = acknowledgement->round_trip_ps;
        const double delay_ps = (double)state.round_trip_ps, aim_ps = target_ps(swift, &state);
        if (delay_ps < aim_ps) {
            settle(swift, &state, window_raised(swift, state.window, acknowledgement->packets), now_ps);
        } else if (may_decrease(&state, now_ps)) {
            settle(swift, &state, window_cut(swift, state.window, delay_ps, aim_ps), now_ps);
        }
    }
    state_store(words, &state);
}

static void cut_after_loss(const struct swift_parameters *swift, struct swift_state *state, uint64_t now_ps) {
    if (may_decrease(state, now_ps)) {
        settle(swift, state, state->window * (1 - swift->largest_decrease), now_ps);
    }
}

static void swift_lost(const struct congestion_parameters *parameters, struct congestion_state *words,
                       uint64_t now_ps) {
    const struct swift_parameters *swift = &parameters->swift;
    struct swift_state state = state_load(words);
    state.losses++;
    if (state.losses >= swift->reset_losses) {
        settle(swift, &state, swift->least_window, now_ps);
    } else {
        cut_after_loss(swift, &state, now_ps);
    }
    state_store(words, &state);
}

/* The receiver answers, so it is no silence to count. */
static void swift_trimmed(const struct congestion_parameters *parameters, struct congestion_state *words,
                          uint32_t in_flight, uint64_t now_ps) {
    (void)in_flight;
    struct swift_state state = state_load(words);
    cut_after_loss(&parameters->swift, &state, now_ps);
    state_store(words, &state);
}

static uint32_t swift_window(const struct congestion_parameters *parameters, const struct congestion_state *words,
                             uint32_t acknowledged) {
    (void)acknowledged;
    (void)parameters;
    const struct swift_state state = state_load(words);
    return state.window > 1 ? (uint32_t)state.window : 1;
}

static uint64_t swift_rate(const struct congestion_parameters *parameters, struct congestion_state *words,
                           uint64_t now_ps) {
    (void)parameters;
    (void)now_ps;
    const struct swift_state state = state_load(words);
    if (state.window >= 1 || state.round_trip_ps == 0) {
        return state.line_bits_per_s;
    }
    const double rate = (double)state.packet_bytes * 8e12 * state.window / (double)state.round_trip_ps;
    return (uint64_t)clamp(rate, 1, (double)state.line_bits_per_s);
}

const struct congestion_controller swift_controller = {
    .name = "swift",
    .wants_acknowledgements = true,
    .start = swift_start,
    .announced = unused_announced,
    .notified = unused_told,
    .probed = unused_probed,
    .sent = unused_sent,
    .lost = swift_lost,
    .trimmed = swift_trimmed,
    .placed = swift_placed,
    .acknowledged = swift_acknowledged,
    .window = swift_window,
    .rate = swift_rate,
};
