// SPDX-License-Identifier: GPL-3.0-or-later
/* Files of expert placements: what is read, and that every mistake is named with its place. */
#include "config/placement_file.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

#define HEADING "layer,expert,replica,rank\n"

static struct error_list errors;

/* Reads a text and tries whether it fits 4 experts on 2 ranks, layer 0. */
static bool fits(const char *text) {
    static const struct placement_file_fit fit = {.layer = 0, .experts = 4, .ranks = 2};
    struct placement_file file = {0};
    memset(&errors, 0, sizeof errors);
    const bool good =
        placement_file_read_text("p.csv", text, &file, &errors) && placement_file_check(&file, &fit, &errors);
    placement_file_fini(&file);
    ck_assert_int_eq(good, errors.count == 0);
    return good;
}

static void expect(const char *text, unsigned line, unsigned column, const char *part) {
    ck_assert(!fits(text));
    ck_assert_msg(strstr(errors.errors[0].message, part) != NULL, "`%s` lacks `%s`", errors.errors[0].message, part);
    ck_assert_uint_eq(errors.errors[0].line, line);
    ck_assert_uint_eq(errors.errors[0].column, column);
    ck_assert_str_eq(errors.errors[0].file, "p.csv");
}

START_TEST(rows_are_sorted_whatever_their_order) {
    struct placement_file file = {0};
    uint32_t first;
    memset(&errors, 0, sizeof errors);
    ck_assert(placement_file_read_text("p.csv", "# by hand\n" HEADING "1,0,0,5\r\n0,1,1,3\n 0 , 1 ,0, 2\n\n0,0,0,7\n",
                                       &file, &errors));
    ck_assert_uint_eq(placement_file_layer(&file, 0, &first), 3);
    ck_assert_uint_eq(first, 0);
    ck_assert_uint_eq(file.rows[0].rank, 7);
    ck_assert_uint_eq(file.rows[1].rank, 2);
    ck_assert_uint_eq(file.rows[2].rank, 3);
    ck_assert_uint_eq(file.rows[2].line, 4);
    ck_assert_uint_eq(placement_file_layer(&file, 1, &first), 1);
    ck_assert_uint_eq(first, 3);
    ck_assert_uint_eq(placement_file_layer(&file, 2, &first), 0);
    placement_file_fini(&file);
}
END_TEST

START_TEST(replicas_may_be_as_many_as_wanted) {
    ck_assert(fits(HEADING "0,0,0,0\n0,1,0,0\n0,2,0,0\n0,3,0,0\n0,3,1,1\n0,3,2,1\n"));
}
END_TEST

START_TEST(mistakes_of_a_line_have_its_place) {
    expect("0,0,0,0\n", 1, 1, "first line");
    expect(HEADING "0,0,0,0\n0,x,0,0\n", 3, 3, "expert must be");
    expect(HEADING "0,0,0,-1\n", 2, 7, "rank must be");
    expect(HEADING "0,0,0\n", 2, 6, "comma must follow replica");
    expect(HEADING "0,0,0,1,1\n", 2, 8, "ends with rank");
    expect(HEADING "0,0,0,16777216\n", 2, 7, "0 to 16777215");
    expect(HEADING "0,0,0,99999999999999999999999\n", 2, 7, "0 to 16777215");
    expect(HEADING "0;0;0;1\n", 2, 2, "comma must follow layer");
}
END_TEST

START_TEST(replicas_are_given_once_and_without_gaps) {
    expect(HEADING "0,0,0,0\n0,1,0,1\n0,0,0,1\n", 4, 1, "given before, in line 2");
    expect(HEADING "0,0,0,0\n0,0,2,1\n", 3, 1, "no replica 1");
    expect(HEADING "0,0,1,0\n", 2, 1, "no replica 0");
}
END_TEST

START_TEST(what_does_not_fit_is_named) {
    expect(HEADING "0,0,0,0\n0,1,0,1\n0,2,0,0\n0,3,0,2\n", 5, 1, "rank 2 does not exist");
    expect(HEADING "0,0,0,0\n0,1,0,1\n0,2,0,0\n0,3,0,0\n0,4,0,1\n", 6, 1, "expert 4 does not exist");
    expect(HEADING "0,0,0,0\n0,2,0,0\n0,3,0,0\n", 3, 1, "expert 1 is missing");
    expect(HEADING "0,0,0,0\n", 2, 1, "experts 1 to 3 are missing");
    expect(HEADING "0,3,0,0\n", 2, 1, "experts 0 to 2 are missing");
    expect(HEADING "2,0,0,0\n", 2, 1, "no layer 0");
    expect("# nothing\n" HEADING, 1, 1, "places no expert");
}
END_TEST

/* As fits() and expect(), of YAML. */
static bool fits_yaml(const char *text) {
    static const struct placement_file_fit fit = {.layer = 0, .experts = 4, .ranks = 2};
    struct placement_file file = {0};
    memset(&errors, 0, sizeof errors);
    const bool good =
        placement_file_read_text("p.yaml", text, &file, &errors) && placement_file_check(&file, &fit, &errors);
    placement_file_fini(&file);
    ck_assert_int_eq(good, errors.count == 0);
    return good;
}

static void expect_yaml(const char *text, unsigned line, unsigned column, const char *part) {
    ck_assert(!fits_yaml(text));
    ck_assert_msg(strstr(errors.errors[0].message, part) != NULL, "`%s` lacks `%s`", errors.errors[0].message, part);
    ck_assert_msg(errors.errors[0].line == line && errors.errors[0].column == column, "%s: at %u:%u", text,
                  errors.errors[0].line, errors.errors[0].column);
    ck_assert_str_eq(errors.errors[0].file, "p.yaml");
}

START_TEST(yaml_says_what_csv_says) {
    struct placement_file csv = {0}, yaml = {0};
    memset(&errors, 0, sizeof errors);
    ck_assert(placement_file_read_text("p.csv", HEADING "2,0,0,1\n0,0,0,1\n0,1,0,0\n0,1,1,1\n", &csv, &errors));
    ck_assert(placement_file_read_text("p.yaml", "# by hand\nlayers:\n  2: [1]\n  0: [1, [0, 1]]\n", &yaml, &errors));
    ck_assert_uint_eq(csv.n_rows, yaml.n_rows);
    for (uint32_t i = 0; i < csv.n_rows; i++) {
        ck_assert_uint_eq(csv.rows[i].layer, yaml.rows[i].layer);
        ck_assert_uint_eq(csv.rows[i].expert, yaml.rows[i].expert);
        ck_assert_uint_eq(csv.rows[i].replica, yaml.rows[i].replica);
        ck_assert_uint_eq(csv.rows[i].rank, yaml.rows[i].rank);
    }
    placement_file_fini(&csv);
    placement_file_fini(&yaml);
    ck_assert(fits_yaml("layers: {0: [0, 1, [1, 0, 1], 0]}"));
}
END_TEST

START_TEST(mistakes_in_yaml_have_their_place) {
    expect_yaml("layers: {0: [0, 1, 2, 0]}", 1, 20, "rank 2 does not exist");
    expect_yaml("layers:\n  0: [0, 1, [0, x], 0]\n", 2, 17, "rank must be");
    expect_yaml("layers:\n  0: [0, 1, [], 0]\n", 2, 13, "expert 2 has no rank");
    expect_yaml("layers:\n  0: [0, 1]\n", 2, 10, "experts 2 to 3 are missing");
    expect_yaml("layers:\n  0: [0, 1, 0, 1, 0]\n", 2, 19, "expert 4 does not exist");
    expect_yaml("layers: {1: [0, 1, 0, 1]}", 1, 14, "no layer 0");
    expect_yaml("layers: {first: [0]}", 1, 10, "layer must be");
    expect_yaml("layers: {0: 3}", 1, 13, "not a list");
    expect_yaml("layers: {0: [-1, 0, 0, 0]}", 1, 14, "rank must be");
    expect_yaml("layers: {0: [0, 1, 0, 1], 0: [0]}", 1, 27, "0");
    expect_yaml("layer: {0: [0, 1, 0, 1]}", 1, 1, "mapping `layers`");
    expect_yaml("layers: {0: [0, 1, 0, 1]}\nexperts: 4", 2, 1, "unknown key `experts`");
    expect_yaml("layers: {}", 1, 1, "places no expert");
    expect_yaml("layers: [", 2, 1, "");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("placement file");
    TCase *tests = tcase_create("placement file");
    tcase_add_test(tests, rows_are_sorted_whatever_their_order);
    tcase_add_test(tests, replicas_may_be_as_many_as_wanted);
    tcase_add_test(tests, mistakes_of_a_line_have_its_place);
    tcase_add_test(tests, replicas_are_given_once_and_without_gaps);
    tcase_add_test(tests, what_does_not_fit_is_named);
    tcase_add_test(tests, yaml_says_what_csv_says);
    tcase_add_test(tests, mistakes_in_yaml_have_their_place);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
