// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/dcqcn.h"

#include "base/error.h"
#include "base/number.h"
#include "base/rate.h"
#include "congestion/unused.h"

#include <assert.h>
#include <string.h>

enum { ALPHA_BITS = 31, GAIN_BITS = 20, STAGE_BITS = 29 };

#define ALPHA_ONE (UINT32_C(1) << ALPHA_BITS)

/* One queue pair. The clocks hold the next time of each recurrence; alpha_next_ps 0 = no notification yet. */
struct dcqcn_state {
    uint64_t rate_bits_per_s;
    uint64_t target_bits_per_s;
    uint64_t line_bits_per_s;
    uint64_t alpha_next_ps;
    uint64_t decrease_next_ps; /* first decrease after the last notification */
    uint64_t increase_next_ps; /* TIME_NEVER until the first decrease */
    uint32_t alpha;            /* ALPHA_ONE = 1 */
    uint32_t stage : 30;       /* stays at F + 1: all later ones are alike */
    uint32_t alpha_seen : 1;   /* a notification since the last alpha update */
    uint32_t decrease_due : 1; /* a notification since the last decrease */
};

static_assert(sizeof(struct dcqcn_state) <= sizeof(struct congestion_state), "the state of DCQCN must fit");

/* The opaque words are read and written through a copy: no aliasing, and compilers make it disappear. */
static struct dcqcn_state state_load(const struct congestion_state *words) {
    struct dcqcn_state state;
    memcpy(&state, words, sizeof state);
    return state;
}

static void state_store(struct congestion_state *words, const struct dcqcn_state *state) {
    memcpy(words, state, sizeof *state);
}

/* Never above the line, never 0: a rate of 0 would stop the queue pair for good. */
static uint64_t floor_rate(const struct dcqcn_parameters *parameters, const struct dcqcn_state *state) {
    const uint64_t least = number_smaller(parameters->minimum_bits_per_s, state->line_bits_per_s);
    return least > 0 ? least : 1;
}

/* First time after `now` on a clock that is due at `next` and every period. */
static uint64_t clock_after(uint64_t next_ps, uint64_t period_ps, uint64_t now_ps) {
    return next_ps > now_ps ? next_ps : next_ps + ((now_ps - next_ps) / period_ps + 1) * period_ps;
}

/* All alpha updates up to and including `until`. Ends early once updates change nothing. */
static void alpha_advance(const struct dcqcn_parameters *parameters, struct dcqcn_state *state, uint64_t until_ps) {
    const uint32_t keep = (UINT32_C(1) << GAIN_BITS) - parameters->gain_fxp20;
    while (state->alpha_next_ps <= until_ps) {
        const uint32_t old = state->alpha;
        const bool seen = state->alpha_seen;
        state->alpha = (uint32_t)(((uint64_t)old * keep) >> GAIN_BITS);
        state->alpha += seen ? parameters->gain_fxp20 << (ALPHA_BITS - GAIN_BITS) : 0;
        state->alpha_seen = false;
        state->alpha_next_ps += parameters->alpha_period_ps;
        if (!seen && state->alpha == old) {
            state->alpha_next_ps = clock_after(state->alpha_next_ps, parameters->alpha_period_ps, until_ps);
        }
    }
}

/* One expiry of the increase timer. */
static void rate_increase(const struct dcqcn_parameters *parameters, struct dcqcn_state *state) {
    const uint32_t last_recovery = parameters->fast_recovery_stages;
    if (state->stage >= last_recovery) {
        const uint64_t step =
            state->stage == last_recovery ? parameters->additive_bits_per_s : parameters->hyper_bits_per_s;
        state->target_bits_per_s = number_smaller(state->line_bits_per_s, state->target_bits_per_s + step);
    }
    state->rate_bits_per_s = (state->rate_bits_per_s + state->target_bits_per_s + 1) / 2;
    if (state->stage <= last_recovery) {
        state->stage++;
    }
}

/* Whether the increase timer can change nothing any more. */
static bool increase_settled(const struct dcqcn_parameters *parameters, const struct dcqcn_state *state) {
    return state->rate_bits_per_s == state->target_bits_per_s && state->stage > parameters->fast_recovery_stages &&
           (state->target_bits_per_s == state->line_bits_per_s || parameters->hyper_bits_per_s == 0);
}

/* All increases before `end` (exclusive). */
static void increase_advance(const struct dcqcn_parameters *parameters, struct dcqcn_state *state, uint64_t end_ps) {
    while (state->increase_next_ps < end_ps) {
        if (increase_settled(parameters, state)) {
            state->increase_next_ps = clock_after(state->increase_next_ps, parameters->increase_period_ps, end_ps - 1);
            return;
        }
        rate_increase(parameters, state);
        state->increase_next_ps += parameters->increase_period_ps;
    }
}

/* The decrease that is due, at its time. */
static void rate_decrease(const struct dcqcn_parameters *parameters, struct dcqcn_state *state) {
    const uint64_t now_ps = state->decrease_next_ps;
    alpha_advance(parameters, state, now_ps);
    if (parameters->clamp_target || state->stage != 0) {
        state->target_bits_per_s = state->rate_bits_per_s;
    }
    const uint64_t rate = state->rate_bits_per_s;
    const uint64_t cut = rate - (uint64_t)(((rate_wide)rate * state->alpha) >> (ALPHA_BITS + 1));
    const uint64_t least = floor_rate(parameters, state);
    state->rate_bits_per_s = cut > least ? cut : least;
    state->stage = 0;
    state->decrease_due = false;
    state->increase_next_ps = now_ps + parameters->increase_period_ps;
}

/* Brings the rate to `now`; alpha is brought up only where a decrease reads it. */
static void rate_advance(const struct dcqcn_parameters *parameters, struct dcqcn_state *state, uint64_t now_ps) {
    if (state->decrease_due && state->decrease_next_ps <= now_ps) {
        increase_advance(parameters, state, state->decrease_next_ps);
        rate_decrease(parameters, state);
    }
    increase_advance(parameters, state, now_ps + 1);
}

static void dcqcn_start(const struct congestion_parameters *parameters, struct congestion_state *words,
                        uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps) {
    (void)parameters;
    (void)share;
    (void)now_ps;
    const struct dcqcn_state state = {
        .rate_bits_per_s = line_bits_per_s,
        .target_bits_per_s = line_bits_per_s,
        .line_bits_per_s = line_bits_per_s,
        .alpha_next_ps = 0,
        .increase_next_ps = TIME_NEVER,
    };
    state_store(words, &state);
}

/* What the configuration must have refused. */
static void parameters_check(const struct dcqcn_parameters *parameters) {
    REQUIRE(parameters->alpha_period_ps > 0 && parameters->decrease_period_ps > 0 && parameters->increase_period_ps > 0,
            "a clock of DCQCN has period 0");
    REQUIRE(parameters->gain_fxp20 <= UINT32_C(1) << GAIN_BITS, "gain %u / 2^20 above 1", parameters->gain_fxp20);
    REQUIRE(parameters->fast_recovery_stages < UINT32_C(1) << STAGE_BITS, "%u stages of fast recovery",
            parameters->fast_recovery_stages);
}

static void first_notification(const struct dcqcn_parameters *parameters, struct dcqcn_state *state, uint64_t now_ps) {
    parameters_check(parameters);
    const uint64_t first = (uint64_t)(((rate_wide)state->rate_bits_per_s * parameters->first_rate_fxp20) >> GAIN_BITS);
    const uint64_t least = floor_rate(parameters, state);
    state->rate_bits_per_s = number_smaller(state->line_bits_per_s, first > least ? first : least);
    state->target_bits_per_s = state->rate_bits_per_s;
    state->alpha = ALPHA_ONE;
    state->alpha_next_ps = now_ps + parameters->alpha_period_ps;
    state->decrease_next_ps = now_ps + parameters->decrease_period_ps;
    state->decrease_due = true;
}

static void dcqcn_notified(const struct congestion_parameters *parameters, struct congestion_state *words,
                           uint64_t now_ps) {
    const struct dcqcn_parameters *dcqcn = &parameters->dcqcn;
    struct dcqcn_state state = state_load(words);
    if (state.alpha_next_ps == 0) {
        first_notification(dcqcn, &state, now_ps);
    } else {
        rate_advance(dcqcn, &state, now_ps);
        alpha_advance(dcqcn, &state, now_ps);
        state.alpha_seen = true;
        if (!state.decrease_due) {
            state.decrease_next_ps = clock_after(state.decrease_next_ps, dcqcn->decrease_period_ps, now_ps);
            state.decrease_due = true;
        }
    }
    state_store(words, &state);
}

/* Out of line, so that the common case of dcqcn_rate stays in registers. */
__attribute__((noinline)) static uint64_t rate_catch_up(const struct dcqcn_parameters *parameters,
                                                        struct congestion_state *words, uint64_t now_ps) {
    struct dcqcn_state state = state_load(words);
    rate_advance(parameters, &state, now_ps);
    state_store(words, &state);
    return state.rate_bits_per_s;
}

static uint64_t dcqcn_rate(const struct congestion_parameters *parameters, struct congestion_state *words,
                           uint64_t now_ps) {
    const struct dcqcn_state state = state_load(words);
    const bool cut = state.decrease_due && state.decrease_next_ps <= now_ps;
    if (cut || state.increase_next_ps <= now_ps) {
        return rate_catch_up(&parameters->dcqcn, words, now_ps);
    }
    return state.rate_bits_per_s;
}

static void dcqcn_announced(const struct congestion_parameters *parameters, struct congestion_state *words,
                            uint32_t share, uint64_t now_ps) {
    (void)parameters; /* DCQCN knows no announcements */
    (void)words;
    (void)share;
    (void)now_ps;
}

static void dcqcn_probed(const struct congestion_parameters *parameters, struct congestion_state *words,
                         uint64_t round_trip_ps, uint64_t now_ps) {
    (void)parameters; /* nor probes */
    (void)words;
    (void)round_trip_ps;
    (void)now_ps;
}

static void dcqcn_sent(const struct congestion_parameters *parameters, struct congestion_state *state,
                       uint32_t size_bytes, uint64_t now_ps) {
    (void)parameters;
    (void)state;
    (void)size_bytes;
    (void)now_ps;
}

static void dcqcn_lost(const struct congestion_parameters *parameters, struct congestion_state *words,
                       uint64_t now_ps) {
    (void)parameters; /* nor losses */
    (void)words;
    (void)now_ps;
}

const struct congestion_controller dcqcn_controller = {
    .name = "dcqcn",
    .wants_notifications = true,
    .wants_probes = false,
    .start = dcqcn_start,
    .announced = dcqcn_announced,
    .notified = dcqcn_notified,
    .probed = dcqcn_probed,
    .sent = dcqcn_sent,
    .lost = dcqcn_lost,
    .trimmed = unused_trimmed,
    .rate = dcqcn_rate,
};
