// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The fluid model against packets on the same fabric and traffic: within 5 % where loads are balanced, within 10 % where they are
 * not. The whole gallery: sim/fluid/README.md, made by tools/fluid-table.
 */
#include "laboratory.h"
#include "results/summary.h"
#include "run_suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

#define BALANCED 0.05
#define SKEWED 0.10

/* Times of one model. */
struct times {
    double slowest_ps, mean_ps, flow_p99_ps;
    uint64_t digest, sent_bytes;
};

static struct times times_of(const char *text, const char *model) {
    char whole[2048];
    snprintf(whole, sizeof whole, "network_model: %s\n%s", model, text);
    struct laboratory laboratory = laboratory_run(whole);
    struct summary *summary = summary_create(laboratory.measurement);
    const struct times times = {.slowest_ps = summary->rank_time_ps.max,
                                .mean_ps = summary->rank_time_ps.mean,
                                .flow_p99_ps = summary->flow_time_ps.p99,
                                .digest = laboratory.measurement->totals.traffic_digest,
                                .sent_bytes = laboratory.measurement->totals.sent_bytes};
    summary_free(summary);
    laboratory_fini(&laboratory);
    return times;
}

static void assert_close(const char *what, double fluid, double packet, double bound) {
    ck_assert_msg(fabs(fluid / packet - 1) <= bound, "%s: %.0f ps, by packets %.0f ps: %.3f", what, fluid, packet,
                  fluid / packet);
}

/* The slowest GPU and the mean one; flows' p99 where nothing but fairness decides it. */
static void compare(const char *text, double bound, bool flows) {
    const struct times packet = times_of(text, "packet"), fluid = times_of(text, "fluid");
    ck_assert_uint_eq(packet.digest, fluid.digest);
    assert_close("slowest GPU", fluid.slowest_ps, packet.slowest_ps, bound);
    assert_close("mean GPU", fluid.mean_ps, packet.mean_ps, bound);
    if (flows) {
        assert_close("p99 of flows", fluid.flow_p99_ps, packet.flow_p99_ps, bound);
    }
    if (packet.sent_bytes > 0) {
        assert_close("bytes on the wire", (double)fluid.sent_bytes, (double)packet.sent_bytes, 0.01);
    }
}

#define RACKS "topology: ../../../topologies/gb200-nvl72-spectrumx.yaml\n"
#define HOSTS "topology: ../../../topologies/leaf-spine-100g.yaml\n"

START_TEST(an_all_to_all_of_hosts_agrees) {
    compare("name: a\n" HOSTS "cluster: {racks: 32}\ntraffic: {pattern: all_to_all, bytes: 64 KiB}\n"
            "policies: [adaptive+none]\n",
            BALANCED, true);
}
END_TEST

START_TEST(a_hashed_all_to_all_agrees) {
    compare("name: a\n" HOSTS
            "cluster: {racks: 48, leaf_uplinks: 8, spines: 8}\ntraffic: {pattern: all_to_all, bytes: 64 KiB}\n"
            "policies: [ecmp+none]\n",
            SKEWED, true);
}
END_TEST

START_TEST(a_hashed_permutation_agrees) {
    compare("name: a\n" HOSTS
            "cluster: {racks: 64}\ntraffic: {pattern: permutation, bytes: 2 MB}\npolicies: [ecmp+none]\n",
            SKEWED, true);
}
END_TEST

START_TEST(an_incast_agrees) {
    compare("name: a\n" HOSTS
            "traffic: {pattern: incast, senders: 7, destination: 0, bytes: 1 MB}\npolicies: [ecmp+none]\n",
            SKEWED, true);
}
END_TEST

START_TEST(two_hops_of_uniform_experts_agree) {
    compare("name: a\n" RACKS
            "cluster: {racks: 4, gpus_used: 16, wiring: rack, leaf_downlinks: 16, leaf_uplinks: 16, spines: 2}\n"
            "model: {preset: deepseek-v3}\ntraffic: {tokens_per_gpu: 256, gate: uniform, algorithm: two_hop}\n"
            "policies: [adaptive+none]\n",
            BALANCED, true);
}
END_TEST

START_TEST(two_hops_on_hashed_paths_agree) {
    compare("name: a\n" RACKS
            "cluster: {racks: 4, gpus_used: 16, wiring: rack, leaf_downlinks: 16, leaf_uplinks: 16, spines: 2}\n"
            "model: {preset: deepseek-v3}\ntraffic: {tokens_per_gpu: 256, gate: uniform, algorithm: two_hop}\n"
            "policies: [ecmp(4)+none]\n",
            SKEWED, true);
}
END_TEST

START_TEST(direct_to_a_hot_expert_agrees) {
    compare(
        "name: a\n" RACKS "cluster: {racks: 4, gpus_used: 16}\nmodel: {preset: deepseek-v3}\n"
        "traffic: {tokens_per_gpu: 64, gate: hot_expert, hot_expert_factor: 5, algorithm: direct, phases: [dispatch]}\n"
        "policies: [adaptive+none]\n",
        SKEWED, false);
}
END_TEST

START_TEST(a_slow_gpu_agrees) {
    compare("name: a\n" RACKS "cluster: {racks: 4, gpus_used: 8}\nmodel: {preset: deepseek-v3}\n"
            "traffic: {tokens_per_gpu: 256, algorithm: two_hop}\n"
            "failures:\n  - {what: gpu5, action: slow, rate: 50 %, at: 0 s}\npolicies: [adaptive+none]\n",
            SKEWED, false);
}
END_TEST

START_TEST(nvlink_alone_agrees) {
    compare("name: a\n" RACKS "cluster: {racks: 1, gpus_used: 16}\n"
            "traffic: {pattern: all_to_all, bytes: 1 MiB}\npolicies: [adaptive+none]\n",
            BALANCED, false);
}
END_TEST

START_TEST(the_same_run_gives_the_same_numbers) {
    const char *text = "name: a\n" RACKS "cluster: {racks: 4, gpus_used: 8}\nmodel: {preset: deepseek-v3}\n"
                       "traffic: {tokens_per_gpu: 64, gate: zipf, algorithm: two_hop, jitter: 1 us}\n"
                       "policies: [ecmp(4)+dcqcn]\n";
    const struct times first = times_of(text, "fluid"), second = times_of(text, "fluid");
    ck_assert(first.slowest_ps == second.slowest_ps && first.mean_ps == second.mean_ps &&
              first.flow_p99_ps == second.flow_p99_ps && first.sent_bytes == second.sent_bytes);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("flow level");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, an_all_to_all_of_hosts_agrees);
    tcase_add_test(cases, a_hashed_all_to_all_agrees);
    tcase_add_test(cases, a_hashed_permutation_agrees);
    tcase_add_test(cases, an_incast_agrees);
    tcase_add_test(cases, two_hops_of_uniform_experts_agree);
    tcase_add_test(cases, two_hops_on_hashed_paths_agree);
    tcase_add_test(cases, direct_to_a_hot_expert_agrees);
    tcase_add_test(cases, a_slow_gpu_agrees);
    tcase_add_test(cases, nvlink_alone_agrees);
    tcase_add_test(cases, the_same_run_gives_the_same_numbers);
    Suite *suite = suite_create("command flow level");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
