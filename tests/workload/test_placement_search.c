// SPDX-License-Identifier: GPL-3.0-or-later
/* What placements cost, counted again as plans count; the search; what moving takes. */
#include "workload/placement_search.h"

#include "run_suite.h"
#include "workload/moe_summary.h"
#include "workload/placement_choose.h"
#include "workload/placement_move.h"
#include "workload/placement_site.h"

#include <check.h>
#include <math.h>
#include <string.h>

static const struct moe_placement ranks = {.n_ranks = 16, .ranks_per_domain = 4};
static const struct placement_costs costs = {
    .nic_dispatch_ps = 100, .nic_combine_ps = 200, .nvlink_dispatch_ps = 10, .nvlink_combine_ps = 20, .expert_ps = 50};

enum { VARIANTS = 12 };

/* Algorithms, both choices of a replica, and jobs on all GPUs or on parts of domains (3, 1 and 4; of two_hop 2 of each). */
static struct experiment experiment_of(int variant) {
    static const enum experiment_algorithm algorithms[] = {EXPERIMENT_ALGORITHM_DIRECT, EXPERIMENT_ALGORITHM_TWO_HOP,
                                                           EXPERIMENT_ALGORITHM_PXN};
    struct experiment experiment = {
        .model = {.hidden = 256, .experts = 32, .top_k = 4, .groups = 4, .groups_kept = 4},
        .traffic = {.tokens_per_gpu = 128,
                    .gate = EXPERIMENT_GATE_ZIPF,
                    .zipf_exponent = 1.0,
                    .popularity_seed = 9,
                    .algorithm = algorithms[variant % 3],
                    .chunk_tokens = 16,
                    .chunk_bytes = 4096,
                    .dispatch = true,
                    .combine = true},
        .placement = {.kind = EXPERIMENT_PLACEMENT_EPLB,
                      .redundant_experts = 16,
                      .history_tokens = 4096,
                      .replica_choice = variant / 3 % 2 ? EXPERIMENT_REPLICA_EVEN : EXPERIMENT_REPLICA_NEAREST}};
    if (variant >= 6) {
        const bool even = experiment.traffic.algorithm == EXPERIMENT_ALGORITHM_TWO_HOP;
        snprintf(experiment.traffic.gpus, sizeof experiment.traffic.gpus, "%s",
                 even ? "0-1, 5-6, 8, 10, 14-15" : "0-2, 5, 8-11");
    }
    return experiment;
}

/* The slower of the slowest NIC and NVLink port of a phase of a plan, by costs of a copy. */
static double time_of_phase(const struct moe *moe, enum moe_summary_phase phase, double nic, double nvlink) {
    const double unit = moe_summary_unit_bytes(moe, phase);
    double slowest = 0;
    for (uint32_t rank = 0; rank < 16; rank++) {
        const struct moe_summary_volume volume = moe_summary_volume(moe, rank, phase);
        slowest = fmax(slowest, nic * fmax((double)volume.fabric_sent.bytes, (double)volume.fabric_received.bytes));
        slowest = fmax(slowest, nvlink * fmax((double)volume.nvlink_sent.bytes, (double)volume.nvlink_received.bytes));
    }
    return slowest / unit;
}

/* Slowest GPU of a plan by the same costs. */
static double time_of_plan(const struct experiment *experiment, const struct placement *experts, uint64_t seed) {
    struct moe_placement placement = ranks;
    placement.experts = experts;
    placement.even_replicas = experiment->placement.replica_choice == EXPERIMENT_REPLICA_EVEN;
    struct moe *moe = moe_create(&experiment->model, &experiment->traffic, &placement, false, seed, NULL);
    double pairs = 0;
    for (uint32_t rank = 0; rank < 16; rank++) {
        pairs = fmax(pairs, (double)moe_summary_rank_tokens(moe, rank));
    }
    const double time = time_of_phase(moe, MOE_SUMMARY_DISPATCH, costs.nic_dispatch_ps, costs.nvlink_dispatch_ps) +
                        time_of_phase(moe, MOE_SUMMARY_COMBINE, costs.nic_combine_ps, costs.nvlink_combine_ps) +
                        costs.expert_ps * pairs;
    moe_free(moe);
    return time;
}

START_TEST(a_placement_costs_what_its_plan_sends) {
    const struct experiment experiment = experiment_of(_i);
    struct placement_site site;
    ck_assert(placement_site_init(&site, &experiment, &ranks, 1, NULL));
    struct placement_tokens *tokens = placement_site_runs(&site, 5, 3, NULL);
    struct placement_traffic *traffic =
        placement_traffic_create(&site.shape, &site.layout, tokens, &costs, site.algorithm, site.even);
    for (int kind = 0; kind < EXPERIMENT_PLACEMENT_FILE; kind++) {
        struct placement *placement = placement_site_rule(&site, (enum experiment_placement_kind)kind, tokens);
        placement_traffic_place(traffic, placement);
        for (uint32_t batch = 0; batch < 3; batch++) {
            ck_assert_double_eq_tol(placement_traffic_figures(traffic, batch).time_ps,
                                    time_of_plan(&experiment, placement, 5 + batch), 1e-6);
        }
        placement_free(placement);
    }
    placement_traffic_free(traffic);
    placement_tokens_free(tokens);
    placement_site_fini(&site);
}
END_TEST

/* Counting anew only what has moved gives what counting everything gives. */
START_TEST(small_changes_are_counted_exactly) {
    const struct experiment experiment = experiment_of(_i);
    struct placement_site site;
    ck_assert(placement_site_init(&site, &experiment, &ranks, 1, NULL));
    struct placement_tokens *tokens = placement_site_history(&site, 2, NULL);
    struct placement_traffic *moving =
        placement_traffic_create(&site.shape, &site.layout, tokens, &costs, site.algorithm, site.even);
    uint32_t slots[48];
    for (uint32_t slot = 0; slot < 48; slot++) {
        slots[slot] = slot % 32;
    }
    for (uint32_t change = 0; change < 60; change++) {
        const uint64_t stream = hash_stream(change, HASH_PURPOSE_TEST, 0, 0);
        const uint32_t one = hash_below(hash_draw(stream, 0), 48), other = hash_below(hash_draw(stream, 1), 48);
        const uint32_t expert = slots[one];
        slots[one] = slots[other];
        slots[other] = expert;
        struct placement *placement = placement_create_slots(32, site.shape.ranks, 48, slots);
        struct placement_traffic *fresh =
            placement_traffic_create(&site.shape, &site.layout, tokens, &costs, site.algorithm, site.even);
        placement_traffic_place(moving, placement);
        placement_traffic_place(fresh, placement);
        ck_assert(placement_traffic_energy(moving) == placement_traffic_energy(fresh));
        placement_traffic_free(fresh);
        placement_free(placement);
    }
    placement_traffic_free(moving);
    placement_tokens_free(tokens);
    placement_site_fini(&site);
}
END_TEST

static struct placement *find(uint64_t seed, uint32_t steps, double *before, double *after) {
    const struct experiment experiment = experiment_of(1);
    struct placement_site site;
    ck_assert(placement_site_init(&site, &experiment, &ranks, 1, NULL));
    struct placement_tokens *tokens = placement_site_history(&site, 1, NULL);
    struct placement_traffic *traffic =
        placement_traffic_create(&site.shape, &site.layout, tokens, &costs, site.algorithm, site.even);
    struct placement *start = placement_site_rule(&site, EXPERIMENT_PLACEMENT_EPLB, tokens);
    placement_traffic_place(traffic, start);
    *before = placement_traffic_energy(traffic);
    const struct placement_search search = {
        .shape = &site.shape, .tokens = tokens, .traffic = traffic, .steps = steps, .seed = seed};
    struct placement *found = placement_search_run(&search, start);
    placement_traffic_place(traffic, found);
    *after = placement_traffic_energy(traffic);
    placement_free(start);
    placement_traffic_free(traffic);
    placement_tokens_free(tokens);
    placement_site_fini(&site);
    return found;
}

START_TEST(search_improves_on_its_start_and_repeats_itself) {
    double before, after, again;
    struct placement *one = find(3, 1500, &before, &after), *other = find(3, 1500, &before, &again);
    ck_assert_double_lt(after, 0.9 * before);
    ck_assert(placement_digest(one) == placement_digest(other) && after == again);
    ck_assert_uint_eq(one->replicas, 48);
    for (uint32_t rank = 0; rank < 16; rank++) {
        ck_assert_uint_eq(placement_slots_of(one, rank), 3);
    }
    placement_free(one);
    placement_free(other);
}
END_TEST

static bool stop_at_ten(void *context, uint32_t steps, double energy) {
    (void)energy;
    *(uint32_t *)context = steps;
    return steps >= 10;
}

START_TEST(search_ends_when_it_is_told_to) {
    const struct experiment experiment = experiment_of(0);
    struct placement_site site;
    uint32_t steps = 0;
    ck_assert(placement_site_init(&site, &experiment, &ranks, 1, NULL));
    struct placement_tokens *tokens = placement_site_history(&site, 1, NULL);
    struct placement_traffic *traffic =
        placement_traffic_create(&site.shape, &site.layout, tokens, &costs, site.algorithm, site.even);
    struct placement *start = placement_site_rule(&site, EXPERIMENT_PLACEMENT_EPLB, tokens);
    const struct placement_search search = {.shape = &site.shape,
                                            .tokens = tokens,
                                            .traffic = traffic,
                                            .steps = 100000,
                                            .seed = 1,
                                            .stop = stop_at_ten,
                                            .context = &steps};
    placement_traffic_place(traffic, start);
    const double before = placement_traffic_energy(traffic);
    struct placement *found = placement_search_run(&search, start);
    ck_assert_uint_eq(steps, 10);
    placement_traffic_place(traffic, found);
    ck_assert_double_le(placement_traffic_energy(traffic), before);
    placement_free(start);
    placement_free(found);
    placement_traffic_free(traffic);
    placement_tokens_free(tokens);
    placement_site_fini(&site);
}
END_TEST

START_TEST(history_is_not_what_runs_see) {
    const struct experiment experiment = experiment_of(0);
    struct placement_site site;
    ck_assert(placement_site_init(&site, &experiment, &ranks, 1, NULL));
    struct placement_tokens *history = placement_site_history(&site, 2, NULL);
    struct placement_tokens *runs = placement_site_runs(&site, 1, 2, NULL);
    uint32_t equal = 0;
    for (uint32_t token = 0; token < 2 * 16 * 128; token++) {
        equal += memcmp(history->picks + token * 4, runs->picks + token * 4, 4 * sizeof *runs->picks) == 0;
    }
    ck_assert_uint_lt(equal, 2 * 16 * 128 / 20);
    placement_tokens_free(history);
    placement_tokens_free(runs);
    placement_site_fini(&site);
}
END_TEST

START_TEST(moves_come_from_the_nearest_holder) {
    /* Domains of 2. Expert 0 from rank 0 to 0 and 1 (NVLink); expert 1 from rank 1 to 2 (fabric); expert 2 stays on 3. */
    struct placement *from = placement_create(3, 4, 3, (const uint32_t[]){0, 1, 2}, (const uint32_t[]){0, 1, 3});
    struct placement *to = placement_create(3, 4, 4, (const uint32_t[]){0, 0, 1, 2}, (const uint32_t[]){0, 1, 2, 3});
    struct placement_layout layout;
    placement_layout_init_whole(&layout, 4, 2);
    struct placement_move move = placement_move_count(from, to, &layout);
    ck_assert_uint_eq(move.over_nvlink, 1);
    ck_assert_uint_eq(move.over_fabric, 1);
    ck_assert_uint_eq(move.most_nvlink, 1);
    ck_assert_uint_eq(move.most_fabric, 1);
    move = placement_move_count(to, to, &layout);
    ck_assert_uint_eq(move.over_nvlink + move.over_fabric, 0);
    placement_layout_fini(&layout);
    placement_free(from);
    placement_free(to);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("placement search");
    TCase *tests = tcase_create("placement search");
    tcase_add_loop_test(tests, a_placement_costs_what_its_plan_sends, 0, VARIANTS);
    tcase_add_loop_test(tests, small_changes_are_counted_exactly, 0, VARIANTS);
    tcase_add_test(tests, search_improves_on_its_start_and_repeats_itself);
    tcase_add_test(tests, search_ends_when_it_is_told_to);
    tcase_add_test(tests, history_is_not_what_runs_see);
    tcase_add_test(tests, moves_come_from_the_nearest_holder);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
