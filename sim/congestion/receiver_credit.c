// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/receiver_credit.h"

#include "base/rate.h"
#include "congestion/unused.h"

#include <assert.h>
#include <string.h>

#define LEAST_RATE 0.01

enum { MOST_DOUBLINGS = 10 }; /* 2^10 steps of any size are the whole range */

/* One queue pair, at its sender. */
struct receiver_credit_state {
    uint32_t first;  /* packets that need no pull */
    uint32_t pulled; /* the highest number that a pull brought */
};

static_assert(sizeof(struct receiver_credit_state) <= sizeof(struct congestion_state), "the state must fit");

static struct receiver_credit_state state_load(const struct congestion_state *words) {
    struct receiver_credit_state state;
    memcpy(&state, words, sizeof state);
    return state;
}

static void receiver_credit_start(const struct congestion_parameters *parameters, struct congestion_state *words,
                                  uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)line_bits_per_s;
    (void)share;
    (void)now_ps;
    const struct receiver_credit_state state = {.first = 1};
    memcpy(words, &state, sizeof state);
}

static void receiver_credit_placed(const struct congestion_parameters *parameters, struct congestion_state *words,
                                   const struct congestion_way *way) {
    struct receiver_credit_state state = state_load(words);
    const double product_bytes = (double)way->line_bits_per_s * (double)way->base_round_trip_ps / 8e12;
    const double first = parameters->receiver_credit.first_window * product_bytes / (double)way->packet_bytes;
    state.first = first > 1 ? (uint32_t)first : 1;
    memcpy(words, &state, sizeof state);
}

static void receiver_credit_acknowledged(const struct congestion_parameters *parameters, struct congestion_state *words,
                                         const struct congestion_acknowledgement *acknowledgement, uint64_t now_ps) {
    (void)parameters;
    (void)words;
    (void)acknowledgement;
    (void)now_ps; // pulls alone let packets go
}

static void receiver_credit_pulled(const struct congestion_parameters *parameters, struct congestion_state *words,
                                   uint32_t pulled) {
    (void)parameters;
    struct receiver_credit_state state = state_load(words);
    state.pulled = pulled > state.pulled ? pulled : state.pulled; // pulls may overtake each other
    memcpy(words, &state, sizeof state);
}

static uint32_t receiver_credit_window(const struct congestion_parameters *parameters,
                                       const struct congestion_state *words, uint32_t acknowledged) {
    (void)parameters;
    const struct receiver_credit_state state = state_load(words);
    const uint64_t limit = (uint64_t)state.first + state.pulled;
    return limit > acknowledged + UINT64_C(1) ? (uint32_t)(limit - acknowledged) : 1;
}

static uint64_t receiver_credit_rate(const struct congestion_parameters *parameters, struct congestion_state *words,
                                     uint64_t now_ps) {
    (void)parameters;
    (void)words;
    (void)now_ps;
    return UINT64_MAX; // the receiver paces
}

const struct congestion_controller receiver_credit_controller = {
    .name = "receiver_credit",
    .wants_acknowledgements = true,
    .wants_pulls = true,
    .start = receiver_credit_start,
    .announced = unused_announced,
    .notified = unused_told,
    .probed = unused_probed,
    .sent = unused_sent,
    .lost = unused_told,
    .trimmed = unused_trimmed,
    .placed = receiver_credit_placed,
    .acknowledged = receiver_credit_acknowledged,
    .pulled = receiver_credit_pulled,
    .window = receiver_credit_window,
    .rate = receiver_credit_rate,
};

void receiver_credit_begin(struct receiver_credit_pace *pace) {
    *pace = (struct receiver_credit_pace){.rate = 1};
}

/* The end of an interval. */
static void adjust(const struct receiver_credit_parameters *parameters, struct receiver_credit_pace *pace) {
    const uint32_t whole = pace->packets - pace->trims;
    const double share = whole > 0 ? (double)pace->marks / (double)whole : 0;
    const bool trimmed = pace->distant_trims > 0;
    pace->rate -= (double)pace->distant_trims / (double)pace->packets;
    pace->marked = pace->marked / 2 + share / 2;
    if (pace->marked > parameters->tolerated) {
        pace->rate *= 1 - (pace->marked - parameters->tolerated) * parameters->decrease;
        pace->calm = 0;
    } else if (trimmed) {
        pace->calm = 0;
    } else if (pace->marks == 0) {
        pace->rate += parameters->step * (double)(1u << pace->calm);
        pace->calm += pace->calm < MOST_DOUBLINGS;
    } else {
        pace->rate += parameters->step;
        pace->calm = 0;
    }
    pace->rate = pace->rate < LEAST_RATE ? LEAST_RATE : pace->rate > 1 ? 1 : pace->rate;
    pace->packets = pace->marks = pace->trims = pace->distant_trims = 0;
}

/* Something has arrived: intervals end and begin with it. */
static void count(const struct receiver_credit_parameters *parameters, struct receiver_credit_pace *pace,
                  uint64_t now_ps) {
    if (pace->packets > 0 && now_ps >= pace->interval_end_ps) {
        adjust(parameters, pace);
    }
    if (pace->packets == 0) {
        pace->interval_end_ps = now_ps + parameters->interval_ps;
    }
    pace->packets++;
}

void receiver_credit_arrived(const struct receiver_credit_parameters *parameters, struct receiver_credit_pace *pace,
                             bool marked, uint64_t now_ps) {
    if (!parameters->adapts_pace) {
        return;
    }
    count(parameters, pace, now_ps);
    pace->marks += marked;
}

void receiver_credit_trimmed(const struct receiver_credit_parameters *parameters, struct receiver_credit_pace *pace,
                             bool last_hop, uint64_t now_ps) {
    if (!parameters->adapts_pace) {
        return;
    }
    count(parameters, pace, now_ps);
    pace->trims++;
    pace->distant_trims += !last_hop;
}

uint64_t receiver_credit_gap_ps(const struct receiver_credit_pace *pace, uint64_t bytes, uint64_t line_bits_per_s) {
    const uint64_t rate = (uint64_t)((double)line_bits_per_s * pace->rate);
    return (uint64_t)((rate_wide)bytes * UINT64_C(8000000000000) / (rate > 0 ? rate : 1));
}
