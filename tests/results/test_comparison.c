// SPDX-License-Identifier: GPL-3.0-or-later
/* The comparison as people and programs see it. GOLDEN_FOLDER is where comparison.txt is. */
#include "golden.h"
#include "results/comparison_table.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Prints a comparison and frees it. Not inlined: GCC would take the text for the variable that the stream writes it to. */
static __attribute__((noinline)) char *print_and_free(struct comparison *comparison, bool detail) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    comparison_table_print(comparison, detail, stream);
    comparison_free(comparison);
    fclose(stream);
    return text;
}

static char *print_golden(bool detail) {
    return print_and_free(golden_comparison(), detail);
}

START_TEST(table_is_the_golden_text) {
    size_t size;
    char *expected = sample_read(GOLDEN_FOLDER "/comparison.txt", &size), *text = print_golden(false);
    ck_assert_str_eq(text, expected);
    free(text);
    free(expected);
}
END_TEST

START_TEST(long_names_break_between_their_parts) {
    struct comparison *comparison = golden_comparison();
    snprintf(comparison->policies[1], sizeof comparison->policies[1], "ecmp+one_two_three_four_five");
    char *text = print_and_free(comparison, false);
    ck_assert_ptr_nonnull(strstr(text, "ecmp+ "));
    ck_assert_ptr_nonnull(strstr(text, " one_two_three_four_five"));
    free(text);
}
END_TEST

/** Characters of the longest line. */
static int longest_line(const char *text) {
    int longest = 0, width = 0;
    for (; *text != '\0'; text++) {
        width = *text == '\n' ? 0 : width + (((unsigned char)*text & 0xc0) != 0x80);
        longest = width > longest ? width : longest;
    }
    return longest;
}

START_TEST(no_line_is_wider_than_the_table) {
    char *text = print_golden(true);
    ck_assert_int_le(longest_line(text), COMPARISON_TABLE_WIDTH);
    ck_assert_int_ge(longest_line(text), 90); /* and the room is used */
    ck_assert_ptr_null(strstr(text, " \n"));  /* no blanks at ends of lines */
    free(text);
}
END_TEST

static const struct comparison_row *find_row(const struct comparison_rows *rows, const char *name) {
    for (uint32_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->rows[i].name, name) == 0) {
            return &rows->rows[i];
        }
    }
    return NULL;
}

START_TEST(ranges_and_ratios_are_over_seeds) {
    struct comparison *comparison = golden_comparison();
    struct comparison_rows rows = comparison_rows(comparison, false);
    const struct comparison_row *row = find_row(&rows, "message time max");
    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(row->ranges[1].count, 3);
    ck_assert_double_eq_tol(row->ranges[1].low, 220e6, 1e-3); /* scales 2, 3, 4 of 110 µs */
    ck_assert_double_eq_tol(row->ranges[1].mean, 330e6, 1e-3);
    ck_assert_double_eq_tol(row->ranges[1].high, 440e6, 1e-3);
    ck_assert_uint_eq(row->ratios[1].count, 3); /* 2 ÷ 1, 3 ÷ 2, 4 ÷ 3: seeds are paired */
    ck_assert_double_eq_tol(row->ratios[1].low, 4.0 / 3.0, 1e-9);
    ck_assert_double_eq_tol(row->ratios[1].mean, (2.0 + 1.5 + 4.0 / 3.0) / 3.0, 1e-9);
    ck_assert_double_eq_tol(row->ratios[1].high, 2.0, 1e-9);
    ck_assert_double_eq(row->ratios[0].low, 1.0);
    ck_assert_double_eq(row->ratios[0].high, 1.0);
    comparison_rows_free(&rows);
    comparison_free(comparison);
}
END_TEST

/* Where the first policy has 0 in one seed there is no factor over all of them. */
START_TEST(no_ratio_is_made_of_some_of_the_seeds) {
    struct comparison *comparison = golden_comparison();
    comparison->summaries[1]->retransmitted = 0;
    struct comparison_rows rows = comparison_rows(comparison, false);
    const struct comparison_row *row = find_row(&rows, "retransmissions");
    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(row->ranges[1].count, 3);
    ck_assert_uint_eq(row->ratios[1].count, 0);
    ck_assert(isnan(row->ratios[1].mean));
    comparison_rows_free(&rows);
    comparison_free(comparison);
}
END_TEST

START_TEST(detail_shows_the_range_of_ratios) {
    char *text = print_golden(true);
    ck_assert_ptr_nonnull(strstr(text, "330 (220–440) ×1.61 (1.33–2.00)"));
    free(text);
    text = print_golden(false);
    ck_assert_ptr_null(strstr(text, "×1.61 ("));
    free(text);
}
END_TEST

/** Whether the line of a table that begins with this holds the text. */
static bool line_has(const char *table, const char *begin, const char *text) {
    const char *line = strstr(table, begin);
    ck_assert_ptr_nonnull(line);
    const char *found = strstr(line, text);
    return found != NULL && found < strchr(line, '\n');
}

/** One policy beside the first, with these simulated times (ps) for each seed. */
static struct comparison *two_policies(const uint64_t *first_ps, const uint64_t *second_ps, uint32_t n_seeds) {
    static const char *const names[] = {"first", "second"};
    struct comparison *comparison = comparison_create(2, names, n_seeds);
    for (uint32_t i = 0; i < 2 * n_seeds; i++) {
        struct measurement *measurement = sample_measurement(names[i / n_seeds], i % n_seeds + 1, 1, false);
        measurement->totals.simulated_ps = i < n_seeds ? first_ps[i] : second_ps[i - n_seeds];
        comparison_set(comparison, i / n_seeds, i % n_seeds, summary_create(measurement));
        measurement_free(measurement);
    }
    return comparison;
}

/* The policies overlap, yet the second is slower on each seed's traffic: only pairs show it. */
START_TEST(pairs_of_seeds_tell_policies_apart_that_ranges_do_not) {
    const uint64_t first[] = {100000000, 200000000, 300000000, 400000000, 500000000, 600000000},
                   second[] = {110000000, 221000000, 329000000, 441000000, 549000000, 660000000};
    struct comparison *comparison = two_policies(first, second, 6);
    struct comparison_rows rows = comparison_rows(comparison, false);
    const struct comparison_row *row = find_row(&rows, "simulated time");
    ck_assert_double_lt(row->ranges[1].interval.low, row->ranges[0].interval.high);
    ck_assert_double_gt(row->ratios[1].interval.low, 1.09);
    ck_assert_double_lt(row->ratios[1].interval.high, 1.11);
    ck_assert(!comparison_is_open(&row->ratios[1]));
    comparison_rows_free(&rows);
    char *text = print_and_free(comparison, false);
    ck_assert_ptr_nonnull(strstr(text, "Mean (its 95 % confidence interval) over 6 seeds"));
    ck_assert_ptr_null(strstr(text, "~"));
    free(text);
}
END_TEST

START_TEST(a_ratio_that_the_seeds_leave_open_is_marked) {
    const uint64_t first[] = {100000000, 200000000, 300000000, 400000000, 500000000},
                   second[] = {110000000, 180000000, 330000000, 360000000, 520000000};
    char *text = print_and_free(two_policies(first, second, 5), false);
    ck_assert_ptr_nonnull(strstr(text, "; ~ after a"));
    ck_assert(line_has(text, "simulated time ", "×1.01~"));
    ck_assert(line_has(text, "rank time p50 ", "×1.00"));
    ck_assert(!line_has(text, "rank time p50 ", "~")); /* equal in every seed: nothing is open */
    free(text);
}
END_TEST

START_TEST(few_seeds_are_said_to_be_too_few) {
    const uint64_t times[] = {100000000, 200000000, 300000000, 400000000};
    char *text = print_and_free(two_policies(times, times, 4), false);
    ck_assert_ptr_nonnull(strstr(text, "Mean (lowest–highest) over 4 seeds, for a confidence interval give 5"));
    free(text);
}
END_TEST

/* The sample has few messages: its p99 is nearly their largest. */
START_TEST(quantiles_of_too_few_values_are_named) {
    const uint64_t times[] = {100000000};
    struct comparison *comparison = two_policies(times, times, 1);
    comparison->summaries[0]->message_time_ps.count = 99;
    comparison->summaries[1]->message_time_ps.count = 100;
    for (uint32_t i = 0; i < 2; i++) {
        comparison->summaries[i]->slowdown.count = comparison->summaries[i]->victim_slowdown.count = 100;
    }
    char *text = print_and_free(comparison, false);
    ck_assert_ptr_nonnull(strstr(text, "message time p99 of 99"));
    ck_assert_ptr_null(strstr(text, " slow-down p99 of"));
    free(text);
}
END_TEST

/* As they come from a file that was interrupted: the second policy lacks a seed. */
START_TEST(runs_of_a_file_find_their_places) {
    struct measurement *runs[] = {sample_measurement("b", 7, 1, false), sample_measurement("b", 3, 1, false),
                                  sample_measurement("a", 3, 1, false)};
    struct comparison *comparison = comparison_of_runs(runs, 3);
    ck_assert_uint_eq(comparison->n_policies, 2);
    ck_assert_uint_eq(comparison->n_seeds, 2);
    ck_assert_str_eq(comparison->policies[0], "b");
    ck_assert_str_eq(comparison->policies[1], "a");
    ck_assert_uint_eq(comparison->summaries[0]->seed, 7);
    ck_assert_uint_eq(comparison->summaries[1]->seed, 3);
    ck_assert_ptr_null(comparison->summaries[2]);
    ck_assert_uint_eq(comparison->summaries[3]->seed, 3);
    comparison_free(comparison);
    for (int i = 0; i < 3; i++) {
        measurement_free(runs[i]);
    }
}
END_TEST

START_TEST(rows_that_say_nothing_are_left_out) {
    struct comparison *comparison = golden_comparison();
    struct comparison_rows rows = comparison_rows(comparison, true);
    ck_assert_ptr_nonnull(find_row(&rows, "dispatch busbw"));
    ck_assert_ptr_null(find_row(&rows, "combine busbw"));   /* not defined there */
    ck_assert_ptr_null(find_row(&rows, "counts time"));     /* control phase */
    ck_assert_ptr_null(find_row(&rows, "drops, lossless")); /* none, as it should be */
    ck_assert_ptr_nonnull(find_row(&rows, "packet hops data"));
    comparison_rows_free(&rows);
    rows = comparison_rows(comparison, false);
    ck_assert_ptr_null(find_row(&rows, "packet hops data"));
    comparison_rows_free(&rows);
    comparison_free(comparison);
}
END_TEST

START_TEST(lossless_drops_are_shown_when_there_are_any) {
    static const char *const names[] = {"pfc"};
    struct measurement *measurement = sample_measurement("pfc", 1, 1, false);
    measurement->links[1].drops_lossless = 3;
    struct comparison *comparison = comparison_create(1, names, 1);
    comparison_set(comparison, 0, 0, summary_create(measurement));
    struct comparison_rows rows = comparison_rows(comparison, false);
    ck_assert_ptr_nonnull(find_row(&rows, "drops, lossless"));
    comparison_rows_free(&rows);
    comparison_free(comparison);
    measurement_free(measurement);
}
END_TEST

START_TEST(runs_that_are_missing_leave_a_dash) {
    static const char *const names[] = {"done", "interrupted"};
    struct measurement *measurement = sample_measurement("done", 1, 1, false);
    struct comparison *comparison = comparison_create(2, names, 2);
    comparison_set(comparison, 0, 0, summary_create(measurement));
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    comparison_table_print(comparison, false, stream);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "–\n"));
    struct comparison_rows rows = comparison_rows(comparison, false);
    ck_assert_uint_eq(rows.rows[0].ranges[0].count, 1);
    ck_assert_uint_eq(rows.rows[0].ranges[1].count, 0);
    ck_assert(isnan(rows.rows[0].ratios[1].mean));
    comparison_rows_free(&rows);
    comparison_free(comparison);
    measurement_free(measurement);
    free(text);
}
END_TEST

/* The slowest messages are missing from a run that was cut short: its times would flatter it. */
START_TEST(runs_that_did_not_finish_have_counts_but_no_times) {
    static const char *const names[] = {"mixed"};
    struct measurement *whole = sample_measurement("mixed", 1, 1, false),
                       *cut = sample_measurement("mixed", 2, 9, false);
    cut->outcome = MEASUREMENT_LIMIT;
    struct comparison *comparison = comparison_create(1, names, 2);
    comparison_set(comparison, 0, 0, summary_create(whole));
    comparison_set(comparison, 0, 1, summary_create(cut));
    struct comparison_rows rows = comparison_rows(comparison, false);
    ck_assert_uint_eq(find_row(&rows, "message time max")->ranges[0].count, 1);
    ck_assert_uint_eq(find_row(&rows, "dispatch time")->ranges[0].count, 1);
    ck_assert_uint_eq(find_row(&rows, "ECN marks")->ranges[0].count, 2);
    comparison_rows_free(&rows);
    char *text = print_and_free(comparison, false);
    ck_assert_ptr_nonnull(strstr(text, "mixed, seed 2: limit reached; its times and rates are left out\n"));
    ck_assert_ptr_null(strstr(text, "seed 1: limit"));
    measurement_free(whole);
    measurement_free(cut);
    free(text);
}
END_TEST

/** The table of runs under one policy, one seed each, with these packets to be sent again and this time under pause in all. */
static char *print_counts(const uint64_t *retransmitted, const uint64_t *paused_ps, uint32_t n_policies,
                          uint32_t n_seeds) {
    static const char *const names[] = {"one", "two"};
    struct comparison *comparison = comparison_create(n_policies, names, n_seeds);
    for (uint32_t i = 0; i < n_policies * n_seeds; i++) {
        struct measurement *measurement = sample_measurement(names[i / n_seeds], i % n_seeds, 1, false);
        for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
            measurement->endpoints[rank].retransmitted_packets = rank == 0 ? retransmitted[i] : 0;
        }
        for (uint32_t link = 0; link < measurement->n_links; link++) {
            measurement->links[link].paused_ps = link == 0 ? paused_ps[i] : 0;
        }
        comparison_set(comparison, i / n_seeds, i % n_seeds, summary_create(measurement));
        measurement_free(measurement);
    }
    return print_and_free(comparison, false);
}

START_TEST(counts_are_whole_and_their_mean_has_one_decimal) {
    char *text = print_counts((const uint64_t[]){10, 12, 12}, (const uint64_t[]){0, 0, 0}, 1, 3);
    ck_assert(line_has(text, "retransmissions ", " 11.3 (10–12)"));
    free(text);
}
END_TEST

START_TEST(the_largest_value_of_a_row_chooses_its_unit) {
    char *text = print_counts((const uint64_t[]){1, 2}, (const uint64_t[]){3000, 4000000000}, 2, 1);
    ck_assert(line_has(text, "paused time ", " ms "));
    ck_assert(line_has(text, "paused time ", "4.00"));
    free(text);
}
END_TEST

START_TEST(a_row_of_zeros_has_a_unit_in_the_middle) {
    char *text = print_counts((const uint64_t[]){0, 0}, (const uint64_t[]){0, 0}, 2, 1);
    ck_assert(line_has(text, "paused time ", " us "));
    ck_assert(!line_has(text, "paused time ", "0."));
    free(text);
}
END_TEST

START_TEST(a_table_without_fabric_says_why_rows_are_missing) {
    static const char *const names[] = {"one"};
    struct measurement *measurement = sample_measurement("one", 1, 1, false);
    measurement->totals.sent_bytes = 0;
    struct comparison *comparison = comparison_create(1, names, 1);
    comparison_set(comparison, 0, 0, summary_create(measurement));
    char *text = print_and_free(comparison, true);
    ck_assert_ptr_nonnull(strstr(text, "Nothing crossed the fabric"));
    ck_assert_ptr_null(strstr(text, "worst queue"));
    ck_assert_ptr_null(strstr(text, "PFC"));
    measurement_free(measurement);
    free(text);
}
END_TEST

START_TEST(an_empty_comparison_says_so) {
    static const char *const names[] = {"none"};
    struct comparison *comparison = comparison_create(1, names, 1);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    comparison_table_print(comparison, false, stream);
    fclose(stream);
    ck_assert_str_eq(text, "Nothing was run.\n");
    free(text);
    comparison_free(comparison);
}
END_TEST

START_TEST(every_row_has_a_legend) {
    for (size_t i = 0; i < metric_sections_count; i++) {
        for (size_t j = 0; j < metric_sections[i].count; j++) {
            ck_assert_uint_gt(strlen(metric_legend(metric_sections[i].metrics[j].group)),
                              10); /* aborts if it has none */
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("comparison");
    TCase *table = tcase_create("table");
    tcase_add_test(table, table_is_the_golden_text);
    tcase_add_test(table, runs_that_did_not_finish_have_counts_but_no_times);
    tcase_add_test(table, long_names_break_between_their_parts);
    tcase_add_test(table, no_line_is_wider_than_the_table);
    tcase_add_test(table, runs_that_are_missing_leave_a_dash);
    tcase_add_test(table, counts_are_whole_and_their_mean_has_one_decimal);
    tcase_add_test(table, the_largest_value_of_a_row_chooses_its_unit);
    tcase_add_test(table, a_row_of_zeros_has_a_unit_in_the_middle);
    tcase_add_test(table, a_table_without_fabric_says_why_rows_are_missing);
    tcase_add_test(table, an_empty_comparison_says_so);
    suite_add_tcase(suite, table);
    TCase *rows = tcase_create("rows");
    tcase_add_test(rows, ranges_and_ratios_are_over_seeds);
    tcase_add_test(rows, no_ratio_is_made_of_some_of_the_seeds);
    tcase_add_test(rows, detail_shows_the_range_of_ratios);
    tcase_add_test(rows, pairs_of_seeds_tell_policies_apart_that_ranges_do_not);
    tcase_add_test(rows, a_ratio_that_the_seeds_leave_open_is_marked);
    tcase_add_test(rows, few_seeds_are_said_to_be_too_few);
    tcase_add_test(rows, quantiles_of_too_few_values_are_named);
    tcase_add_test(rows, runs_of_a_file_find_their_places);
    tcase_add_test(rows, rows_that_say_nothing_are_left_out);
    tcase_add_test(rows, lossless_drops_are_shown_when_there_are_any);
    tcase_add_test(rows, every_row_has_a_legend);
    suite_add_tcase(suite, rows);
    return run_suite(suite);
}
