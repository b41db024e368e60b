// SPDX-License-Identifier: GPL-3.0-or-later
/* What a detector names in telemetry made by hand: no more than is there, and that. */
#include "run_suite.h"
#include "training/detector.h"

#include <check.h>
#include <string.h>

enum { RANKS = 16, SWITCH_CABLES = 4, LINKS = 2 * (RANKS + SWITCH_CABLES) };

static struct telemetry_rank ranks[RANKS];
static struct telemetry_link links[LINKS];

/* 16 GPUs on 4 rails, measured to half a percent: every value a little off, in turn. */
static struct telemetry healthy(void) {
    memset(ranks, 0, sizeof ranks);
    memset(links, 0, sizeof links);
    for (uint32_t i = 0; i < RANKS; i++) {
        const double off = 1 + 0.0025 * ((int)(i * 7 % 5) - 2);
        ranks[i] = (struct telemetry_rank){.compute = off, .tokens = 1000 * off, .rail = i % 4, .leaf = 100 + i % 4};
    }
    for (uint32_t i = 0; i < LINKS; i++) {
        const uint32_t cable = i / 2;
        links[i] = (struct telemetry_link){.cable = cable,
                                           .from_rank = cable < RANKS && i % 2 == 0 ? cable : TELEMETRY_NONE,
                                           .to_rank = cable < RANKS && i % 2 == 1 ? cable : TELEMETRY_NONE,
                                           .nominal_bytes_per_s = 50e9,
                                           .bytes = 1e9,
                                           .rate_bytes_per_s = 50e9 * (1 + 0.0025 * ((int)(i * 3 % 5) - 2)),
                                           .errors = i % 10 == 0,
                                           .packets = 250000};
    }
    return (struct telemetry){.ranks = ranks, .links = links, .n_ranks = RANKS, .n_links = LINKS};
}

static struct detector_report look(const struct telemetry *telemetry) {
    struct detector_report report;
    detector_run(telemetry, &report);
    return report;
}

static void is_alone(const struct detector_report *report, enum detector_fault fault, uint32_t rank, uint32_t cable) {
    ck_assert_uint_eq(report->count, 1);
    ck_assert_int_eq(report->findings[0].fault, fault);
    ck_assert_uint_eq(report->findings[0].rank, rank);
    ck_assert_uint_eq(report->findings[0].cable, cable);
}

START_TEST(nothing_is_named_in_a_healthy_cluster) {
    const struct telemetry telemetry = healthy();
    ck_assert_uint_eq(look(&telemetry).count, 0);
}
END_TEST

START_TEST(a_cluster_without_anything_is_looked_at) {
    const struct telemetry telemetry = {0};
    ck_assert_uint_eq(look(&telemetry).count, 0);
}
END_TEST

START_TEST(a_slow_gpu_is_named_with_how_slow_it_is) {
    const struct telemetry telemetry = healthy();
    ranks[5].compute = 1.1;
    const struct detector_report report = look(&telemetry);
    is_alone(&report, DETECTOR_SLOW_GPU, 5, TELEMETRY_NONE);
    ck_assert_double_eq_tol(report.findings[0].amount, 0.1, 0.01);
}
END_TEST

START_TEST(all_gpus_slower_than_expected_are_no_straggler) {
    const struct telemetry telemetry = healthy();
    for (int i = 0; i < RANKS; i++) {
        ranks[i].compute *= 1.3;
    }
    ck_assert_uint_eq(look(&telemetry).count, 0);
}
END_TEST

START_TEST(a_hot_expert_is_no_slow_gpu) {
    const struct telemetry telemetry = healthy();
    ranks[3].tokens = 1500;
    const struct detector_report report = look(&telemetry);
    is_alone(&report, DETECTOR_HOT_EXPERT, 3, TELEMETRY_NONE);
}
END_TEST

START_TEST(a_nic_that_is_slow_both_ways_is_named_once) {
    const struct telemetry telemetry = healthy();
    links[2 * 7].rate_bytes_per_s = links[2 * 7 + 1].rate_bytes_per_s = 40e9;
    const struct detector_report report = look(&telemetry);
    is_alone(&report, DETECTOR_SLOW_NIC, 7, TELEMETRY_NONE);
    ck_assert_double_eq_tol(report.findings[0].amount, 0.25, 0.01);
}
END_TEST

START_TEST(a_port_that_was_never_busy_is_not_judged) {
    const struct telemetry telemetry = healthy();
    links[2 * 7].rate_bytes_per_s = 0;
    ck_assert_uint_eq(look(&telemetry).count, 0);
}
END_TEST

START_TEST(links_of_switches_are_named_by_their_cable) {
    const struct telemetry telemetry = healthy();
    links[2 * RANKS + 3].rate_bytes_per_s = 30e9;
    struct detector_report report = look(&telemetry);
    is_alone(&report, DETECTOR_SLOW_LINK, TELEMETRY_NONE, RANKS + 1);
    links[2 * RANKS + 3].rate_bytes_per_s = 50e9;
    links[2 * RANKS + 5].errors = 25;
    report = look(&telemetry);
    is_alone(&report, DETECTOR_LOSSY, TELEMETRY_NONE, RANKS + 2);
    ck_assert_double_eq_tol(report.findings[0].amount, 1e-4, 1e-9);
}
END_TEST

START_TEST(two_nics_on_each_others_rail_are_both_named) {
    const struct telemetry telemetry = healthy();
    ranks[8].leaf = 101;
    ranks[9].leaf = 100;
    const struct detector_report report = look(&telemetry);
    ck_assert_uint_eq(report.count, 2);
    ck_assert_int_eq(report.findings[0].fault, DETECTOR_WRONG_RAIL);
    ck_assert_uint_eq(report.findings[0].rank, 8);
    ck_assert_uint_eq(report.findings[1].rank, 9);
}
END_TEST

START_TEST(a_host_is_slow_if_it_pauses_or_receives_slowly_by_a_good_nic) {
    const struct telemetry telemetry = healthy();
    ranks[2].receive_pauses = 50;
    struct detector_report report = look(&telemetry);
    is_alone(&report, DETECTOR_SLOW_HOST, 2, TELEMETRY_NONE);
    ranks[2].receive_pauses = 0;
    for (int i = 0; i < RANKS; i++) {
        ranks[i].receive_share = i == 4 ? 0.6 : 0.95 + 0.001 * (i % 5);
    }
    report = look(&telemetry);
    is_alone(&report, DETECTOR_SLOW_HOST, 4, TELEMETRY_NONE);
    links[2 * 4].rate_bytes_per_s = links[2 * 4 + 1].rate_bytes_per_s = 30e9;
    report = look(&telemetry);
    is_alone(&report, DETECTOR_SLOW_NIC, 4, TELEMETRY_NONE);
}
END_TEST

START_TEST(what_costs_nothing_is_not_named_however_clear_it_is) {
    const struct telemetry telemetry = healthy();
    ranks[5].compute = 1.03; // eight spreads, and what clocks differ by
    ranks[3].tokens = 1080;
    links[2 * 7].rate_bytes_per_s = 48.5e9;
    ck_assert_uint_eq(look(&telemetry).count, 0);
}
END_TEST

START_TEST(what_differs_as_much_everywhere_is_not_named) {
    const struct telemetry telemetry = healthy();
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].compute = 1 + 0.025 * ((int)(i * 7 % 5) - 2); // 5 % from the middle, 1.3 spreads
    }
    ck_assert_uint_eq(look(&telemetry).count, 0);
}
END_TEST

START_TEST(who_receives_slowly_over_a_lossy_link_is_no_slow_host) {
    const struct telemetry telemetry = healthy();
    for (int i = 0; i < RANKS; i++) {
        ranks[i].receive_share = i == 4 ? 0.6 : 0.95 + 0.001 * (i % 5);
    }
    links[2 * 4 + 1].errors = 100;
    const struct detector_report report = look(&telemetry);
    is_alone(&report, DETECTOR_LOSSY, 4, TELEMETRY_NONE);
}
END_TEST

START_TEST(the_worst_comes_first) {
    const struct telemetry telemetry = healthy();
    ranks[5].compute = 1.1;
    links[2 * 7].rate_bytes_per_s = 25e9;
    const struct detector_report report = look(&telemetry);
    ck_assert_uint_eq(report.count, 2);
    ck_assert_int_eq(report.findings[0].fault, DETECTOR_SLOW_NIC);
    ck_assert_int_eq(report.findings[1].fault, DETECTOR_SLOW_GPU);
}
END_TEST

START_TEST(of_more_than_fit_the_worst_are_named) {
    enum { NICS = 100 };
    struct telemetry_link many[NICS];
    for (uint32_t i = 0; i < NICS; i++) {
        many[i] = (struct telemetry_link){.from_rank = i, .to_rank = TELEMETRY_NONE, .errors = 4 + i, .packets = 1e6};
    }
    const struct telemetry telemetry = {.links = many, .n_links = NICS};
    const struct detector_report report = look(&telemetry);
    ck_assert_uint_eq(report.count, DETECTOR_MOST);
    ck_assert(report.more);
    ck_assert_uint_eq(report.findings[0].rank, NICS - 1);
    ck_assert_uint_eq(report.findings[DETECTOR_MOST - 1].rank, NICS - DETECTOR_MOST);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("detector");
    TCase *cases = tcase_create("detector");
    tcase_add_test(cases, nothing_is_named_in_a_healthy_cluster);
    tcase_add_test(cases, a_cluster_without_anything_is_looked_at);
    tcase_add_test(cases, a_slow_gpu_is_named_with_how_slow_it_is);
    tcase_add_test(cases, all_gpus_slower_than_expected_are_no_straggler);
    tcase_add_test(cases, a_hot_expert_is_no_slow_gpu);
    tcase_add_test(cases, a_nic_that_is_slow_both_ways_is_named_once);
    tcase_add_test(cases, a_port_that_was_never_busy_is_not_judged);
    tcase_add_test(cases, links_of_switches_are_named_by_their_cable);
    tcase_add_test(cases, two_nics_on_each_others_rail_are_both_named);
    tcase_add_test(cases, a_host_is_slow_if_it_pauses_or_receives_slowly_by_a_good_nic);
    tcase_add_test(cases, what_costs_nothing_is_not_named_however_clear_it_is);
    tcase_add_test(cases, what_differs_as_much_everywhere_is_not_named);
    tcase_add_test(cases, who_receives_slowly_over_a_lossy_link_is_no_slow_host);
    tcase_add_test(cases, the_worst_comes_first);
    tcase_add_test(cases, of_more_than_fit_the_worst_are_named);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
