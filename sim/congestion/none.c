// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/none.h"

#include "congestion/unused.h"

enum { WORD_LINE = 0 };

static void none_start(const struct congestion_parameters *parameters, struct congestion_state *state,
                       uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)share;
    (void)now_ps;
    state->words[WORD_LINE] = line_bits_per_s;
}

static void none_announced(const struct congestion_parameters *parameters, struct congestion_state *state,
                           uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)state;
    (void)share;
    (void)now_ps;
}

static void none_told(const struct congestion_parameters *parameters, struct congestion_state *state, uint64_t now_ps) {
    (void)parameters;
    (void)state;
    (void)now_ps;
}

static void none_probed(const struct congestion_parameters *parameters, struct congestion_state *state,
                        uint64_t round_trip_ps, uint64_t now_ps) {
    (void)parameters;
    (void)state;
    (void)round_trip_ps;
    (void)now_ps;
}

static void none_sent(const struct congestion_parameters *parameters, struct congestion_state *state,
                      uint32_t size_bytes, uint64_t now_ps) {
    (void)parameters;
    (void)state;
    (void)size_bytes;
    (void)now_ps;
}

static uint64_t none_rate(const struct congestion_parameters *parameters, struct congestion_state *state,
                          uint64_t now_ps) {
    (void)parameters;
    (void)now_ps;
    return state->words[WORD_LINE];
}

const struct congestion_controller none_controller = {
    .name = "none",
    .wants_notifications = false,
    .wants_probes = false,
    .start = none_start,
    .announced = none_announced,
    .notified = none_told,
    .probed = none_probed,
    .sent = none_sent,
    .lost = none_told,
    .trimmed = unused_trimmed,
    .rate = none_rate,
};
