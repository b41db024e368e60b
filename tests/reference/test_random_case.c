// SPDX-License-Identifier: GPL-3.0-or-later
/* What must hold in every case, whatever was drawn: the naive simulator alone. */
#include "feature.h"
#include "random_case.h"
#include "reference.h"

#include "base/rate.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>

enum { CASES = 400, FIRST_CASE = 500000 };

/** Sums over a trace. */
struct sums {
    uint64_t dropped_bytes, lost_bytes, dropped_urgent;
    uint64_t delivered;
};

static struct sums sum(const struct random_case *random_case, const struct trace *trace) {
    struct sums sums = {0};
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *record = &trace->records[i];
        /* what a receive buffer discards has arrived */
        const bool at_switch = random_case->fabric->devices[record->device].kind == FABRIC_SWITCH;
        sums.dropped_bytes += record->event == TRACE_DROP && at_switch ? record->size_bytes : 0;
        sums.lost_bytes += record->event == TRACE_LOSE ? record->size_bytes : 0;
        sums.dropped_urgent += (record->event == TRACE_DROP || record->event == TRACE_LOSE) &&
                               record->kind == PACKET_URGENT &&
                               random_case->parameters.nic.urgent_timeout_ps == 0; /* else it is sent again */
        sums.delivered += record->event == TRACE_DELIVER;
    }
    return sums;
}

static bool bytes_are_conserved(const struct random_case *random_case, const struct reference *reference) {
    const struct fabric *fabric = random_case->fabric;
    uint64_t cut_off = 0, put_in = 0, taken_out = 0;
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        const bool from_endpoint = fabric->devices[fabric->links[link].tail_device].kind == FABRIC_ENDPOINT;
        const bool to_endpoint = fabric->devices[fabric->links[link].head_device].kind == FABRIC_ENDPOINT;
        put_in += from_endpoint ? reference->links[link].bytes : 0;
        cut_off += reference->links[link].trimmed_bytes;
        taken_out += to_endpoint ? reference->links[link].arrived_bytes : 0;
        if (reference->links[link].bytes != reference->links[link].arrived_bytes + reference->links[link].lost_bytes) {
            return false;
        }
    }
    const struct sums sums = sum(random_case, &reference->trace);
    return put_in == taken_out + cut_off + sums.dropped_bytes + sums.lost_bytes;
}

/** Whether some host stops taking data for good. */
static bool stops_for_good(const struct random_case *random_case) {
    const struct failure_list *list = &random_case->failures;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        if (failure->kind == FAILURE_RECEIVE && failure->until_ps == TIME_NEVER && failure->ps_per_byte == TIME_NEVER) {
            return true;
        }
    }
    return false;
}

/** A case ends with everything delivered, unless something was dropped that nobody repeats, time was up, or a host takes nothing any more. */
static bool ends_well(const struct random_case *random_case, const struct reference *reference) {
    const struct sums sums = sum(random_case, &reference->trace);
    const bool time_up = reference->last_ps + 2 * random_case->parameters.nic.retransmit_timeout_ps * 128 >
                         random_case->parameters.limit_ps;
    if (reference->finished) {
        return sums.delivered == traffic_list_count(random_case->list) || sums.dropped_urgent > 0;
    }
    return sums.dropped_urgent > 0 || time_up || stops_for_good(random_case);
}

static bool breaks_a_rule(const struct random_case *random_case, void *table) {
    struct reference *reference = reference_run(random_case->fabric, &random_case->parameters, &random_case->traffic);
    const bool conserved = !reference->finished || bytes_are_conserved(random_case, reference);
    const bool well = ends_well(random_case, reference);
    if (table != NULL) {
        feature_count(table, feature_set(random_case, reference));
    }
    reference_free(reference);
    return !conserved || !well;
}

START_TEST(every_case_conserves_bytes_and_ends) {
    struct feature_table table = {0};
    for (uint64_t number = FIRST_CASE; number < FIRST_CASE + CASES; number++) {
        const struct random_case_recipe recipe = {.number = number};
        struct random_case *random_case = random_case_create(&recipe);
        const bool broken = breaks_a_rule(random_case, &table);
        random_case_free(random_case);
        if (broken) {
            const struct random_case_recipe smallest = random_case_shrink(&recipe, breaks_a_rule, NULL);
            struct random_case *shown = random_case_create(&smallest);
            random_case_print(stderr, shown);
            random_case_free(shown);
            ck_abort_msg("case %llu breaks a rule", (unsigned long long)number);
        }
    }
    feature_print(stdout, &table);
    ck_assert(feature_all_covered(&table));
}
END_TEST

static bool has_message_3(const struct random_case *random_case, void *context) {
    (void)context;
    return random_case->n_messages > 3 && !(random_case->recipe.left_out >> 3 & 1);
}

START_TEST(shrinking_keeps_only_what_is_needed) {
    uint64_t number = 1;
    struct random_case_recipe recipe = {.number = number};
    struct random_case *random_case = random_case_create(&recipe);
    while (random_case->n_messages < 10) {
        random_case_free(random_case);
        recipe.number = ++number;
        random_case = random_case_create(&recipe);
    }
    random_case_free(random_case);
    const struct random_case_recipe smallest = random_case_shrink(&recipe, has_message_3, NULL);
    ck_assert_uint_eq(smallest.left_out, ((UINT32_C(1) << RANDOM_CASE_MESSAGES) - 1) & ~UINT32_C(8));
    ck_assert_uint_eq(smallest.simpler, RANDOM_CASE_SIMPLER_END - 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("random case");
    TCase *tests = tcase_create("alone");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, every_case_conserves_bytes_and_ends);
    tcase_add_test(tests, shrinking_keeps_only_what_is_needed);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
