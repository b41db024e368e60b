// SPDX-License-Identifier: GPL-3.0-or-later
/* The page as a file: whole, alone, and safe whatever the result's texts say. What it looks like is browser.py's. */
#include "report/report.h"
#include "report/report_blocks.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The page of a result with this title and one run; to be freed by the caller. */
static char *page_of(const char *title, struct measurement *run) {
    const struct load load = {.title = (char *)title,
                              .program_version = (char *)"0.1.0",
                              .configuration = (char *)"a: 1\n",
                              .n_runs = 1,
                              .runs = &run};
    const struct report_result result = {.name = "r.h5", .load = &load};
    char *folder = sample_folder(), *path = sample_path(folder, "page.html"), command[512];
    struct error error = {0};
    size_t size;
    ck_assert_msg(report_write(&result, 1, path, &error), "%s", error.message);
    ck_assert_uint_eq(sample_count_files(folder), 1); /* nothing is left beside it */
    char *page = sample_read(path, &size);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    free(path);
    free(folder);
    return page;
}

START_TEST(texts_of_a_result_cannot_leave_their_element) {
    struct measurement *run = sample_measurement("p</script><script>alert(1)</script>", 1, 1, false);
    snprintf(run->links[0].name, sizeof run->links[0].name, "<!-- <img src=x onerror=alert(2)>");
    char *page = page_of("</script><script>alert(3)</script>", run);
    ck_assert_ptr_null(strstr(page, "<script>alert"));
    ck_assert_ptr_null(strstr(page, "<img"));
    ck_assert_ptr_nonnull(strstr(page, "\\u003c/script>\\u003cscript>alert(3)"));
    free(page);
    measurement_free(run);
}
END_TEST

START_TEST(the_page_needs_nothing_else) {
    struct measurement *run = sample_measurement("p", 1, 1, false);
    char *page = page_of("four GPUs", run);
    ck_assert_int_eq(strncmp(page, "<!DOCTYPE html>", 15), 0);
    ck_assert_ptr_nonnull(strstr(page, "</html>"));
    ck_assert_ptr_nonnull(strstr(page, "Mike Bostock")); /* D3's licence asks for its name */
    static const char *const others[] = {"src=\"", "<link",  "@import",   "url(",     "{title}", "{style}",
                                         "{body}", "{data}", "{library}", "{common}", "{script}"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_msg(strstr(page, others[i]) == NULL, "the page holds %s", others[i]);
    }
    free(page);
    measurement_free(run);
}
END_TEST

START_TEST(the_same_result_gives_the_same_page) {
    struct measurement *run = sample_measurement("p", 1, 1, false);
    char *first = page_of("four GPUs", run), *second = page_of("four GPUs", run);
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
    measurement_free(run);
}
END_TEST

/* Numbers of a browser are exact up to 53 bits; seeds have 64. */
START_TEST(seeds_are_whole) {
    struct measurement *run = sample_measurement("p", UINT64_MAX - 1, 1, false);
    char *page = page_of("four GPUs", run);
    ck_assert_ptr_nonnull(strstr(page, "\"seed\": \"18446744073709551614\",\"simulated_ps\""));
    free(page);
    measurement_free(run);
}
END_TEST

/* A damaged file may hold them; an order that contradicts itself may make qsort do anything. */
START_TEST(slow_downs_that_are_no_numbers_come_last) {
    struct measurement *run = sample_measurement("p", 1, 1, false);
    ck_assert_uint_ge(run->n_flows, 4);
    run->flows[0].slowdown = NAN;
    run->flows[3].slowdown = INFINITY;
    run->flows[1].slowdown = 7.25;
    run->flows[2].slowdown = 9.5;
    char *page = page_of("four GPUs", run);
    const char *flows = strstr(page, "\"slowest_flows\""), *end = strchr(flows, ']');
    const char *slowest = strstr(flows, "\"slowdown\": 9.5"), *second = strstr(flows, "\"slowdown\": 7.25");
    ck_assert(slowest != NULL && second != NULL && slowest < second && second < end);
    ck_assert(strstr(flows, "\"slowdown\": null") == NULL || strstr(flows, "\"slowdown\": null") > end);
    free(page);
    measurement_free(run);
}
END_TEST

START_TEST(a_page_that_cannot_be_written_is_said_so) {
    struct error error = {0};
    ck_assert(!report_write(NULL, 0, "/no/such/folder/page.html", &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
}
END_TEST

/* Five digits of a part up to 0.9999995 would be 1, and nothing beyond it, which no logarithmic axis has. */
START_TEST(tails_of_large_samples_do_not_round_to_nothing) {
    enum { MESSAGES = 200000 };
    struct measurement *run = sample_measurement("p", 1, 1, false);
    struct measurement_message message = run->messages[run->n_messages - 1];
    for (uint32_t i = 0; i < MESSAGES; i++) {
        message.completed_ps = message.posted_ps + 1 + i;
        measurement_add_message(run, &message);
    }
    char *page = page_of("many messages", run);
    const char *last = strstr(page, "\"beyond\":");
    ck_assert_ptr_nonnull(last);
    const char *end = strchr(last, ']');
    while (*end != ',') {
        end--;
    }
    ck_assert_double_gt(strtod(end + 1, NULL), 0.0);
    ck_assert_double_lt(strtod(end + 1, NULL), 1e-5);
    free(page);
    measurement_free(run);
}
END_TEST

START_TEST(distributions_are_read_closer_towards_the_tail) {
    double shares[REPORT_BLOCKS_POINTS];
    const size_t n = report_blocks_shares(1000000, shares);
    ck_assert_uint_eq(n, REPORT_BLOCKS_POINTS);
    for (size_t i = 1; i < n; i++) {
        ck_assert_double_gt(shares[i], shares[i - 1]);
    }
    ck_assert_double_eq_tol(shares[n - 1], 1.0 - 0.5e-6, 1e-12);
    ck_assert_uint_lt(report_blocks_shares(4, shares),
                      REPORT_BLOCKS_POINTS); /* no tail: the body reaches the last value */
}
END_TEST

START_TEST(blocks_hold_everything_and_are_no_more_than_asked) {
    static const uint64_t counts[] = {1, 63, 64, 65, 1000, 8192, 65537};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint32_t size = report_blocks_size(counts[i], 64);
        ck_assert_uint_le((counts[i] + size - 1) / size, 64);
        ck_assert_uint_ge(size * UINT64_C(64), counts[i]);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("report");
    TCase *cases = tcase_create("report");
    tcase_add_test(cases, texts_of_a_result_cannot_leave_their_element);
    tcase_add_test(cases, the_page_needs_nothing_else);
    tcase_add_test(cases, the_same_result_gives_the_same_page);
    tcase_add_test(cases, seeds_are_whole);
    tcase_add_test(cases, slow_downs_that_are_no_numbers_come_last);
    tcase_add_test(cases, a_page_that_cannot_be_written_is_said_so);
    tcase_add_test(cases, tails_of_large_samples_do_not_round_to_nothing);
    tcase_add_test(cases, distributions_are_read_closer_towards_the_tail);
    tcase_add_test(cases, blocks_hold_everything_and_are_no_more_than_asked);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
