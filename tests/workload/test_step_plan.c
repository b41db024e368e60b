// SPDX-License-Identifier: GPL-3.0-or-later
/* Programs of steps as plans: schedules by hand, and what must hold whatever the order in which messages arrive. */
#include "base/number.h"
#include "instant.h"
#include "run_suite.h"
#include "workload/step_plan.h"
#include "workload/step_text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct step_plan *plan_of(const char *bytes, uint32_t n_ranks, uint32_t domain_ranks,
                                 const struct step_plan_start *start) {
    static struct error_list errors;
    struct workload_text text = {0};
    struct step_program program;
    struct error error;
    memset(&errors, 0, sizeof errors);
    ck_assert_msg(workload_text_read_text("x.txt", bytes, &text, &errors), "%s", errors.errors[0].message);
    ck_assert(workload_text_check(&text, "x.txt", n_ranks, domain_ranks, &errors));
    step_text_program(&text, n_ranks, domain_ranks, &program);
    workload_text_fini(&text);
    struct step_plan *plan = step_plan_create(&program, start, "x.txt", &error);
    ck_assert_msg(plan != NULL, "%s", error.message);
    return plan;
}

enum { NS = 1000, LATENCY_PS = 1000 };

/* Runs a plan in which every message takes LATENCY_PS, and checks that every rank ends at a time. */
static void check_end(const char *bytes, uint32_t n_ranks, uint32_t domain_ranks, uint64_t end_ps) {
    const struct step_plan_start start = {0};
    struct step_plan *plan = plan_of(bytes, n_ranks, domain_ranks, &start);
    const struct traffic traffic = step_plan_traffic(plan);
    struct instant_run run = instant_run(&traffic, LATENCY_PS, 0, 1);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        ck_assert_uint_eq(step_plan_times(plan, rank).end_ps, end_ps);
    }
    instant_free(&run);
    step_plan_free(plan);
}

#define TRANSFORMER "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n"

/*
 * Pairs: the forward all-reduce is two steps, waited for; then 20 ns, the all-reduce of the input, waited for, 30 ns, and that of the weights
 * among two pairs, two steps again.
 */
START_TEST(transformers_wait_for_forward_and_input_but_not_for_weights) {
    check_end(TRANSFORMER "1\na -1 10 ALLREDUCE 100 20 ALLREDUCE 100 30 ALLREDUCE 200 9\n", 4, 2,
              10 * NS + 2 * LATENCY_PS + 20 * NS + 2 * LATENCY_PS + 30 * NS + 2 * LATENCY_PS);
    check_end(TRANSFORMER "2\na -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 200 9\n"
                          "b -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 200 9\n",
              4, 2, 20 * NS + 2 * 50 * NS + 2 * LATENCY_PS);
}
END_TEST

START_TEST(data_parallel_layers_compute_while_gradients_are_summed) {
    /* weights of the last layer begin at 10 + 10 + 7: three ranks, four steps; then 5 + 7 of the other */
    check_end("DATA\n2\na -1 10 NONE 0 5 NONE 0 7 ALLREDUCE 90 1\nb -1 10 NONE 0 5 NONE 0 7 ALLREDUCE 90 1\n", 3, 1,
              (20 + 7 + 5 + 7) * NS + 4 * LATENCY_PS);
    /* the last layer's are in the air for longer than the rest takes */
    check_end("DATA\n2\na -1 0 NONE 0 0 NONE 0 1 NONE 0 1\nb -1 10 NONE 0 0 NONE 0 0 ALLREDUCE 90 1\n", 3, 1,
              10 * NS + 4 * LATENCY_PS);
}
END_TEST

START_TEST(other_kinds_wait_for_the_input_after_computing_the_weights) {
    /* second layer: the input's all-gather, one step of 1 ns, runs beside 30 ns; first layer: its own is not sent at all */
    check_end("HYBRID_DATA_MODEL\n2\na -1 0 NONE 0 20 ALLGATHER 50 30 NONE 0 1\n"
              "b -1 0 NONE 0 20 ALLGATHER 50 30 NONE 0 1\n",
              4, 2, 2 * 50 * NS);
    /* and is waited for where it takes longer */
    check_end("MODEL\n2\na -1 0 NONE 0 20 NONE 0 0 NONE 0 1\nb -1 0 NONE 0 20 ALLREDUCE 50 1 NONE 0 1\n", 8, 1,
              20 * NS + 14 * LATENCY_PS + 20 * NS);
}
END_TEST

START_TEST(inference_has_no_backward_pass) {
    check_end("DISTRIBUTED_INFERENCE\n2\na -1 10 ALLTOALL 80 99 NONE 0 99 NONE 0 1\n"
              "b -1 10 REDUCESCATTER 80 99 NONE 0 99 NONE 0 1\n",
              8, 4, 10 * NS + LATENCY_PS + 10 * NS + 7 * LATENCY_PS);
}
END_TEST

/* 16 ranks in two domains: an all-to-all of 160 B sends 10 B to each other; an all-reduce has 8 rings of 30 steps of 2 B. */
START_TEST(messages_have_their_sizes_and_ways) {
    const struct step_plan_start start = {0};
    struct step_plan *plan = plan_of("DISTRIBUTED_INFERENCE\n2\na -1 0 ALLTOALL 160 0 NONE 0 0 NONE 0 0\n"
                                     "b -1 0 ALLREDUCE 256 0 NONE 0 0 NONE 0 0\n",
                                     16, 8, &start);
    const struct traffic traffic = step_plan_traffic(plan);
    struct instant_run run = instant_run(&traffic, LATENCY_PS, 0, 1);
    uint64_t counts[2][2] = {{0}};
    for (uint32_t i = 0; i < run.count; i++) {
        const struct traffic_message *message = &run.messages[i].message;
        const bool ring = message->tag > 0, near = run.messages[i].source / 8 == message->destination / 8;
        ck_assert_uint_eq(message->bytes, ring ? 2 : 10);
        ck_assert_int_eq(message->route == TRAFFIC_NVLINK, near);
        counts[ring][near]++;
    }
    ck_assert_uint_eq(counts[0][0], 16 * 8);
    ck_assert_uint_eq(counts[0][1], 16 * 7);
    ck_assert_uint_eq(counts[1][0], 8 * 30 * 2); /* each step of each ring crosses twice */
    ck_assert_uint_eq(counts[1][1], 8 * 30 * 14);
    const struct step_plan_volume total = step_plan_total(plan);
    ck_assert_uint_eq(total.fabric_messages, counts[0][0] + counts[1][0]);
    ck_assert_uint_eq(total.nvlink_bytes, 10 * counts[0][1] + 2 * counts[1][1]);
    instant_free(&run);
    step_plan_free(plan);
}
END_TEST

/* Texts and clusters that between them have every operation, kind of group and uneven split. */
static const struct {
    const char *text;
    uint32_t n_ranks, domain_ranks;
} cases[] = {
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 4 pp: 1 vpp: 1 ga: 1 all_gpus: 16\n3\n"
     "a -1 5 ALLGATHER 100 6 REDUCESCATTER 100 7 ALLREDUCE_DP_EP 900 1\n"
     "b -1 5 ALLTOALL_EP 800 6 ALLTOALL_EP 800 7 ALLGATHER 900 1\n"
     "c -1 5 ALLREDUCE 100 6 ALLREDUCE_EP 100 7 REDUCESCATTER 9000 1\n",
     16, 8},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group: 6 ep: 2\n2\na -1 5 ALLREDUCE 1000 6 ALLTOALL 1000 0 ALLREDUCE 7 1\n"
     "b -1 0 ALLTOALL_EP 1000 0 ALLGATHER_EP 1000 0 ALLTOALL 7 1\n",
     24, 4},
    {"MODEL\n2\na -1 0 ALLREDUCE 1000 0 ALLREDUCE 1000 0 NONE 0 1\nb -1 0 ALLTOALL 500 0 ALLGATHER 7 0 NONE 0 1\n", 12,
     4},
    {"HYBRID_MODEL_DATA\n2\na -1 3 ALLREDUCE 1000 3 ALLGATHER 10 3 ALLREDUCE 8 1\n"
     "b -1 3 ALLTOALL 1000 3 ALLREDUCE 10 3 ALLTOALL 8 1\n",
     12, 3},
    {"DATA\n3\na -1 3 NONE 0 3 NONE 0 3 ALLREDUCE 8 1\nb -1 3 NONE 0 3 NONE 0 3 ALLREDUCE 800 1\n"
     "c -1 3 NONE 0 3 NONE 0 3 ALLTOALL 8 1\n",
     9, 1},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static int compare_messages(const void *left_pointer, const void *right_pointer) {
    const struct instant_message *left = left_pointer, *right = right_pointer;
    const uint64_t a = (uint64_t)left->source << 32 | left->message.destination;
    const uint64_t b = (uint64_t)right->source << 32 | right->message.destination;
    const int by = (a > b) - (a < b);
    return by ? by : (left->message.tag > right->message.tag) - (left->message.tag < right->message.tag);
}

/* What every rank got in all, and the last that it got. */
static void check_received(const struct step_plan *plan, const struct instant_run *run) {
    const struct step_program *program = step_plan_program(plan);
    for (uint32_t rank = 0; rank < program->layout.n_ranks; rank++) {
        struct step_plan_volume expected = {0}, found = {0};
        uint64_t last_ps = 0;
        for (uint32_t i = 0; i < program->n_collectives; i++) {
            const struct step_plan_volume one = step_plan_received(plan, rank, i);
            expected.fabric_bytes += one.fabric_bytes;
            expected.nvlink_bytes += one.nvlink_bytes;
        }
        for (uint32_t i = 0; i < run->count; i++) {
            const struct instant_message *message = &run->messages[i];
            if (message->message.destination == rank) {
                const bool near = message->message.route == TRAFFIC_NVLINK;
                *(near ? &found.nvlink_bytes : &found.fabric_bytes) += message->message.bytes;
                last_ps = number_larger(last_ps, message->delivered_ps);
            }
        }
        ck_assert_uint_eq(found.fabric_bytes, expected.fabric_bytes);
        ck_assert_uint_eq(found.nvlink_bytes, expected.nvlink_bytes);
        const struct step_plan_times times = step_plan_times(plan, rank);
        ck_assert_uint_ge(times.end_ps, last_ps);
        ck_assert_uint_ge(times.end_ps, times.start_ps + program->compute_ps);
    }
}

/* Messages are unique, and none is given out that starts before its rank does. */
static void check_messages(const struct step_plan *plan, struct instant_run *run) {
    qsort(run->messages, run->count, sizeof *run->messages, compare_messages);
    for (uint32_t i = 0; i < run->count; i++) {
        ck_assert(i == 0 || compare_messages(&run->messages[i - 1], &run->messages[i]) < 0);
        const struct instant_message *message = &run->messages[i];
        ck_assert_uint_ge(message->message.start_ps, step_plan_times(plan, message->source).start_ps);
    }
}

/* Orders of arrival differ with the seed, and ranks begin far apart: some are rounds of messages behind. */
START_TEST(a_pass_ends_in_any_order_of_arrival) {
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const struct step_plan_start start = {.seed = seed, .jitter_ps = seed % 2 ? 0 : 100 * LATENCY_PS};
        struct step_plan *plan = plan_of(cases[_i].text, cases[_i].n_ranks, cases[_i].domain_ranks, &start);
        const struct traffic traffic = step_plan_traffic(plan);
        struct instant_run run = instant_run(&traffic, LATENCY_PS, 9 * LATENCY_PS, seed);
        const struct step_plan_volume total = step_plan_total(plan);
        ck_assert_uint_eq(run.count, total.fabric_messages + total.nvlink_messages);
        check_messages(plan, &run);
        check_received(plan, &run);
        instant_free(&run);
        step_plan_free(plan);
    }
}
END_TEST

/* A rank that begins 1 us late holds up a ring, however fast messages are. */
START_TEST(what_comes_early_waits_for_the_rank_to_begin) {
    const struct step_plan_start start = {.seed = 3, .jitter_ps = 1000 * LATENCY_PS};
    struct step_plan *plan = plan_of("MODEL\n1\na -1 10 ALLREDUCE 800 0 NONE 0 0 NONE 0 0\n", 8, 1, &start);
    const struct traffic traffic = step_plan_traffic(plan);
    struct instant_run run = instant_run(&traffic, LATENCY_PS, 0, 1);
    uint64_t last_ps = 0;
    for (uint32_t rank = 0; rank < 8; rank++) {
        last_ps = number_larger(last_ps, step_plan_times(plan, rank).start_ps);
    }
    for (uint32_t rank = 0; rank < 8; rank++) {
        const uint64_t begun_ps = last_ps + 10 * NS, end_ps = step_plan_times(plan, rank).end_ps;
        ck_assert_uint_gt(end_ps, begun_ps + 6 * LATENCY_PS);  /* the sum passes the last rank and all after it */
        ck_assert_uint_le(end_ps, begun_ps + 14 * LATENCY_PS); /* as if all had begun so late */
    }
    instant_free(&run);
    step_plan_free(plan);
}
END_TEST

static struct step_plan_least constant_least(const void *context, uint32_t collective) {
    (void)collective;
    return *(const struct step_plan_least *)context;
}

/* Two collectives of 5 ns over NICs, 3 ns over NVLink, each waited for or not. */
START_TEST(the_least_time_is_what_is_computed_and_waited_for_or_what_ports_take) {
    const struct step_plan_least least = {.fabric_ps = 5 * NS, .nvlink_ps = 3 * NS};
    const struct step_plan_start start = {0};
    struct step_plan *plan = plan_of("DISTRIBUTED_INFERENCE\n2\na -1 10 ALLTOALL 160 0 NONE 0 0 NONE 0 0\n"
                                     "b -1 1 ALLREDUCE 256 0 NONE 0 0 NONE 0 0\n",
                                     16, 8, &start);
    ck_assert_uint_eq(step_plan_least_ps(plan, constant_least, &least), (10 + 5 + 1 + 5) * NS);
    step_plan_free(plan);
    plan = plan_of("DATA\n2\na -1 0 NONE 0 0 NONE 0 1 ALLREDUCE 160 0\nb -1 10 NONE 0 2 NONE 0 0 ALLREDUCE 160 0\n", 16,
                   8, &start);
    ck_assert_uint_eq(step_plan_least_ps(plan, constant_least, &least), (10 + 2 * 5) * NS);
    step_plan_free(plan);
    plan = plan_of("DATA\n2\na -1 0 NONE 0 0 NONE 0 100 NONE 160 0\nb -1 10 NONE 0 2 NONE 0 0 ALLREDUCE 160 0\n", 16, 8,
                   &start);
    ck_assert_uint_eq(step_plan_least_ps(plan, constant_least, &least), (10 + 2 + 100) * NS);
    step_plan_free(plan);
}
END_TEST

START_TEST(the_digest_is_of_all_that_is_done) {
    static const char *const texts[] = {"MODEL\n1\na -1 10 ALLREDUCE 800 0 NONE 0 0 NONE 0 0\n",
                                        "MODEL\n1\na -1 11 ALLREDUCE 800 0 NONE 0 0 NONE 0 0\n",
                                        "MODEL\n1\na -1 10 ALLREDUCE 801 0 NONE 0 0 NONE 0 0\n",
                                        "MODEL\n1\na -1 10 ALLTOALL 800 0 NONE 0 0 NONE 0 0\n"};
    uint64_t digests[5];
    for (int i = 0; i < 5; i++) {
        const struct step_plan_start start = {.seed = 1, .jitter_ps = i == 4 ? 10 : 0};
        struct step_plan *plan = plan_of(texts[i % 4], 8, 4, &start), *again = plan_of(texts[i % 4], 8, 4, &start);
        digests[i] = step_plan_digest(plan);
        ck_assert_uint_eq(digests[i], step_plan_digest(again));
        for (int j = 0; j < i; j++) {
            ck_assert_uint_ne(digests[i], digests[j]);
        }
        step_plan_free(plan);
        step_plan_free(again);
    }
}
END_TEST

/* The message about a program of so many all-to-alls among so many ranks that is refused. */
static const char *refusal(uint32_t n_ranks, uint32_t tensor, uint32_t n_collectives) {
    static struct error error;
    const struct collective_layout layout = {.n_ranks = n_ranks, .domain_ranks = 1, .tensor = tensor, .expert = 1};
    const struct step_plan_start start = {0};
    struct step_program program;
    step_program_init(&program, &layout);
    for (uint32_t i = 0; i < n_collectives; i++) {
        step_program_wait(&program, step_program_begin(&program, PARALLEL_ALL_TO_ALL, PARALLEL_TENSOR, 1));
    }
    struct step_plan *plan = step_plan_create(&program, &start, "x.txt", &error);
    const bool refused = plan == NULL;
    step_plan_free(plan);
    return refused ? error.message : NULL;
}

START_TEST(plans_that_send_nothing_or_too_much_are_refused) {
    ck_assert_ptr_nonnull(strstr(refusal(8, 1, 3), "nothing is sent"));
    ck_assert_ptr_nonnull(strstr(refusal(8, 8, 0), "nothing is sent"));
    ck_assert_ptr_null(refusal(4097, 4097, 7)); /* 4097 × 4096 × 7 < 2^27 */
    ck_assert_ptr_nonnull(strstr(refusal(4097, 4097, 9), "8 collectives of the 9 make 134250496 on 4097 GPUs"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("step plan");
    TCase *tests = tcase_create("plan");
    tcase_add_test(tests, transformers_wait_for_forward_and_input_but_not_for_weights);
    tcase_add_test(tests, data_parallel_layers_compute_while_gradients_are_summed);
    tcase_add_test(tests, other_kinds_wait_for_the_input_after_computing_the_weights);
    tcase_add_test(tests, inference_has_no_backward_pass);
    tcase_add_test(tests, messages_have_their_sizes_and_ways);
    tcase_add_loop_test(tests, a_pass_ends_in_any_order_of_arrival, 0, CASES);
    tcase_add_test(tests, what_comes_early_waits_for_the_rank_to_begin);
    tcase_add_test(tests, the_least_time_is_what_is_computed_and_waited_for_or_what_ports_take);
    tcase_add_test(tests, the_digest_is_of_all_that_is_done);
    tcase_add_test(tests, plans_that_send_nothing_or_too_much_are_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
