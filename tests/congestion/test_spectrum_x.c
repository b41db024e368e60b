// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "congestion/none.h"
#include "congestion/spectrum_x.h"
#include "run_suite.h"
#include "usual.h"

#include <check.h>
#include <string.h>

#define US UINT64_C(1000000)
#define FXP20_ONE UINT64_C(1048576)
/* 2^20 units of the rate are 2^38 b/s, so that rates read as whole units. */
#define LINE (FXP20_ONE << 18)

static const struct congestion_controller *spectrum_x;

static struct congestion_parameters figures(void) {
    spectrum_x = congestion_controller_of(CONGESTION_SPECTRUM_X);
    return usual_congestion(CONGESTION_SPECTRUM_X, LINE);
}

/* One queue pair and its clock, which skips the times at which the smallest round trip is set back. */
struct pair {
    const struct congestion_parameters *parameters;
    struct congestion_state state;
    uint64_t now_ps;
};

static struct pair pair_start(const struct congestion_parameters *parameters, uint32_t share) {
    struct pair pair = {.parameters = parameters, .now_ps = US};
    spectrum_x->start(parameters, &pair.state, LINE, share, pair.now_ps);
    return pair;
}

static uint64_t rate_of(struct pair *pair) {
    return spectrum_x->rate(pair->parameters, &pair->state, pair->now_ps) >> 18;
}

/* A reply after round_trip_ps; returns the rate in 2^-20 of the line. */
static uint64_t reply(struct pair *pair, uint64_t round_trip_ps) {
    pair->now_ps += round_trip_ps;
    while (hash_mix(pair->now_ps) % 256 == 0) {
        pair->now_ps++;
    }
    spectrum_x->sent(pair->parameters, &pair->state, UINT32_MAX, pair->now_ps); // the rate is used in full
    spectrum_x->probed(pair->parameters, &pair->state, round_trip_ps, pair->now_ps);
    return rate_of(pair);
}

START_TEST(defaults_are_the_published_figures) {
    const struct spectrum_x_parameters p = figures().spectrum_x;
    ck_assert_uint_eq(p.responsiveness_fxp16, 6553);
    ck_assert_uint_eq(p.largest_decrease_fxp16, 63570);
    ck_assert_uint_eq(p.largest_increase_fxp16, 69468);
    ck_assert_uint_eq(p.additive_fxp20, 96);
    ck_assert_uint_eq(p.hyper_additive_fxp20, 1700);
    ck_assert_uint_eq(p.hyper_period_ps, 2000 * US);
    ck_assert_uint_eq(p.delay_threshold_ps, 13 * US);
    ck_assert_uint_eq(p.largest_delay_ps, 250 * US);
    ck_assert_uint_eq(p.first_congestion_fxp20, 524288);
    ck_assert_uint_eq(p.minimum_fxp20, 64);
    ck_assert(!p.early_pacing);
    ck_assert(spectrum_x->wants_probes && spectrum_x->wants_notifications);
}
END_TEST

START_TEST(starts_at_line_rate_and_stays_there_without_delay) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    ck_assert_uint_eq(rate_of(&pair), FXP20_ONE);
    for (int i = 0; i < 10; i++) {
        ck_assert_uint_eq(reply(&pair, 8 * US), FXP20_ONE);
    }
}
END_TEST

/*
 * By hand, smallest round trip 8 us. d = 14 us: factor 1 - 0.1 × 1/13, but the first cut leaves one half. d = 14.3 us: 65536
 * - floor(6553 × 1.3 / 13) = 64881 (65536ths): 524288 → 519048. d = 30 us: beyond 1.3 thresholds of excess: 63570 / 65536:
 * 503477 (floor of 503477.19). d = 13 us exactly: factor 1, AI 96: 503573. d = 10 us: 1 + floor(6553 × 3 / 13) = 67048: 515191 + 96.
 * d = 0: 1.1 is limited to 69468 / 65536: 546202 + 96.
 */
START_TEST(one_decision_a_reply_follows_the_rule_by_hand) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    reply(&pair, 8 * US);
    ck_assert_uint_eq(reply(&pair, 22 * US), 524288);
    ck_assert_uint_eq(reply(&pair, 8 * US + 14 * US + 300000), UINT64_C(524288) * 64881 / 65536);
    ck_assert_uint_eq(rate_of(&pair), 519048);
    ck_assert_uint_eq(reply(&pair, 38 * US), 503477);
    ck_assert_uint_eq(reply(&pair, 21 * US), 503477 + 96);
    ck_assert_uint_eq(reply(&pair, 18 * US), 515191 + 96);
    ck_assert_uint_eq(reply(&pair, 8 * US), UINT64_C(515287) * 69468 / 65536 + 96);
}
END_TEST

/* 1 - 2u = 52430 / 65536, 1 - 5u = 32771 / 65536. */
START_TEST(strong_cuts_for_notifications_late_replies_and_losses) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    reply(&pair, 8 * US);
    reply(&pair, 30 * US); /* the first cut is over */
    spectrum_x->notified(&parameters, &pair.state, pair.now_ps);
    spectrum_x->notified(&parameters, &pair.state, pair.now_ps);
    ck_assert_uint_eq(rate_of(&pair), 524288); /* nothing changes before the reply */
    ck_assert_uint_eq(reply(&pair, 8 * US), UINT64_C(524288) * 52430 / 65536);
    const uint64_t notified = rate_of(&pair);
    ck_assert_uint_gt(reply(&pair, 8 * US), notified); /* the notification is used up */
    const uint64_t before = rate_of(&pair);
    ck_assert_uint_eq(reply(&pair, 258 * US), before * 52430 / 65536);
    spectrum_x->lost(&parameters, &pair.state, pair.now_ps);
    const uint64_t late = rate_of(&pair);
    ck_assert_uint_gt(reply(&pair, 8 * US), late); /* a loss alone does not cut … */
    const uint64_t calm = rate_of(&pair);
    ck_assert_uint_eq(reply(&pair, 258 * US), calm * 32771 / 65536); /* … but the next late reply does, strongly */
    const uint64_t lost = rate_of(&pair);
    ck_assert_uint_eq(reply(&pair, 258 * US), lost * 52430 / 65536); /* once */
}
END_TEST

START_TEST(just_above_the_threshold_is_congestion) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    reply(&pair, 8 * US);
    ck_assert_uint_eq(reply(&pair, 21 * US), FXP20_ONE);
    ck_assert_uint_eq(reply(&pair, 21 * US + 1), FXP20_ONE / 2);
    ck_assert_uint_eq(reply(&pair, 21 * US + 1), FXP20_ONE / 2); /* factor rounds to 1, and no additive step */
}
END_TEST

START_TEST(only_the_first_cut_is_limited_to_one_half) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    reply(&pair, 8 * US);
    ck_assert_uint_eq(reply(&pair, 60 * US), FXP20_ONE / 2);
    for (int i = 0; i < 20; i++) {
        reply(&pair, 8 * US);
    }
    ck_assert_uint_eq(rate_of(&pair), FXP20_ONE);
    ck_assert_uint_eq(reply(&pair, 60 * US), FXP20_ONE * 63570 / 65536);
}
END_TEST

START_TEST(hyper_step_after_two_milliseconds_without_a_cut) {
    struct congestion_parameters parameters = figures();
    parameters.spectrum_x.largest_increase_fxp16 = 1 << 16;
    struct pair pair = pair_start(&parameters, 0);
    reply(&pair, 8 * US);
    uint64_t rate = reply(&pair, 40 * US);
    const uint64_t cut_ps = pair.now_ps;
    while (pair.now_ps + 20 * US < cut_ps + 2000 * US) {
        ck_assert_uint_eq(reply(&pair, 18 * US), rate + 96);
        rate = rate_of(&pair);
    }
    reply(&pair, 18 * US);
    rate = rate_of(&pair);
    ck_assert_uint_eq(reply(&pair, 18 * US), rate + 1700);
}
END_TEST

START_TEST(rate_stays_within_its_bounds_whatever_comes) {
    struct congestion_parameters parameters = figures();
    for (uint64_t sequence = 0; sequence < 40; sequence++) {
        const uint64_t stream = hash_stream(3, HASH_PURPOSE_TEST, sequence, 0);
        parameters.spectrum_x.minimum_fxp20 = sequence % 3 == 0 ? 0 : 64;
        parameters.spectrum_x.responsiveness_fxp16 = sequence % 4 == 0 ? 40000 : 6553;
        parameters.spectrum_x.delay_threshold_ps = sequence % 5 == 0 ? 0 : 13 * US;
        parameters.spectrum_x.early_pacing = sequence % 2 == 0;
        struct pair pair = pair_start(&parameters, hash_below(hash_draw(stream, 0), 1 << 21));
        for (uint64_t n = 1; n < 400; n++) {
            const uint64_t draw = hash_draw(stream, n);
            if (draw % 7 == 0) {
                spectrum_x->notified(&parameters, &pair.state, pair.now_ps);
            } else if (draw % 7 == 1) {
                spectrum_x->lost(&parameters, &pair.state, pair.now_ps);
            } else if (draw % 7 == 2) {
                spectrum_x->announced(&parameters, &pair.state, hash_below(draw, 1 << 20), pair.now_ps);
            } else {
                reply(&pair, 5 * US + hash_below(draw, (draw % 7 == 3 ? 900 : 30) * US));
            }
            const uint64_t rate = spectrum_x->rate(&parameters, &pair.state, pair.now_ps);
            ck_assert_uint_le(rate, LINE);
            ck_assert_uint_ge(rate, (LINE >> 20) * (sequence % 3 == 0 ? 1 : 64));
        }
    }
}
END_TEST

START_TEST(the_rate_is_never_zero) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    spectrum_x->start(&parameters, &pair.state, 1000, 0, pair.now_ps); /* 64 / 2^20 of 1 kb/s is below 1 b/s */
    for (int i = 0; i < 200; i++) {
        reply(&pair, 400 * US);
        spectrum_x->notified(&parameters, &pair.state, pair.now_ps);
    }
    ck_assert_uint_eq(spectrum_x->rate(&parameters, &pair.state, pair.now_ps), 1);
}
END_TEST

/* The start value is above what is seen; a smaller sample counts as no delay; where it is set back, a long one does too. */
START_TEST(unused_rate_is_not_raised) {
    struct congestion_parameters parameters = figures();
    parameters.spectrum_x.early_pacing = true;
    struct pair pair = pair_start(&parameters, 1 << 12); // 1/256 of the line
    const uint64_t before = rate_of(&pair);
    pair.now_ps += 100 * US; // allows 2^30 b/s × 100 us = 13,421 bytes
    spectrum_x->sent(&parameters, &pair.state, 6700, pair.now_ps);
    spectrum_x->probed(&parameters, &pair.state, 8 * US, pair.now_ps);
    ck_assert_uint_eq(rate_of(&pair), before); // less than half was sent
    spectrum_x->sent(&parameters, &pair.state, 11, pair.now_ps);
    spectrum_x->probed(&parameters, &pair.state, 8 * US, pair.now_ps);
    ck_assert_uint_gt(rate_of(&pair), before); // half of it was
    const uint64_t raised = rate_of(&pair);
    spectrum_x->probed(&parameters, &pair.state, 8 * US, pair.now_ps);
    ck_assert_uint_eq(rate_of(&pair), raised); // nothing was sent since
    pair.now_ps += 600 * US;                   // allows more than 64 KiB: what was not sent until now no longer counts
    spectrum_x->probed(&parameters, &pair.state, 8 * US, pair.now_ps);
    pair.now_ps += 10 * US;
    spectrum_x->sent(&parameters, &pair.state, 4160, pair.now_ps);
    spectrum_x->probed(&parameters, &pair.state, 8 * US, pair.now_ps);
    ck_assert_uint_gt(rate_of(&pair), raised);
}
END_TEST

START_TEST(smallest_round_trip_follows_and_is_set_back) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    ck_assert_uint_eq(reply(&pair, 100 * US), FXP20_ONE); /* the first sample is the smallest */
    ck_assert_uint_eq(reply(&pair, 50 * US), FXP20_ONE);
    ck_assert_uint_eq(reply(&pair, 100 * US), FXP20_ONE / 2);
    do {
        pair.now_ps++;
    } while (hash_mix(pair.now_ps) % 256 != 0);
    const uint64_t before = rate_of(&pair);
    spectrum_x->sent(&parameters, &pair.state, UINT32_MAX, pair.now_ps);
    spectrum_x->probed(&parameters, &pair.state, 100 * US, pair.now_ps);
    ck_assert_uint_gt(rate_of(&pair), before);
}
END_TEST

START_TEST(set_back_once_in_256_replies_on_average) {
    unsigned times = 0;
    for (uint64_t now_ps = 0; now_ps < 256000; now_ps++) {
        times += hash_mix(now_ps * 83200) % 256 == 0; /* times that share factors: packets of 4160 bytes at 400 Gb/s */
    }
    ck_assert_uint_ge(times, 900);
    ck_assert_uint_le(times, 1100);
}
END_TEST

START_TEST(announced_share_is_the_first_rate_only_with_early_pacing) {
    struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 1 << 14);
    ck_assert_uint_eq(rate_of(&pair), FXP20_ONE);
    parameters.spectrum_x.early_pacing = true;
    pair = pair_start(&parameters, 1 << 14);
    ck_assert_uint_eq(rate_of(&pair), 1 << 14);
    pair = pair_start(&parameters, 0);
    ck_assert_uint_eq(rate_of(&pair), FXP20_ONE);
    pair = pair_start(&parameters, 3); /* below the minimum */
    ck_assert_uint_eq(rate_of(&pair), 64);
}
END_TEST

START_TEST(early_pacing_is_adjusted_by_replies_and_never_raised_by_the_first_cut) {
    struct congestion_parameters parameters = figures();
    parameters.spectrum_x.early_pacing = true;
    struct pair pair = pair_start(&parameters, 1 << 14);
    ck_assert_uint_eq(reply(&pair, 8 * US), UINT64_C(16384) * 69468 / 65536 + 96);
    const uint64_t before = rate_of(&pair);
    ck_assert_uint_eq(reply(&pair, 60 * US), before * 63570 / 65536); /* already below one half: an ordinary cut */
}
END_TEST

START_TEST(a_later_announcement_counts_when_unsampled_or_idle) {
    struct congestion_parameters parameters = figures();
    parameters.spectrum_x.early_pacing = true;
    struct pair pair = pair_start(&parameters, 1 << 14);
    spectrum_x->announced(&parameters, &pair.state, 1 << 12, pair.now_ps);
    ck_assert_uint_eq(rate_of(&pair), 1 << 12);
    const uint64_t active = reply(&pair, 8 * US);
    pair.now_ps += 16 * US;
    spectrum_x->announced(&parameters, &pair.state, 1 << 10, pair.now_ps);
    ck_assert_uint_eq(rate_of(&pair), active); /* in the middle of its work */
    pair.now_ps += 1;
    spectrum_x->announced(&parameters, &pair.state, 1 << 18, pair.now_ps);
    ck_assert_uint_eq(rate_of(&pair), 1 << 18);
    ck_assert_uint_lt(reply(&pair, 8 * US + 14 * US), 1 << 18); /* the smallest round trip was kept */
    parameters.spectrum_x.early_pacing = false;
    pair.now_ps += 1000 * US;
    const uint64_t before = rate_of(&pair);
    spectrum_x->announced(&parameters, &pair.state, 1 << 10, pair.now_ps);
    ck_assert_uint_eq(rate_of(&pair), before);
}
END_TEST

START_TEST(time_alone_changes_nothing) {
    const struct congestion_parameters parameters = figures();
    struct pair pair = pair_start(&parameters, 0);
    reply(&pair, 8 * US);
    reply(&pair, 80 * US);
    const struct congestion_state before = pair.state;
    for (uint64_t later = 0; later < 1000; later++) {
        spectrum_x->rate(&parameters, &pair.state, pair.now_ps + later * 100 * US);
    }
    ck_assert_mem_eq(&before, &pair.state, sizeof before);
}
END_TEST

START_TEST(none_is_always_line_rate) {
    const struct congestion_parameters parameters = figures();
    const struct congestion_controller *none = congestion_controller_of(CONGESTION_NONE);
    ck_assert_ptr_eq(none, &none_controller);
    struct congestion_state state = {{0}};
    none->start(&parameters, &state, 12345, 99, 0);
    none->announced(&parameters, &state, 1, 1);
    none->notified(&parameters, &state, 2);
    none->probed(&parameters, &state, 900 * US, 3);
    none->lost(&parameters, &state, 4);
    ck_assert_uint_eq(none->rate(&parameters, &state, 5), 12345);
    ck_assert(!none->wants_notifications && !none->wants_probes);
}
END_TEST

START_TEST(the_table_knows_every_controller_by_its_name) {
    ck_assert_str_eq(congestion_controller_of(CONGESTION_NONE)->name, "none");
    ck_assert_str_eq(congestion_controller_of(CONGESTION_DCQCN)->name, "dcqcn");
    ck_assert_str_eq(congestion_controller_of(CONGESTION_SPECTRUM_X)->name, "spectrum_x");
}
END_TEST

int main(void) {
    TCase *rules = tcase_create("rules");
    tcase_add_test(rules, defaults_are_the_published_figures);
    tcase_add_test(rules, starts_at_line_rate_and_stays_there_without_delay);
    tcase_add_test(rules, one_decision_a_reply_follows_the_rule_by_hand);
    tcase_add_test(rules, strong_cuts_for_notifications_late_replies_and_losses);
    tcase_add_test(rules, just_above_the_threshold_is_congestion);
    tcase_add_test(rules, only_the_first_cut_is_limited_to_one_half);
    tcase_add_test(rules, hyper_step_after_two_milliseconds_without_a_cut);
    tcase_add_test(rules, rate_stays_within_its_bounds_whatever_comes);
    tcase_add_test(rules, the_rate_is_never_zero);
    tcase_add_test(rules, smallest_round_trip_follows_and_is_set_back);
    tcase_add_test(rules, unused_rate_is_not_raised);
    tcase_add_test(rules, set_back_once_in_256_replies_on_average);
    tcase_add_test(rules, announced_share_is_the_first_rate_only_with_early_pacing);
    tcase_add_test(rules, early_pacing_is_adjusted_by_replies_and_never_raised_by_the_first_cut);
    tcase_add_test(rules, a_later_announcement_counts_when_unsampled_or_idle);
    tcase_add_test(rules, time_alone_changes_nothing);
    tcase_add_test(rules, none_is_always_line_rate);
    tcase_add_test(rules, the_table_knows_every_controller_by_its_name);
    Suite *suite = suite_create("spectrum_x");
    suite_add_tcase(suite, rules);
    return run_suite(suite);
}
