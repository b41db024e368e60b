// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/nscc.h"

#include "congestion/unused.h"

#include <assert.h>
#include <string.h>

#define REFERENCE_ROUND_TRIP_PS 12e6  /* uec.cpp: 12 us */
#define REFERENCE_PRODUCT_BYTES 150e3 /* uec.cpp: 100 Gb/s × 12 us */
#define LARGEST_CUT 0.5               /* uec.cpp: never below half at once */

/* One queue pair. Windows and sums in bytes. */
struct nscc_state {
    uint64_t adjusted_ps, cut_ps, quick_end_ps; /* quick_end_ps 0: not looked at yet */
    float window, increase;                     /* W, I */
    float product_bytes;                        /* BDP */
    float base_ps, smallest_ps, mean_ps;        /* base, smallest round trip seen, mean delay */
    float calm_bytes;                           /* acknowledged in a row without delay */
    float achieved_bytes;                       /* acknowledged since quick adapt was looked at */
    float ignored_bytes;                        /* still to be acknowledged before anything changes again */
    uint16_t packet_bytes;
    uint16_t packets : 14; /* acknowledged since the last adjustment */
    uint16_t fast : 1;     /* a window has been acknowledged without delay */
    uint16_t trimmed : 1;  /* since quick adapt was looked at */
};

static_assert(sizeof(struct nscc_state) <= sizeof(struct congestion_state), "the state must fit");

static struct nscc_state state_load(const struct congestion_state *words) {
    struct nscc_state state;
    memcpy(&state, words, sizeof state);
    return state;
}

static void state_store(struct congestion_state *words, const struct nscc_state *state) {
    memcpy(words, state, sizeof *state);
}

static float largest_window(const struct nscc_parameters *nscc, const struct nscc_state *state) {
    return (float)nscc->largest_window * state->product_bytes;
}

/* A: how much faster and longer the path is than the reference. */
static float scale_of(const struct nscc_state *state) {
    return state->product_bytes / (float)REFERENCE_PRODUCT_BYTES;
}

/* T */
static float target_of(const struct nscc_parameters *nscc, const struct nscc_state *state) {
    return (float)nscc->target * state->base_ps;
}

static void set_window(const struct nscc_parameters *nscc, struct nscc_state *state, float window) {
    const float least = state->packet_bytes, most = largest_window(nscc, state);
    state->window = window > most ? most : window;
    if (state->window < least) {
        state->window = least;
    }
}

static void nscc_start(const struct congestion_parameters *parameters, struct congestion_state *words,
                       uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)line_bits_per_s;
    (void)share;
    const struct nscc_state state = {.adjusted_ps = now_ps, .cut_ps = now_ps};
    state_store(words, &state);
}

static void nscc_placed(const struct congestion_parameters *parameters, struct congestion_state *words,
                        const struct congestion_way *way) {
    struct nscc_state state = state_load(words);
    state.base_ps = state.smallest_ps = (float)way->base_round_trip_ps;
    state.product_bytes = (float)((double)way->line_bits_per_s * (double)way->base_round_trip_ps / 8e12);
    state.packet_bytes = (uint16_t)way->packet_bytes;
    set_window(&parameters->nscc, &state, largest_window(&parameters->nscc, &state));
    state_store(words, &state);
}

/* Queueing delay of a round trip; the smallest one and the mean follow. */
static float delay_of(const struct nscc_parameters *nscc, struct nscc_state *state, uint64_t round_trip_ps,
                      bool marked) {
    const float round_trip = (float)round_trip_ps;
    if (round_trip < state->smallest_ps) {
        state->smallest_ps = round_trip;
    }
    const float delay = round_trip - state->smallest_ps;
    const float counted = !marked && delay > target_of(nscc, state) ? state->base_ps / 4 : delay;
    state->mean_ps += (float)nscc->delay_weight * (counted - state->mean_ps);
    return delay;
}

/* Whether the window collapses to what was acknowledged lately. `bad`: packets were lost, or the delay is far above the target. */
static bool adapts_quickly(const struct nscc_parameters *nscc, struct nscc_state *state, bool bad, float in_flight,
                           uint64_t now_ps) {
    if (now_ps <= state->quick_end_ps) {
        return false;
    }
    const bool first = state->quick_end_ps == 0;
    const bool collapsed = !first && (bad || state->trimmed) &&
                           state->achieved_bytes < (float)nscc->quick_share * largest_window(nscc, state);
    if (collapsed) {
        set_window(nscc, state, state->achieved_bytes);
        state->ignored_bytes = in_flight;
    }
    state->trimmed = false;
    state->achieved_bytes = 0;
    state->quick_end_ps = now_ps + (uint64_t)(state->base_ps + target_of(nscc, state));
    return collapsed;
}

/* No mark, and the delay is below the target. */
static void increase_proportionally(const struct nscc_parameters *nscc, struct nscc_state *state, float bytes,
                                    float delay) {
    state->calm_bytes = delay < (float)nscc->fast_delay_ps ? state->calm_bytes + bytes : 0;
    state->fast = state->calm_bytes > 0 && (state->fast || state->calm_bytes > state->window);
    if (state->fast) {
        set_window(nscc, state, state->window + (float)nscc->fast * scale_of(state) * bytes);
        return;
    }
    const float target = target_of(nscc, state);
    const float step =
        (float)nscc->proportional * state->packet_bytes * scale_of(state) * target / (float)REFERENCE_ROUND_TRIP_PS;
    state->increase += step * bytes * (target - delay) / target;
}

/* A mark, and the delay is not below the target. */
static void decrease(const struct nscc_parameters *nscc, struct nscc_state *state, uint64_t now_ps) {
    const float target = target_of(nscc, state);
    state->calm_bytes = 0;
    state->fast = false;
    if (state->mean_ps <= target || (float)(now_ps - state->cut_ps) <= state->base_ps) {
        return;
    }
    const float factor = 1 - (float)nscc->decrease * (state->mean_ps - target) / state->mean_ps;
    set_window(nscc, state, state->window * (factor > (float)LARGEST_CUT ? factor : (float)LARGEST_CUT));
    state->cut_ps = now_ps;
}

/* Gathered increases enter the window now and then. */
static void adjust(const struct nscc_parameters *nscc, struct nscc_state *state, uint64_t now_ps) {
    const bool period = (float)(now_ps - state->adjusted_ps) > state->base_ps;
    if (!period && state->packets < nscc->adjust_packets) {
        return;
    }
    set_window(nscc, state, state->window + state->increase / state->window);
    if (period) {
        set_window(nscc, state, state->window + (float)nscc->steady * state->packet_bytes * scale_of(state));
        state->adjusted_ps = now_ps;
    }
    state->increase = 0;
    state->packets = 0;
}

/* Step 2 of the rule. */
static void react(const struct nscc_parameters *nscc, struct nscc_state *state, float bytes, float delay, bool marked,
                  uint64_t now_ps) {
    const bool late = delay >= target_of(nscc, state);
    if (marked) {
        if (late) {
            decrease(nscc, state, now_ps);
        }
    } else if (late) {
        state->increase += (float)nscc->fair * state->packet_bytes * scale_of(state) * bytes;
    } else {
        increase_proportionally(nscc, state, bytes, delay);
    }
    adjust(nscc, state, now_ps);
}

static void nscc_acknowledged(const struct congestion_parameters *parameters, struct congestion_state *words,
                              const struct congestion_acknowledgement *acknowledgement, uint64_t now_ps) {
    const struct nscc_parameters *nscc = &parameters->nscc;
    struct nscc_state state = state_load(words);
    const float bytes = (float)acknowledgement->packets * state.packet_bytes;
    const float in_flight = (float)acknowledgement->in_flight * state.packet_bytes;
    const uint32_t packets = state.packets + acknowledgement->packets;
    state.achieved_bytes += bytes;
    state.packets = (uint16_t)(packets < nscc->adjust_packets ? packets : nscc->adjust_packets) & 0x3fff;
    if (acknowledgement->round_trip_ps > 0) {
        const float delay = delay_of(nscc, &state, acknowledgement->round_trip_ps, acknowledgement->marked);
        const bool far_above = delay > (float)nscc->quick_delay * target_of(nscc, &state);
        if (state.ignored_bytes > 0) {
            state.ignored_bytes -= bytes;
        } else if (!adapts_quickly(nscc, &state, far_above, in_flight, now_ps)) {
            react(nscc, &state, bytes, delay, acknowledgement->marked, now_ps);
        }
    }
    state_store(words, &state);
}

static void nscc_lost(const struct congestion_parameters *parameters, struct congestion_state *words, uint64_t now_ps) {
    struct nscc_state state = state_load(words);
    adapts_quickly(&parameters->nscc, &state, true, 0, now_ps);
    state_store(words, &state);
}

static void nscc_trimmed(const struct congestion_parameters *parameters, struct congestion_state *words,
                         uint32_t in_flight, uint64_t now_ps) {
    const struct nscc_parameters *nscc = &parameters->nscc;
    struct nscc_state state = state_load(words);
    state.mean_ps += (float)nscc->delay_weight * (state.base_ps - state.mean_ps);
    state.trimmed = true;
    if (state.ignored_bytes > 0) {
        state.ignored_bytes -= state.packet_bytes;
    } else if (!adapts_quickly(nscc, &state, true, (float)in_flight * state.packet_bytes, now_ps)) {
        set_window(nscc, &state, state.window - state.packet_bytes);
    }
    state_store(words, &state);
}

static uint32_t nscc_window(const struct congestion_parameters *parameters, const struct congestion_state *words,
                            uint32_t acknowledged) {
    (void)acknowledged;
    (void)parameters;
    const struct nscc_state state = state_load(words);
    const uint32_t packets = state.packet_bytes > 0 ? (uint32_t)(state.window / state.packet_bytes) : 0;
    return packets > 0 ? packets : 1;
}

static uint64_t nscc_rate(const struct congestion_parameters *parameters, struct congestion_state *words,
                          uint64_t now_ps) {
    (void)parameters;
    (void)words;
    (void)now_ps;
    return UINT64_MAX; // the window alone holds it back
}

const struct congestion_controller nscc_controller = {
    .name = "nscc",
    .wants_acknowledgements = true,
    .start = nscc_start,
    .announced = unused_announced,
    .notified = unused_told,
    .probed = unused_probed,
    .sent = unused_sent,
    .lost = nscc_lost,
    .trimmed = nscc_trimmed,
    .placed = nscc_placed,
    .acknowledged = nscc_acknowledged,
    .window = nscc_window,
    .rate = nscc_rate,
};
