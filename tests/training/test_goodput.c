// SPDX-License-Identifier: GPL-3.0-or-later
/* Goodput against closed forms, simulated courses against expected times. */
#include "fixture.h"
#include "run_suite.h"
#include "training/goodput.h"

#include <gsl/gsl_sf_lambert.h>
#include <math.h>
#include <string.h>

#define HOUR_S 3600.0

static struct experiment_interruptions failures;
static struct experiment_checkpoint checkpoint;
static struct topology topology;

/* 1,000 GPUs, each of which fails every 10,000 hours: a job that fails every 10. */
static struct goodput_job job_of(double work_s) {
    topology = fixture_nodes(125, 8);
    failures = (struct experiment_interruptions){.gpu_mtbf_s = 10000 * HOUR_S,
                                                 .reroute = true,
                                                 .host_gpus = 8,
                                                 .warm_spares = 1000000,
                                                 .detection_s = 60,
                                                 .restart_s = 600,
                                                 .warm_restart_s = 240,
                                                 .repair_s = 4 * HOUR_S,
                                                 .runs = 4000};
    checkpoint =
        (struct experiment_checkpoint){.bytes = 1e12, .storage_bytes_per_s = 5000000000, .copy_bytes_per_s = 50000000};
    return (struct goodput_job){
        .failures = &failures, .checkpoint = &checkpoint, .topology = &topology, .gpus = 1000, .work_s = work_s};
}

static struct goodput goodput_of(const struct goodput_job *job) {
    struct goodput goodput;
    struct error error = {0};
    ck_assert_msg(goodput_fill(&goodput, job, &error), "%s", error.message);
    return goodput;
}

/* Daly 2006: M exp(R/M) (exp((tau + delta)/M) - 1) a whole interval, the last one without a checkpoint. */
START_TEST(expected_time_is_dalys) {
    const struct goodput_job job = job_of(100 * HOUR_S);
    checkpoint.interval_s = HOUR_S;
    const struct goodput goodput = goodput_of(&job);
    const double mtbf_s = 10 * HOUR_S, outage_s = 300, cost_s = 200;
    const double once = mtbf_s * exp(outage_s / mtbf_s);
    ck_assert_double_eq_tol(goodput.mtbf_s, mtbf_s, 1e-6);
    ck_assert_double_eq_tol(goodput.cost_s, cost_s, 1e-9);
    const double all = once * (99 * expm1((HOUR_S + cost_s) / mtbf_s) + expm1(HOUR_S / mtbf_s));
    ck_assert_double_eq_tol(goodput.expected_s / all, 1, 1e-12);
    ck_assert_double_eq_tol(goodput.goodput, 100 * HOUR_S / all, 1e-12);
}
END_TEST

/* Its derivative is zero where tau = M (1 + W(-exp(-1 - delta/M))), W being Lambert's function. */
START_TEST(optimum_is_where_the_derivative_vanishes) {
    static const double costs_s[] = {0.5, 20, 200, 3600, 36000, 200000};
    for (size_t i = 0; i < sizeof costs_s / sizeof costs_s[0]; i++) {
        const struct goodput_job job = job_of(10000 * HOUR_S);
        checkpoint.cost_s = costs_s[i];
        const struct goodput goodput = goodput_of(&job);
        const double exact_s = goodput.mtbf_s * (1 + gsl_sf_lambert_W0(-exp(-1 - costs_s[i] / goodput.mtbf_s)));
        ck_assert_double_eq_tol(goodput.optimum_s / exact_s, 1, 1e-6);
    }
}
END_TEST

START_TEST(estimates_come_near_the_optimum_where_checkpoints_are_cheap) {
    const struct goodput_job job = job_of(10000 * HOUR_S);
    checkpoint.cost_s = 10;
    const struct goodput goodput = goodput_of(&job);
    ck_assert_double_eq_tol(goodput.young_s, sqrt(2 * 10 * 10 * HOUR_S), 1e-6);
    ck_assert_double_eq_tol(goodput.young_s / goodput.optimum_s, 1, 0.02);
    ck_assert_double_eq_tol(goodput.daly_s / goodput.optimum_s, 1, 1e-4);
}
END_TEST

/* Nothing is left but rounding and what 4,000 draws vary: four standard errors. */
static void compare(const struct goodput_job *job) {
    const struct goodput goodput = goodput_of(job);
    struct goodput_runs runs;
    goodput_simulate(&goodput, job, 7, &runs);
    ck_assert(runs.ended);
    ck_assert_double_eq_tol(runs.mean_s, goodput.expected_s, 2 * runs.half_width_s);
    ck_assert_double_le(runs.half_width_s, 0.01 * goodput.expected_s);
    const double parts_s =
        job->work_s + runs.checkpoint_s + runs.lost_s + runs.detection_s + runs.waiting_s + runs.restart_s;
    ck_assert_double_eq_tol(parts_s / runs.mean_s, 1, 1e-9);
}

START_TEST(courses_take_the_expected_time) {
    const struct goodput_job job = job_of(100.3 * HOUR_S);
    checkpoint.interval_s = HOUR_S;
    compare(&job);
    checkpoint.interval_s = 0;
    compare(&job);
}
END_TEST

START_TEST(courses_take_the_expected_time_where_outages_overlap) {
    const struct goodput_job job = job_of(50 * HOUR_S);
    checkpoint.interval_s = HOUR_S;
    failures.warm_restart_s = 5 * HOUR_S; // half of what passes between interruptions
    compare(&job);
}
END_TEST

START_TEST(courses_take_the_expected_time_without_spares) {
    const struct goodput_job job = job_of(50 * HOUR_S);
    failures.warm_spares = 0;
    checkpoint.interval_s = HOUR_S;
    const struct goodput goodput = goodput_of(&job);
    ck_assert_double_eq(goodput.share_without_spare, 1);
    compare(&job);
}
END_TEST

/* Of a hundred hosts that would be in repair in the end, five fail while the job runs: twenty in reserve are enough. */
START_TEST(repairs_longer_than_the_job_take_no_more_spares_than_fail_in_it) {
    struct goodput_job job = job_of(50 * HOUR_S);
    failures.warm_spares = 160;
    failures.repair_s = 1000 * HOUR_S;
    checkpoint.interval_s = HOUR_S;
    ck_assert_double_gt(goodput_of(&job).expected_s, 10 * job.work_s); // if it went on for ever
    job.from_start = true;
    ck_assert_double_lt(goodput_of(&job).share_without_spare, 1e-4);
    compare(&job);
}
END_TEST

/* With repairs far shorter than the job its start is of no weight. */
START_TEST(a_long_job_is_as_one_that_goes_on_for_ever) {
    struct goodput_job job = job_of(100000 * HOUR_S);
    failures.warm_spares = 16;
    checkpoint.interval_s = HOUR_S;
    const double for_ever_s = goodput_of(&job).expected_s;
    job.from_start = true;
    ck_assert_double_eq_tol(goodput_of(&job).expected_s / for_ever_s, 1, 1e-4);
}
END_TEST

START_TEST(courses_take_the_expected_time_with_asynchronous_checkpoints) {
    const double works_s[] = {100 * HOUR_S, 100.01 * HOUR_S, 1.01 * HOUR_S, 0.5 * HOUR_S};
    for (size_t i = 0; i < sizeof works_s / sizeof works_s[0]; i++) {
        const struct goodput_job job = job_of(works_s[i]);
        checkpoint.asynchronous = true; // 20 s for the copy, 200 s until it is written
        checkpoint.interval_s = HOUR_S;
        const struct goodput goodput = goodput_of(&job);
        ck_assert_double_eq_tol(goodput.cost_s, 20, 1e-9);
        ck_assert_double_eq_tol(goodput.write_s, 200, 1e-9);
        compare(&job);
    }
}
END_TEST

START_TEST(spares_help_up_to_as_many_as_are_in_repair) {
    double before_s = INFINITY;
    const uint32_t spares[] = {0, 8, 16, 64, 1000000};
    for (size_t i = 0; i < sizeof spares / sizeof spares[0]; i++) {
        const struct goodput_job job = job_of(200 * HOUR_S);
        failures.warm_spares = spares[i];
        failures.repair_s = 12 * HOUR_S;
        const struct goodput goodput = goodput_of(&job);
        struct goodput_runs runs;
        goodput_simulate(&goodput, &job, 3, &runs);
        ck_assert_double_lt(runs.mean_s, before_s + runs.half_width_s);
        ck_assert_double_eq_tol(goodput.expected_s / runs.mean_s, 1, 0.12); // the estimate's word in between
        before_s = runs.mean_s;
    }
}
END_TEST

/* Ten interruptions a course: near to normal, of which nine tenths are within 1.645 standard deviations of the mean. */
START_TEST(fastest_and_slowest_have_nine_courses_of_ten_between_them) {
    const struct goodput_job job = job_of(100 * HOUR_S);
    const struct goodput goodput = goodput_of(&job);
    struct goodput_runs runs;
    goodput_simulate(&goodput, &job, 1, &runs);
    const double deviation_s = runs.half_width_s * sqrt(runs.runs) / 1.96;
    ck_assert_double_eq_tol((runs.mean_s - runs.fastest_s) / deviation_s, 1.645, 0.2);
    ck_assert_double_eq_tol((runs.slowest_s - runs.mean_s) / deviation_s, 1.645, 0.2);
}
END_TEST

/* What reliability.md says of the estimate: one spare host, and repairs that outlast the job. */
START_TEST(with_too_few_spares_the_estimate_is_short_by_less_than_two_fifths) {
    struct goodput_job job = job_of(5 * HOUR_S);
    failures.warm_spares = 8;
    failures.repair_s = 24 * HOUR_S;
    checkpoint.interval_s = HOUR_S;
    job.from_start = true;
    const struct goodput goodput = goodput_of(&job);
    struct goodput_runs runs;
    goodput_simulate(&goodput, &job, 1, &runs);
    ck_assert_double_ge(goodput.expected_s, 0.6 * runs.mean_s);
    ck_assert_double_le(goodput.expected_s, 0.65 * runs.mean_s);
}
END_TEST

START_TEST(nothing_fails_and_nothing_is_lost) {
    const struct goodput_job job = job_of(10 * HOUR_S);
    failures.gpu_mtbf_s = 0;
    checkpoint.interval_s = HOUR_S;
    const struct goodput goodput = goodput_of(&job);
    struct goodput_runs runs;
    ck_assert_double_eq_tol(goodput.expected_s, 10 * HOUR_S + 9 * 200, 1e-6);
    goodput_simulate(&goodput, &job, 1, &runs);
    ck_assert_double_eq_tol(runs.mean_s, goodput.expected_s, 1e-6);
    ck_assert_double_eq(runs.interruptions, 0);
}
END_TEST

START_TEST(a_job_that_never_ends_says_so) {
    const struct goodput_job job = job_of(100 * HOUR_S);
    failures.gpu_mtbf_s = 100 * HOUR_S; // every six minutes, and a checkpoint an hour
    checkpoint.interval_s = 10 * HOUR_S;
    const struct goodput goodput = goodput_of(&job);
    struct goodput_runs runs;
    goodput_simulate(&goodput, &job, 1, &runs);
    ck_assert(!runs.ended);
}
END_TEST

/* 200,000 interruptions of a course that is given up, all of whose hosts are in repair: no work for each of them each time. */
START_TEST(many_hosts_in_repair_take_no_time) {
    const struct goodput_job job = job_of(100 * HOUR_S);
    failures.gpu_mtbf_s = 1e-3;
    failures.repair_s = 72 * HOUR_S;
    failures.runs = 8;
    const struct goodput goodput = goodput_of(&job);
    struct goodput_runs runs;
    ck_assert(goodput_simulate(&goodput, &job, 1, &runs));
    ck_assert(!runs.ended);
    ck_assert_double_gt(runs.interruptions * failures.runs, 100000);
}
END_TEST

static bool at_once(void) {
    return true;
}

START_TEST(courses_can_be_stopped) {
    struct goodput_job job = job_of(50 * HOUR_S);
    const struct goodput goodput = goodput_of(&job);
    struct goodput_runs runs;
    ck_assert(goodput_simulate(&goodput, &job, 1, &runs));
    job.stop = at_once;
    ck_assert(!goodput_simulate(&goodput, &job, 1, &runs));
}
END_TEST

START_TEST(a_checkpoint_holds_weights_and_the_optimisers_state) {
    struct goodput_job job = job_of(100 * HOUR_S);
    checkpoint.bytes = 0;
    job.parameters = 1e11;
    job.optimiser_state_bytes = 12;
    ck_assert_double_eq_tol(goodput_of(&job).bytes, 1.4e12, 1);
    job.optimiser_state_bytes = 8; // moments in BF16
    ck_assert_double_eq_tol(goodput_of(&job).cost_s, 1e12 / 5e9, 1e-9);
}
END_TEST

START_TEST(storage_that_cannot_keep_up_is_refused) {
    const struct goodput_job job = job_of(100 * HOUR_S);
    checkpoint.asynchronous = true;
    checkpoint.interval_s = 60;
    struct goodput goodput;
    struct error error = {0};
    ck_assert(!goodput_fill(&goodput, &job, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "takes 200 s to write, but the next comes after 80 s"));
}
END_TEST

/* Best would be every ten minutes; written in hours, the shortest interval that storage allows is the optimum, whatever rounding makes of it. */
START_TEST(slow_storage_makes_the_interval_as_long_as_it_writes) {
    for (int i = 0; i < 100; i++) {
        const struct goodput_job job = job_of(1000 * HOUR_S);
        checkpoint.asynchronous = true;
        checkpoint.cost_s = 5;
        checkpoint.storage_bytes_per_s = 100000000 + 1000003 * (uint64_t)i;
        const struct goodput goodput = goodput_of(&job);
        ck_assert_double_gt(goodput.write_s, goodput.young_s);
        ck_assert_double_eq_tol((goodput.interval_s + goodput.cost_s) / goodput.write_s, 1, 1e-9);
    }
}
END_TEST

START_TEST(courses_are_the_same_again_and_others_with_another_seed) {
    const struct goodput_job job = job_of(50 * HOUR_S);
    const struct goodput goodput = goodput_of(&job);
    struct goodput_runs once, again, other;
    goodput_simulate(&goodput, &job, 5, &once);
    goodput_simulate(&goodput, &job, 5, &again);
    goodput_simulate(&goodput, &job, 6, &other);
    ck_assert_mem_eq(&once.mean_s, &again.mean_s, sizeof once.mean_s);
    ck_assert_double_ne(once.mean_s, other.mean_s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("goodput");
    TCase *cases = tcase_create("goodput");
    tcase_add_test(cases, expected_time_is_dalys);
    tcase_add_test(cases, optimum_is_where_the_derivative_vanishes);
    tcase_add_test(cases, estimates_come_near_the_optimum_where_checkpoints_are_cheap);
    tcase_add_test(cases, courses_take_the_expected_time);
    tcase_add_test(cases, courses_take_the_expected_time_where_outages_overlap);
    tcase_add_test(cases, courses_take_the_expected_time_without_spares);
    tcase_add_test(cases, repairs_longer_than_the_job_take_no_more_spares_than_fail_in_it);
    tcase_add_test(cases, a_long_job_is_as_one_that_goes_on_for_ever);
    tcase_add_test(cases, courses_take_the_expected_time_with_asynchronous_checkpoints);
    tcase_add_test(cases, spares_help_up_to_as_many_as_are_in_repair);
    tcase_add_test(cases, fastest_and_slowest_have_nine_courses_of_ten_between_them);
    tcase_add_test(cases, with_too_few_spares_the_estimate_is_short_by_less_than_two_fifths);
    tcase_add_test(cases, nothing_fails_and_nothing_is_lost);
    tcase_add_test(cases, a_job_that_never_ends_says_so);
    tcase_add_test(cases, many_hosts_in_repair_take_no_time);
    tcase_add_test(cases, courses_can_be_stopped);
    tcase_add_test(cases, a_checkpoint_holds_weights_and_the_optimisers_state);
    tcase_add_test(cases, storage_that_cannot_keep_up_is_refused);
    tcase_add_test(cases, slow_storage_makes_the_interval_as_long_as_it_writes);
    tcase_add_test(cases, courses_are_the_same_again_and_others_with_another_seed);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
