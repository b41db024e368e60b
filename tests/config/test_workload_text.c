// SPDX-License-Identifier: GPL-3.0-or-later
/* Workload texts of SimAI and ASTRA-sim: what is read, whether it fits a cluster, and that nothing is passed over in silence. */
#include "config/workload_text.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

static struct workload_text text;
static struct error_list errors;

/* Reads into `text`. False with `errors`. */
static bool read_bytes(const char *bytes) {
    workload_text_fini(&text);
    memset(&errors, 0, sizeof errors);
    const bool good = workload_text_read_text("x.txt", bytes, &text, &errors);
    ck_assert_int_eq(good, errors.count == 0);
    return good;
}

#define SIMAI "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 2 pp: 1 vpp: 8 ga: 3 all_gpus: 16 "

START_TEST(a_text_of_simai_has_its_figures) {
    ck_assert(read_bytes(SIMAI "checkpoints: 0 checkpoint_initiates: 0 pp_comm: 8388608.0\n# by hand\n2\n"
                               "grad\t-1\t1\tNONE\t0\t1\tNONE\t0\t7\tALLGATHER_DP_EP\t4718592\t100\r\n\n"
                               "moe   3  5 ALLTOALL_EP 100   6  REDUCESCATTER 200   8 ALLREDUCE 300 9\n"));
    ck_assert_int_eq(text.kind, WORKLOAD_TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD);
    ck_assert_uint_eq(text.tensor, 4);
    ck_assert_uint_eq(text.expert, 2);
    ck_assert_uint_eq(text.all_gpus, 16);
    ck_assert(!text.parts);
    ck_assert_uint_eq(text.n_layers, 2);
    const struct workload_text_phase *phases = text.layers[0].phases;
    ck_assert_int_eq(phases[WORKLOAD_TEXT_FORWARD].operation, PARALLEL_NONE);
    ck_assert_uint_eq(phases[WORKLOAD_TEXT_FORWARD].compute_ps, 1000);
    ck_assert_int_eq(phases[WORKLOAD_TEXT_WEIGHT_GRADIENT].operation, PARALLEL_ALL_GATHER);
    ck_assert_int_eq(phases[WORKLOAD_TEXT_WEIGHT_GRADIENT].group, PARALLEL_EXPERT_DATA);
    ck_assert_uint_eq(phases[WORKLOAD_TEXT_WEIGHT_GRADIENT].bytes, 4718592);
    phases = text.layers[1].phases;
    ck_assert_uint_eq(text.layers[1].line, 6);
    ck_assert_int_eq(phases[WORKLOAD_TEXT_FORWARD].operation, PARALLEL_ALL_TO_ALL);
    ck_assert_int_eq(phases[WORKLOAD_TEXT_FORWARD].group, PARALLEL_EXPERT);
    ck_assert_int_eq(phases[WORKLOAD_TEXT_INPUT_GRADIENT].operation, PARALLEL_REDUCE_SCATTER);
    ck_assert_int_eq(phases[WORKLOAD_TEXT_INPUT_GRADIENT].group, PARALLEL_TENSOR);
    ck_assert_uint_eq(phases[WORKLOAD_TEXT_INPUT_GRADIENT].compute_ps, 6000);
    ck_assert_int_eq(phases[WORKLOAD_TEXT_WEIGHT_GRADIENT].group, PARALLEL_DATA);
    ck_assert_uint_eq(phases[WORKLOAD_TEXT_WEIGHT_GRADIENT].bytes, 300);
}
END_TEST

/* Each kind on 16 GPUs in domains of 4: tensor groups, and the groups of forward and weights. */
static const struct {
    const char *name;
    uint32_t tensor;
    enum parallel_group forward, weights; /* PARALLEL_GROUPS: no collectives */
} kinds[] = {
    {"DATA", 1, PARALLEL_GROUPS, PARALLEL_DATA},
    {"MODEL", 16, PARALLEL_TENSOR, PARALLEL_GROUPS},
    {"HYBRID_DATA_MODEL", 4, PARALLEL_TENSOR, PARALLEL_DATA},
    {"HYBRID_MODEL_DATA", 4, PARALLEL_DATA, PARALLEL_TENSOR},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group: 2", 2, PARALLEL_TENSOR, PARALLEL_DATA},
    {"DISTRIBUTED_INFERENCE", 16, PARALLEL_TENSOR, PARALLEL_GROUPS},
};

START_TEST(kinds_have_their_groups) {
    char bytes[256];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const bool forward = kinds[i].forward != PARALLEL_GROUPS, weights = kinds[i].weights != PARALLEL_GROUPS;
        snprintf(bytes, sizeof bytes, "%s\t\t\n1\nx -1 1 %s 5 1 NONE 0 1 %s 6 1\n", kinds[i].name,
                 forward ? "ALLGATHER" : "NONE", weights ? "ALLREDUCE" : "NONE");
        ck_assert_msg(read_bytes(bytes), "%s", errors.errors[0].message);
        ck_assert(text.parts);
        ck_assert_uint_eq(workload_text_tensor(&text, 16, 4), kinds[i].tensor);
        ck_assert(workload_text_check(&text, "x.txt", 16, 4, &errors));
        const struct workload_text_phase *phases = text.layers[0].phases;
        ck_assert(!forward || phases[WORKLOAD_TEXT_FORWARD].group == kinds[i].forward);
        ck_assert(!weights || phases[WORKLOAD_TEXT_WEIGHT_GRADIENT].group == kinds[i].weights);
    }
}
END_TEST

START_TEST(a_collective_of_no_bytes_is_none) {
    ck_assert(read_bytes("DATA\n1\nx -1 1 ALLREDUCE 0 1 NONE 8 1 ALLREDUCE 1 1\n"));
    ck_assert_int_eq(text.layers[0].phases[WORKLOAD_TEXT_FORWARD].operation, PARALLEL_NONE);
    ck_assert_uint_eq(text.layers[0].phases[WORKLOAD_TEXT_INPUT_GRADIENT].bytes, 0);
}
END_TEST

#define DATA "DATA\n1\n"
#define LAYER "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 5 1\n"
#define TRANSFORMER "HYBRID_TRANSFORMER model_parallel_NPU_group: 4"

static const struct {
    const char *text, *message;
    unsigned line, column;
} broken[] = {
    {"", "the file has no layers", 0, 0},
    {"DATA\n", "the file has no layers", 0, 0},
    {"DATA\n0\n", "the file has no layers", 0, 0},
    {"MICRO\n1\n" LAYER, "kind MICRO are not simulated", 1, 1},
    {"HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 2\n1\n" LAYER, "kind HYBRID_DLRM are not simulated", 1, 1},
    {"HYBRID_CUSTOMIZED\n1\n" LAYER, "kind HYBRID_CUSTOMIZED are not simulated", 1, 1},
    {"DATTA\n1\n" LAYER, "`DATTA` is no kind of parallelism", 1, 1},
    {"DATA all_gpus: 4\n1\n" LAYER, "the first line of kind DATA is only that", 1, 6},
    {"HYBRID_TRANSFORMER\n1\n" LAYER, "needs the size of its tensor groups", 1, 1},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group:\n1\n" LAYER, "ends where the size of a tensor group", 1, 45},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group: 0\n1\n" LAYER, "the size of a tensor group cannot be 0", 1, 46},
    {TRANSFORMER " pp: 2\n1\n" LAYER, "the number of pipeline stages cannot be 2", 1, 52},
    {TRANSFORMER " checkpoints: 1 0\n1\n" LAYER, "the number of checkpoints cannot be 1", 1, 61},
    {TRANSFORMER " ep 2\n1\n" LAYER, "`ep` is no setting", 1, 48},
    {TRANSFORMER " ep: 2 ep: 2\n1\n" LAYER, "`ep:` is given twice", 1, 54},
    {TRANSFORMER " ga: x\n1\n" LAYER, "the number of micro-batches is needed here", 1, 52},
    {"DATA\nx\n" LAYER, "the number of layers is needed here", 2, 1},
    {"DATA\n1 2\n" LAYER, "the number of layers alone", 2, 3},
    {"DATA\n2\n" LAYER, "says 2 layers, the file ends after 1", 3, 1},
    {DATA LAYER LAYER, "says 1 layers: this is one more", 4, 1},
    {DATA "x\n", "ends where a dependency is needed", 3, 2},
    {DATA "x -1a\n", "a dependency is a whole number", 3, 3},
    {DATA "x -1 1.5 NONE 0 1 NONE 0 1 NONE 0 1\n", "a compute time in ns is needed here", 3, 6},
    {DATA "x -1 -1 NONE 0 1 NONE 0 1 NONE 0 1\n", "a compute time in ns is needed here", 3, 6},
    {DATA "x -1 281474976711 NONE 0 1 NONE 0 1 NONE 0 1\n", "a compute time in ns is at most", 3, 6},
    {DATA "x -1 281474976710 NONE 0 1 NONE 0 1 NONE 0 1\n", "longer than the 281 s", 3, 26},
    {DATA "x -1 1 NONE 0 1 NONE 0 1\n", "ends where a collective is needed", 3, 25},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDCE 5 1\n", "`ALLREDCE` is no collective", 3, 26},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCEALLTOALL 5 1\n", "ALLREDUCEALLTOALL is not simulated", 3, 26},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_TP 5 1\n", "`ALLREDUCE_TP` is no collective", 3, 26},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_EP 5 1\n", "DATA has no groups of experts", 3, 26},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 NONE_EP 5 1\n", "`NONE_EP` is no collective", 3, 26},
    {DATA "x -1 1 ALLREDUCE 5 1 NONE 0 1 NONE 0 1\n", "DATA has no collectives in the forward pass", 3, 8},
    {"MODEL\n1\nx -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 5 1\n", "MODEL has no collectives in the gradient of the weights", 3,
     26},
    {"DISTRIBUTED_INFERENCE\n1\nx -1 1 NONE 0 1 ALLREDUCE 5 1 NONE 0 1\n",
     "DISTRIBUTED_INFERENCE has no collectives in the gradient of the input", 3, 17},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 1099511627777 1\n", "a number of bytes is at most", 3, 36},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 99999999999999999999 1\n", "a number of bytes is at most", 3, 36},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 5\n", "ends where the time of the update", 3, 37},
    {DATA "x -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 5 1 MODEL\n", "a layer is 12 words", 3, 40},
};

START_TEST(what_cannot_be_is_refused_at_its_place) {
    ck_assert(!read_bytes(broken[_i].text));
    const struct error *error = &errors.errors[0];
    ck_assert_msg(strstr(error->message, broken[_i].message) != NULL, "%s", error->message);
    ck_assert_msg(error->line == broken[_i].line && error->column == broken[_i].column, "%s: %u:%u", error->message,
                  error->line, error->column);
}
END_TEST

START_TEST(all_mistakes_are_told) {
    ck_assert(!read_bytes("DATA\n3\nx -1 1 NONE 0 1 NONE 0 1 ALLREDUCED 5 1\n" LAYER "y -1 1 NONE 0 1 NONE 0 1\n"));
    ck_assert_uint_eq(errors.count, 2);
    ck_assert_str_eq(errors.errors[0].hint, "did you mean ALLREDUCE?");
    ck_assert_uint_eq(errors.errors[1].line, 5);
}
END_TEST

/* Whether a text fits so many ranks in domains of so many; else why not. */
static const struct {
    const char *first_line;
    uint32_t n_ranks, domain_ranks;
    const char *message; /* NULL: it fits */
} fits[] = {
    {TRANSFORMER " ep: 2 all_gpus: 16", 16, 8, NULL},
    {TRANSFORMER " ep: 2 all_gpus: 16", 32, 8, "made for 16 GPUs (all_gpus), the cluster has 32"},
    {TRANSFORMER, 18, 1, "tensor groups of 4 GPUs (model_parallel_NPU_group) do not divide the 18 GPUs"},
    {TRANSFORMER " ep: 3", 16, 8, "an expert parallelism of 3 (ep) does not divide the 4 tensor groups of 4 GPUs"},
    {TRANSFORMER " ep: 4", 16, 8, NULL},
    {"DATA", 3, 1, NULL},
    {"HYBRID_MODEL_DATA", 6, 3, NULL},
};

START_TEST(a_text_fits_a_cluster_or_says_why_not) {
    char bytes[256];
    snprintf(bytes, sizeof bytes, "%s\n1\n" LAYER, fits[_i].first_line);
    ck_assert(read_bytes(bytes));
    const bool good = workload_text_check(&text, "x.txt", fits[_i].n_ranks, fits[_i].domain_ranks, &errors);
    ck_assert_int_eq(good, fits[_i].message == NULL);
    ck_assert(good || strstr(errors.errors[0].message, fits[_i].message) != NULL);
    ck_assert(good || errors.errors[0].line == 1);
}
END_TEST

START_TEST(parts_that_gather_to_more_than_a_buffer_are_refused) {
    ck_assert(read_bytes("DATA\n1\nx -1 1 NONE 0 1 NONE 0 1 ALLGATHER 549755813888 1\n"));
    ck_assert(workload_text_check(&text, "x.txt", 2, 1, &errors));
    ck_assert(!workload_text_check(&text, "x.txt", 3, 1, &errors));
    ck_assert_uint_eq(errors.errors[0].line, 3);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("workload text");
    TCase *tests = tcase_create("reading");
    tcase_add_test(tests, a_text_of_simai_has_its_figures);
    tcase_add_test(tests, kinds_have_their_groups);
    tcase_add_test(tests, a_collective_of_no_bytes_is_none);
    tcase_add_loop_test(tests, what_cannot_be_is_refused_at_its_place, 0, (int)(sizeof broken / sizeof broken[0]));
    tcase_add_test(tests, all_mistakes_are_told);
    tcase_add_loop_test(tests, a_text_fits_a_cluster_or_says_why_not, 0, (int)(sizeof fits / sizeof fits[0]));
    tcase_add_test(tests, parts_that_gather_to_more_than_a_buffer_are_refused);
    suite_add_tcase(suite, tests);
    const int status = run_suite(suite);
    workload_text_fini(&text);
    return status;
}
