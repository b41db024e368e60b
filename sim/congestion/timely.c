// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/timely.h"

#include "congestion/unused.h"

#include <assert.h>
#include <string.h>

/* One queue pair. */
struct timely_state {
    uint64_t line_bits_per_s, rate_bits_per_s;
    uint64_t last_round_trip_ps; /* of the last decision; 0 = none yet */
    double difference_ps;
    uint32_t decided_number; /* the next decision is due once more than this is acknowledged */
    uint32_t stage;          /* increases in a row */
};

static_assert(sizeof(struct timely_state) <= sizeof(struct congestion_state), "the state must fit");

static void timely_start(const struct congestion_parameters *parameters, struct congestion_state *words,
                         uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)share;
    (void)now_ps;
    const struct timely_state state = {.line_bits_per_s = line_bits_per_s, .rate_bits_per_s = line_bits_per_s};
    memcpy(words, &state, sizeof state);
}

static void timely_placed(const struct congestion_parameters *parameters, struct congestion_state *words,
                          const struct congestion_way *way) {
    (void)parameters;
    (void)words;
    (void)way; // thresholds are absolute
}

static uint64_t clamp_rate(const struct timely_parameters *parameters, const struct timely_state *state, double rate) {
    const uint64_t line = state->line_bits_per_s;
    const uint64_t least = parameters->minimum_bits_per_s < line ? parameters->minimum_bits_per_s : line;
    if (rate <= (double)least) {
        return least > 0 ? least : 1;
    }
    return rate >= (double)line ? line : (uint64_t)rate;
}

static double rate_raised(const struct timely_parameters *parameters, struct timely_state *state) {
    const bool hyper = state->stage >= parameters->hyper_stages;
    state->stage += !hyper; // all later ones are alike
    return (double)state->rate_bits_per_s +
           (double)(hyper ? parameters->hyper_bits_per_s : parameters->additive_bits_per_s);
}

static double rate_cut(struct timely_state *state, double factor) {
    state->stage = 0;
    return (double)state->rate_bits_per_s * (factor > 0 ? factor : 0);
}

static double rate_decided(const struct timely_parameters *parameters, struct timely_state *state,
                           uint64_t round_trip_ps) {
    const double gradient = state->difference_ps / (double)parameters->least_round_trip_ps;
    if (round_trip_ps < parameters->low_ps) {
        return rate_raised(parameters, state);
    }
    if (round_trip_ps > parameters->high_ps) {
        const double excess = 1 - (double)parameters->high_ps / (double)round_trip_ps;
        return rate_cut(state, 1 - parameters->decrease * excess);
    }
    return gradient <= 0 ? rate_raised(parameters, state) : rate_cut(state, 1 - parameters->decrease * gradient);
}

static void timely_acknowledged(const struct congestion_parameters *parameters, struct congestion_state *words,
                                const struct congestion_acknowledgement *acknowledgement, uint64_t now_ps) {
    (void)now_ps;
    const struct timely_parameters *timely = &parameters->timely;
    struct timely_state state;
    memcpy(&state, words, sizeof state);
    const uint64_t round_trip_ps = acknowledgement->round_trip_ps;
    const bool first = state.last_round_trip_ps == 0;
    if (round_trip_ps == 0 || (!first && acknowledgement->cumulative <= state.decided_number)) {
        return;
    }
    if (!first) {
        const double change_ps = (double)round_trip_ps - (double)state.last_round_trip_ps;
        state.difference_ps = (1 - timely->weight) * state.difference_ps + timely->weight * change_ps;
        state.rate_bits_per_s = clamp_rate(timely, &state, rate_decided(timely, &state, round_trip_ps));
    }
    state.last_round_trip_ps = round_trip_ps;
    state.decided_number = acknowledgement->next_number;
    memcpy(words, &state, sizeof state);
}

static uint32_t timely_window(const struct congestion_parameters *parameters, const struct congestion_state *words,
                              uint32_t acknowledged) {
    (void)acknowledged;
    (void)parameters;
    (void)words;
    return CONGESTION_UNLIMITED;
}

static uint64_t timely_rate(const struct congestion_parameters *parameters, struct congestion_state *words,
                            uint64_t now_ps) {
    (void)parameters;
    (void)now_ps;
    struct timely_state state;
    memcpy(&state, words, sizeof state);
    return state.rate_bits_per_s;
}

const struct congestion_controller timely_controller = {
    .name = "timely",
    .wants_acknowledgements = true,
    .start = timely_start,
    .announced = unused_announced,
    .notified = unused_told,
    .probed = unused_probed,
    .sent = unused_sent,
    .lost = unused_told,
    .trimmed = unused_trimmed,
    .placed = timely_placed,
    .acknowledged = timely_acknowledged,
    .window = timely_window,
    .rate = timely_rate,
};
