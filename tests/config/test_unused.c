// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Settings that change nothing are noted, and only those.
 */
#include "config/configuration.h"
#include "config/experiment_file.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const configurations[] = {"configs/all-to-all.yaml",
                                             "configs/incast.yaml",
                                             "configs/link-failure.yaml",
                                             "configs/flapping-link.yaml",
                                             "configs/permutation.yaml",
                                             "configs/permutation-paths.yaml",
                                             "configs/quickstart-collision.yaml",
                                             "configs/quickstart-incast.yaml",
                                             "configs/single-flow.yaml",
                                             "configs/hash-collision.yaml",
                                             "configs/rails-protect.yaml",
                                             "configs/oversubscription.yaml",
                                             "configs/victim.yaml",
                                             "configs/hot-expert.yaml",
                                             "configs/second-tenant.yaml",
                                             "configs/checkpoint.yaml",
                                             "configs/fabrics.yaml"};
enum { N_CONFIGURATIONS = sizeof configurations / sizeof configurations[0] };

static struct experiment experiment;
static struct error_list notes, errors;

static void read_configuration(const char *path, const char *const *overrides, size_t n) {
    notes = (struct error_list){0};
    const bool good = experiment_read_noting(path, overrides, n, &experiment, &notes, &errors);
    experiment_report(stderr, &errors);
    ck_assert(good);
}

START_TEST(what_is_shipped_sets_nothing_in_vain) {
    read_configuration(configurations[_i], NULL, 0);
    error_list_print(stderr, &notes);
    ck_assert_uint_eq(notes.count, 0);
}
END_TEST

/** A setting in vain, the words that its note must hold, and a setting beside it under which it matters. */
static const struct {
    const char *path, *setting, *words, *remedy;
} vain[] = {
    {"configs/permutation-paths.yaml", "path.remote_weights=false", "with failures and the path policy adaptive",
     "failures=[{what: spine0, action: down, at: 1 us}]"},
    {"configs/permutation-paths.yaml", "traffic.kernel=platform", "`traffic.kernel`", "topology.gpu.base_latency=1 us"},
    {"configs/permutation-paths.yaml", "path.exclusion=1 us", "`path.exclusion`",
     "failures=[{what: spine0, action: down, at: 1 us}]"},
    {"configs/permutation-paths.yaml", "path.convergence=2 ms", "`path.convergence`",
     "failures=[{what: spine0, action: down, at: 1 us}]"},
    {"configs/training-llama-3.1-405b.yaml", "training.stragglers.slow_gpus=3", "slow_gpu_clock below 1",
     "training.stragglers.slow_gpu_clock=0.5"},
    {"configs/training-llama-3.1-405b.yaml", "training.copied_tables=8 MB", "with a recommender", NULL},
    {"configs/training-dlrm-dcnv2.yaml", "training.kernels=fused", "for a model of layers", NULL},
    {"configs/goodput-deepseek-v3.yaml", "training.gradient_sms=8", "training.contention, overlap_gradients and",
     "training.contention=true"},
    {"configs/training-h800.yaml", "training.gradient_sms=8", "`training.gradient_sms`", "training.virtual_stages=2"},
    {"configs/quickstart-collision.yaml", "traffic.zipf_exponent=1.0", "`traffic.zipf_exponent`", "traffic.gate=zipf"},
    {"configs/quickstart-collision.yaml", "traffic.hot_expert_factor=5", "gate hot_expert", "traffic.gate=hot_expert"},
    {"configs/quickstart-collision.yaml", "traffic.nodes_kept=2", "gate node_limited", "traffic.gate=node_limited"},
    {"configs/quickstart-collision.yaml", "model.groups_kept=2", "gate group_limited", "traffic.gate=group_limited"},
    {"configs/quickstart-collision.yaml", "traffic.bytes=1 MB", "patterns other than moe", NULL},
    {"configs/quickstart-collision.yaml", "traffic.workload=x.txt", "pattern workload_text", NULL},
    {"configs/quickstart-incast.yaml", "traffic.chunk_tokens=8", "algorithms two_hop and hybrid_ep",
     "traffic.algorithm=two_hop"},
    {"configs/quickstart-incast.yaml", "traffic.combine_type=fp8", "a combine phase",
     "traffic.phases=[dispatch, combine]"},
    {"configs/quickstart-collision.yaml", "congestion.spectrum_x.delay_threshold=9 us", "controller spectrum_x",
     "policies=[adaptive+spectrum_x]"},
    {"configs/single-flow.yaml", "congestion.dcqcn.profile=paper", "controller dcqcn", "policies=[ecmp+dcqcn]"},
    {"configs/single-flow.yaml", "path.refresh_period=2 us", "path adaptive, two_choices or drill",
     "policies=[drill+none]"},
    {"configs/single-flow.yaml", "path.grade_scale=2 MB", "path adaptive", "policies=[adaptive+none]"},
    {"configs/single-flow.yaml", "path.round_robin_rounds=2", "path spray_round_robin",
     "policies=[spray_round_robin+none]"},
    {"configs/single-flow.yaml", "path.flowlet_gap=90 us", "path flowlet", "policies=[flowlet+none]"},
    {"configs/single-flow.yaml", "path.flowlet_entries=512", "path flowlet", "policies=[flowlet+none]"},
    {"configs/permutation.yaml", "traffic.senders=3", "pattern incast", "traffic.pattern=incast"},
    {"configs/permutation.yaml", "background=[{name: a, pattern: ring, bytes: 1 KB, group: 2, every: 1 us}]",
     "`every` has no effect", "background=[{name: a, pattern: ring, bytes: 1 KB, group: 2, every: 1 us, rounds: 2}]"},
    {"configs/permutation.yaml", "background=[{name: a, pattern: ring, bytes: 1 KB, group_placement: strided}]",
     "`group_placement` has no effect",
     "background=[{name: a, pattern: ring, bytes: 1 KB, group_placement: strided, group: 2}]"},
    {"configs/incast.yaml", "traffic.source=3", "pattern single", "traffic.pattern=single"},
    {"configs/permutation.yaml", "traffic.tokens_per_gpu=3", "pattern moe", NULL},
    {"configs/permutation.yaml", "model.preset=deepseek-v3", "`model` has no effect", NULL},
    {"configs/permutation.yaml", "topology.nic.plane_choice=queue_pair", "several planes", "topology.nic.planes=2"},
    {"configs/permutation.yaml", "topology.nic.plane_failover=software", "several planes", "topology.nic.planes=2"},
    {"configs/permutation.yaml", "topology.nic.plane_failover_time=1 ms", "several planes", "topology.nic.planes=2"},
    {"configs/plane-failure.yaml",
     "topology.nic={planes: 4, rate: 200 Gb/s, plane_failover_time: 1 ms, plane_failover: software}",
     "without nic.plane_failover_time", "topology.nic.plane_failover_time=0"},
    {"configs/permutation.yaml", "topology.nic.receive_buffer=2 MiB", "nic.receive_rate",
     "topology.nic.receive_rate=100 Gb/s"},
    {"configs/permutation.yaml", "topology.nic.receive_headroom=9 KiB", "nic.receive_rate",
     "failures=[{what: nic1, action: stop_receive, at: 1 us, for: 1 us}]"},
    {"configs/permutation.yaml", "topology.leaf.watchdog_detection=1 ms", "leaf.watchdog",
     "topology.leaf.watchdog=true"},
    {"configs/permutation.yaml", "topology.leaf.watchdog_action=forward", "leaf.watchdog",
     "topology.leaf.watchdog=true"},
    {"configs/permutation.yaml", "topology.leaf.watchdog_restoration=1 ms", "leaf.watchdog",
     "topology.spine.watchdog=true"},
    {"configs/permutation.yaml", "topology.spine.watchdog_detection=1 ms", "spine.watchdog",
     "topology.leaf.watchdog=true"},
    {"configs/permutation.yaml", "topology.spine.watchdog_restoration=1 ms", "spine.watchdog",
     "topology.spine.watchdog=true"},
};
enum { N_VAIN = sizeof vain / sizeof vain[0] };

static bool is_noted(const char *words) {
    for (unsigned i = 0; i < notes.count; i++) {
        if (strstr(notes.errors[i].message, words) != NULL) {
            return true;
        }
    }
    return false;
}

START_TEST(a_setting_in_vain_is_noted_until_something_uses_it) {
    const char *const overrides[] = {vain[_i].setting, vain[_i].remedy};
    read_configuration(vain[_i].path, overrides, 1);
    ck_assert_uint_eq(notes.count, 1);
    ck_assert_msg(is_noted(vain[_i].words), "%s", notes.errors[0].message);
    ck_assert_str_eq(notes.errors[0].file, "--set");
    ck_assert_int_eq(notes.errors[0].exit_code, EXIT_CODE_OK);
    if (vain[_i].remedy != NULL) {
        read_configuration(vain[_i].path, overrides, 2);
        ck_assert(!is_noted(vain[_i].words));
    }
}
END_TEST

/** Writes what is in `experiment` as a result file would hold it, and reads that. */
static void read_resolved(void) {
    static const char path[] = "unused-resolved.yaml";
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    configuration_write_resolved(file, &experiment);
    ck_assert_int_eq(fclose(file), 0);
    read_configuration(path, NULL, 0);
    unlink(path);
}

START_TEST(a_resolved_configuration_is_noted_only_for_what_is_no_default) {
    char folder[] = "/tmp/moefabric-unused-XXXXXX";
    static const char *const override = "traffic.zipf_exponent=2";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    read_configuration(configurations[_i], NULL, 0);
    ck_assert_int_eq(chdir(folder), 0);
    read_resolved();
    error_list_print(stderr, &notes);
    ck_assert_uint_eq(notes.count, 0);
    ck_assert_int_eq(chdir(SOURCE_DIRECTORY), 0);
    read_configuration(configurations[_i], &override, 1);
    ck_assert_int_eq(chdir(folder), 0);
    read_resolved();
    ck_assert_uint_eq(notes.count, 1);
    ck_assert(is_noted("`traffic.zipf_exponent`"));
    ck_assert_int_eq(chdir("/"), 0);
    rmdir(folder);
}
END_TEST

int main(void) {
    if (chdir(SOURCE_DIRECTORY) != 0) {
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("config-unused");
    TCase *group = tcase_create("unused");
    tcase_add_loop_test(group, what_is_shipped_sets_nothing_in_vain, 0, N_CONFIGURATIONS);
    tcase_add_loop_test(group, a_setting_in_vain_is_noted_until_something_uses_it, 0, N_VAIN);
    tcase_add_loop_test(group, a_resolved_configuration_is_noted_only_for_what_is_no_default, 0, N_CONFIGURATIONS);
    suite_add_tcase(suite, group);
    return run_suite(suite);
}
