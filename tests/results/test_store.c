// SPDX-License-Identifier: GPL-3.0-or-later
/* The result file: same bytes every time, readable by HDF5's own tools, and never half there. DOCUMENTATION is the page that describes it. */
#include "results/column.h"
#include "results/store.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <hdf5.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct store_header header = {
    .title = "four GPUs", .program_version = "0.1.0", .configuration = "cluster: {racks: 2} # 한국어 → ok\n"};

static char *folder;

static void make_folder(void) {
    folder = sample_folder();
}

static void remove_folder(void) {
    char command[512];
    snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -r '%s'", folder, folder);
    ck_assert_int_eq(system(command), 0);
    free(folder);
}

static void write_runs(const char *path, bool reversed) {
    struct error error = {0};
    struct store *store = store_open(path, &header, &error);
    ck_assert_msg(store != NULL, "%s", error.message);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct measurement *measurement = sample_measurement("adaptive+dcqcn", seed, 1, reversed);
        ck_assert_msg(store_add_run(store, measurement, &error), "%s", error.message);
        measurement_free(measurement);
    }
    ck_assert_msg(store_commit(store, &error), "%s", error.message);
}

START_TEST(same_measurements_give_the_same_bytes) {
    char *first_path = sample_path(folder, "first.h5"), *second_path = sample_path(folder, "second.h5");
    size_t first_size, second_size;
    mallopt(M_PERTURB, 0x5a); /* what malloc returns differs between the two: nothing uninitialised may be written */
    write_runs(first_path, false);
    sleep(1); /* a stored time stamp would differ by now */
    mallopt(M_PERTURB, 0xc3);
    write_runs(second_path, true);
    char *first = sample_read(first_path, &first_size), *second = sample_read(second_path, &second_size);
    ck_assert_uint_eq(first_size, second_size);
    ck_assert_int_eq(memcmp(first, second, first_size), 0);
    free(first);
    free(second);
    free(first_path);
    free(second_path);
}
END_TEST

static hid_t open_result(const char *name) {
    char *path = sample_path(folder, name);
    write_runs(path, false);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert(file >= 0);
    free(path);
    return file;
}

START_TEST(columns_come_back_as_they_were) {
    const hid_t file = open_result("columns.h5");
    uint64_t bytes[9];
    double slowdown[7];
    hid_t dataset = H5Dopen2(file, "/runs/000_adaptive+dcqcn_seed1/messages/bytes", H5P_DEFAULT);
    ck_assert(H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    ck_assert_uint_eq(bytes[0], 64);
    ck_assert_uint_eq(bytes[2], 4000000);
    H5Dclose(dataset);
    dataset = H5Dopen2(file, "/runs/001_adaptive+dcqcn_seed2/flows/slowdown", H5P_DEFAULT);
    ck_assert(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, slowdown) >= 0);
    ck_assert_double_eq(slowdown[2], 1.25); /* 0 → 3, dispatch: 100 µs for 80 */
    H5Dclose(dataset);
    H5Fclose(file);
}
END_TEST

START_TEST(configuration_is_stored_whole) {
    const hid_t file = open_result("configuration.h5");
    char text[256] = "";
    const hid_t dataset = H5Dopen2(file, "/configuration", H5P_DEFAULT), type = H5Dget_type(dataset);
    ck_assert_uint_lt(H5Tget_size(type), sizeof text);
    ck_assert(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    ck_assert_str_eq(text, header.configuration);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
}
END_TEST

START_TEST(every_column_has_unit_and_meaning) {
    const hid_t file = open_result("attributes.h5");
    for (size_t i = 0; i < column_tables_count; i++) {
        for (size_t j = 0; j < column_tables[i].n_columns; j++) {
            char name[256];
            snprintf(name, sizeof name, "/runs/000_adaptive+dcqcn_seed1/%s/%s", column_tables[i].name,
                     column_tables[i].columns[j].name);
            ck_assert_msg(H5Aexists_by_name(file, name, "units", H5P_DEFAULT) > 0, "%s", name);
            ck_assert_msg(H5Aexists_by_name(file, name, "long_name", H5P_DEFAULT) > 0, "%s", name);
            ck_assert_msg(H5Aexists_by_name(file, name, "DIMENSION_LIST", H5P_DEFAULT) > 0, "%s", name);
        }
    }
    H5Fclose(file);
}
END_TEST

START_TEST(documentation_has_every_column_with_its_meaning) {
    size_t size;
    char *page = sample_read(DOCUMENTATION, &size);
    for (size_t i = 0; i <= column_tables_count; i++) {
        const struct column_table *table = i < column_tables_count ? &column_tables[i] : &column_totals;
        char text[512];
        snprintf(text, sizeof text, "### `%s`\n\n%s.\n", table->name, table->long_name);
        const char *section = strstr(page, text);
        ck_assert_msg(section != NULL, "%s", text);
        snprintf(text, sizeof text, "`%s/%s`", table->name, table->row != NULL ? table->row : "simulated_ps");
        ck_assert_msg(table->row == NULL || strstr(page, text) != NULL, "%s", text);
        for (size_t j = 0; j < table->n_columns; j++) {
            const struct column *column = &table->columns[j];
            static const char *const types[] = {"uint32", "uint64", "float64", "text"};
            snprintf(text, sizeof text, "| `%s` | %s | %s | %s |\n", column->name, column->units, types[column->type],
                     column->long_name);
            ck_assert_msg(strstr(section, text) != NULL, "missing in the documentation: %s", text);
        }
    }
    free(page);
}
END_TEST

START_TEST(large_tables_cross_chunks_unharmed) {
    enum { MANY = 70001 }; /* three chunks, the last one partly filled */
    const struct measurement_shape shape = {.n_ranks = 2, .n_phases = 1};
    struct measurement *measurement = measurement_create(&shape);
    for (uint32_t i = 0; i < MANY; i++) {
        measurement_add_message(measurement,
                                &(struct measurement_message){.destination = 1, .tag = i, .bytes = 3u * i});
    }
    measurement_finish(measurement, NULL, NULL);
    char *path = sample_path(folder, "large.h5");
    struct store *store = store_open(path, &header, NULL);
    ck_assert(store_add_run(store, measurement, NULL));
    ck_assert(store_commit(store, NULL));
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/runs/000__seed0/messages/bytes", H5P_DEFAULT);
    uint64_t *bytes = calloc(MANY, sizeof *bytes);
    ck_assert(H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    for (uint64_t i = 0; i < MANY; i++) {
        ck_assert_uint_eq(bytes[i], 3 * i);
    }
    H5Dclose(dataset);
    H5Fclose(file);
    free(bytes);
    free(path);
    measurement_free(measurement);
}
END_TEST

/** Opens a store at a path that must be refused; checks code and words, and that nothing new is in the folder. */
static void check_refused(const char *path, const char *words) {
    const unsigned files = sample_count_files(folder);
    struct error error = {0};
    ck_assert_ptr_null(store_open(path, &header, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    ck_assert_msg(strstr(error.message, words) != NULL, "%s", error.message);
    ck_assert_str_eq(error.file, path);
    ck_assert_uint_eq(sample_count_files(folder), files);
}

START_TEST(a_directory_is_refused) {
    check_refused(folder, "this is a directory");
}
END_TEST

START_TEST(a_device_is_refused) {
    check_refused("/dev/null", "it is not a regular file");
}
END_TEST

START_TEST(a_missing_folder_is_refused) {
    char *path = sample_path(folder, "missing/result.h5");
    check_refused(path, "No such file or directory");
    free(path);
}
END_TEST

START_TEST(an_unwritable_folder_is_refused) {
    char *path = sample_path(folder, "result.h5");
    if (geteuid() == 0) { /* the superuser may write anywhere but here */
        check_refused("/proc/result.h5", "the file cannot be written");
    } else {
        ck_assert_int_eq(chmod(folder, 0500), 0);
        check_refused(path, "Permission denied");
        ck_assert_int_eq(chmod(folder, 0700), 0);
    }
    free(path);
}
END_TEST

/** Puts a recognisable file under the path. */
static void put_old_file(const char *path) {
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs("old", stream);
    fclose(stream);
}

static void check_old_file_is_alone(const char *path) {
    size_t size;
    char *content = sample_read(path, &size);
    ck_assert_str_eq(content, "old");
    free(content);
    ck_assert_uint_eq(sample_count_files(folder), 1);
}

START_TEST(a_disk_that_fills_up_leaves_the_old_file) {
    char *path = sample_path(folder, "result.h5");
    put_old_file(path);
    struct error error = {0};
    signal(SIGXFSZ, SIG_IGN);
    const rlim_t limits[] = {1500, 9000, 40000}; /* fails in the header, in the runs, at the end */
    const struct rlimit limit = {.rlim_cur = limits[_i], .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct measurement *measurement = sample_measurement("ecmp", 1, 1, false);
    struct store *store = store_open(path, &header, &error);
    if (store != NULL && store_add_run(store, measurement, &error)) {
        ck_assert(!store_commit(store, &error));
    } else {
        store_discard(store);
    }
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    ck_assert_msg(strstr(error.message, "File too large") != NULL, "%s", error.message);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    check_old_file_is_alone(path);
    measurement_free(measurement);
    free(path);
}
END_TEST

START_TEST(giving_up_leaves_the_old_file) {
    char *path = sample_path(folder, "result.h5");
    put_old_file(path);
    struct store *store = store_open(path, &header, NULL);
    ck_assert_ptr_nonnull(store);
    ck_assert_uint_eq(sample_count_files(folder), 2);
    store_discard(store);
    check_old_file_is_alone(path);
    free(path);
}
END_TEST

static TCase *make_case(Suite *suite, const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    suite_add_tcase(suite, tcase);
    return tcase;
}

int main(void) {
    Suite *suite = suite_create("store");
    TCase *content = make_case(suite, "content");
    tcase_add_test(content, same_measurements_give_the_same_bytes);
    tcase_add_test(content, columns_come_back_as_they_were);
    tcase_add_test(content, configuration_is_stored_whole);
    tcase_add_test(content, every_column_has_unit_and_meaning);
    tcase_add_test(content, documentation_has_every_column_with_its_meaning);
    tcase_add_test(content, large_tables_cross_chunks_unharmed);
    TCase *failures = make_case(suite, "failures");
    tcase_add_test(failures, a_directory_is_refused);
    tcase_add_test(failures, a_device_is_refused);
    tcase_add_test(failures, a_missing_folder_is_refused);
    tcase_add_test(failures, an_unwritable_folder_is_refused);
    tcase_add_loop_test(failures, a_disk_that_fills_up_leaves_the_old_file, 0, 3);
    tcase_add_test(failures, giving_up_leaves_the_old_file);
    return run_suite(suite);
}
