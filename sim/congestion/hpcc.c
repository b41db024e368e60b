// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/hpcc.h"

#include "congestion/telemetry.h"
#include "congestion/unused.h"

#include <assert.h>
#include <string.h>

#define PS_A_SECOND 1e12
#define BITS_A_BYTE 8

/* One queue pair. */
struct hpcc_state {
    uint64_t line_bits_per_s;
    double window, reference; /* W, Wc in bytes */
    uint32_t packet_bytes;
    uint32_t decided_number; /* Wc is set again once more than this is acknowledged */
    uint32_t stage;
    bool seen; /* an ACK with telemetry has come */
};

static_assert(sizeof(struct hpcc_state) <= sizeof(struct congestion_state), "the state must fit");

static struct hpcc_state state_load(const struct congestion_state *words) {
    struct hpcc_state state;
    memcpy(&state, words, sizeof state);
    return state;
}

/* B × T */
static double largest_window(const struct hpcc_parameters *hpcc, const struct hpcc_state *state) {
    return (double)state->line_bits_per_s * (double)hpcc->round_trip_ps / (BITS_A_BYTE * PS_A_SECOND);
}

static double clamp_window(const struct hpcc_parameters *hpcc, const struct hpcc_state *state, double window) {
    const double most = largest_window(hpcc, state), least = state->packet_bytes;
    const double low = window > most ? most : window;
    return low < least ? least : low;
}

static void hpcc_start(const struct congestion_parameters *parameters, struct congestion_state *words,
                       uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)share;
    (void)now_ps;
    const struct hpcc_state state = {.line_bits_per_s = line_bits_per_s};
    memcpy(words, &state, sizeof state);
}

static void hpcc_placed(const struct congestion_parameters *parameters, struct congestion_state *words,
                        const struct congestion_way *way) {
    struct hpcc_state state = state_load(words);
    state.packet_bytes = way->packet_bytes;
    state.window = state.reference = clamp_window(&parameters->hpcc, &state, largest_window(&parameters->hpcc, &state));
    memcpy(words, &state, sizeof state);
}

/* W and the stage by an utilisation; both are taken over where `whole`, a round trip after the last time. */
static void decide(const struct hpcc_parameters *hpcc, struct hpcc_state *state, double utilisation, bool whole) {
    const double excess = utilisation / hpcc->target;
    const double step = (double)hpcc->additive_bits_per_s * (double)hpcc->round_trip_ps / (BITS_A_BYTE * PS_A_SECOND);
    const bool multiply = excess >= 1 || state->stage >= hpcc->largest_stage;
    const double window = multiply ? state->reference / excess + step : state->reference + step;
    state->window = clamp_window(hpcc, state, window);
    if (whole) {
        state->reference = state->window;
        state->stage = multiply ? 0 : state->stage + 1;
    }
}

static void hpcc_acknowledged(const struct congestion_parameters *parameters, struct congestion_state *words,
                              const struct congestion_acknowledgement *acknowledgement, uint64_t now_ps) {
    (void)now_ps;
    if (acknowledgement->telemetry == 0) {
        return;
    }
    struct hpcc_state state = state_load(words);
    const bool whole = !state.seen || acknowledgement->cumulative > state.decided_number;
    if (state.seen) {
        decide(&parameters->hpcc, &state, telemetry_utilisation(acknowledgement->telemetry), whole);
    }
    if (whole) {
        state.decided_number = acknowledgement->next_number;
    }
    state.seen = true;
    memcpy(words, &state, sizeof state);
}

static uint32_t hpcc_window(const struct congestion_parameters *parameters, const struct congestion_state *words,
                            uint32_t acknowledged) {
    (void)acknowledged;
    (void)parameters;
    const struct hpcc_state state = state_load(words);
    const uint32_t packets = state.packet_bytes > 0 ? (uint32_t)(state.window / state.packet_bytes) : 0;
    return packets > 0 ? packets : 1;
}

static uint64_t hpcc_rate(const struct congestion_parameters *parameters, struct congestion_state *words,
                          uint64_t now_ps) {
    (void)now_ps;
    const struct hpcc_state state = state_load(words);
    const double rate = state.window * BITS_A_BYTE * PS_A_SECOND / (double)parameters->hpcc.round_trip_ps;
    return rate > 1 ? (uint64_t)rate : 1;
}

const struct congestion_controller hpcc_controller = {
    .name = "hpcc",
    .wants_acknowledgements = true,
    .wants_telemetry = true,
    .start = hpcc_start,
    .announced = unused_announced,
    .notified = unused_told,
    .probed = unused_probed,
    .sent = unused_sent,
    .lost = unused_told,
    .trimmed = unused_trimmed,
    .placed = hpcc_placed,
    .acknowledged = hpcc_acknowledged,
    .window = hpcc_window,
    .rate = hpcc_rate,
};
