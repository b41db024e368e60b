// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"
#include "base/rate.h"
#include "instant.h"
#include "run_suite.h"
#include "workload/background.h"
#include "workload/pattern.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 12, DOMAIN = 4, LATENCY_PS = 1000000 };

static const struct moe_placement placement = {.n_ranks = RANKS, .ranks_per_domain = DOMAIN};
static const struct experiment_traffic measured_traffic = {
    .pattern = EXPERIMENT_PATTERN_PERMUTATION, .bytes = 5000, .jitter_ps = 100};

static struct experiment_background item_of(enum experiment_background_pattern pattern, const char *gpus) {
    struct experiment_background item = {.name = "item", .pattern = pattern, .bytes = 1000, .rounds = 1};
    snprintf(item.gpus, sizeof item.gpus, "%s", gpus);
    return item;
}

/** A run of one item beside the measured permutation; only the item's messages are kept in it, in order of giving out. */
static struct instant_run run_item(const struct experiment_background *item, uint64_t seed,
                                   struct background_volume *volume) {
    struct error error = {0};
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    experiment->backgrounds[0] = *item;
    experiment->n_backgrounds = 1;
    struct pattern *pattern = pattern_create(&measured_traffic, &placement, 1, &error);
    struct background *background = background_create(experiment, &placement, &error);
    ck_assert_msg(pattern != NULL && background != NULL, "%s", error.message);
    const struct traffic measured = pattern_traffic(pattern);
    const struct traffic both = background_traffic(background, &measured);
    struct instant_run run = instant_run(&both, LATENCY_PS, LATENCY_PS, seed);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run.count; i++) {
        if (background_owns(run.messages[i].message.tag)) {
            ck_assert_uint_eq(background_item(run.messages[i].message.tag), 0);
            run.messages[kept++] = run.messages[i];
        }
    }
    ck_assert_uint_eq(run.count - kept, RANKS);
    run.count = kept;
    *volume = background_volume(background, 0);
    ck_assert_uint_eq(background_delivered(background), kept);
    background_free(background);
    pattern_free(pattern);
    free(experiment);
    return run;
}

static uint32_t number_of(const struct instant_message *message) {
    return message->message.tag & (EXPERIMENT_BACKGROUND_MESSAGES - 1);
}

/** Bytes and messages are those that the volume says, by route, and no message is there twice. */
static void check_volume(const struct instant_run *run, const struct background_volume *volume) {
    struct background_volume sent = {0};
    for (uint32_t i = 0; i < run->count; i++) {
        const struct instant_message *message = &run->messages[i];
        const bool nvlink = message->source / DOMAIN == message->message.destination / DOMAIN;
        ck_assert_uint_eq(message->message.route, nvlink ? TRAFFIC_NVLINK : TRAFFIC_FABRIC);
        *(nvlink ? &sent.nvlink_bytes : &sent.fabric_bytes) += message->message.bytes;
        *(nvlink ? &sent.nvlink_messages : &sent.fabric_messages) += 1;
        for (uint32_t k = 0; k < i; k++) {
            ck_assert(run->messages[k].source != message->source ||
                      run->messages[k].message.destination != message->message.destination ||
                      run->messages[k].message.tag != message->message.tag);
        }
    }
    ck_assert_mem_eq(&sent, volume, sizeof sent);
}

/** Latest delivery to a rank of messages with this number. */
static uint64_t all_received_ps(const struct instant_run *run, uint32_t rank, uint32_t number) {
    uint64_t last_ps = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct instant_message *message = &run->messages[i];
        if (message->message.destination == rank && number_of(message) == number && message->delivered_ps > last_ps) {
            last_ps = message->delivered_ps;
        }
    }
    return last_ps;
}

START_TEST(an_all_to_all_goes_on_when_a_gpu_has_all_of_the_round_before) {
    struct experiment_background item = item_of(EXPERIMENT_BACKGROUND_ALL_TO_ALL, "1, 0, 5-11/2");
    item.rounds = 5;
    struct background_volume volume;
    struct instant_run run = run_item(&item, (uint64_t)_i, &volume);
    ck_assert_uint_eq(run.count, 6 * 5 * 5);
    check_volume(&run, &volume);
    for (uint32_t i = 0; i < run.count; i++) {
        const uint32_t round = number_of(&run.messages[i]);
        ck_assert_uint_eq(run.messages[i].posted_ps,
                          round == 0 ? 0 : all_received_ps(&run, run.messages[i].source, round - 1));
    }
    instant_free(&run);
}
END_TEST

START_TEST(rounds_by_the_clock_wait_for_nothing) {
    struct experiment_background item = item_of(EXPERIMENT_BACKGROUND_ALL_TO_ALL, "all");
    item.group = 3;
    item.rounds = 4;
    item.start_ps = 77;
    item.every_ps = LATENCY_PS / 10;
    struct background_volume volume;
    struct instant_run run = run_item(&item, 1, &volume);
    ck_assert_uint_eq(run.count, RANKS * 2 * 4);
    check_volume(&run, &volume);
    for (uint32_t i = 0; i < run.count; i++) {
        ck_assert_uint_eq(run.messages[i].posted_ps, 0);
        ck_assert_uint_eq(run.messages[i].message.start_ps, 77 + number_of(&run.messages[i]) * item.every_ps);
        ck_assert_uint_eq(run.messages[i].source / 3, run.messages[i].message.destination / 3);
    }
    instant_free(&run);
}
END_TEST

START_TEST(a_ring_passes_on_what_has_arrived) {
    struct experiment_background item = item_of(EXPERIMENT_BACKGROUND_RING, "all");
    item.group = 4;
    item.group_placement = EXPERIMENT_GROUP_PLACEMENT_STRIDED;
    item.rounds = 3;
    item.bytes = 1001;
    struct background_volume volume;
    struct instant_run run = run_item(&item, (uint64_t)_i, &volume);
    ck_assert_uint_eq(run.count, RANKS * 2 * 3 * 3); // 2 (n - 1) steps of a round
    check_volume(&run, &volume);
    for (uint32_t i = 0; i < run.count; i++) {
        const struct instant_message *message = &run.messages[i];
        const uint32_t number = number_of(message);
        ck_assert_uint_eq(message->message.bytes, 251); // a quarter, rounded up
        ck_assert_uint_eq(message->message.destination, (message->source + 3) % RANKS);
        ck_assert_uint_eq(message->posted_ps, number == 0 ? 0 : all_received_ps(&run, message->source, number - 1));
    }
    instant_free(&run);
}
END_TEST

START_TEST(a_ring_by_the_clock_begins_each_round_at_its_time) {
    struct experiment_background item = item_of(EXPERIMENT_BACKGROUND_RING, "0-2");
    item.rounds = 2;
    item.every_ps = 40 * (uint64_t)LATENCY_PS;
    struct background_volume volume;
    struct instant_run run = run_item(&item, 1, &volume);
    ck_assert_uint_eq(run.count, 3 * 4 * 2);
    check_volume(&run, &volume);
    for (uint32_t i = 0; i < run.count; i++) {
        const struct instant_message *message = &run.messages[i];
        const uint32_t number = number_of(message);
        const bool first = number % 4 == 0;
        ck_assert_uint_eq(message->posted_ps, first ? 0 : all_received_ps(&run, message->source, number - 1));
        ck_assert_uint_eq(message->message.start_ps, first ? number / 4 * item.every_ps : 0);
    }
    instant_free(&run);
}
END_TEST

START_TEST(a_stage_passes_on_what_came_from_the_one_before) {
    struct experiment_background item = item_of(EXPERIMENT_BACKGROUND_PIPELINE, "8, 3, 6, 0, 1, 2");
    item.group = 3;
    item.rounds = 3;
    struct background_volume volume;
    struct instant_run run = run_item(&item, (uint64_t)_i, &volume);
    ck_assert_uint_eq(run.count, 2 * 2 * 3);
    check_volume(&run, &volume);
    for (uint32_t i = 0; i < run.count; i++) {
        const struct instant_message *message = &run.messages[i];
        const bool first = message->source == 8 || message->source == 0;
        static const uint32_t next[] = {1, 2, RANKS, 6, RANKS, RANKS, RANKS, RANKS, 3, RANKS, RANKS, RANKS};
        ck_assert_uint_eq(message->message.destination, next[message->source]);
        ck_assert_uint_eq(message->posted_ps, first ? 0 : all_received_ps(&run, message->source, number_of(message)));
    }
    instant_free(&run);
}
END_TEST

START_TEST(writers_take_targets_in_turn) {
    struct experiment_background item = item_of(EXPERIMENT_BACKGROUND_WRITES, "0-7");
    snprintf(item.targets, sizeof item.targets, "11, 9");
    item.rounds = 2;
    item.every_ps = LATENCY_PS;
    struct background_volume volume;
    struct instant_run run = run_item(&item, 1, &volume);
    ck_assert_uint_eq(run.count, 8 * 2);
    check_volume(&run, &volume);
    for (uint32_t i = 0; i < run.count; i++) {
        ck_assert_uint_eq(run.messages[i].message.destination, run.messages[i].source % 2 ? 9 : 11);
        ck_assert_uint_eq(run.messages[i].message.start_ps, number_of(&run.messages[i]) * LATENCY_PS);
    }
    instant_free(&run);
}
END_TEST

/** What the pattern alone would send, with and without a background. */
START_TEST(the_measured_traffic_is_what_it_is_alone) {
    struct error error = {0};
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    experiment->backgrounds[0] = item_of(EXPERIMENT_BACKGROUND_RING, "all");
    experiment->n_backgrounds = 1;
    struct pattern *pattern = pattern_create(&measured_traffic, &placement, 1, &error);
    struct background *background = background_create(experiment, &placement, &error);
    const struct traffic measured = pattern_traffic(pattern), both = background_traffic(background, &measured);
    struct instant_run alone = instant_run(&measured, LATENCY_PS, 0, 1), beside = instant_run(&both, LATENCY_PS, 0, 1);
    uint32_t found = 0;
    for (uint32_t i = 0; i < beside.count; i++) {
        if (!background_owns(beside.messages[i].message.tag)) {
            ck_assert_mem_eq(&beside.messages[i], &alone.messages[found++], sizeof(struct instant_message));
        }
    }
    ck_assert_uint_eq(found, alone.count);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const struct background_times times = background_times(background, 0, rank);
        ck_assert_uint_eq(times.start_ps, 0);
        ck_assert_uint_eq(times.end_ps, 22 * (uint64_t)LATENCY_PS);
    }
    instant_free(&alone);
    instant_free(&beside);
    background_free(background);
    pattern_free(pattern);
    free(experiment);
}
END_TEST

static uint64_t digest_of(struct experiment *experiment, const struct experiment_background *item) {
    struct error error = {0};
    experiment->backgrounds[0] = *item;
    struct background *background = background_create(experiment, &placement, &error);
    ck_assert_msg(background != NULL, "%s", error.message);
    const uint64_t digest = background_digest(background, 1);
    background_free(background);
    return digest;
}

START_TEST(every_figure_is_in_the_digest) {
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    experiment->n_backgrounds = 1;
    const struct experiment_background base = item_of(EXPERIMENT_BACKGROUND_RING, "0-7");
    const uint64_t digest = digest_of(experiment, &base);
    struct experiment_background changed[8];
    for (int i = 0; i < 8; i++) {
        changed[i] = base;
    }
    changed[0].pattern = EXPERIMENT_BACKGROUND_ALL_TO_ALL;
    snprintf(changed[1].gpus, sizeof changed[1].gpus, "0-6, 8");
    changed[2].bytes += 8;
    changed[3].group = 4;
    changed[4].group_placement = EXPERIMENT_GROUP_PLACEMENT_STRIDED;
    changed[5].start_ps = 1;
    changed[6].every_ps = 1;
    changed[7].rounds = 2;
    ck_assert_uint_eq(digest_of(experiment, &base), digest);
    for (int i = 0; i < 8; i++) {
        ck_assert_uint_ne(digest_of(experiment, &changed[i]), digest);
    }
    free(experiment);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("background");
    tcase_add_loop_test(cases, an_all_to_all_goes_on_when_a_gpu_has_all_of_the_round_before, 0, 20);
    tcase_add_test(cases, rounds_by_the_clock_wait_for_nothing);
    tcase_add_loop_test(cases, a_ring_passes_on_what_has_arrived, 0, 5);
    tcase_add_test(cases, a_ring_by_the_clock_begins_each_round_at_its_time);
    tcase_add_loop_test(cases, a_stage_passes_on_what_came_from_the_one_before, 0, 5);
    tcase_add_test(cases, writers_take_targets_in_turn);
    tcase_add_test(cases, the_measured_traffic_is_what_it_is_alone);
    tcase_add_test(cases, every_figure_is_in_the_digest);
    Suite *suite = suite_create("background");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
