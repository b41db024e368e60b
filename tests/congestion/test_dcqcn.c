// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "base/rate.h"
#include "congestion/dcqcn.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

#define US UINT64_C(1000000)
#define LINE UINT64_C(400000000000)
#define MBIT UINT64_C(1000000)

static const struct congestion_controller *dcqcn;

/* Steps scaled to 400 Gb/s: additive 80 Mb/s, hyper 800 Mb/s. */
static struct congestion_parameters mellanox(void) {
    struct congestion_parameters parameters = {.kind = CONGESTION_DCQCN};
    ck_assert(dcqcn_profile("mellanox", LINE, true, &parameters.dcqcn, &parameters.notification_interval_ps));
    return parameters;
}

static struct congestion_state started(const struct congestion_parameters *parameters) {
    struct congestion_state state = {{0}};
    dcqcn = congestion_controller_of(CONGESTION_DCQCN);
    dcqcn->start(parameters, &state, LINE, 0, 0);
    return state;
}

START_TEST(sends_at_line_rate_until_the_first_notification) {
    const struct congestion_parameters parameters = mellanox();
    struct congestion_state state = started(&parameters);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 0), LINE);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 500000 * US), LINE);
    ck_assert(dcqcn->wants_notifications && !dcqcn->wants_probes);
}
END_TEST

/*
 * By hand. Notification at 10 us. Alpha, 31 bits: 2147483648, at 11 us × 255/256 = 2139095040, then 2130739200,
 * 2122416000, at 14 us floor(2114125312.5) = 2114125312. Cut at 14 us: R = 4e11 - floor(4e11 × alpha / 2^32)
 * = 4e11 - 196893262863 = 203106737137; the target stays 4e11 (stage 0). Timer at 314 us (stage 0 < F = 1):
 * R = (R + 4e11) / 2 = 301553368569. At 614 us (stage 1 = F): target min(line, + 80e6) = line; R = ceil(350776684284.5).
 * At 914 us (stage 2 > F): target = line; R = ceil(375388342142.5).
 */
START_TEST(first_cut_and_recovery_follow_the_published_steps) {
    const struct congestion_parameters parameters = mellanox();
    struct congestion_state state = started(&parameters);
    dcqcn->notified(&parameters, &state, 10 * US);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 14 * US - 1), LINE);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 14 * US), UINT64_C(203106737137));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 314 * US - 1), UINT64_C(203106737137));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 314 * US), UINT64_C(301553368569));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 614 * US), UINT64_C(350776684285));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 914 * US), UINT64_C(375388342143));
}
END_TEST

/*
 * g = 1/2, periods 1, 2 and 10 us, F = 1, additive 1e9, hyper 3e9, target clamped. Notification at 0: alpha 1/2 at 1 us,
 * 1/4 at 2 us: cut to 4e11 × 7/8 = 350e9, target 400e9 clamped to R before the cut = 400e9. Notification at 2.5 us: alpha
 * at 3 us 1/8 + 1/2 = 5/8, at 4 us 5/16: target = 350e9, R = 350e9 × 27/32 = 295312500000. 14 us: fast recovery,
 * R = 322656250000. 24 us: target 351e9, R = 336828125000. 34 us: target 354e9, R = 345414062500. 44 us: target 357e9.
 */
START_TEST(clamped_target_then_fast_additive_and_hyper_increase) {
    struct congestion_parameters parameters = mellanox();
    parameters.dcqcn =
        (struct dcqcn_parameters){1 << 19, US, 2 * US, 10 * US, 1, 1000 * MBIT, 3000 * MBIT, MBIT, 1 << 20, true};
    struct congestion_state state = started(&parameters);
    dcqcn->notified(&parameters, &state, 0);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 2 * US), UINT64_C(350000000000));
    dcqcn->notified(&parameters, &state, 2 * US + US / 2);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 4 * US), UINT64_C(295312500000));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 14 * US), UINT64_C(322656250000));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 24 * US), UINT64_C(336828125000));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 34 * US), UINT64_C(345414062500));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 44 * US), UINT64_C(351207031250));
}
END_TEST

/* As above without the clamp: the second cut is in stage 0, so the target is still 400e9 and R recovers to half of that. */
START_TEST(without_the_clamp_a_series_of_cuts_keeps_its_target) {
    struct congestion_parameters parameters = mellanox();
    parameters.dcqcn =
        (struct dcqcn_parameters){1 << 19, US, 2 * US, 10 * US, 1, 1000 * MBIT, 3000 * MBIT, MBIT, 1 << 20, false};
    struct congestion_state state = started(&parameters);
    dcqcn->notified(&parameters, &state, 0);
    dcqcn->notified(&parameters, &state, 2 * US + US / 2);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 4 * US), UINT64_C(295312500000));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 14 * US), UINT64_C(347656250000));
    /* now in stage 1: a cut clamps after all. Alpha at 15 us: 5/16 halved 11 times; the notification counts at 16 us. */
    dcqcn->notified(&parameters, &state, 15 * US);
    const uint64_t cut = dcqcn->rate(&parameters, &state, 16 * US);
    ck_assert_uint_lt(cut, UINT64_C(347656250000));
    const uint64_t recovered = dcqcn->rate(&parameters, &state, 26 * US);
    ck_assert_uint_eq(recovered, (cut + UINT64_C(347656250000) + 1) / 2);
}
END_TEST

START_TEST(first_notification_applies_its_share_at_once) {
    struct congestion_parameters parameters = mellanox();
    parameters.dcqcn.first_rate_fxp20 = 1 << 18;
    struct congestion_state state = started(&parameters);
    dcqcn->notified(&parameters, &state, 3 * US);
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 3 * US), LINE / 4);
}
END_TEST

/* Decrease at 4 us restarts the timer that would expire at 4 us; a notification at a tick counts for the next one. */
START_TEST(order_at_equal_times_is_alpha_decrease_increase_notification) {
    struct congestion_parameters parameters = mellanox();
    parameters.dcqcn = (struct dcqcn_parameters){1 << 19, US, 2 * US, 2 * US, 9, MBIT, MBIT, MBIT, 1 << 20, false};
    struct congestion_state state = started(&parameters);
    dcqcn->notified(&parameters, &state, 0);
    dcqcn->notified(&parameters, &state, 2 * US); /* after the cut of 2 us: seen at 4 us */
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 2 * US), LINE / 8 * 7);
    /* alpha 1/4 → at 3 us 1/8 + 1/2 → at 4 us 5/16; no increase at 4 us; the next is at 6 us */
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 6 * US - 1), UINT64_C(295312500000));
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, 6 * US), UINT64_C(347656250000));
}
END_TEST

/* The published rules once more, tick by tick, without laziness: the reference of the tests below. */
struct stepper {
    struct dcqcn_parameters p;
    uint64_t rate, target, line, alpha_at, decrease_at, increase_at;
    uint64_t alpha;
    unsigned stage;
    bool begun, alpha_seen, decrease_seen;
};

static uint64_t at_least(uint64_t rate, const struct stepper *s) {
    const uint64_t least = s->p.minimum_bits_per_s < s->line ? s->p.minimum_bits_per_s : s->line;
    return rate > least ? rate : least;
}

static void stepper_alpha(struct stepper *s) {
    const uint64_t one = UINT64_C(1) << 20;
    s->alpha = (s->alpha * (one - s->p.gain_fxp20)) / one + (s->alpha_seen ? s->p.gain_fxp20 * UINT64_C(2048) : 0);
    s->alpha_seen = false;
    s->alpha_at += s->p.alpha_period_ps;
}

static void stepper_decrease(struct stepper *s) {
    if (s->decrease_seen) {
        if (s->p.clamp_target || s->stage != 0) {
            s->target = s->rate;
        }
        s->rate = at_least(s->rate - (uint64_t)((rate_wide)s->rate * s->alpha / (UINT64_C(1) << 32)), s);
        s->stage = 0;
        s->decrease_seen = false;
        s->increase_at = s->decrease_at + s->p.increase_period_ps;
    }
    s->decrease_at += s->p.decrease_period_ps;
}

static void stepper_increase(struct stepper *s) {
    if (s->stage >= s->p.fast_recovery_stages) {
        s->target += s->stage == s->p.fast_recovery_stages ? s->p.additive_bits_per_s : s->p.hyper_bits_per_s;
        s->target = s->target < s->line ? s->target : s->line;
    }
    s->rate = (s->rate + s->target + 1) / 2;
    s->stage++;
    s->increase_at += s->p.increase_period_ps;
}

static uint64_t stepper_advance(struct stepper *s, uint64_t now) {
    while (s->begun) {
        if (s->alpha_at <= now && s->alpha_at <= s->decrease_at && s->alpha_at <= s->increase_at) {
            stepper_alpha(s);
        } else if (s->decrease_at <= now && s->decrease_at <= s->increase_at) {
            stepper_decrease(s);
        } else if (s->increase_at <= now) {
            stepper_increase(s);
        } else {
            break;
        }
    }
    return s->rate;
}

static void stepper_notified(struct stepper *s, uint64_t now) {
    stepper_advance(s, now);
    s->decrease_seen = true;
    s->alpha_seen = s->begun; /* the first one does not count for alpha */
    if (!s->begun) {
        s->begun = true;
        s->alpha = UINT64_C(1) << 31;
        s->rate = at_least((uint64_t)((rate_wide)s->rate * s->p.first_rate_fxp20 / (1 << 20)), s);
        s->target = s->rate;
        s->alpha_at = now + s->p.alpha_period_ps;
        s->decrease_at = now + s->p.decrease_period_ps;
        s->increase_at = UINT64_MAX;
    }
}

static uint64_t draw(uint64_t sequence, uint64_t n, uint32_t below) {
    return hash_below(hash_draw(hash_stream(2, HASH_PURPOSE_TEST, sequence, 1), n), below);
}

static struct dcqcn_parameters drawn_parameters(uint64_t sequence) {
    return (struct dcqcn_parameters){
        .gain_fxp20 = (uint32_t)draw(sequence, 0, 1 << 20) >> draw(sequence, 1, 12),
        .alpha_period_ps = 1 + draw(sequence, 2, 3) * (US / 2),
        .decrease_period_ps = US + draw(sequence, 3, 5) * US,
        .increase_period_ps = US + draw(sequence, 4, 40) * (US / 2),
        .fast_recovery_stages = (uint32_t)draw(sequence, 5, 6),
        .additive_bits_per_s = draw(sequence, 6, 5) * 200 * MBIT,
        .hyper_bits_per_s = draw(sequence, 7, 4) * 1000 * MBIT,
        .minimum_bits_per_s = draw(sequence, 8, 3) == 0 ? 0 : draw(sequence, 8, 100) * MBIT,
        .first_rate_fxp20 = (1 << 20) >> draw(sequence, 9, 3),
        .clamp_target = draw(sequence, 10, 2) == 1,
    };
}

/* Times of calls are multiples of half a microsecond in one sequence of two, so that ticks and calls meet. */
static uint64_t drawn_gap(uint64_t sequence, uint64_t n) {
    const uint64_t grain = sequence % 2 == 0 ? US / 2 : 1;
    const uint64_t gap = draw(sequence, n, 8) == 0 ? 200 * US : 4 * US;
    return draw(sequence, n + 1, (uint32_t)(gap / grain)) * grain;
}

START_TEST(catching_up_equals_stepping_in_random_sequences) {
    for (uint64_t sequence = 0; sequence < 150; sequence++) {
        struct congestion_parameters parameters = {.kind = CONGESTION_DCQCN, .dcqcn = drawn_parameters(sequence)};
        if (sequence % 2 == 0) {
            parameters.dcqcn.alpha_period_ps = US / 2 + draw(sequence, 2, 3) * (US / 2);
        } else {
            parameters.dcqcn.alpha_period_ps += 777777;
        }
        struct stepper stepper = {.p = parameters.dcqcn, .rate = LINE, .target = LINE, .line = LINE};
        struct congestion_state state = started(&parameters);
        uint64_t now = 0;
        for (uint64_t n = 100; n < 1000; n += 3) {
            now += drawn_gap(sequence, n);
            if (draw(sequence, n + 2, 3) == 0) {
                stepper_notified(&stepper, now);
                dcqcn->notified(&parameters, &state, now);
            } else {
                ck_assert_uint_eq(dcqcn->rate(&parameters, &state, now), stepper_advance(&stepper, now));
            }
        }
    }
}
END_TEST

START_TEST(asking_often_equals_asking_once) {
    const struct congestion_parameters parameters = mellanox();
    for (uint64_t sequence = 0; sequence < 20; sequence++) {
        struct congestion_state often = started(&parameters);
        struct congestion_state once = started(&parameters);
        uint64_t now = 0;
        for (uint64_t n = 0; n < 60; n++) {
            const uint64_t end = now + draw(sequence, n, n % 10 == 0 ? 4000 : 20) * US / 3;
            for (; now < end; now += US / 7) {
                dcqcn->rate(&parameters, &often, now);
            }
            now = end;
            dcqcn->notified(&parameters, &often, now);
            dcqcn->notified(&parameters, &once, now);
        }
        ck_assert_uint_eq(dcqcn->rate(&parameters, &often, now + 9 * US),
                          dcqcn->rate(&parameters, &once, now + 9 * US));
    }
}
END_TEST

START_TEST(a_long_idle_time_ends_at_line_rate_and_zero_alpha) {
    const struct congestion_parameters parameters = mellanox();
    struct congestion_state state = started(&parameters);
    for (uint64_t now = 0; now < 100 * US; now += US) {
        dcqcn->notified(&parameters, &state, now);
    }
    const uint64_t hour = UINT64_C(3600) * 1000000 * US;
    ck_assert_uint_eq(dcqcn->rate(&parameters, &state, hour), LINE);
    dcqcn->notified(&parameters, &state, hour);
    /* clocks keep their phase (whole microseconds): alpha = g at hour + 1 us, seen at most 4 us later */
    const uint64_t after = dcqcn->rate(&parameters, &state, hour + 4 * US);
    ck_assert_uint_lt(after, LINE);
    ck_assert_uint_ge(after, LINE - LINE / 512);
}
END_TEST

START_TEST(rate_stays_between_minimum_and_line) {
    struct congestion_parameters parameters = mellanox();
    const uint64_t minima[] = {0, 1, 100 * MBIT, LINE, 2 * LINE};
    for (size_t i = 0; i < sizeof minima / sizeof *minima; i++) {
        parameters.dcqcn.minimum_bits_per_s = minima[i];
        const uint64_t least = minima[i] == 0 ? 1 : minima[i] < LINE ? minima[i] : LINE;
        struct congestion_state state = started(&parameters);
        uint64_t lowest = LINE;
        for (uint64_t now = 0; now < 2000 * US; now += US / 2) {
            dcqcn->notified(&parameters, &state, now);
            const uint64_t rate = dcqcn->rate(&parameters, &state, now);
            ck_assert_uint_ge(rate, least);
            ck_assert_uint_le(rate, LINE);
            lowest = rate < lowest ? rate : lowest;
        }
        ck_assert_uint_eq(lowest, least); /* without pause between notifications alpha is 1 and the floor is reached */
    }
}
END_TEST

START_TEST(losses_probes_and_announcements_change_nothing) {
    const struct congestion_parameters parameters = mellanox();
    struct congestion_state state = started(&parameters);
    dcqcn->notified(&parameters, &state, US);
    const struct congestion_state before = state;
    dcqcn->lost(&parameters, &state, 2 * US);
    dcqcn->probed(&parameters, &state, 9 * US, 2 * US);
    dcqcn->announced(&parameters, &state, 1000, 2 * US);
    ck_assert_mem_eq(&before, &state, sizeof state);
}
END_TEST

START_TEST(profiles_are_the_published_constants) {
    struct dcqcn_parameters p;
    uint64_t interval;
    ck_assert(dcqcn_profile("mellanox", LINE, true, &p, &interval));
    ck_assert_uint_eq(p.gain_fxp20, 4096);
    ck_assert_uint_eq(p.additive_bits_per_s, 80 * MBIT);
    ck_assert_uint_eq(p.hyper_bits_per_s, 800 * MBIT);
    ck_assert_uint_eq(interval, 4 * US);
    ck_assert(dcqcn_profile("firmware", LINE, false, &p, &interval));
    ck_assert_uint_eq(p.gain_fxp20, 5120);
    ck_assert_uint_eq(p.additive_bits_per_s, 5 * MBIT);
    ck_assert_uint_eq(p.hyper_bits_per_s, 50 * MBIT);
    ck_assert_uint_eq(p.minimum_bits_per_s, MBIT);
    ck_assert_uint_eq(interval, 2 * US);
    ck_assert(dcqcn_profile("paper", LINE, true, &p, &interval));
    ck_assert_uint_eq(p.alpha_period_ps, 55 * US);
    ck_assert_uint_eq(p.decrease_period_ps, 50 * US);
    ck_assert_uint_eq(p.additive_bits_per_s, LINE / 20);
    ck_assert(p.clamp_target && p.fast_recovery_stages == 5);
    ck_assert_uint_eq(interval, 50 * US);
    ck_assert(!dcqcn_profile("timely", LINE, true, &p, &interval));
}
END_TEST

/* The firmware's 50 Mb/s every 300 us: 1.2 s to regain 200 Gb/s; scaled to 400 Gb/s sixteen times faster. */
START_TEST(unscaled_steps_take_over_a_second_to_regain_200_gigabits) {
    for (unsigned scale = 0; scale < 2; scale++) {
        struct congestion_parameters parameters = {.kind = CONGESTION_DCQCN};
        ck_assert(dcqcn_profile("firmware", LINE, scale == 1, &parameters.dcqcn, &parameters.notification_interval_ps));
        parameters.dcqcn.first_rate_fxp20 = 1 << 19;
        parameters.dcqcn.gain_fxp20 =
            1 << 20; /* alpha is 0 at the first cut: the rate is then 200 Gb/s with that target */
        struct congestion_state state = started(&parameters);
        dcqcn->notified(&parameters, &state, 0);
        const uint64_t expected = 1200000 * US / (scale == 1 ? 16 : 1);
        ck_assert_uint_lt(dcqcn->rate(&parameters, &state, expected * 98 / 100), LINE);
        ck_assert_uint_ge(dcqcn->rate(&parameters, &state, expected * 98 / 100), LINE * 97 / 100);
        ck_assert_uint_eq(dcqcn->rate(&parameters, &state, expected * 102 / 100 + 12000 * US), LINE);
    }
}
END_TEST

int main(void) {
    TCase *steps = tcase_create("steps");
    tcase_add_test(steps, sends_at_line_rate_until_the_first_notification);
    tcase_add_test(steps, first_cut_and_recovery_follow_the_published_steps);
    tcase_add_test(steps, clamped_target_then_fast_additive_and_hyper_increase);
    tcase_add_test(steps, without_the_clamp_a_series_of_cuts_keeps_its_target);
    tcase_add_test(steps, first_notification_applies_its_share_at_once);
    tcase_add_test(steps, order_at_equal_times_is_alpha_decrease_increase_notification);
    tcase_add_test(steps, catching_up_equals_stepping_in_random_sequences);
    tcase_add_test(steps, asking_often_equals_asking_once);
    tcase_add_test(steps, a_long_idle_time_ends_at_line_rate_and_zero_alpha);
    tcase_add_test(steps, rate_stays_between_minimum_and_line);
    tcase_add_test(steps, losses_probes_and_announcements_change_nothing);
    tcase_add_test(steps, profiles_are_the_published_constants);
    tcase_add_test(steps, unscaled_steps_take_over_a_second_to_regain_200_gigabits);
    Suite *suite = suite_create("dcqcn");
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
