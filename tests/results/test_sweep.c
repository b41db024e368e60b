// SPDX-License-Identifier: GPL-3.0-or-later
/* Tables of sweeps: what goes into a file comes out of it, and files are not trusted. */
#include "base/hash.h"
#include "results/load.h"
#include "results/sweep_csv.h"
#include "results/sweep_load.h"
#include "results/sweep_store.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *__lsan_default_suppressions(void);

/** HDF5 loses memory of its own over structures of its own that are damaged: read by the leak checker, where there is one. */
const char *__lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

static const char *const axes[] = {"traffic.bytes", "policies"};

static void add_run(struct sweep_table *table, struct sweep_point *point, const char *policy, uint64_t seed,
                    uint64_t scale) {
    struct measurement *measurement = sample_measurement(policy, seed, scale, false);
    struct summary *summary = summary_create(measurement);
    sweep_table_add_run(table, point, summary);
    summary_free(summary);
    measurement_free(measurement);
}

/** Two points: one with two policies and two seeds, one refused. */
static struct sweep_table *make_table(void) {
    const char *const first[] = {"1 MB", "[a, b]"}, *const second[] = {"2 MB", ""};
    struct sweep_table *table = sweep_table_create("sample", "0.0", 2, axes);
    struct sweep_point *point = sweep_table_add_point(table, 0, first);
    point->outcome = SWEEP_DONE;
    point->hash = UINT64_C(0xfedcba9876543210);
    sweep_table_set_text(&point->configuration, "name: \"one\"\n");
    add_run(table, point, "a", 1, 1);
    add_run(table, point, "a", 2, 3);
    add_run(table, point, "b", 1, 2);
    add_run(table, point, "b", 2, 2);
    point = sweep_table_add_point(table, 1, second);
    point->outcome = SWEEP_REFUSED;
    sweep_table_set_text(&point->error, "file.yaml:1:2: a mistake, \"quoted\"");
    return table;
}

static char *write_table(const struct sweep_table *table, const char *folder, const char *name) {
    struct error error = {0};
    char *path = sample_path(folder, name);
    ck_assert_msg(sweep_store_write(table, path, &error), "%s", error.message);
    return path;
}

START_TEST(what_is_stored_is_read_back_and_gives_the_same_bytes) {
    char *folder = sample_folder();
    struct sweep_table *table = make_table();
    char *path = write_table(table, folder, "one.h5");
    struct error error = {0};
    ck_assert(sweep_load_is_sweep(path));
    struct sweep_table *back = sweep_load_read(path, &error);
    ck_assert_msg(back != NULL, "%s", error.message);
    ck_assert_uint_eq(back->n_points, 2);
    ck_assert_uint_eq(back->n_metrics, table->n_metrics);
    ck_assert_str_eq(back->points[0].values[1], "[a, b]");
    ck_assert_str_eq(back->points[1].values[1], "");
    ck_assert_str_eq(back->points[1].error, table->points[1].error);
    ck_assert_str_eq(back->points[0].configuration, "name: \"one\"\n");
    ck_assert_uint_eq(back->points[0].hash, table->points[0].hash);
    ck_assert_uint_eq(back->points[0].n_runs, 4);
    for (uint32_t r = 0; r < 4; r++) {
        ck_assert_str_eq(back->points[0].runs[r].policy, table->points[0].runs[r].policy);
        for (uint32_t m = 0; m < table->n_metrics; m++) {
            const double one = sweep_table_value(&table->points[0].runs[r], m);
            const double other = sweep_table_value(&back->points[0].runs[r], m);
            ck_assert_msg(one == other || (isnan(one) && isnan(other)), "%s", table->metrics[m].name);
        }
    }
    char *again = write_table(back, folder, "two.h5");
    size_t size, size_again;
    char *bytes = sample_read(path, &size), *bytes_again = sample_read(again, &size_again);
    ck_assert_uint_eq(size, size_again);
    ck_assert_mem_eq(bytes, bytes_again, size);
    ck_assert_ptr_null(load_read(path, &error)); /* no result of runs, and said so */
    ck_assert_ptr_nonnull(strstr(error.message, "sweep"));
    unlink(path);
    unlink(again);
    rmdir(folder);
    free(bytes);
    free(bytes_again);
    free(path);
    free(again);
    free(folder);
    sweep_table_free(table);
    sweep_table_free(back);
}
END_TEST

START_TEST(points_that_are_put_together_are_the_whole) {
    struct sweep_table *whole = make_table(), *part = make_table();
    const char *const values[] = {"1 MB", "[a, b]"};
    struct sweep_table *merged = sweep_table_create("sample", "0.0", 2, axes);
    sweep_table_add_point(merged, 0, values);
    sweep_table_absorb(merged, &merged->points[0], part, &part->points[0]);
    ck_assert_uint_eq(part->points[0].n_runs, 0);
    ck_assert_int_eq(merged->points[0].outcome, SWEEP_DONE);
    const uint32_t metric = sweep_table_metric(merged, "dispatch/time");
    ck_assert_uint_eq(metric, sweep_table_metric(whole, "dispatch/time"));
    const struct comparison_range a = sweep_table_range(&merged->points[0], 0, 2, metric);
    const double one = sweep_table_value(&whole->points[0].runs[0], metric);
    const double other = sweep_table_value(&whole->points[0].runs[1], metric);
    ck_assert_double_eq(a.mean, (one + other) / 2);
    ck_assert_double_eq(a.low, fmin(one, other));
    ck_assert_double_eq(a.high, fmax(one, other));
    ck_assert_uint_eq(sweep_table_policy_end(&merged->points[0], 0), 2);
    ck_assert_uint_eq(sweep_table_policy_end(&merged->points[0], 2), 4);
    ck_assert_uint_eq(sweep_table_metric(merged, "no_such_metric"), UINT32_MAX);
    sweep_table_free(whole);
    sweep_table_free(part);
    sweep_table_free(merged);
}
END_TEST

START_TEST(what_is_shown_of_a_file_cannot_steer_the_terminal) {
    const char *const values[] = {"1\033[2J", ""};
    char *folder = sample_folder();
    struct sweep_table *table = sweep_table_create("sample", "0.0", 2, axes);
    struct sweep_point *point = sweep_table_add_point(table, 0, values);
    sweep_table_set_text(&point->error, "a\033[2J\nb");
    sweep_table_set_text(&point->configuration, "a: 1\nb: 2\n");
    add_run(table, point, "p\033[2J", 1, 1);
    char *path = write_table(table, folder, "hostile.h5");
    struct error error = {0};
    struct sweep_table *back = sweep_load_read(path, &error);
    ck_assert_msg(back != NULL, "%s", error.message);
    ck_assert_str_eq(back->points[0].values[0], "1?[2J");
    ck_assert_str_eq(back->points[0].error, "a?[2J?b");
    ck_assert_str_eq(back->points[0].runs[0].policy, "p?[2J");
    ck_assert_str_eq(back->points[0].configuration, "a: 1\nb: 2\n"); /* YAML has lines */
    unlink(path);
    rmdir(folder);
    free(path);
    free(folder);
    sweep_table_free(table);
    sweep_table_free(back);
}
END_TEST

START_TEST(one_seed_that_did_not_finish_is_told_of_its_policy) {
    struct sweep_table *table = make_table();
    struct sweep_point *point = &table->points[0];
    char *text = NULL;
    size_t size;
    point->runs[1].outcome = MEASUREMENT_STALLED; /* the second seed of the first policy */
    ck_assert_int_eq(sweep_table_outcome(point, 0, 2), MEASUREMENT_STALLED);
    ck_assert_int_eq(sweep_table_outcome(point, 2, 4), MEASUREMENT_FINISHED);
    FILE *stream = open_memstream(&text, &size);
    struct json json = json_begin(stream);
    sweep_csv_json(table, &json);
    json_end(&json);
    fclose(stream);
    const char *first = strstr(text, "\"outcome\": \"stalled\"");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "\"outcome\": \"stalled\""));
    free(text);
    sweep_table_free(table);
}
END_TEST

START_TEST(damaged_files_are_refused_or_read_and_never_more) {
    enum { DAMAGES = 300 };
    char *folder = sample_folder();
    struct sweep_table *table = make_table();
    char *path = write_table(table, folder, "damaged.h5");
    size_t size;
    char *bytes = sample_read(path, &size);
    uint32_t refused = 0;
    for (uint64_t i = 0; i < DAMAGES; i++) {
        const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, 33, i);
        const size_t at = (size_t)hash_below(hash_draw(stream, 0), (uint32_t)size);
        const size_t kept = i % 3 == 0 ? at : size; /* cut short, or one byte that is another one */
        const char before = bytes[at];
        bytes[at] = (char)(bytes[at] ^ (1 + hash_below(hash_draw(stream, 1), 255)));
        FILE *stream_out = fopen(path, "wb");
        ck_assert_uint_eq(fwrite(bytes, 1, kept, stream_out), kept);
        fclose(stream_out);
        bytes[at] = before;
        struct error error = {0};
        struct sweep_table *back = sweep_load_read(path, &error);
        refused += back == NULL;
        ck_assert(back != NULL || (error.exit_code == EXIT_CODE_INPUT_OUTPUT && error.message[0] != '\0'));
        sweep_table_free(back);
    }
    ck_assert_uint_ge(refused, DAMAGES / 3 - 1); /* all that are cut short, at least */
    unlink(path);
    rmdir(folder);
    free(bytes);
    free(path);
    free(folder);
    sweep_table_free(table);
}
END_TEST

START_TEST(the_tables_are_exported_with_what_points_set) {
    char *folder = sample_folder(), *tables = sample_path(folder, "tables");
    struct sweep_table *table = make_table();
    struct error error = {0};
    size_t size;
    char *with_slash = sample_path(folder, "tables/"); /* as shells complete it */
    ck_assert_msg(sweep_csv_export(table, with_slash, &error), "%s", error.message);
    free(with_slash);
    ck_assert(!sweep_csv_export(table, tables, &error)); /* it is there already */
    char *path = sample_path(tables, "points.csv"), *text = sample_read(path, &size);
    ck_assert_str_eq(text, "point,traffic.bytes,policies,hash,outcome,error\n"
                           "0,1 MB,\"[a, b]\",fedcba9876543210,done,\n"
                           "1,2 MB,,0000000000000000,refused,\"file.yaml:1:2: a mistake, \"\"quoted\"\"\"\n");
    static const char *const files[] = {"points.csv", "runs.csv", "metrics.csv"};
    for (size_t i = 0; i < 3; i++) {
        char *file = sample_path(tables, files[i]);
        ck_assert_int_eq(unlink(file), 0);
        free(file);
    }
    rmdir(tables);
    rmdir(folder);
    free(path);
    free(text);
    free(tables);
    free(folder);
    sweep_table_free(table);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("sweep");
    TCase *tcase = tcase_create("sweep");
    tcase_add_test(tcase, what_is_stored_is_read_back_and_gives_the_same_bytes);
    tcase_add_test(tcase, points_that_are_put_together_are_the_whole);
    tcase_add_test(tcase, what_is_shown_of_a_file_cannot_steer_the_terminal);
    tcase_add_test(tcase, one_seed_that_did_not_finish_is_told_of_its_policy);
    tcase_add_test(tcase, damaged_files_are_refused_or_read_and_never_more);
    tcase_add_test(tcase, the_tables_are_exported_with_what_points_set);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
