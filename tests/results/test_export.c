// SPDX-License-Identifier: GPL-3.0-or-later
/* Results as text tables. */
#include "results/csv.h"
#include "results/export.h"
#include "results/export_counters.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** What a function writes to a stream, to be freed by the caller. */
#define WRITTEN(text, stream, call)                                                                                    \
    do {                                                                                                               \
        size_t size = 0;                                                                                               \
        FILE *stream = open_memstream(&(text), &size);                                                                 \
        call;                                                                                                          \
        fclose(stream);                                                                                                \
    } while (0)

START_TEST(fields_that_need_quotes_get_them) {
    static const struct {
        const char *text, *field;
    } cases[] = {{"plain", "plain"},
                 {"", ""},
                 {"a,b", "\"a,b\""},
                 {"say \"so\"", "\"say \"\"so\"\"\""},
                 {"two\nlines", "\"two\nlines\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = NULL;
        WRITTEN(text, stream, csv_text(stream, cases[i].text));
        ck_assert_str_eq(text, cases[i].field);
        free(text);
    }
}
END_TEST

START_TEST(numbers_come_back_as_the_same_double) {
    const double values[] = {0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.0, 3.6718176673146083};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char *text = NULL;
        WRITTEN(text, stream, csv_number(stream, values[i]));
        ck_assert_double_eq(strtod(text, NULL), values[i]);
        ck_assert_uint_lt(strlen(text), 25);
        free(text);
    }
    char *nothing = NULL;
    WRITTEN(nothing, stream, csv_number(stream, NAN));
    ck_assert_str_eq(nothing, "");
    free(nothing);
}
END_TEST

START_TEST(counters_have_the_names_that_hosts_give_them) {
    struct measurement *measurement = sample_measurement("p", 9, 1, false);
    measurement->endpoints[2].notifications_sent = 17;
    measurement->endpoints[3].notifications_received = 18;
    measurement->endpoints[1].retransmitted_packets = 19;
    measurement->endpoints[1].receive_pauses = 20;
    measurement->endpoints[1].receive_discards = 21;
    snprintf(measurement->links[0].name, sizeof measurement->links[0].name, "a, b");
    measurement->links[0].kind = MEASUREMENT_LINK_ETHERNET;
    measurement->links[0].paused_ps = 2999999;
    measurement->links[0].packets = 5;
    measurement->links[0].control_packets = 6;
    char *text = NULL;
    WRITTEN(text, stream, export_counters(measurement, stream));
    ck_assert_ptr_nonnull(strstr(text, "p,9,gpu2,np_cnp_sent,17\n"));
    ck_assert_ptr_nonnull(strstr(text, "p,9,gpu3,rp_cnp_handled,18\n"));
    ck_assert_ptr_nonnull(strstr(text, "p,9,gpu1,roce_adp_retrans,19\n"));
    ck_assert_ptr_nonnull(strstr(text, "p,9,gpu1,tx_prio3_pause,20\n"));
    ck_assert_ptr_nonnull(strstr(text, "p,9,gpu1,rx_discards_phy,21\n"));
    ck_assert_ptr_nonnull(strstr(text, "p,9,\"a, b\",rx_prio3_pause_duration,2\n"));
    ck_assert_ptr_nonnull(strstr(text, "p,9,\"a, b\",tx_packets_phy,11\n"));
    free(text);
    measurement_free(measurement);
}
END_TEST

/** A result with one run. */
static struct load one_run(struct measurement **run) {
    *run = sample_measurement("p", 1, 1, false);
    return (struct load){
        .title = (char *)"t", .program_version = (char *)"0", .configuration = (char *)"c", .n_runs = 1, .runs = run};
}

START_TEST(a_folder_that_cannot_be_made_leaves_nothing) {
    struct measurement *run;
    const struct load load = one_run(&run);
    char *folder = sample_folder(), *inside = sample_path(folder, "no/such/place"), *path = sample_path(folder, "out");
    struct error error = {0};
    ck_assert(!export_csv(&load, inside, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    ck_assert_str_eq(error.file, inside);
    ck_assert_uint_eq(sample_count_files(folder), 0);
    ck_assert(export_csv(&load, path, &error));
    ck_assert(!export_csv(&load, path, &error)); /* it is there now */
    ck_assert_uint_eq(sample_count_files(folder), 1);
    ck_assert_uint_eq(sample_count_files(path), 12);
    char command[512];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    free(path);
    free(inside);
    free(folder);
    measurement_free(run);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("export");
    TCase *cases = tcase_create("export");
    tcase_add_test(cases, fields_that_need_quotes_get_them);
    tcase_add_test(cases, numbers_come_back_as_the_same_double);
    tcase_add_test(cases, counters_have_the_names_that_hosts_give_them);
    tcase_add_test(cases, a_folder_that_cannot_be_made_leaves_nothing);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
