// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What people see: errors, tables, progress, nearest names.
 */
#include "base/error.h"
#include "base/error_id.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/progress.h"
#include "base/table.h"
#include "run_suite.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static char *printed;
static size_t printed_size;
static FILE *stream;

static void setup(void) {
    stream = open_memstream(&printed, &printed_size);
}

static void teardown(void) {
    fclose(stream);
    free(printed);
}

/** What has been printed so far. */
static const char *output(void) {
    fflush(stream);
    return printed;
}

START_TEST(the_caret_stands_under_the_character_not_the_byte) {
    struct error error;
    ck_assert(!error_set(&error, EXIT_CODE_CONFIGURATION, 7, "message %d", 3));
    error_hint(&error, "hint");
    strcpy(error.file, "a.yaml");
    strcpy(error.source, "\xc2\xb5: x");
    error.line = 2;
    error.column = 4;
    error_print(stream, &error);
    ck_assert_str_eq(output(), "a.yaml:2:4: error[MF-007]: message 3\n    \xc2\xb5: x\n       ^\n    hint: hint\n");
}
END_TEST

START_TEST(an_error_without_place_names_the_program) {
    struct error error;
    error_set(&error, EXIT_CODE_USAGE, 0, "what");
    error_print(stream, &error);
    ck_assert_str_eq(output(), "moefabric: error: what\n");
}
END_TEST

START_TEST(hostile_texts_cannot_steer_the_terminal) {
    struct error error;
    error_set(&error, EXIT_CODE_USAGE, 0, "a\033[2Jb\nc\xc2\x9b\x7f\xc2\xb5");
    strcpy(error.file, "x\033]0;y\007.yaml");
    strcpy(error.source, "\t\033[1m");
    error_print(stream, &error);
    ck_assert_str_eq(output(), "x?]0;y?.yaml: error: a?[2Jb?c??\xc2\xb5\n    \t?[1m\n");
}
END_TEST

START_TEST(names_in_tables_cannot_steer_the_terminal) {
    struct table *table = table_create();
    table_column(table, "a\033[2J", TABLE_LEFT);
    table_cell(table, "%s",
               "b\xc2\x9b"
               "2J");
    table_print(table, stream, 0);
    table_free(table);
    ck_assert_str_eq(output(), "a?[2J\n-----\nb?2J\n");
}
END_TEST

START_TEST(long_texts_are_cut_not_overrun) {
    struct error error;
    char text[2 * ERROR_MESSAGE_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set(&error, EXIT_CODE_USAGE, 0, "%s", text);
    error_hint(&error, "%s", text);
    ck_assert_uint_eq(strlen(error.message), ERROR_MESSAGE_SIZE - 1);
    ck_assert_uint_eq(strlen(error.hint), ERROR_MESSAGE_SIZE - 1);
    ck_assert(!error_set(NULL, EXIT_CODE_USAGE, 0, "nobody wants to know"));
}
END_TEST

START_TEST(a_list_is_printed_by_place_and_counts_what_it_drops) {
    static struct error_list list;
    struct error error;
    for (unsigned i = 0; i < ERROR_LIST_LIMIT + 3; i++) {
        error_set(&error, EXIT_CODE_USAGE, 0, "m%u", i);
        strcpy(error.file, "f");
        error.line = 100 - i;
        error_list_add(&list, &error);
    }
    error_list_print(stream, &list);
    ck_assert_uint_eq(list.count, ERROR_LIST_LIMIT);
    ck_assert_uint_eq(list.dropped, 3);
    ck_assert_ptr_eq(strstr(output(), "f:81: error: m19\nf:82:"), output());
    ck_assert_ptr_nonnull(strstr(output(), "f:100: error: m0\n\xe2\x80\xa6 and 3 more\n"));
}
END_TEST

START_TEST(a_bug_aborts) {
    BUG("this test asks for it: %d", 1);
}
END_TEST

START_TEST(impossible_memory_ends_with_exit_code_1) {
    volatile size_t many = SIZE_MAX / 2;
    free(memory_allocate(many, 8));
}
END_TEST

START_TEST(memory_is_zeroed_and_aligned) {
    unsigned char *block = memory_allocate_aligned(100, 3);
    ck_assert_uint_eq((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < 300; i++) {
        ck_assert_uint_eq(block[i], 0);
    }
    free(block);
    void *nothing = memory_allocate(0, 8);
    ck_assert_ptr_nonnull(nothing);
    free(nothing);
}
END_TEST

START_TEST(error_numbers_are_unique_and_ascending) {
    size_t count;
    const struct error_id_entry *entries = error_id_entries(&count);
    ck_assert_uint_gt(count, 20);
    for (size_t i = 1; i < count; i++) {
        ck_assert_int_lt(entries[i - 1].id, entries[i].id);
    }
    ck_assert_ptr_eq(error_id_find(entries[3].id), &entries[3]);
    ck_assert_ptr_null(error_id_find(999));
}
END_TEST

START_TEST(columns_are_aligned_by_characters_without_trailing_blanks) {
    struct table *table = table_create();
    table_column(table, "policy", TABLE_LEFT);
    table_column(table, "time", TABLE_RIGHT);
    table_column(table, "", TABLE_LEFT);
    table_cell(table, "ecmp");
    table_cell(table, "%d \xc2\xb5s", 12);
    table_cell(table, "x");
    table_cell(table, "adaptive");
    table_cell(table, "1234 us");
    table_end_row(table);
    table_end_row(table);
    table_cell(table, "last");
    table_print(table, stream, 2);
    table_free(table);
    ck_assert_str_eq(output(), "  policy       time\n"
                               "  --------  -------  -\n"
                               "  ecmp        12 \xc2\xb5s  x\n"
                               "  adaptive  1234 us\n"
                               "  last\n");
}
END_TEST

/** A clock that the test moves. */
static uint64_t clock_of(void *context) {
    return *(uint64_t *)context;
}

static struct progress begin_progress(uint64_t *now_ns, bool terminal, bool quiet) {
    struct progress progress;
    progress_init(&progress, stream, "ecmp", quiet);
    progress.clock_ns = clock_of;
    progress.context = now_ns;
    progress.terminal = terminal;
    progress.begun_ns = progress.shown_ns = *now_ns;
    return progress;
}

START_TEST(a_log_gets_a_whole_line_every_five_seconds) {
    uint64_t now_ns = UINT64_C(1000000000);
    struct progress progress = begin_progress(&now_ns, false, false);
    for (int i = 0; i < 120; i++) {
        now_ns += UINT64_C(100000000);
        progress_update(&progress, &(struct progress_sample){.simulated_ps = UINT64_C(1000000000),
                                                             .packet_hops = 5000000,
                                                             .share_done = 0.25});
    }
    progress_finish(&progress, &(struct progress_sample){
                                   .simulated_ps = UINT64_C(2500000000), .packet_hops = 24000000, .share_done = 1});
    ck_assert_str_eq(output(), "ecmp: 1 ms simulated, 5.0 M packet-hops, 1.00 M hops/s, 25 %, 15.0 s left\n"
                               "ecmp: 1 ms simulated, 5.0 M packet-hops, 0.50 M hops/s, 25 %, 30.0 s left\n"
                               "ecmp: 2.5 ms simulated, 24.0 M packet-hops, 2.00 M hops/s, 100 %, took 12.0 s\n");
}
END_TEST

START_TEST(several_runs_are_counted_and_their_times_not_added) {
    uint64_t now_ns = 0;
    struct progress progress = begin_progress(&now_ns, false, false);
    now_ns = UINT64_C(10000000000);
    const struct progress_sample sample = {.simulated_ps = 4000000,
                                           .packet_hops = 5000000,
                                           .share_done = 0.5,
                                           .parts = 12,
                                           .parts_done = 3,
                                           .part_name = "runs"};
    progress_update(&progress, &sample);
    ck_assert_str_eq(output(), "ecmp: 3 of 12 runs, 5.0 M packet-hops, 0.50 M hops/s, 50 %, 10.0 s left\n");
}
END_TEST

START_TEST(a_terminal_keeps_one_line_and_covers_what_was_longer) {
    uint64_t now_ns = 0;
    struct progress progress = begin_progress(&now_ns, true, false);
    now_ns = UINT64_C(200000000);
    progress_update(&progress,
                    &(struct progress_sample){.simulated_ps = 1000, .packet_hops = 1000000, .share_done = 0.001});
    const size_t first = strlen(output());
    now_ns = UINT64_C(400000000);
    progress_update(&progress,
                    &(struct progress_sample){.simulated_ps = 1000, .packet_hops = 1000000, .share_done = -1});
    ck_assert_int_eq(printed[0], '\r');
    ck_assert_int_eq(printed[first], '\r');
    ck_assert_uint_eq(strlen(output()), 2 * first);
    ck_assert_ptr_null(strchr(output(), '\n'));
    progress_clear(&progress);
    ck_assert_int_eq(output()[printed_size - 1], '\r');
}
END_TEST

START_TEST(a_label_cannot_steer_the_terminal) {
    struct progress progress;
    progress_init(&progress, stream, "a\033[2Jb", false);
    progress_finish(&progress, &(struct progress_sample){.share_done = -1});
    ck_assert_int_eq(strncmp(output(), "a?[2Jb: ", 8), 0);
}
END_TEST

START_TEST(quiet_says_nothing) {
    uint64_t now_ns = 0;
    struct progress progress = begin_progress(&now_ns, true, true);
    now_ns = UINT64_C(9000000000);
    progress_update(&progress,
                    &(struct progress_sample){.simulated_ps = 1000, .packet_hops = 1000000, .share_done = 0.5});
    progress_finish(&progress,
                    &(struct progress_sample){.simulated_ps = 1000, .packet_hops = 1000000, .share_done = 1});
    progress_clear(&progress);
    ck_assert_str_eq(output(), "");
}
END_TEST

START_TEST(typing_mistakes_find_their_name_and_strangers_do_not) {
    static const char *const names[] = {"ecmp", "adaptive", NULL, "spectrum_x", "tokens_per_gpu", "top_k"};
    const size_t n = sizeof names / sizeof names[0];
    ck_assert_str_eq(nearest_name("emcp", names, n), "ecmp");
    ck_assert_str_eq(nearest_name("ECMP", names, n), "ecmp");
    ck_assert_str_eq(nearest_name("spectrumx", names, n), "spectrum_x");
    ck_assert_str_eq(nearest_name("token_per_gpus", names, n), "tokens_per_gpu");
    ck_assert_ptr_null(nearest_name("banana", names, n));
    ck_assert_ptr_null(nearest_name("x", names, n));
    ck_assert_uint_eq(nearest_distance("ca", "abc"), 3);
    ck_assert_uint_eq(nearest_distance("abcd", "acbd"), 1);
    ck_assert_uint_eq(nearest_distance("", "abc"), 3);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("base-output");
    TCase *group = tcase_create("output");
    tcase_add_checked_fixture(group, setup, teardown);
    tcase_add_test(group, the_caret_stands_under_the_character_not_the_byte);
    tcase_add_test(group, an_error_without_place_names_the_program);
    tcase_add_test(group, hostile_texts_cannot_steer_the_terminal);
    tcase_add_test(group, names_in_tables_cannot_steer_the_terminal);
    tcase_add_test(group, long_texts_are_cut_not_overrun);
    tcase_add_test(group, a_list_is_printed_by_place_and_counts_what_it_drops);
    tcase_add_test_raise_signal(group, a_bug_aborts, SIGABRT);
    tcase_add_exit_test(group, impossible_memory_ends_with_exit_code_1, EXIT_CODE_RUN_FAILED);
    tcase_add_test(group, memory_is_zeroed_and_aligned);
    tcase_add_test(group, error_numbers_are_unique_and_ascending);
    tcase_add_test(group, columns_are_aligned_by_characters_without_trailing_blanks);
    tcase_add_test(group, a_log_gets_a_whole_line_every_five_seconds);
    tcase_add_test(group, several_runs_are_counted_and_their_times_not_added);
    tcase_add_test(group, a_terminal_keeps_one_line_and_covers_what_was_longer);
    tcase_add_test(group, a_label_cannot_steer_the_terminal);
    tcase_add_test(group, quiet_says_nothing);
    tcase_add_test(group, typing_mistakes_find_their_name_and_strangers_do_not);
    suite_add_tcase(suite, group);
    return run_suite(suite);
}
