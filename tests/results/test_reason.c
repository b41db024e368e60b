// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/reason.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <string.h>

/* Flow 0 goes from GPU 0 to GPU 1; flow 1 from GPU 2 to GPU 1 and flow 2 from GPU 0 to GPU 3 at the same time; flow 3 comes later. */
static struct measurement *make(void) {
    const struct measurement_shape shape = {.n_ranks = 4, .n_phases = 1, .n_links = 3};
    struct measurement *measurement = measurement_create(&shape);
    static const uint32_t ends[][2] = {{0, 1}, {2, 1}, {0, 3}, {2, 3}};
    static const struct {
        const char *name;
        uint32_t tail, head;
    } links[] = {{"gpu0 → leaf0", 0, 4}, {"leaf0:up0 → spine0", 4, 5}, {"leaf1:down1 → gpu1", 6, 1}};
    strcpy(measurement->phases[0].name, "transfer");
    for (uint32_t i = 0; i < 3; i++) {
        strcpy(measurement->links[i].name, links[i].name);
        measurement->links[i].tail_device = links[i].tail;
        measurement->links[i].head_device = links[i].head;
        measurement->links[i].rate_bits_per_s = 100000000000;
    }
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t posted_ps = i < 3 ? 0 : 2000;
        const struct measurement_message message = {.source = ends[i][0],
                                                    .destination = ends[i][1],
                                                    .bytes = 1000,
                                                    .posted_ps = posted_ps,
                                                    .completed_ps = posted_ps + 1000};
        measurement_add_message(measurement, &message);
    }
    measurement_finish(measurement, NULL, NULL);
    return measurement;
}

/* Rows of flows are in order of sources and destinations. */
enum { OWN, SAME_SENDER, SAME_RECEIVER, LATER };

static struct measurement_slow_flow reason_of(const struct measurement *measurement, uint32_t link, double part,
                                              uint64_t other, double other_part) {
    const struct reason_user users[] = {{OWN, part}, {other, other_part}};
    const struct reason_link found = {.link = link, .part = part, .users = users, .n_users = 2};
    return reason_of_flow(measurement, OWN, &found, 1);
}

START_TEST(a_link_is_named_by_what_it_is) {
    struct measurement *measurement = make();
    const struct measurement_slow_flow into = reason_of(measurement, 2, 1, SAME_RECEIVER, 1);
    ck_assert_str_eq(into.text, "incast: gpu1 receives 1 other flow meanwhile, most of it gpu2 → gpu1 (transfer)");
    ck_assert_uint_eq(into.link, 2);
    ck_assert_uint_eq(into.sharers, 1);
    const struct measurement_slow_flow out = reason_of(measurement, 0, 1, SAME_SENDER, 1);
    ck_assert_str_eq(out.text, "gpu0 sends 1 other flow meanwhile, most of it gpu0 → gpu3 (transfer)");
    const struct measurement_slow_flow between = reason_of(measurement, 1, 1, SAME_SENDER, 1);
    ck_assert_ptr_nonnull(strstr(between.text, "shares leaf0:up0 → spine0 with 1 other flow"));
    const struct measurement_slow_flow spread = reason_of(measurement, 1, 0.25, SAME_SENDER, 0.25);
    ck_assert_ptr_nonnull(strstr(spread.text, "shares links like leaf0:up0 → spine0 (0.25 of its packets) with"));
    measurement_free(measurement);
}
END_TEST

START_TEST(the_link_with_most_to_carry_is_named) {
    struct measurement *measurement = make();
    const struct reason_user out[] = {{OWN, 1}, {SAME_SENDER, 0.25}}, in[] = {{OWN, 1}, {SAME_RECEIVER, 0.5}};
    const struct reason_link links[] = {{0, 1, out, 2}, {2, 1, in, 2}};
    ck_assert_uint_eq(reason_of_flow(measurement, OWN, links, 2).link, 2);
    measurement->links[0].rate_bits_per_s /= 4; /* as many bytes take longer there */
    ck_assert_uint_eq(reason_of_flow(measurement, OWN, links, 2).link, 0);
    measurement_free(measurement);
}
END_TEST

START_TEST(what_was_there_at_another_time_is_no_reason) {
    struct measurement *measurement = make();
    const struct measurement_slow_flow reason = reason_of(measurement, 1, 1, LATER, 1);
    ck_assert_uint_eq(reason.link, MEASUREMENT_NONE);
    ck_assert_str_eq(reason.text, "nothing else is known to have been on its links meanwhile");
    measurement_free(measurement);
}
END_TEST

START_TEST(pauses_losses_and_repeats_are_told) {
    struct measurement *measurement = make();
    measurement->links[1].paused_ps = 99; /* a tenth of 1,000 ps is 100 */
    ck_assert_ptr_null(strstr(reason_of(measurement, 1, 1, LATER, 1).text, "paused"));
    measurement->links[1].paused_ps = 100;
    measurement->links[1].drops_lossy = 3;
    measurement->endpoints[0].retransmitted_packets = 5;
    ck_assert_str_eq(reason_of(measurement, 1, 1, LATER, 1).text,
                     "leaf0:up0 → spine0 was paused for 100 ps of the run; 3 packets were lost on leaf0:up0 → spine0; "
                     "gpu0 sent 5 packets again");
    measurement_free(measurement);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reason");
    TCase *links = tcase_create("links");
    tcase_add_test(links, a_link_is_named_by_what_it_is);
    tcase_add_test(links, the_link_with_most_to_carry_is_named);
    tcase_add_test(links, what_was_there_at_another_time_is_no_reason);
    tcase_add_test(links, pauses_losses_and_repeats_are_told);
    suite_add_tcase(suite, links);
    return run_suite(suite);
}
