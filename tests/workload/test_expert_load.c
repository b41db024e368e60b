// SPDX-License-Identifier: GPL-3.0-or-later
/* Loads of experts from text: what is read, and that every mistake has its place. EXPERT_FREQUENCY_CSV is the example's path. */
#include "run_suite.h"
#include "workload/expert_load.h"
#include "workload/expert_load_csv.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(columns_are_domains_and_rows_may_come_in_any_order) {
    struct error error = {0};
    struct expert_load *load = expert_load_csv_parse("x.csv",
                                                     "# made by hand\n\nlayer,expert, all ,law\r\n4,1,0.5,1e-3\n"
                                                     "3,0,1,0\n3,1,2.25,0.125\n# between\n4,0,1.5,7\n",
                                                     &error);
    ck_assert_msg(load != NULL, "%s", error.message);
    ck_assert_uint_eq(load->n_layers, 2);
    ck_assert_uint_eq(load->n_experts, 2);
    ck_assert_uint_eq(load->n_domains, 2);
    ck_assert_uint_eq(load->n_steps, 1);
    ck_assert_uint_eq(load->first_layer, 3);
    ck_assert_str_eq(load->domains[0].name, "all");
    ck_assert_uint_eq(expert_load_find_domain(load, "law"), 1);
    ck_assert_uint_eq(expert_load_find_domain(load, "lawn"), 2);
    ck_assert_double_eq(expert_load_row(load, 0, 0, 0)[1], 2.25);
    ck_assert_double_eq(expert_load_row(load, 0, 1, 0)[1], 0.125);
    ck_assert_double_eq(expert_load_row(load, 0, 0, 1)[0], 1.5);
    ck_assert_double_eq(expert_load_row(load, 0, 1, 1)[1], 1e-3);
    ck_assert_double_eq(expert_load_sum(load, 0, 0, 1), 2);
    ck_assert_double_eq(expert_load_imbalance(load, 0, 0, 1, 2), 1.5);
    ck_assert_double_eq(expert_load_imbalance(load, 0, 0, 1, 1), 1);
    expert_load_free(load);
}
END_TEST

#define SIXTY_ZEROS "000000000000000000000000000000000000000000000000000000000000"
#define HEADING "layer,expert,all,law\n"

static const struct {
    const char *text, *message;
    unsigned line, column;
} broken[] = {
    {"", "no heading", 0, 0},
    {"# nothing else\n", "no heading", 0, 0},
    {"expert,layer,all\n", "the heading is layer,expert", 1, 1},
    {"layer\n", "the heading is layer,expert", 1, 1},
    {"layer,expert\n", "no column of values", 1, 1},
    {"layer,expert,\n", "needs a name", 1, 14},
    {"layer,expert,a,b,a\n", "two columns are called `a`", 1, 18},
    {HEADING, "there are no rows", 0, 0},
    {HEADING "0,0,1\n", "no value for `law`", 2, 0},
    {HEADING "0\n", "no expert", 2, 0},
    {HEADING "0,0,1,2,3\n", "more values than", 2, 9},
    {HEADING "x,0,1,2\n", "the layer is a whole number", 2, 1},
    {HEADING "0,-1,1,2\n", "the expert is a whole number", 2, 3},
    {HEADING "0,65536,1,2\n", "the expert is a whole number from 0 to 65535", 2, 3},
    {HEADING "0,99999999999999999999999,1,2\n", "the expert is a whole number", 2, 3},
    {HEADING "0,0,1," SIXTY_ZEROS "0001x\n", "is a number, not", 2, 7},
    {HEADING "0," SIXTY_ZEROS "0000x,1,2\n", "the expert is a whole number", 2, 3},
    {HEADING "0,0,1 2,3\n", "is a number, not `1 2`", 2, 5},
    {HEADING "0,0,1,\n5,6,7,8\n", "is a number, not ``", 2, 7},
    {HEADING "0,0,1,nan\n", "is a number, not `nan`", 2, 7},
    {HEADING "0,0,inf,1\n", "is a number, not `inf`", 2, 5},
    {HEADING "0,0,0x1,1\n", "is a number, not `0x1`", 2, 5},
    {HEADING "0,0,,1\n", "is a number, not ``", 2, 5},
    {HEADING "0,0,1e999,1\n", "is a number", 2, 5},
    {HEADING "0,0,1, -0.5\n", "the load in column `law` is negative", 2, 8},
    {HEADING "0,0,1,1\n0,1,1,1\n0,0,1,1\n", "layer 0, expert 0 was given before, in line 2", 4, 1},
    {HEADING "0,0,1,1\n2,0,1,1\n", "layer 1 is missing", 0, 0},
    {HEADING "0,0,1,1\n0,1,1,1\n1,0,1,1\n", "layer 1 has no expert 1", 0, 0},
    {HEADING "0,0,1,1\n9000,60000,1,1\n", "the file has 2", 0, 0},
};

START_TEST(mistakes_are_told_with_their_place) {
    struct error error = {0};
    struct expert_load *load = expert_load_csv_parse("x.csv", broken[_i].text, &error);
    ck_assert_ptr_null(load);
    ck_assert_msg(strstr(error.message, broken[_i].message) != NULL, "\"%s\" instead of \"%s\"", error.message,
                  broken[_i].message);
    ck_assert_str_eq(error.file, "x.csv");
    ck_assert_uint_eq(error.line, broken[_i].line);
    ck_assert_uint_eq(error.column, broken[_i].column);
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
}
END_TEST

START_TEST(example_is_read_and_its_layers_sum_to_two) {
    struct error error = {0};
    struct expert_load *load = expert_load_csv_read(EXPERT_FREQUENCY_CSV, &error);
    ck_assert_msg(load != NULL, "%s", error.message);
    ck_assert_uint_eq(load->n_layers, 3);
    ck_assert_uint_eq(load->n_experts, 8);
    ck_assert_uint_eq(load->n_domains, 3);
    for (uint32_t domain = 0; domain < load->n_domains; domain++) {
        for (uint32_t layer = 0; layer < load->n_layers; layer++) {
            ck_assert_double_eq_tol(expert_load_sum(load, 0, domain, layer), 2, 1e-4);
        }
    }
    expert_load_free(load);
}
END_TEST

START_TEST(missing_file_is_said) {
    struct error error = {0};
    ck_assert_ptr_null(expert_load_csv_read("no-such-file.csv", &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    ck_assert_str_eq(error.file, "no-such-file.csv");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("expert_load");
    TCase *cases = tcase_create("expert_load");
    tcase_add_test(cases, columns_are_domains_and_rows_may_come_in_any_order);
    tcase_add_loop_test(cases, mistakes_are_told_with_their_place, 0, sizeof broken / sizeof broken[0]);
    tcase_add_test(cases, example_is_read_and_its_layers_sum_to_two);
    tcase_add_test(cases, missing_file_is_said);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
