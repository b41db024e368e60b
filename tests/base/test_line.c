// SPDX-License-Identifier: GPL-3.0-or-later
/* Lines of texts, and the numbers in them. */
#include "base/line.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(lines_come_without_ends_and_comments) {
    struct line line = {.next = "# one\n\r\n  two \r\n \t# three\n\tfour"};
    ck_assert(line_next(&line));
    ck_assert_uint_eq(line.number, 3);
    ck_assert_uint_eq(line.length, 6);
    ck_assert_int_eq(strncmp(line.text, "  two ", 6), 0);
    ck_assert(line_next(&line));
    ck_assert_uint_eq(line.number, 5);
    ck_assert_uint_eq(line.length, 5);
    ck_assert(!line_next(&line));
    ck_assert(!line_next(&line));
}
END_TEST

START_TEST(a_place_has_its_line_and_its_text) {
    struct line line = {.next = "one\r\ntwo\r\n"};
    struct error error;
    error_set(&error, EXIT_CODE_CONFIGURATION, 1, "wrong");
    ck_assert(line_next(&line) && line_next(&line));
    line_locate(&line, "x.csv", 3, &error);
    ck_assert_str_eq(error.file, "x.csv");
    ck_assert_str_eq(error.source, "two");
    ck_assert_uint_eq(error.line, 2);
    ck_assert_uint_eq(error.column, 3);
}
END_TEST

static const struct {
    const char *text;
    size_t digits;
    uint64_t number;
} numbers[] = {
    {"", 0, 0},
    {"-1", 0, 0},
    {" 1", 0, 0},
    {"x", 0, 0},
    {"17,3", 2, 17},
    {"0x10", 1, 0},
    {"000000000000000000000000000007", 30, 7},
    {"18446744073709551614", 20, UINT64_MAX - 1},
    {"18446744073709551615", 20, UINT64_MAX},
    {"18446744073709551616", 20, UINT64_MAX},
    {"184467440737095516150", 21, UINT64_MAX},
    {"99999999999999999999999999", 26, UINT64_MAX},
};

START_TEST(numbers_end_with_their_digits_and_never_wrap) {
    uint64_t number = 1;
    ck_assert_uint_eq(line_number(numbers[_i].text, &number), numbers[_i].digits);
    ck_assert_uint_eq(number, numbers[_i].number);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("line");
    TCase *tests = tcase_create("reading");
    tcase_add_test(tests, lines_come_without_ends_and_comments);
    tcase_add_test(tests, a_place_has_its_line_and_its_text);
    tcase_add_loop_test(tests, numbers_end_with_their_digits_and_never_wrap, 0,
                        (int)(sizeof numbers / sizeof numbers[0]));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
