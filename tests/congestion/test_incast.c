// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/dcqcn.h"
#include "fluid_incast.h"
#include "run_suite.h"
#include "usual.h"

#include <check.h>

#define US UINT64_C(1000000)
#define LINE UINT64_C(400000000000)
#define GIGABYTE UINT64_C(8000000000)

/* n senders at 400 Gb/s into one port, base round trip 8 us. */
static struct fluid_outcome run(const struct congestion_parameters *parameters, unsigned senders, bool marking,
                                uint64_t queue_limit_bytes, uint64_t end_ps) {
    const struct fluid_incast incast = {
        .parameters = parameters,
        .senders = senders,
        .line_bits_per_s = LINE,
        .share_fxp20 = (1 << 20) / senders,
        .base_round_trip_ps = 8 * US,
        .queue_limit_bytes = queue_limit_bytes,
        .marking = marking,
        .end_ps = end_ps,
    };
    return fluid_incast_run(&incast);
}

static struct congestion_parameters figures(bool early_pacing) {
    struct congestion_parameters parameters = usual_congestion(CONGESTION_SPECTRUM_X, LINE);
    parameters.spectrum_x.early_pacing = early_pacing;
    return parameters;
}

/* One decision to one half and five of 0.97, where pauses keep the queue at 9 MB: 300 × 0.5 × 0.97^5 = 128.8 GB/s. */
START_TEST(a_six_to_one_incast_still_offers_129_gigabytes_after_a_millisecond) {
    const struct congestion_parameters parameters = figures(false);
    const struct fluid_outcome outcome = run(&parameters, 6, false, 9000000, 1000 * US);
    ck_assert_uint_ge(outcome.offered_bits_per_s, 1285 * GIGABYTE / 10);
    ck_assert_uint_le(outcome.offered_bits_per_s, 1292 * GIGABYTE / 10);
}
END_TEST

START_TEST(a_queue_without_bound_makes_decisions_rare) {
    const struct congestion_parameters parameters = figures(false);
    const struct fluid_outcome outcome = run(&parameters, 6, false, UINT64_MAX, 1000 * US);
    ck_assert_uint_eq(outcome.offered_bits_per_s / (GIGABYTE / 1000),
                      120002); /* 0.5 and one strong cut, in a millisecond */
    ck_assert_uint_gt(outcome.peak_queue_bytes, 80000000);
}
END_TEST

START_TEST(early_pacing_with_marking_keeps_the_queue_below_a_megabyte) {
    const struct congestion_parameters early = figures(true);
    const struct congestion_parameters late = figures(false);
    for (unsigned senders = 6; senders <= 64; senders += 58) {
        const struct fluid_outcome paced = run(&early, senders, true, UINT64_MAX, 2000 * US);
        const struct fluid_outcome unpaced = run(&late, senders, true, UINT64_MAX, 2000 * US);
        ck_assert_uint_lt(paced.peak_queue_bytes, 1000000);
        ck_assert_uint_gt(unpaced.peak_queue_bytes, 40 * paced.peak_queue_bytes);
        ck_assert_double_ge(paced.used_share, 0.88);
    }
}
END_TEST

/* Increase by up to 1.06 a round trip overshoots the exact share; without marks it takes long round trips to come back. */
START_TEST(early_pacing_without_marking_overshoots_to_some_ten_megabytes) {
    const struct congestion_parameters early = figures(true);
    for (unsigned senders = 6; senders <= 64; senders += 58) {
        const struct fluid_outcome paced = run(&early, senders, false, UINT64_MAX, 5000 * US);
        ck_assert_uint_ge(paced.peak_queue_bytes, 8000000);
        ck_assert_uint_le(paced.peak_queue_bytes, 20000000);
        ck_assert_double_ge(paced.used_share, 0.99);
    }
}
END_TEST

START_TEST(dcqcn_drains_a_small_incast_and_regains_the_port) {
    struct congestion_parameters parameters = {.kind = CONGESTION_DCQCN};
    ck_assert(dcqcn_profile("mellanox", LINE, true, &parameters.dcqcn, &parameters.notification_interval_ps));
    const struct fluid_outcome outcome = run(&parameters, 6, true, UINT64_MAX, 10000 * US);
    ck_assert_uint_lt(outcome.peak_queue_bytes, 4000000);
    ck_assert_double_ge(outcome.used_share, 0.85);
}
END_TEST

int main(void) {
    TCase *loops = tcase_create("loops");
    tcase_add_test(loops, a_six_to_one_incast_still_offers_129_gigabytes_after_a_millisecond);
    tcase_add_test(loops, a_queue_without_bound_makes_decisions_rare);
    tcase_add_test(loops, early_pacing_with_marking_keeps_the_queue_below_a_megabyte);
    tcase_add_test(loops, early_pacing_without_marking_overshoots_to_some_ten_megabytes);
    tcase_add_test(loops, dcqcn_drains_a_small_incast_and_regains_the_port);
    Suite *suite = suite_create("incast");
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
