// SPDX-License-Identifier: GPL-3.0-or-later
/* Series in the result file and as text: what is there, where, and that the documentation says the same. */
#include "results/series.h"
#include "results/series_csv.h"
#include "results/store.h"
#include "sample.h"

#include "base/memory.h"
#include "run_suite.h"

#include <check.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTERVALS = 3, LINKS = 2 };

static char folder[] = "/tmp/moefabric-series-XXXXXX";

/* Two links of a run, two of the quantities of links, and one queue pair. */
static struct measurement *recorded(void) {
    const struct measurement_shape shape = {.n_ranks = 2, .n_phases = 1, .n_links = 3};
    struct measurement *measurement = measurement_create(&shape);
    struct series *series = memory_allocate(1, sizeof *series);
    snprintf(measurement->policy, sizeof measurement->policy, "ecmp+none");
    for (uint32_t link = 0; link < shape.n_links; link++) {
        snprintf(measurement->links[link].name, sizeof measurement->links[link].name, "link%u", link);
        measurement->links[link].rate_bits_per_s = UINT64_C(8000000000); /* 1 B a nanosecond */
    }
    *series =
        (struct series){.interval_ps = 1000000, .from_ps = 5, .n_intervals = INTERVALS, .n_links = LINKS, .n_pairs = 1};
    series->links = memory_allocate(LINKS, sizeof *series->links);
    series->links[0] = 0;
    series->links[1] = 2;
    series->values[SERIES_QUEUE_BYTES] = memory_allocate((size_t)INTERVALS * LINKS, sizeof(uint64_t));
    series->values[SERIES_SENT_BYTES] = memory_allocate((size_t)INTERVALS * LINKS, sizeof(uint64_t));
    series->values[SERIES_QUEUE_BYTES][3] = 7;   /* interval 1, link2 */
    series->values[SERIES_SENT_BYTES][2] = 1000; /* interval 1, link0: all that it can carry */
    series->pairs = memory_allocate(1, sizeof *series->pairs);
    series->pairs[0] = (struct series_pair){.source = 1, .destination = 0, .queue_pair = 0};
    for (int q = 0; q < SERIES_PAIR_QUANTITIES; q++) {
        series->pair_values[q] = memory_allocate(INTERVALS, sizeof(uint64_t));
        series->pair_values[q][2] = (uint64_t)q + 1;
    }
    measurement->series = series;
    measurement_finish(measurement, NULL, NULL);
    return measurement;
}

static hid_t store(const struct measurement *measurement, const char *name) {
    const struct store_header header = {.title = "t", .program_version = "0", .configuration = "{}"};
    struct error error;
    char *path = sample_path(folder, name);
    struct store *opened = store_open(path, &header, &error);
    ck_assert_ptr_nonnull(opened);
    ck_assert(store_add_run(opened, measurement, &error));
    ck_assert(store_commit(opened, &error));
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    free(path);
    return file;
}

static void read_all(hid_t file, const char *name, hid_t type, void *values) {
    char path[128];
    snprintf(path, sizeof path, "/runs/000_ecmp+none_seed0/series/%s", name);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    ck_assert_msg(dataset >= 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "%s", name);
    ck_assert_int_gt(H5Aexists(dataset, "units"), 0);
    ck_assert_int_gt(H5Aexists(dataset, "long_name"), 0);
    H5Dclose(dataset);
}

START_TEST(quantities_are_intervals_by_links) {
    struct measurement *measurement = recorded();
    uint64_t values[INTERVALS * LINKS], pairs[INTERVALS];
    uint32_t links[LINKS], source;
    const hid_t file = store(measurement, "series.h5");
    read_all(file, "queue_bytes", H5T_NATIVE_UINT64, values);
    ck_assert_mem_eq(values, measurement->series->values[SERIES_QUEUE_BYTES], sizeof values);
    read_all(file, "sent_bytes", H5T_NATIVE_UINT64, values);
    ck_assert_uint_eq(values[2], 1000);
    read_all(file, "link", H5T_NATIVE_UINT32, links);
    ck_assert_uint_eq(links[1], 2);
    read_all(file, "pair_source", H5T_NATIVE_UINT32, &source);
    ck_assert_uint_eq(source, 1);
    read_all(file, "window_packets", H5T_NATIVE_UINT64, pairs);
    ck_assert_uint_eq(pairs[2], SERIES_PAIR_WINDOW_PACKETS + 1);
    ck_assert_int_eq(H5Lexists(file, "/runs/000_ecmp+none_seed0/series/marks", H5P_DEFAULT), 0); /* not asked for */
    H5Fclose(file);
    measurement_free(measurement);
}
END_TEST

START_TEST(a_run_without_series_has_no_group_of_them) {
    struct measurement *measurement = recorded();
    series_free(measurement->series);
    measurement->series = NULL;
    const hid_t file = store(measurement, "none.h5");
    ck_assert_int_eq(H5Lexists(file, "/runs/000_ecmp+none_seed0/series", H5P_DEFAULT), 0);
    H5Fclose(file);
    measurement_free(measurement);
}
END_TEST

START_TEST(a_series_of_no_interval_can_be_stored) {
    struct measurement *measurement = recorded();
    measurement->series->n_intervals = 0;
    const hid_t file = store(measurement, "empty.h5");
    ck_assert_int_gt(H5Lexists(file, "/runs/000_ecmp+none_seed0/series/queue_bytes", H5P_DEFAULT), 0);
    H5Fclose(file);
    measurement_free(measurement);
}
END_TEST

START_TEST(the_text_has_rate_and_utilisation_besides) {
    struct measurement *measurement = recorded();
    struct error error;
    size_t size;
    char *path = sample_path(folder, "series.csv");
    ck_assert(series_csv_write(measurement, path, &error));
    char *text = sample_read(path, &size);
    static const char *const lines[] = {
        "begin_ps,end_ps,name,quantity,value\n5,1000005,link0,queue_bytes,0\n",
        "\n1000005,2000005,link0,sent_bytes,1000\n1000005,2000005,link0,rate_bits_per_s,8000000000\n",
        "\n1000005,2000005,link0,utilisation,1.000000\n1000005,2000005,link2,queue_bytes,7\n",
        "\n2000005,3000005,gpu1 → gpu0 #0,allowed_bits_per_s,1\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        ck_assert_msg(strstr(text, lines[i]) != NULL, "missing: %s in:\n%s", lines[i], text);
    }
    ck_assert(!series_csv_write(measurement, "/no/such/folder/series.csv", &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    free(text);
    free(path);
    measurement_free(measurement);
}
END_TEST

START_TEST(documentation_has_every_quantity) {
    size_t size;
    char *page = sample_read(DOCUMENTATION, &size), text[256];
    const char *section = strstr(page, "\n## Series\n");
    ck_assert_ptr_nonnull(section);
    for (int q = 0; q < SERIES_QUANTITIES + SERIES_PAIR_QUANTITIES; q++) {
        const struct series_column *column =
            q < SERIES_QUANTITIES ? &series_columns[q] : &series_pair_columns[q - SERIES_QUANTITIES];
        snprintf(text, sizeof text, "\n| `%s` | %s | uint64 | intervals × ", column->name, column->units);
        ck_assert_msg(strstr(section, text) != NULL, "%s", text);
    }
    free(page);
}
END_TEST

int main(void) {
    if (mkdtemp(folder) == NULL) {
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("series");
    TCase *tests = tcase_create("series");
    tcase_add_test(tests, quantities_are_intervals_by_links);
    tcase_add_test(tests, a_run_without_series_has_no_group_of_them);
    tcase_add_test(tests, a_series_of_no_interval_can_be_stored);
    tcase_add_test(tests, the_text_has_rate_and_utilisation_besides);
    tcase_add_test(tests, documentation_has_every_quantity);
    suite_add_tcase(suite, tests);
    const int status = run_suite(suite);
    static const char *const names[] = {"series.h5", "none.h5", "empty.h5", "series.csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = sample_path(folder, names[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    return status;
}
