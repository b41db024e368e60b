// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/spectrum_x.h"

#include "base/hash.h"
#include "base/rate.h"

#include <assert.h>
#include <string.h>

enum { FXP16_ONE = 1 << 16, FXP20_ONE = 1 << 20, RATE_BITS = 20, FACTOR_BITS = 16 };
enum { STRONG_CUT = 2, LOSS_CUT = 5 }; /* multiples of the responsiveness (rtt_template) */
enum { SMALLEST_RESET_REPLIES = 256 }; /* once in so many replies (rtt_template) */

enum { WINDOW_LIMIT_BYTES = 65536 }; /* 16 packets of 4 KiB: enough to tell half from whole */

/* One queue pair. */
struct spectrum_x_state {
    uint64_t line_bits_per_s;
    uint64_t smallest_round_trip_ps;
    uint64_t last_round_trip_ps; /* 0 = no reply yet since the start */
    uint64_t last_reply_ps;
    uint64_t last_cut_ps; /* or the start */
    uint64_t window_ps;   /* since when sent_bytes are counted */
    uint64_t sent_bytes;
    uint32_t rate_fxp20; /* share of the line */
    uint32_t was_cut : 1;
    uint32_t was_notified : 1; /* since the last decision */
    uint32_t was_lost : 1;     /* until it has led to a cut */
};

static_assert(sizeof(struct spectrum_x_state) <= sizeof(struct congestion_state), "the state must fit");

static struct spectrum_x_state state_load(const struct congestion_state *words) {
    struct spectrum_x_state state;
    memcpy(&state, words, sizeof state);
    return state;
}

static void state_store(struct congestion_state *words, const struct spectrum_x_state *state) {
    memcpy(words, state, sizeof *state);
}

static uint32_t clamp_rate(const struct spectrum_x_parameters *parameters, uint64_t rate_fxp20) {
    const uint64_t least = parameters->minimum_fxp20 > 0 ? parameters->minimum_fxp20 : 1;
    const uint64_t rate = rate_fxp20 > least ? rate_fxp20 : least;
    return (uint32_t)(rate < FXP20_ONE ? rate : FXP20_ONE);
}

/* What is sent from now on shows whether the rate is used. */
static void count_anew(struct spectrum_x_state *state, uint64_t now_ps) {
    state->window_ps = now_ps;
    state->sent_bytes = 0;
}

/* Begins a series: rate, first cut and hyper period anew. share 0 = line rate. */
static void begin(const struct spectrum_x_parameters *parameters, struct spectrum_x_state *state, uint32_t share,
                  uint64_t now_ps) {
    const bool paced = parameters->early_pacing && share > 0;
    state->rate_fxp20 = clamp_rate(parameters, paced ? share : FXP20_ONE);
    state->last_round_trip_ps = 0;
    state->last_reply_ps = now_ps;
    state->last_cut_ps = now_ps;
    count_anew(state, now_ps);
    state->was_cut = false;
    state->was_notified = false;
    state->was_lost = false;
}

static void spectrum_x_start(const struct congestion_parameters *parameters, struct congestion_state *words,
                             uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    struct spectrum_x_state state = {
        .line_bits_per_s = line_bits_per_s,
        .smallest_round_trip_ps = parameters->spectrum_x.base_round_trip_ps,
    };
    begin(&parameters->spectrum_x, &state, share, now_ps);
    state_store(words, &state);
}

static void spectrum_x_announced(const struct congestion_parameters *parameters, struct congestion_state *words,
                                 uint32_t share, uint64_t now_ps) {
    struct spectrum_x_state state = state_load(words);
    const bool idle = now_ps - state.last_reply_ps > 2 * state.last_round_trip_ps;
    if (parameters->spectrum_x.early_pacing && share > 0 && (state.last_round_trip_ps == 0 || idle)) {
        begin(&parameters->spectrum_x, &state, share, now_ps);
        state_store(words, &state);
    }
}

static void spectrum_x_sent(const struct congestion_parameters *parameters, struct congestion_state *words,
                            uint32_t size_bytes, uint64_t now_ps) {
    (void)parameters;
    (void)now_ps;
    struct spectrum_x_state state = state_load(words);
    state.sent_bytes += size_bytes;
    state_store(words, &state);
}

static void spectrum_x_notified(const struct congestion_parameters *parameters, struct congestion_state *words,
                                uint64_t now_ps) {
    (void)parameters;
    (void)now_ps;
    struct spectrum_x_state state = state_load(words);
    state.was_notified = true;
    state_store(words, &state);
}

static void spectrum_x_lost(const struct congestion_parameters *parameters, struct congestion_state *words,
                            uint64_t now_ps) {
    (void)parameters;
    (void)now_ps;
    struct spectrum_x_state state = state_load(words);
    state.was_lost = true;
    state_store(words, &state);
}

static void spectrum_x_trimmed(const struct congestion_parameters *parameters, struct congestion_state *words,
                               uint32_t in_flight, uint64_t now_ps) {
    (void)in_flight;
    spectrum_x_lost(parameters, words, now_ps); // trimmed is lost
}

/* Queueing delay of a sample; follows the smallest round trip. */
static uint64_t queueing_delay(const struct spectrum_x_parameters *parameters, struct spectrum_x_state *state,
                               uint64_t round_trip_ps, uint64_t now_ps) {
    if (hash_mix(now_ps) % SMALLEST_RESET_REPLIES == 0) {
        state->smallest_round_trip_ps = parameters->base_round_trip_ps;
    }
    if (round_trip_ps < state->smallest_round_trip_ps) {
        state->smallest_round_trip_ps = round_trip_ps;
    }
    return round_trip_ps - state->smallest_round_trip_ps;
}

/* responsiveness × distance / threshold, at most 1. */
static uint32_t response(const struct spectrum_x_parameters *parameters, uint64_t distance_ps) {
    const uint64_t threshold_ps = parameters->delay_threshold_ps;
    if (threshold_ps == 0) {
        return distance_ps == 0 ? 0 : FXP16_ONE;
    }
    const rate_wide change = (rate_wide)parameters->responsiveness_fxp16 * distance_ps / threshold_ps;
    return change < FXP16_ONE ? (uint32_t)change : FXP16_ONE;
}

/* Factor of a cut by a multiple of the responsiveness. */
static uint32_t strong_factor(const struct spectrum_x_parameters *parameters, uint32_t multiple) {
    const uint64_t cut = (uint64_t)multiple * parameters->responsiveness_fxp16;
    return cut < FXP16_ONE ? FXP16_ONE - (uint32_t)cut : 0;
}

/* Whether a decision cuts, and by which factor. */
static bool congested(const struct spectrum_x_parameters *parameters, struct spectrum_x_state *state, uint64_t delay_ps,
                      uint32_t *factor) {
    const bool late = delay_ps >= parameters->largest_delay_ps;
    if (state->was_lost && late) {
        state->was_lost = false;
        *factor = strong_factor(parameters, LOSS_CUT);
        return true;
    }
    if (state->was_notified || late) {
        state->was_notified = false;
        *factor = strong_factor(parameters, STRONG_CUT);
        return true;
    }
    if (delay_ps <= parameters->delay_threshold_ps) {
        return false;
    }
    *factor = FXP16_ONE - response(parameters, delay_ps - parameters->delay_threshold_ps);
    if (*factor < parameters->largest_decrease_fxp16) {
        *factor = parameters->largest_decrease_fxp16;
    }
    return true;
}

/* Rate after a decision that cuts. */
static void rate_cut(const struct spectrum_x_parameters *parameters, struct spectrum_x_state *state, uint32_t factor,
                     uint64_t now_ps) {
    uint64_t rate = ((uint64_t)state->rate_fxp20 * factor) >> FACTOR_BITS;
    if (!state->was_cut && rate > parameters->first_congestion_fxp20) {
        rate = parameters->first_congestion_fxp20;
    }
    state->was_cut = true;
    state->last_cut_ps = now_ps;
    count_anew(state, now_ps);
    state->rate_fxp20 = clamp_rate(parameters, rate);
}

/*
 * Whether at least half of what the rate allowed since the last change of it was sent. A queue pair that something
 * else holds back (its NIC serves others in turn, or there was little to send) learns nothing of its rate from the
 * lack of delay. Where half cannot be told yet the next decision may; after WINDOW_LIMIT_BYTES it counts anew.
 */
static bool rate_is_used(struct spectrum_x_state *state, uint64_t now_ps) {
    const rate_wide rate = (rate_wide)state->line_bits_per_s * state->rate_fxp20 >> RATE_BITS;
    const uint64_t allowed_bytes = (uint64_t)(rate * (now_ps - state->window_ps) / UINT64_C(8000000000000));
    if (state->sent_bytes > 0 && 2 * state->sent_bytes >= allowed_bytes) {
        return true;
    }
    if (allowed_bytes > WINDOW_LIMIT_BYTES) {
        count_anew(state, now_ps);
    }
    return false;
}

/* Rate after a decision that does not cut. */
static void rate_raise(const struct spectrum_x_parameters *parameters, struct spectrum_x_state *state,
                       uint64_t delay_ps, uint64_t now_ps) {
    if (!rate_is_used(state, now_ps)) {
        return;
    }
    count_anew(state, now_ps);
    uint32_t factor = FXP16_ONE + response(parameters, parameters->delay_threshold_ps - delay_ps);
    if (factor > parameters->largest_increase_fxp16) {
        factor = parameters->largest_increase_fxp16;
    }
    const bool calm = now_ps - state->last_cut_ps >= parameters->hyper_period_ps;
    const uint32_t step = calm ? parameters->hyper_additive_fxp20 : parameters->additive_fxp20;
    state->rate_fxp20 = clamp_rate(parameters, (((uint64_t)state->rate_fxp20 * factor) >> FACTOR_BITS) + step);
}

static void spectrum_x_probed(const struct congestion_parameters *parameters, struct congestion_state *words,
                              uint64_t round_trip_ps, uint64_t now_ps) {
    const struct spectrum_x_parameters *spectrum_x = &parameters->spectrum_x;
    struct spectrum_x_state state = state_load(words);
    const uint64_t delay_ps = queueing_delay(spectrum_x, &state, round_trip_ps, now_ps);
    state.last_round_trip_ps = round_trip_ps;
    state.last_reply_ps = now_ps;
    uint32_t factor;
    if (congested(spectrum_x, &state, delay_ps, &factor)) {
        rate_cut(spectrum_x, &state, factor, now_ps);
    } else {
        rate_raise(spectrum_x, &state, delay_ps, now_ps);
    }
    state_store(words, &state);
}

static uint64_t spectrum_x_rate(const struct congestion_parameters *parameters, struct congestion_state *words,
                                uint64_t now_ps) {
    (void)parameters;
    (void)now_ps;
    const struct spectrum_x_state state = state_load(words);
    const uint64_t rate = (uint64_t)(((rate_wide)state.line_bits_per_s * state.rate_fxp20) >> RATE_BITS);
    return rate > 0 ? rate : 1;
}

const struct congestion_controller spectrum_x_controller = {
    .name = "spectrum_x",
    .wants_notifications = true,
    .wants_probes = true,
    .counts_bytes = true,
    .start = spectrum_x_start,
    .announced = spectrum_x_announced,
    .notified = spectrum_x_notified,
    .probed = spectrum_x_probed,
    .sent = spectrum_x_sent,
    .lost = spectrum_x_lost,
    .trimmed = spectrum_x_trimmed,
    .rate = spectrum_x_rate,
};
