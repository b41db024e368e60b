// SPDX-License-Identifier: GPL-3.0-or-later
/* Points of sweeps, worked out by hand. */
#include "config/experiment_file.h"
#include "config/sweep.h"
#include "config/tree.h"
#include "run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 4096, MOST_POINTS = 12 };

static void add_setting(void *context, const struct sweep_setting *setting) {
    char *line = context, *value = tree_line(setting->value);
    const size_t length = strlen(line);
    snprintf(line + length, LINE_SIZE - length, "%s%s=%s",
             length > 0 && strcmp(line + length - 2, "; ") != 0 ? " " : "", setting->key, value);
    free(value);
}

/** The points of a sweep, each as "key=value key=value", separated by "; "; or its first mistake as "line:column: message". */
static void expand(const char *text, char line[LINE_SIZE]) {
    struct tree *tree = tree_create();
    struct error_list errors = {0};
    struct sweep sweep;
    const struct tree_node *root = tree_parse(tree, "sweep.yaml", text, strlen(text), 0, &errors);
    ck_assert_ptr_nonnull(root);
    line[0] = '\0';
    if (!sweep_read(tree, root, "sweep", true, &sweep, &errors)) {
        ck_assert_uint_gt(errors.count, 0);
        snprintf(line, LINE_SIZE, "%u:%u: %s", errors.errors[0].line, errors.errors[0].column,
                 errors.errors[0].message);
    }
    for (uint64_t point = 0; point < sweep.n_points && point < MOST_POINTS; point++) {
        strncat(line, point > 0 ? "; " : "", LINE_SIZE - strlen(line) - 1);
        sweep_visit(&sweep, point, add_setting, line, &errors);
    }
    tree_free(tree);
}

static const struct {
    const char *text, *points;
} good[] = {
    {"grid: {traffic.senders: [3, 1]}", "traffic.senders=3; traffic.senders=1"},
    /* the last key changes fastest */
    {"grid: {traffic.senders: [1, 2], traffic.seed: [7, 8, 9]}",
     "traffic.senders=1 traffic.seed=7; traffic.senders=1 traffic.seed=8; traffic.senders=1 traffic.seed=9; "
     "traffic.senders=2 traffic.seed=7; traffic.senders=2 traffic.seed=8; traffic.senders=2 traffic.seed=9"},
    {"zip: {traffic.senders: [1, 2], traffic.seed: [7, 8]}",
     "traffic.senders=1 traffic.seed=7; traffic.senders=2 traffic.seed=8"},
    {"list: [{traffic.senders: 1}, {traffic.seed: 5, traffic.jitter: 1 us}]",
     "traffic.senders=1; traffic.seed=5 traffic.jitter=1 us"},
    /* in the order of the file */
    {"zip: {traffic.senders: [1, 2], traffic.hot_expert: [3, 4]}\ngrid: {traffic.seed: [7, 8]}",
     "traffic.senders=1 traffic.hot_expert=3 traffic.seed=7; traffic.senders=1 traffic.hot_expert=3 traffic.seed=8; "
     "traffic.senders=2 traffic.hot_expert=4 traffic.seed=7; traffic.senders=2 traffic.hot_expert=4 traffic.seed=8"},
    /* only points that are alike in all are there twice */
    {"zip: {traffic.senders: [1, 1], traffic.seed: [7, 8]}",
     "traffic.senders=1 traffic.seed=7; traffic.senders=1 traffic.seed=8"},
    {"list: [{traffic.senders: 1}, {traffic.senders: 1, traffic.seed: 5}]",
     "traffic.senders=1; traffic.senders=1 traffic.seed=5"},
    {"grid: {traffic.seed: [7, 8]}\nlist: [{traffic.senders: 1}, {traffic.senders: 2}]",
     "traffic.seed=7 traffic.senders=1; traffic.seed=7 traffic.senders=2; traffic.seed=8 traffic.senders=1; "
     "traffic.seed=8 traffic.senders=2"},
    {"grid: {traffic.senders: {from: 2, to: 9, step: 3}}", "traffic.senders=2; traffic.senders=5; traffic.senders=8"},
    {"grid: {traffic.senders: {from: 5, to: 5, step: 1}}", "traffic.senders=5"},
    {"grid: {traffic.seed: {from: 1234567890123, to: 1234567890124, step: 1}}",
     "traffic.seed=1234567890123; traffic.seed=1234567890124"},
    {"grid: {topology.nic.rate: {from: 100 Gb/s, to: 800 Gb/s, factor: 2}}",
     "topology.nic.rate=100 Gb/s; topology.nic.rate=200 Gb/s; topology.nic.rate=400 Gb/s; topology.nic.rate=800 Gb/s"},
    {"grid: {traffic.bytes: {from: 1 KiB, to: 2 KiB, step: 512 B}}",
     "traffic.bytes=1 KiB; traffic.bytes=1536 B; traffic.bytes=2 KiB"},
    /* no drift: 0.1 + 2 × 0.1 is 0.3 */
    {"grid: {traffic.zipf_exponent: {from: 0.1, to: 0.3, step: 0.1}}",
     "traffic.zipf_exponent=0.1; traffic.zipf_exponent=0.2; traffic.zipf_exponent=0.3"},
    {"grid: {traffic.zipf_exponent: {from: 0, to: 1.2, count: 4}}",
     "traffic.zipf_exponent=0; traffic.zipf_exponent=0.4; traffic.zipf_exponent=0.8; traffic.zipf_exponent=1.2"},
    {"grid: {topology.leaf.lossless_alpha_shift: {from: -2, to: 1, step: 2}}",
     "topology.leaf.lossless_alpha_shift=-2; topology.leaf.lossless_alpha_shift=0"},
    {"grid: {policies: [ecmp+dcqcn, [ecmp+none, adaptive+none]]}",
     "policies=ecmp+dcqcn; policies=[ecmp+none, adaptive+none]"},
    {"grid: {traffic.phases: [dispatch, [dispatch, combine]]}",
     "traffic.phases=dispatch; traffic.phases=[dispatch, combine]"},
    {"seeds: 5\nlimit: 2\ngrid: {traffic.senders: [1, 2]}", "traffic.senders=1; traffic.senders=2"},
};

START_TEST(points_are_what_one_works_out_by_hand) {
    char line[LINE_SIZE];
    expand(good[_i].text, line);
    ck_assert_str_eq(line, good[_i].points);
}
END_TEST

static const struct {
    const char *text, *mistake;
} bad[] = {
    {"limit: 5", "1:1: the sweep is empty: it names no key"},
    {"grid: {}", "1:1: the sweep is empty: it names no key"},
    {"grid: {traffic.senders: []}", "1:25: this axis has no values"},
    {"list: []", "1:7: `list` is empty"},
    {"grid: {traffic.sendrs: [1]}", "1:8: `traffic.sendrs` in `sweep` is no key of a configuration"},
    {"grid: {traffic: [1]}", "1:8: `traffic` in `sweep` is no key of a configuration"},
    {"grid: {sweep.limit: [1]}", "1:8: `sweep.limit` in `sweep` is no key of a configuration"},
    {"grid: {policies.path: [ecmp]}", "1:8: `policies.path` in `sweep` is no key of a configuration"},
    {"grid: {name: [a, b]}", "1:8: `name` cannot be swept"},
    {"grid: {traffic.senders: 4}", "1:25: an axis is a list or a range"},
    {"grid: {traffic.senders: [1, 0]}", "1:29: 0 is out of range"},
    {"grid: {traffic.senders: [1, x]}", "1:29: \"x\" is not a number"},
    {"list: [{traffic.senders: 0}]", "1:26: 0 is out of range"},
    {"list: [traffic.senders]", "1:8: a point of the list is a mapping of keys to values"},
    {"grid: [traffic.senders]", "1:7: `sweep.grid` is a list"},
    {"grid: {traffic.senders: [1, 2, 1]}", "1:32: number 3 of this list is the same as number 1"},
    {"zip: {traffic.senders: [1, 1, 1], traffic.seed: [7, 8, 7]}",
     "1:31: number 3 of this list is the same as number 1"},
    {"list: [{traffic.senders: 1}, {traffic.senders: 2, traffic.seed: 1}, {traffic.senders: 2, traffic.seed: 1}]",
     "1:69: number 3 of this list is the same as number 2"},
    {"grid: {policies: [[ecmp+none], [ecmp+dcqcn], [ecmp+none]]}",
     "1:46: number 3 of this list is the same as number 1"},
    {"grid: {traffic.senders: [1]}\nzip: {traffic.senders: [2]}", "2:7: `traffic.senders` is swept twice"},
    {"grid: {traffic.senders: [1]}\nlist: [{traffic.senders: 2}]", "2:9: `traffic.senders` is swept twice"},
    {"zip: {traffic.senders: [1, 2], traffic.seed: [1]}", "1:46: `traffic.seed` has 1 values, `traffic.senders` has 2"},
    {"grid: {traffic.senders: {from: 1, to: 2}}", "1:25: one of `step`, `factor` and `count` is needed"},
    {"grid: {traffic.senders: {from: 1, to: 2, step: 1, count: 2}}",
     "1:25: one of `step`, `factor` and `count` is needed"},
    {"grid: {traffic.senders: {from: 1, step: 1}}", "1:25: a range needs `from` and `to`"},
    {"grid: {traffic.senders: {from: 1, to: 2, stp: 1}}", "1:42: a range has no `stp`"},
    {"grid: {traffic.senders: {from: 3, to: 2, step: 1}}", "1:25: the range is empty: `to` is below `from`"},
    {"grid: {traffic.senders: {from: 1, to: 2, step: 0}}", "1:48: `step` is not above 0"},
    {"grid: {traffic.senders: {from: 1, to: 2, factor: 1}}",
     "1:50: with `factor`, it must be above 1 and `from` above 0"},
    {"grid: {traffic.seed: {from: 0, to: 2, factor: 2}}", "1:47: with `factor`, it must be above 1 and `from` above 0"},
    {"grid: {traffic.senders: {from: 1, to: 4, count: 3}}",
     "1:25: value 2 of the range, 2.5, is no whole number below 2^64, and `senders` takes no other"},
    {"grid: {traffic.seed: {from: 1, to: 1e30, count: 2}}",
     "1:22: value 2 of the range, 1e+30, is no whole number below 2^64, and `seed` takes no other"},
    {"grid: {traffic.gate: {from: 1, to: 4, count: 3}}",
     "1:22: `gate` is no number: it is swept over a list of values"},
    {"grid: {traffic.jitter: {from: 1, to: 2 us, step: 1 us}}", "1:31: \"1\" has no unit"},
    {"limit: 3\ngrid: {traffic.senders: [1, 2], traffic.seed: [1, 2]}", "1:1: 2 × 2 = 4 points, and the limit is 3"},
    {"grid: {traffic.seed: {from: 1, to: 100000, step: 1}, traffic.senders: {from: 1, to: 100000, step: 1}}",
     "1:1: 100000 × 100000 = 10000000000 points, and the limit is 10000"},
    {"grid: {traffic.seed: {from: 0, to: 1000000000000000, step: 1}}",
     "1:1: 1000000000000000 = 1e+15 points, and the limit is 10000"},
};

START_TEST(mistakes_are_told_at_their_place) {
    char line[LINE_SIZE];
    expand(bad[_i].text, line);
    line[strlen(bad[_i].mistake)] = '\0'; /* what follows may tell more */
    ck_assert_str_eq(line, bad[_i].mistake);
}
END_TEST

static const char head[] = "name: points\n"
                           "topology: " SOURCE_DIRECTORY "/topologies/leaf-spine-100g.yaml\n"
                           "cluster: {racks: 16, gpus_used: 1}\n"
                           "traffic: {pattern: incast, senders: 4}\n"
                           "policies: ecmp+dcqcn\n";

/** Reads one point of a configuration whose sweep is given. */
static bool read_point(const char *sweep, uint64_t point, const char *override, struct experiment *experiment,
                       struct experiment_labels *labels, struct error_list *errors) {
    char path[] = "/tmp/moefabric-sweep-XXXXXX";
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *stream = fdopen(descriptor, "w");
    fprintf(stream, "%ssweep:\n  %s\n", head, sweep);
    fclose(stream);
    const bool good_point =
        experiment_read_point(path, "sweep", &override, override != NULL, point, experiment, labels, NULL, errors);
    unlink(path);
    return good_point;
}

START_TEST(a_point_is_a_configuration_with_its_settings) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct experiment_labels labels;
    struct error_list errors = {0};
    ck_assert_msg(read_point("grid: {traffic.senders: [5, 6], topology.nic.rate: [25 Gb/s], cluster.racks: [9]}", 1,
                             NULL, experiment, &labels, &errors),
                  "%s", errors.errors[0].message);
    ck_assert_uint_eq(experiment->sweep.n_points, 2);
    ck_assert_uint_eq(experiment->traffic.senders, 6);
    ck_assert_uint_eq(experiment->topology.nic.rate_bits_per_s, 25000000000);
    ck_assert_uint_eq(experiment->topology.racks, 9);
    ck_assert_uint_eq(labels.n_axes, 3);
    ck_assert_str_eq(labels.keys[0], "traffic.senders");
    ck_assert_str_eq(labels.values[0], "6");
    ck_assert_str_eq(labels.values[1], "25 Gb/s");
    experiment_labels_fini(&labels);
    free(experiment);
}
END_TEST

START_TEST(seeds_of_the_sweep_are_those_of_every_point) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct experiment_labels labels;
    struct error_list errors = {0};
    ck_assert(read_point("{seeds: [4, 6], grid: {traffic.senders: [5]}}", 0, NULL, experiment, &labels, &errors));
    ck_assert_uint_eq(experiment->n_seeds, 2);
    ck_assert_uint_eq(experiment->seeds[1], 6);
    ck_assert_uint_eq(labels.n_axes, 1);
    experiment_labels_fini(&labels);
    free(experiment);
}
END_TEST

START_TEST(a_contradiction_of_a_point_is_told_where_the_sweep_sets_it) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct experiment_labels labels;
    struct error_list errors = {0};
    ck_assert(!read_point("grid: {traffic.senders: [5, 99]}", 1, NULL, experiment, &labels, &errors));
    ck_assert_uint_eq(errors.errors[0].line, 7);
    ck_assert_uint_eq(errors.errors[0].column, 31);
    ck_assert_str_eq(labels.values[0], "99");
    experiment_labels_fini(&labels);
    free(experiment);
}
END_TEST

START_TEST(an_override_of_a_swept_key_is_refused) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct experiment_labels labels;
    struct error_list errors = {0};
    ck_assert(!read_point("grid: {traffic.senders: [5]}", 0, "traffic.senders=3", experiment, &labels, &errors));
    ck_assert_str_eq(errors.errors[0].file, "--set");
    experiment_labels_fini(&labels);
    errors = (struct error_list){0};
    ck_assert(read_point("grid: {traffic.senders: [5]}", 0, "sweep={grid: {traffic.senders: [7]}}", experiment, &labels,
                         &errors));
    ck_assert_uint_eq(experiment->traffic.senders, 7);
    experiment_labels_fini(&labels);
    free(experiment);
}
END_TEST

START_TEST(there_is_no_point_beyond_the_last) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct experiment_labels labels;
    struct error_list errors = {0};
    ck_assert(!read_point("grid: {traffic.senders: [5, 6]}", 2, NULL, experiment, &labels, &errors));
    ck_assert_str_eq(errors.errors[0].message, "there is no point 2: points are numbered from 0 to 1");
    ck_assert_uint_eq(labels.n_axes, 0);
    free(experiment);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("sweep");
    TCase *tcase = tcase_create("sweep");
    tcase_add_loop_test(tcase, points_are_what_one_works_out_by_hand, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(tcase, mistakes_are_told_at_their_place, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, a_point_is_a_configuration_with_its_settings);
    tcase_add_test(tcase, seeds_of_the_sweep_are_those_of_every_point);
    tcase_add_test(tcase, a_contradiction_of_a_point_is_told_where_the_sweep_sets_it);
    tcase_add_test(tcase, an_override_of_a_swept_key_is_refused);
    tcase_add_test(tcase, there_is_no_point_beyond_the_last);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
