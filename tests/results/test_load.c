// SPDX-License-Identifier: GPL-3.0-or-later
/* Result files read back: whole ones come back as they were, others are refused in words. */
#include "base/memory.h"
#include "results/column.h"
#include "results/load.h"
#include "results/series.h"
#include "results/store.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN "/runs/000_adaptive+dcqcn_seed1"

static char *folder, *path;

static void write_file(const char *to, const struct store_header *header, struct measurement *const *runs, uint32_t n) {
    struct error error = {0};
    struct store *store = store_open(to, header, &error);
    ck_assert_msg(store != NULL, "%s", error.message);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_msg(store_add_run(store, runs[i], &error), "%s", error.message);
    }
    ck_assert_msg(store_commit(store, &error), "%s", error.message);
}

/** Two intervals of two links and of one queue pair; drops were not recorded. */
static struct series *make_series(void) {
    struct series *series = memory_allocate(1, sizeof *series);
    *series = (struct series){
        .interval_ps = 1000, .from_ps = 7, .n_intervals = 2, .ended_early = true, .n_links = 2, .n_pairs = 1};
    series->links = memory_allocate(2, sizeof *series->links);
    series->links[0] = 2;
    for (int q = 0; q < SERIES_DROPS; q++) {
        series->values[q] = memory_allocate(4, sizeof(uint64_t));
        series->values[q][3] = (uint64_t)q + 1;
    }
    series->pairs = memory_allocate(1, sizeof *series->pairs);
    series->pairs[0] = (struct series_pair){1, 3, 0};
    for (int q = 0; q < SERIES_PAIR_QUANTITIES; q++) {
        series->pair_values[q] = memory_allocate(2, sizeof(uint64_t));
        series->pair_values[q][1] = (uint64_t)q + 10;
    }
    return series;
}

static void make_file(void) {
    const struct store_header header = {
        .title = "four GPUs", .program_version = "0.1.0", .configuration = "a: 1 # 한국어\n"};
    struct measurement *runs[2] = {sample_measurement("adaptive+dcqcn", 1, 1, false),
                                   sample_measurement("ecmp/odd", 2, 3, false)};
    runs[0]->series = make_series();
    runs[1]->outcome = MEASUREMENT_STALLED;
    snprintf(runs[1]->diagnosis, sizeof runs[1]->diagnosis, "leaf0 waits for itself");
    folder = sample_folder();
    path = sample_path(folder, "result.h5");
    write_file(path, &header, runs, 2);
    measurement_free(runs[0]);
    measurement_free(runs[1]);
}

static void remove_file(void) {
    char command[512];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    free(folder);
    free(path);
}

/* Nothing is lost on the way: what was read, written again, is the same file. */
START_TEST(a_file_read_and_written_again_is_the_same_bytes) {
    struct error error = {0};
    struct load *load = load_read(path, &error);
    ck_assert_msg(load != NULL, "%s", error.message);
    ck_assert_uint_eq(load->n_runs, 2);
    ck_assert_int_eq(load->runs[1]->outcome, MEASUREMENT_STALLED);
    ck_assert_str_eq(load->runs[1]->diagnosis, "leaf0 waits for itself");
    const struct series *series = load->runs[0]->series;
    ck_assert_uint_eq(series->n_intervals, 2);
    ck_assert(series->ended_early);
    ck_assert_uint_eq(series->values[SERIES_MARKS][3], SERIES_MARKS + 1);
    ck_assert_ptr_null(series->values[SERIES_DROPS]);
    ck_assert_uint_eq(series->pairs[0].destination, 3);
    ck_assert_uint_eq(series->pair_values[SERIES_PAIR_SENT_PACKETS][1], SERIES_PAIR_SENT_PACKETS + 10);
    ck_assert_ptr_null(load->runs[1]->series);
    char *again = sample_path(folder, "again.h5");
    write_file(again, &(struct store_header){load->title, load->program_version, load->configuration}, load->runs,
               load->n_runs);
    size_t first_size, second_size;
    char *first = sample_read(path, &first_size), *second = sample_read(again, &second_size);
    ck_assert_uint_eq(first_size, second_size);
    ck_assert_int_eq(memcmp(first, second, first_size), 0);
    free(first);
    free(second);
    free(again);
    load_free(load);
}
END_TEST

/** The file is refused with exit code 4, its own name and words that hold these. */
static void check_refused(const char *words) {
    struct error error = {0};
    struct load *load = load_read(path, &error);
    ck_assert_ptr_null(load);
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    ck_assert_str_eq(error.file, path);
    ck_assert_msg(strstr(error.message, words) != NULL, "%s: no \"%s\"", error.message, words);
}

START_TEST(what_is_no_result_is_said_to_be_none) {
    FILE *stream = fopen(path, "w");
    fputs("name: a configuration\n", stream);
    fclose(stream);
    check_refused("this is no HDF5 file");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    check_refused("this is no result of moefabric");
    ck_assert_int_eq(unlink(path), 0);
    check_refused("there is no such file");
}
END_TEST

/* 16 lengths shorter than the whole: HDF5 knows the length that a file should have. */
START_TEST(a_file_that_is_cut_short_is_refused) {
    size_t size;
    char *bytes = sample_read(path, &size);
    for (size_t part = 0; part < 16; part++) {
        FILE *stream = fopen(path, "w");
        ck_assert_uint_eq(fwrite(bytes, 1, size * part / 16, stream), size * part / 16);
        fclose(stream);
        check_refused("");
    }
    free(bytes);
}
END_TEST

static hid_t open_to_change(void) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    ck_assert(file >= 0);
    return file;
}

START_TEST(a_newer_layout_is_refused_with_both_numbers) {
    const hid_t file = open_to_change();
    const uint64_t version = STORE_SCHEMA_VERSION + 1;
    const hid_t attribute = H5Aopen(file, "schema_version", H5P_DEFAULT);
    ck_assert(H5Awrite(attribute, H5T_NATIVE_UINT64, &version) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
    char words[64];
    snprintf(words, sizeof words, "layout %d, this program reads up to %d", STORE_SCHEMA_VERSION + 1,
             STORE_SCHEMA_VERSION);
    check_refused(words);
}
END_TEST

/** Overwrites the first row of a column. */
static void change_first(const char *name, hid_t type, const void *value) {
    const hid_t file = open_to_change(), dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset), one = H5Screate(H5S_SCALAR);
    const hsize_t first = 0, count = 1;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL);
    ck_assert(H5Dwrite(dataset, type, one, space, H5P_DEFAULT, value) >= 0);
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

START_TEST(numbers_that_name_no_row_are_refused) {
    static const struct {
        const char *column, *words;
    } cases[] = {
        {RUN "/messages/source", "row 0 of messages: no such rank"},
        {RUN "/flows/destination", "row 0 of flows: no such rank"},
        {RUN "/messages/phase", "row 0 of messages: no such phase"},
        {RUN "/rank_phases/rank", "row 0 of rank_phases: rank or phase is not the one of this row"},
        {RUN "/phases/kind", "row 0 of phases: unknown kind"},
        {RUN "/links/kind", "row 0 of links: unknown kind"},
        {RUN "/endpoints/rack", "row 0 of endpoints: no such rack"},
        {RUN "/experts/rank", "row 0 of experts: no such rank"},
    };
    const uint32_t large = 4000000;
    ck_assert_int_lt(_i, (int)(sizeof cases / sizeof cases[0]));
    change_first(cases[_i].column, H5T_NATIVE_UINT32, &large);
    check_refused(cases[_i].words);
}
END_TEST

/** Replaces a column by one of this type and length. */
static void replace_column(const char *name, hid_t type, hsize_t length) {
    const hid_t file = open_to_change();
    ck_assert(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    if (length > 0) {
        const hid_t space = H5Screate_simple(1, &length, NULL);
        const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        ck_assert(dataset >= 0);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    H5Fclose(file);
}

START_TEST(columns_of_another_length_are_refused) {
    replace_column(RUN "/messages/bytes", H5T_NATIVE_UINT64, 3);
    check_refused("messages/bytes has not the");
}
END_TEST

START_TEST(tables_of_another_length_than_others_ask_for_are_refused) {
    replace_column(RUN "/experts/rank", H5T_NATIVE_UINT32, 1);
    replace_column(RUN "/experts/tokens", H5T_NATIVE_UINT64, 1);
    struct error error = {0};
    struct load *load = load_read(path, &error); /* fewer experts are no contradiction */
    ck_assert_msg(load != NULL, "%s", error.message);
    load_free(load);
    const char *const columns[] = {"rank", "phase", "start_ps", "finish_ps", "ideal_ps"};
    for (int i = 0; i < 5; i++) {
        char name[128];
        snprintf(name, sizeof name, RUN "/rank_phases/%s", columns[i]);
        replace_column(name, i < 2 ? H5T_NATIVE_UINT32 : H5T_NATIVE_UINT64, 5);
    }
    check_refused("rank_phases has 5 rows where the other tables ask for 12");
}
END_TEST

START_TEST(columns_of_another_type_are_refused) {
    replace_column(RUN "/links/rate_bits_per_s", H5T_NATIVE_DOUBLE, 3);
    check_refused("links/rate_bits_per_s has the wrong type");
}
END_TEST

/** Replaces a column of three numbers by one that is stored as `properties` say. */
static void replace_stored(const char *name, hid_t properties) {
    const hsize_t length = 3;
    const hid_t file = open_to_change(), space = H5Screate_simple(1, &length, NULL);
    ck_assert(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_UINT64, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ck_assert(dataset >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(properties);
    H5Fclose(file);
}

/* A forged result could show what other files of the machine hold. */
START_TEST(columns_that_lie_in_another_file_are_refused) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    ck_assert(H5Pset_external(properties, "/etc/passwd", 0, 24) >= 0);
    replace_stored(RUN "/links/rate_bits_per_s", properties);
    check_refused("links/rate_bits_per_s has the wrong type");
}
END_TEST

/* The same column, kept in the header of the file, is as good as any. */
START_TEST(columns_in_a_header_are_read) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    ck_assert(H5Pset_layout(properties, H5D_COMPACT) >= 0);
    replace_stored(RUN "/links/rate_bits_per_s", properties);
    struct error error = {0};
    struct load *load = load_read(path, &error);
    ck_assert_msg(load != NULL, "%s", error.message);
    load_free(load);
}
END_TEST

START_TEST(series_of_links_that_are_not_there_are_refused) {
    const uint32_t large = 3; /* of links 0 to 2 */
    change_first(RUN "/series/link", H5T_NATIVE_UINT32, &large);
    check_refused("series/link is missing, damaged or too large");
}
END_TEST

START_TEST(series_of_another_size_are_refused) {
    replace_column(RUN "/series/pair_destination", H5T_NATIVE_UINT32, 2);
    check_refused("series/pair_source is missing, damaged or too large");
    replace_column(RUN "/series/marks", H5T_NATIVE_UINT64, 4); /* of one dimension */
    check_refused("series/marks is missing, damaged or too large");
}
END_TEST

/* An older program did not write every column of today. */
START_TEST(a_column_that_is_not_there_is_zero) {
    replace_column(RUN "/links/unrouted", H5T_NATIVE_UINT64, 0);
    struct error error = {0};
    struct load *load = load_read(path, &error);
    ck_assert_msg(load != NULL, "%s", error.message);
    ck_assert_uint_eq(load->runs[0]->links[0].unrouted, 0);
    load_free(load);
}
END_TEST

START_TEST(a_table_that_is_not_there_is_refused) {
    replace_column(RUN "/links", H5T_NATIVE_UINT64, 0);
    check_refused("there is no table links");
}
END_TEST

/* A million million rows fit in a small file: chunks that were never written take no room. */
START_TEST(a_table_that_no_machine_can_hold_is_refused) {
    replace_column(RUN "/messages/source", H5T_NATIVE_UINT32, 0);
    const hid_t file = open_to_change();
    const hsize_t length = UINT64_C(1000000000000), chunk = 1024;
    const hid_t space = H5Screate_simple(1, &length, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &chunk);
    const hid_t dataset =
        H5Dcreate2(file, RUN "/messages/source", H5T_NATIVE_UINT32, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ck_assert(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
    check_refused("messages has 1000000000000 rows: the file needs more than half of this machine's memory");
}
END_TEST

/** Where the first chunk of a column is in the file, and how long. */
static void find_chunk(const char *name, size_t *place, size_t *size) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    hsize_t corner = 0, bytes = 0;
    unsigned filters = 0;
    haddr_t address = 0;
    ck_assert(H5Dget_chunk_info(dataset, space, 0, &corner, &filters, &address, &bytes) >= 0);
    *place = (size_t)address;
    *size = (size_t)bytes;
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* Rows are behind deflate, which has a form and a sum: no byte of them can change unnoticed. (Of damage to its own structures
   libhdf5 makes what it will: that is no test of this program.) */
START_TEST(a_changed_byte_of_the_rows_is_refused) {
    static const char *const columns[] = {RUN "/messages/bytes", RUN "/flows/active_ps", RUN "/links/name"};
    for (size_t column = 0; column < sizeof columns / sizeof columns[0]; column++) {
        size_t size, place, length;
        find_chunk(columns[column], &place, &length);
        char *bytes = sample_read(path, &size);
        unsigned accepted = 0;
        for (size_t i = 2; i < length; i++) { /* the two bytes before only say how it was deflated */
            FILE *stream = fopen(path, "w");
            bytes[place + i] ^= 0x10;
            ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
            bytes[place + i] ^= 0x10;
            fclose(stream);
            struct load *load = load_read(path, NULL);
            accepted += load != NULL;
            load_free(load);
        }
        ck_assert_uint_le(accepted, 1); /* the last byte before the sum has bits that nobody reads */
        FILE *stream = fopen(path, "w");
        ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
        fclose(stream);
        free(bytes);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("load");
    TCase *cases = tcase_create("load");
    tcase_add_checked_fixture(cases, make_file, remove_file);
    tcase_add_test(cases, a_file_read_and_written_again_is_the_same_bytes);
    tcase_add_test(cases, what_is_no_result_is_said_to_be_none);
    tcase_add_test(cases, a_file_that_is_cut_short_is_refused);
    tcase_add_test(cases, a_newer_layout_is_refused_with_both_numbers);
    tcase_add_loop_test(cases, numbers_that_name_no_row_are_refused, 0, 8);
    tcase_add_test(cases, columns_of_another_length_are_refused);
    tcase_add_test(cases, tables_of_another_length_than_others_ask_for_are_refused);
    tcase_add_test(cases, series_of_links_that_are_not_there_are_refused);
    tcase_add_test(cases, series_of_another_size_are_refused);
    tcase_add_test(cases, columns_of_another_type_are_refused);
    tcase_add_test(cases, columns_that_lie_in_another_file_are_refused);
    tcase_add_test(cases, columns_in_a_header_are_read);
    tcase_add_test(cases, a_column_that_is_not_there_is_zero);
    tcase_add_test(cases, a_table_that_is_not_there_is_refused);
    tcase_add_test(cases, a_table_that_no_machine_can_hold_is_refused);
    tcase_add_test(cases, a_changed_byte_of_the_rows_is_refused);
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
