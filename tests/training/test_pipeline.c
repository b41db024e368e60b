// SPDX-License-Identifier: GPL-3.0-or-later
/* Pipelines against times that are worked out by hand, and against the formulas of their papers. */
#include "run_suite.h"
#include "training/pipeline.h"
#include "training/pipeline_turn.h"

#include <check.h>

enum { MOST_PARTS = 16, MOST_STAGES = 8 };

static struct pipeline_segment forward_segments[] = {{1, PIPELINE_COMPUTE, "f", false, {0, 0}, 0}};
static struct pipeline_segment backward_segments[] = {{2, PIPELINE_COMPUTE, "b", false, {0, 0}, 0}};
static struct pipeline_stage_time times[MOST_STAGES];
static const struct pipeline_pass no_gradients[MOST_PARTS];

/* A pipeline whose parts all take 1 forward and 2 backward. */
static struct pipeline even(uint32_t stages, uint32_t parts, uint32_t micro_batches) {
    static struct pipeline_pass passes[MOST_PARTS][PIPELINE_DIRECTIONS];
    for (int part = 0; part < MOST_PARTS; part++) {
        passes[part][PIPELINE_FORWARD] = (struct pipeline_pass){forward_segments, 1};
        passes[part][PIPELINE_BACKWARD] = (struct pipeline_pass){backward_segments, 1};
    }
    return (struct pipeline){.stages = stages,
                             .parts_per_stage = parts,
                             .micro_batches = micro_batches,
                             .passes = (const struct pipeline_pass(*)[PIPELINE_DIRECTIONS])passes,
                             .gradients = no_gradients,
                             .overlap_gradients = true};
}

START_TEST(bubble_of_1f1b_is_that_of_its_paper) {
    /* arXiv:2104.04473: (stages - 1) of both passes, whatever the micro-batches */
    for (uint32_t stages = 1; stages <= 8; stages++) {
        for (uint32_t micro_batches = 1; micro_batches <= 12; micro_batches++) {
            const struct pipeline pipeline = even(stages, 1, micro_batches);
            ck_assert_uint_eq(pipeline_run(&pipeline, times), 3 * (micro_batches + stages - 1));
            ck_assert_uint_eq(times[0].compute_ps, 3 * micro_batches);
            ck_assert_uint_eq(times[stages - 1].waiting_ps, 3 * (stages - 1));
        }
    }
}
END_TEST

START_TEST(interleaving_divides_the_bubble) {
    /* the same paper: the bubble of v parts a stage is 1/v; here parts stay as long and there are v times as many */
    for (uint32_t parts = 2; parts <= 4; parts++) {
        for (uint32_t stages = 2; stages <= 4; stages++) {
            const struct pipeline pipeline = even(stages, parts, 3 * stages);
            ck_assert_uint_eq(pipeline_run(&pipeline, times), 3 * (3 * stages * parts + stages - 1));
        }
    }
}
END_TEST

/* Of each stage: forward passes that have not yet gone back, and the most there were. */
struct on_the_way {
    uint32_t now[MOST_STAGES], most[MOST_STAGES];
};

static void follow(void *context, const struct pipeline_span *span) {
    struct on_the_way *passes = context;
    uint32_t *now = &passes->now[span->stage], *most = &passes->most[span->stage];
    *now += span->direction == PIPELINE_FORWARD ? 1 : -1u;
    *most = *now > *most ? *now : *most;
}

START_TEST(as_many_passes_are_on_the_way_as_it_says) {
    for (uint32_t parts = 1; parts <= 3; parts++) {
        for (uint32_t rounds = 1; rounds <= 4; rounds++) {
            struct on_the_way passes = {0};
            struct pipeline pipeline = even(4, parts, 4 * rounds);
            pipeline.observe = follow;
            pipeline.context = &passes;
            pipeline_run(&pipeline, times);
            for (uint32_t stage = 0; stage < 4; stage++) {
                ck_assert_uint_eq(pipeline_on_the_way(&pipeline, stage), passes.most[stage]);
            }
            pipeline.overlapped = true; // twice as many between neighbours, and the pair's forward pass
            ck_assert_uint_eq(pipeline_on_the_way(&pipeline, 3), 4 * (parts - 1) + 2);
        }
    }
}
END_TEST

/* 5 put off at once, 7 more when an exchange of 1 is over: they go before the forward pass's 20. */
START_TEST(what_is_put_off_adds_up) {
    struct pipeline_segment forward_all[] = {{20, PIPELINE_COMPUTE, "f", false, {0, 0}, 0}};
    struct pipeline_segment backward_all[] = {{5, PIPELINE_COMPUTE, "w", true, {0, 0}, 0},
                                              {1, PIPELINE_NETWORK, "bn", false, {0, 0}, 0},
                                              {7, PIPELINE_COMPUTE, "w", true, {0, 0}, 0}};
    const struct pipeline_pass forward = {forward_all, 1}, backward = {backward_all, 3};
    const struct pipeline_sharing sharing = {0};
    const struct pipeline_turn turn = {.passes = {&forward, &backward}, .sharing = &sharing};
    const struct pipeline_turn_result result = pipeline_turn_run(&turn);
    ck_assert_uint_eq(result.pass_end_ps[PIPELINE_BACKWARD], 1);
    ck_assert_uint_eq(result.pass_end_ps[PIPELINE_FORWARD], 32);
    ck_assert_uint_eq(result.compute_ps, 32);
}
END_TEST

START_TEST(sends_take_time_between_stages) {
    struct pipeline pipeline = even(2, 1, 1);
    pipeline.send_ps = 5;
    /* forward 0-1, sent until 6, 6-7; backward 7-9, sent until 14, 14-16 */
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 16);
    ck_assert_uint_eq(times[0].waiting_ps, 13);
    ck_assert_uint_eq(times[1].waiting_ps, 6 + 7);
}
END_TEST

static struct pipeline_segment exchange_forward[] = {{2, PIPELINE_COMPUTE, "f", false, {0, 0}, 0},
                                                     {3, PIPELINE_NETWORK, "fn", false, {0, 0}, 0},
                                                     {1, PIPELINE_COMPUTE, "f", false, {0, 0}, 0}};
static struct pipeline_segment exchange_backward[] = {{2, PIPELINE_COMPUTE, "b", false, {0, 0}, 0},
                                                      {4, PIPELINE_NETWORK, "bn", false, {0, 0}, 0},
                                                      {3, PIPELINE_COMPUTE, "b", false, {0, 0}, 0}};

/* One stage, three micro-batches of 2 + 3 + 1 forward and 2 + 4 + 3 backward, the middle of each on the network. */
static struct pipeline exchanging(bool overlapped) {
    static const struct pipeline_pass passes[1][PIPELINE_DIRECTIONS] = {
        {{exchange_forward, 3}, {exchange_backward, 3}}};
    return (struct pipeline){.stages = 1,
                             .parts_per_stage = 1,
                             .micro_batches = 3,
                             .overlapped = overlapped,
                             .passes = passes,
                             .gradients = no_gradients};
}

START_TEST(exchanges_are_exposed_one_after_the_other) {
    const struct pipeline pipeline = exchanging(false);
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 3 * (6 + 9));
    ck_assert_uint_eq(times[0].exposed_ps, 3 * 7);
    ck_assert_uint_eq(times[0].network_ps, 3 * 7);
    ck_assert_uint_eq(times[0].waiting_ps, 0);
}
END_TEST

START_TEST(a_forward_and_a_backward_hide_each_others_exchanges) {
    /* 0-6 the first forward alone. 6-16 and 16-26 pairs: backward 6-8, its exchange 8-12; forward 8-10, exchange 12-15 (the network was
     * taken), 15-16; backward 12-15. 26-35 the last backward alone. */
    const struct pipeline pipeline = exchanging(true);
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 35);
    ck_assert_uint_eq(times[0].compute_ps, 3 * 8);
    ck_assert_uint_eq(times[0].exposed_ps, 3 + 2 + 2 + 4);
}
END_TEST

START_TEST(overlapped_pipelines_come_to_an_end_and_lose_nothing) {
    for (uint32_t stages = 1; stages <= 4; stages++) {
        for (uint32_t parts = 1; parts <= 4; parts++) {
            for (uint32_t rounds = 1; rounds <= 3; rounds++) {
                struct pipeline pipeline = even(stages, parts, rounds * stages);
                pipeline.overlapped = true;
                const uint64_t end_ps = pipeline_run(&pipeline, times);
                ck_assert_uint_ge(end_ps, 3 * rounds * stages * parts);
                for (uint32_t stage = 0; stage < stages; stage++) {
                    ck_assert_uint_eq(times[stage].compute_ps, 3 * rounds * stages * parts);
                    ck_assert_uint_eq(times[stage].compute_ps + times[stage].exposed_ps + times[stage].waiting_ps,
                                      end_ps);
                }
            }
        }
    }
}
END_TEST

START_TEST(pairs_do_not_make_neighbours_take_turns) {
    /* nothing to hide: a pair takes 3 as its passes do one after the other, and each stage is busy but for the ends of the pipeline */
    for (uint32_t stages = 2; stages <= 8; stages++) {
        struct pipeline pipeline = even(stages, 1, 40);
        const uint64_t plain_ps = pipeline_run(&pipeline, times);
        pipeline.overlapped = true;
        const uint64_t overlapped_ps = pipeline_run(&pipeline, times);
        ck_assert_uint_ge(overlapped_ps, plain_ps);
        ck_assert_uint_le(overlapped_ps, plain_ps + 3 * stages);
    }
}
END_TEST

START_TEST(gradients_are_reduced_while_passes_are_left) {
    static struct pipeline_segment three[] = {{3, PIPELINE_GRADIENTS, "g", false, {0, 0}, 0}};
    static const struct pipeline_pass gradients[] = {{three, 1}, {three, 1}};
    struct pipeline pipeline = even(1, 2, 1);
    pipeline.gradients = gradients;
    /* forwards until 2, backward of the second part 2-4, of the first 4-6; its gradients 4-7, those of the first 7-10 */
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 10);
    ck_assert_uint_eq(times[0].exposed_gradients_ps, 4);
    pipeline.overlap_gradients = false;
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 12);
    ck_assert_uint_eq(times[0].exposed_gradients_ps, 6);
    ck_assert_uint_eq(times[0].gradient_ps, 6);
}
END_TEST

/* One stage of two parts: forwards 0-2, the second part's backward 2-14, the first part's 14-26; the second part's gradients from 14 on. */
static struct pipeline with_gradients(struct pipeline_segment *backward, uint32_t n,
                                      struct pipeline_segment *gradients) {
    static struct pipeline_pass passes[2][PIPELINE_DIRECTIONS], reductions[2];
    for (int part = 0; part < 2; part++) {
        passes[part][PIPELINE_FORWARD] = (struct pipeline_pass){forward_segments, 1};
        passes[part][PIPELINE_BACKWARD] = (struct pipeline_pass){backward, n};
        reductions[part] = (struct pipeline_pass){gradients, 1};
    }
    return (struct pipeline){.stages = 1,
                             .parts_per_stage = 2,
                             .micro_batches = 1,
                             .passes = (const struct pipeline_pass(*)[PIPELINE_DIRECTIONS])passes,
                             .gradients = reductions,
                             .overlap_gradients = true};
}

START_TEST(gradients_take_sms_from_computing) {
    struct pipeline_segment computing[] = {{12, PIPELINE_COMPUTE, "b", false, {0, 0}, 0}};
    struct pipeline_segment gradients[] = {{8, PIPELINE_GRADIENTS, "g", false, {.nic = 1}, 0}};
    struct pipeline pipeline = with_gradients(computing, 1, gradients);
    /* 14-22 with three of four SMs: 6 of 12 are done; 22-28 the rest; 28-36 the first part's gradients */
    pipeline.sharing = (struct pipeline_sharing){.sms = 4, .gradient_sms = 1, .latency = 2};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 36);
    ck_assert_uint_eq(times[0].compute_ps, 2 + 12 + 14);
    ck_assert_uint_eq(times[0].gradient_ps, 16);
    ck_assert_uint_eq(times[0].exposed_gradients_ps, 8);
    pipeline.sharing.gradient_sms = 2; // half of them: 14-22 4 are done, 22-30 the rest
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 38);
    pipeline.sharing = (struct pipeline_sharing){0};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 26 + 8);
    /* by NVLink they wait for memory: 14-30, while computing has three of four SMs; alone they take 8 */
    gradients[0].load = (struct pipeline_load){.nvlink = 1};
    pipeline.sharing = (struct pipeline_sharing){.sms = 4, .gradient_sms = 1, .latency = 2};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 30 + 8);
    ck_assert_uint_eq(times[0].gradient_ps, 16 + 8);
}
END_TEST

START_TEST(gradients_and_exchanges_share_links) {
    struct pipeline_segment exchange[] = {{12, PIPELINE_NETWORK, "bn", false, {.nvlink = 1, .nic = 0.25}, 0}};
    struct pipeline_segment gradients[] = {{4, PIPELINE_GRADIENTS, "g", false, {.nvlink = 1}, 0}};
    struct pipeline pipeline = with_gradients(exchange, 1, gradients);
    pipeline.sharing = (struct pipeline_sharing){.sms = 1, .latency = 1};
    /* each gets half of NVLink: gradients 14-22, beside 4 of the exchange's 12; 22-30 its rest; 30-34 the other part's gradients */
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 34);
    ck_assert_uint_eq(times[0].network_ps, 12 + 16);
    /* gradients want three quarters of NICs, of which the exchange takes a quarter: neither is slower */
    gradients[0].load = (struct pipeline_load){.nic = 0.75};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 26 + 4);
    /* the exchange has three quarters of NVLink and wants all, gradients the quarter that they want: 14-18, 3 done; 18-27 */
    gradients[0].load = (struct pipeline_load){.nvlink = 0.25};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 27 + 4);
    /* the other way round: gradients want all NICs and get three quarters: 6 take 8 */
    gradients[0] = (struct pipeline_segment){.duration_ps = 6, .resource = PIPELINE_GRADIENTS, .load = {.nic = 1}};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 26 + 6);
    ck_assert_uint_eq(times[0].gradient_ps, 8 + 6);
}
END_TEST

START_TEST(an_evaluation_goes_forward_alone) {
    for (uint32_t micro_batches = 1; micro_batches <= 9; micro_batches++) {
        struct pipeline pipeline = even(4, 1, micro_batches);
        pipeline.forward_only = true;
        ck_assert_uint_eq(pipeline_run(&pipeline, times), micro_batches + 3);
        pipeline = even(4, 2, micro_batches);
        pipeline.forward_only = true;
        const uint64_t end_ps = pipeline_run(&pipeline, times);
        ck_assert_uint_eq(times[0].compute_ps, 2 * micro_batches);
        if (micro_batches == 1) {
            ck_assert_uint_eq(end_ps, 8); // through eight parts, one after the other
        } else if (micro_batches % 4 == 0) {
            ck_assert_uint_eq(end_ps, 2 * micro_batches + 3);
        }
    }
}
END_TEST

/* What a forward pass of 2 and the network's 4 takes, whose gradients of weights may be put off. */
static struct pipeline_segment weights_last[] = {{2, PIPELINE_COMPUTE, "b", false, {0, 0}, 0},
                                                 {2, PIPELINE_COMPUTE, "w", true, {0, 0}, 0},
                                                 {4, PIPELINE_NETWORK, "bn", false, {0, 0}, 0},
                                                 {1, PIPELINE_COMPUTE, "b", false, {0, 0}, 0},
                                                 {3, PIPELINE_COMPUTE, "w", true, {0, 0}, 0}};

START_TEST(gradients_of_weights_fill_what_exchanges_leave_idle) {
    static const struct pipeline_pass passes[1][PIPELINE_DIRECTIONS] = {{{forward_segments, 1}, {weights_last, 5}}};
    const struct pipeline pipeline = {
        .stages = 1, .parts_per_stage = 1, .micro_batches = 1, .passes = passes, .gradients = no_gradients};
    /* forward until 1; 1-3; the network 3-7 and beside it weights 3-5; 7-8; weights 8-11 */
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 11);
    ck_assert_uint_eq(times[0].compute_ps, 1 + 2 + 2 + 1 + 3);
    ck_assert_uint_eq(times[0].exposed_ps, 2);
}
END_TEST

/* A fifth of the forward pass's 50 and two fifths of the backward pass's 100 are gaps; the exchange of 30 is beside the former. */
START_TEST(gaps_between_kernels_hide_nothing) {
    struct pipeline_segment forward_all[] = {{50, PIPELINE_COMPUTE, "f", false, {0, 0}, 0.2}};
    struct pipeline_segment backward_all[] = {{30, PIPELINE_NETWORK, "bn", false, {0, 0}, 0},
                                              {100, PIPELINE_COMPUTE, "b", false, {0, 0}, 0.4}};
    struct pipeline_pass passes[1][PIPELINE_DIRECTIONS] = {{{forward_all, 1}, {backward_all, 2}}};
    const struct pipeline_turn turn = {.passes = {&passes[0][0], &passes[0][1]},
                                       .sharing = &(const struct pipeline_sharing){0}};
    const struct pipeline_turn_result result = pipeline_turn_run(&turn);
    ck_assert_uint_eq(result.end_ps, 150);
    ck_assert_uint_eq(result.compute_ps, 150 - 6); // gaps that nothing is beside are computing's
    const struct pipeline pipeline = {.stages = 1,
                                      .parts_per_stage = 1,
                                      .micro_batches = 1,
                                      .passes = (const struct pipeline_pass(*)[PIPELINE_DIRECTIONS])passes,
                                      .gradients = no_gradients};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 50 + 30 + 100); // one after the other
    ck_assert_uint_eq(times[0].exposed_ps, 30);
    ck_assert_uint_eq(times[0].compute_ps, 150);
}
END_TEST

/* 40 with a quarter of gaps, 4 of which are behind when 20 without any come to them: 9 of 56 are left of gaps. */
START_TEST(gaps_are_put_off_with_what_is) {
    struct pipeline_segment backward_all[] = {{40, PIPELINE_COMPUTE, "w", true, {0, 0}, 0.25},
                                              {4, PIPELINE_NETWORK, "bn", false, {0, 0}, 0},
                                              {20, PIPELINE_COMPUTE, "w", true, {0, 0}, 0},
                                              {56, PIPELINE_NETWORK, "bn", false, {0, 0}, 0}};
    const struct pipeline_pass backward = {backward_all, 4};
    const struct pipeline_turn turn = {.passes = {NULL, &backward}, .sharing = &(const struct pipeline_sharing){0}};
    const struct pipeline_turn_result result = pipeline_turn_run(&turn);
    ck_assert_uint_eq(result.end_ps, 60);
    ck_assert_uint_eq(result.compute_ps, 4 - 1 + 56 - 9);
}
END_TEST

START_TEST(other_stages_do_not_wait_for_gradients_of_weights) {
    static const struct pipeline_pass passes[2][PIPELINE_DIRECTIONS] = {{{forward_segments, 1}, {weights_last, 5}},
                                                                        {{forward_segments, 1}, {weights_last, 5}}};
    const struct pipeline pipeline = {
        .stages = 2, .parts_per_stage = 1, .micro_batches = 1, .passes = passes, .gradients = no_gradients};
    /* the second stage: forward 1-2, what the first needs is there at 9, weights until 12; the first 9-19 */
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 9 + 10);
    ck_assert_uint_eq(times[1].waiting_ps, 1 + 19 - 12);
}
END_TEST

START_TEST(what_runs_at_once_takes_longer_for_as_long_as_it_does) {
    struct pipeline pipeline = exchanging(true);
    pipeline.sharing = (struct pipeline_sharing){.sms = 2, .exchange_sms = 1};
    /* the pair of 6-16: backward 6-8, its exchange 8-12, forward beside it 8-12 for 2; the forward's exchange 12-15 with half of the
     * backward's 3 beside it; 15-16.5 those; 16.5-17.5 */
    ck_assert_uint_ge(pipeline_run(&pipeline, times), 35 + 2 * 1);
    pipeline.sharing = (struct pipeline_sharing){.sms = 2, .latency = 1.5};
    /* 6-8, exchange 8-13 for 4: 2 of it in 3 beside the forward's 8-10 … */
    const uint64_t slowed_ps = pipeline_run(&pipeline, times);
    ck_assert_uint_gt(slowed_ps, 35);
    ck_assert_uint_le(slowed_ps, 35 + 2 * 4);
}
END_TEST

START_TEST(alone_nothing_is_slowed) {
    struct pipeline pipeline = exchanging(false);
    pipeline.sharing = (struct pipeline_sharing){.sms = 3, .exchange_sms = 2, .latency = 3};
    ck_assert_uint_eq(pipeline_run(&pipeline, times), 3 * (6 + 9));
}
END_TEST

/* Sums what is told of. */
static void add_span(void *context, const struct pipeline_span *span) {
    uint64_t *sums = context;
    sums[span->resource] += span->end_ps - span->begin_ps;
    sums[PIPELINE_RESOURCES] = span->end_ps > sums[PIPELINE_RESOURCES] ? span->end_ps : sums[PIPELINE_RESOURCES];
}

START_TEST(every_segment_is_told_of) {
    uint64_t sums[PIPELINE_RESOURCES + 1] = {0};
    struct pipeline pipeline = exchanging(true);
    pipeline.observe = add_span;
    pipeline.context = sums;
    const uint64_t end_ps = pipeline_run(&pipeline, times);
    ck_assert_uint_eq(sums[PIPELINE_COMPUTE], times[0].compute_ps);
    ck_assert_uint_eq(sums[PIPELINE_NETWORK], times[0].network_ps);
    ck_assert_uint_eq(sums[PIPELINE_RESOURCES], end_ps);
    static struct pipeline_segment fifty[] = {{50, PIPELINE_GRADIENTS, "g", false, {0, 0}, 0}};
    static const struct pipeline_pass gradients[] = {{fifty, 1}};
    pipeline.gradients = gradients;
    ck_assert_uint_eq(pipeline_run(&pipeline, times), end_ps + 50);
    ck_assert_uint_eq(sums[PIPELINE_GRADIENTS], 50);
    ck_assert_uint_eq(sums[PIPELINE_RESOURCES], end_ps + 50);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pipeline");
    TCase *tests = tcase_create("schedules");
    tcase_add_test(tests, bubble_of_1f1b_is_that_of_its_paper);
    tcase_add_test(tests, interleaving_divides_the_bubble);
    tcase_add_test(tests, as_many_passes_are_on_the_way_as_it_says);
    tcase_add_test(tests, what_is_put_off_adds_up);
    tcase_add_test(tests, sends_take_time_between_stages);
    tcase_add_test(tests, exchanges_are_exposed_one_after_the_other);
    tcase_add_test(tests, a_forward_and_a_backward_hide_each_others_exchanges);
    tcase_add_test(tests, overlapped_pipelines_come_to_an_end_and_lose_nothing);
    tcase_add_test(tests, pairs_do_not_make_neighbours_take_turns);
    tcase_add_test(tests, gradients_are_reduced_while_passes_are_left);
    tcase_add_test(tests, gradients_take_sms_from_computing);
    tcase_add_test(tests, gradients_and_exchanges_share_links);
    tcase_add_test(tests, an_evaluation_goes_forward_alone);
    tcase_add_test(tests, gradients_of_weights_fill_what_exchanges_leave_idle);
    tcase_add_test(tests, other_stages_do_not_wait_for_gradients_of_weights);
    tcase_add_test(tests, gaps_between_kernels_hide_nothing);
    tcase_add_test(tests, gaps_are_put_off_with_what_is);
    tcase_add_test(tests, what_runs_at_once_takes_longer_for_as_long_as_it_does);
    tcase_add_test(tests, alone_nothing_is_slowed);
    tcase_add_test(tests, every_segment_is_told_of);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
