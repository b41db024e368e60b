// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The engine must do what the naive simulator does: equal traces and counters on random small cases.
 *
 * MOEFABRIC_ORACLE_CASES=n runs n cases, MOEFABRIC_ORACLE_FIRST=k begins with case k, and MOEFABRIC_ORACLE_KEEP_GOING=1
 * goes on after a difference and prints only the numbers of the cases that differ. MOEFABRIC_ORACLE_BRIEF=1 stops at the
 * first difference and prints only its number.
 */
#include "base/error.h"
#include "comparison.h"
#include "feature_pairs.h"
#include "random_case.h"
#include "reference.h"
#include "run_suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

enum { QUICK_CASES = 400, CASES_FOR_COVERAGE = 400, CASES_FOR_PAIRS = 10000 };
enum { THREADS_MOST = 8, PARTS_MOST = 7 };

/** What occurred in the cases so far. */
struct coverage {
    struct feature_table features;
    struct feature_pairs pairs;
    uint32_t runs[THREADS_MOST + 1][PARTS_MOST + 1]; /**< of the engine, by threads and parts of the window */
};

static void count_runs(struct coverage *coverage, uint64_t number) {
    struct comparison_run runs[COMPARISON_RUNS_MOST];
    const size_t count = comparison_plan(number, runs);
    for (size_t i = 0; i < count; i++) {
        coverage->runs[runs[i].threads][runs[i].parts]++;
    }
}

static void print_runs(FILE *stream, const struct coverage *coverage) {
    for (uint32_t threads = 1; threads <= THREADS_MOST; threads++) {
        for (uint32_t parts = 1; parts <= PARTS_MOST; parts++) {
            if (coverage->runs[threads][parts] > 0) {
                fprintf(stream, "# %6" PRIu32 " runs on %" PRIu32 " threads with W/%" PRIu32 "\n",
                        coverage->runs[threads][parts], threads, parts);
            }
        }
    }
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static bool differs_silently(const struct random_case *random_case, void *nowhere) {
    return !comparison_equal_apart(nowhere, random_case, NULL);
}

static void show_smallest(const struct random_case_recipe *recipe) {
    FILE *nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere != NULL, "/dev/null cannot be opened");
    const struct random_case_recipe smallest = random_case_shrink(recipe, differs_silently, nowhere);
    fclose(nowhere);
    struct random_case *random_case = random_case_create(&smallest);
    random_case_print(stderr, random_case);
    comparison_equal_apart(stderr, random_case, NULL);
    random_case_free(random_case);
}

/** Compares one case; false if it differs. */
static bool try_case(uint64_t number, struct coverage *coverage, bool quiet) {
    const struct random_case_recipe recipe = {.number = number};
    struct random_case *random_case = random_case_create(&recipe);
    struct reference *reference = reference_run(random_case->fabric, &random_case->parameters, &random_case->traffic);
    const feature_bits features = feature_set(random_case, reference);
    feature_count(&coverage->features, features);
    feature_pairs_count(&coverage->pairs, features);
    count_runs(coverage, number);
    FILE *nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere != NULL, "/dev/null cannot be opened");
    const bool equal = comparison_equal_apart(nowhere, random_case, reference);
    fclose(nowhere);
    reference_free(reference);
    random_case_free(random_case);
    if (!equal && quiet) {
        fprintf(stderr, "case %" PRIu64 " differs\n", number);
    } else if (!equal) {
        show_smallest(&recipe);
    }
    return equal;
}

START_TEST(engine_and_naive_simulator_do_the_same) {
    const uint64_t cases = number_from_environment("MOEFABRIC_ORACLE_CASES", QUICK_CASES);
    const uint64_t first = number_from_environment("MOEFABRIC_ORACLE_FIRST", 0);
    const bool keep_going = number_from_environment("MOEFABRIC_ORACLE_KEEP_GOING", 0) != 0;
    const bool brief = number_from_environment("MOEFABRIC_ORACLE_BRIEF", 0) != 0;
    struct coverage coverage = {0};
    uint64_t different = 0;
    for (uint64_t number = first; number < first + cases && (keep_going || different == 0); number++) {
        different += !try_case(number, &coverage, keep_going || brief);
    }
    feature_print(stdout, &coverage.features);
    print_runs(stdout, &coverage);
    feature_pairs_print(stdout, &coverage.pairs, cases >= CASES_FOR_PAIRS);
    ck_assert_msg(different == 0, "%llu of %llu cases differ", (unsigned long long)different,
                  (unsigned long long)cases);
    ck_assert(cases < CASES_FOR_COVERAGE || feature_all_covered(&coverage.features));
    ck_assert(cases < CASES_FOR_PAIRS || feature_pairs_all_covered(&coverage.pairs));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle");
    TCase *tests = tcase_create("comparison");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, engine_and_naive_simulator_do_the_same);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
