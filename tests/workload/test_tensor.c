// SPDX-License-Identifier: GPL-3.0-or-later
/* Arrays in NumPy and HDF5 files, and what is read from them: counts of experts and tokens' picks. Files are made by the tests. */
#include "base/memory.h"
#include "run_suite.h"
#include "workload/expert_load_file.h"
#include "workload/gate_source.h"
#include "workload/npy.h"
#include "workload/tensor.h"

#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/moefabric-tensor-XXXXXX";
static char path[64];

/* An array file of any version: header text padded as NumPy pads it, then bytes. Returns its size in `file` (4096). */
static size_t compose(unsigned char *file, int version, const char *header, const void *data, size_t bytes) {
    const size_t preamble = version == 1 ? 10 : 12, length = strlen(header) + 1;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    memset(file + 8, 0, 4);
    file[8] = (unsigned char)(length & 255);
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + preamble, header, length - 1);
    file[preamble + length - 1] = '\n';
    memcpy(file + preamble + length, data, bytes);
    return preamble + length + bytes;
}

static bool parse(int version, const char *header, const void *data, size_t bytes, struct npy *array,
                  struct error *error) {
    static unsigned char file[4096];
    return npy_parse("x.npy", file, compose(file, version, header, data, bytes), array, error);
}

START_TEST(numbers_of_every_type_are_read) {
    const unsigned char bytes[8] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const unsigned char one[8] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, back[8] = {0x3f, 0xf0};
    const unsigned char narrow[4] = {0, 0, 0x20, 0xc0}, narrow_back[4] = {0xc0, 0x20, 0, 0};
    const struct {
        const char *type;
        const void *data;
        size_t bytes;
        double value;
    } all[] = {
        {"|i1", bytes, 1, -2},
        {"|u1", bytes, 1, 254},
        {"<i2", bytes, 2, -2},
        {">i2", bytes, 2, -257},
        {"<u2", bytes, 2, 65534},
        {"<i4", bytes, 4, -2},
        {"<u4", bytes, 4, 4294967294.0},
        {"<i8", bytes, 8, -2},
        {">u4", bytes, 4, 4278190079.0},
        {"<f8", one, 8, 1},
        {">f8", back, 8, 1},
        {"<f4", narrow, 4, -2.5},
        {">f4", narrow_back, 4, -2.5},
        {"|b1", bytes + 1, 1, 255},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int version = 1; version <= 3; version++) {
            char header[128];
            struct npy array;
            struct error error = {0};
            snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }  ", all[i].type);
            ck_assert_msg(parse(version, header, all[i].data, all[i].bytes, &array, &error), "%s: %s", all[i].type,
                          error.message);
            ck_assert_double_eq(npy_value(&array, 0), all[i].value);
        }
    }
}
END_TEST

#define HEADER(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape "}"

static const struct {
    const char *header, *message;
} broken[] = {
    {HEADER("<f8", "True", "(2,)"), "Fortran order"},
    {HEADER("<f8", "Maybe", "(2,)"), "True or False"},
    {HEADER("<c8", "False", "(2,)"), "`<c8` are not read"},
    {HEADER("<f2", "False", "(2,)"), "`<f2` are not read"},
    {HEADER("|O", "False", "(2,)"), "`|O` are not read"},
    {HEADER("", "False", "(2,)"), "`` are not read"},
    {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,)}", "structures"},
    {HEADER("<f8", "False", "(3,)"), "asks for 24 bytes of numbers, the file has 16: it is cut off"},
    {HEADER("<f8", "False", "(1,)"), "asks for 8 bytes of numbers, the file has 16: it is too long"},
    {HEADER("<f8", "False", "(-2,)"), "whole numbers in parentheses"},
    {HEADER("<f8", "False", "(99999999999999999999,)"), "too large"},
    {HEADER("<f8", "False", "(4294967296, 4294967296)"), "too large"},
    {HEADER("<f8", "False", "(1,1,1,1,1,1,1,1,2)"), "more than 8 dimensions"},
    {HEADER("<f8", "False", "2"), "parenthesis"},
    {HEADER("<f8", "False", "(2 2)"), "comma"},
    {"{'descr': '<f8', 'shape': (2,)}", "lacks"},
    {"{'descr': '<f8', 'descr': '<f8'}", "twice the key `descr`"},
    {"{'dtype': '<f8'}", "unknown key `dtype`"},
    {"{descr: '<f8'}", "quoted text"},
    {"{'descr' '<f8'}", "colon"},
    {"['descr']", "no dictionary"},
    {"{'descr': '<f8", "does not end"},
    {HEADER("<f8", "False", "(2,)") " more", "follows"},
};

START_TEST(arrays_that_are_wrong_are_refused_with_the_byte) {
    const double data[2] = {1, 2};
    struct npy array;
    struct error error = {0};
    ck_assert(!parse(1, broken[_i].header, data, sizeof data, &array, &error));
    ck_assert_msg(strstr(error.message, broken[_i].message) != NULL, "\"%s\" instead of \"%s\"", error.message,
                  broken[_i].message);
    ck_assert_ptr_nonnull(strstr(error.message, "at byte"));
    ck_assert_str_eq(error.file, "x.npy");
}
END_TEST

START_TEST(arrays_that_are_cut_anywhere_are_refused) {
    unsigned char file[4096];
    const double data[2] = {1, 2};
    const size_t size = compose(file, 2, HEADER("<f8", "False", "(2,)"), data, sizeof data);
    struct npy array;
    struct error error;
    ck_assert(npy_parse("x.npy", file, size, &array, &error));
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *copy = memory_allocate(cut + 1, 1); // so that a sanitizer sees a read beyond
        memcpy(copy, file, cut);
        ck_assert(!npy_parse("x.npy", copy, cut, &array, &error));
        free(copy);
    }
}
END_TEST

/* ---- files ---- */

static void write_npy(const char *name, const char *header, const void *data, size_t bytes) {
    static unsigned char file[1 << 16];
    const size_t size = compose(file, 1, header, data, bytes);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(file, 1, size, stream), size);
    fclose(stream);
}

static void write_hdf5(const char *name, const char *dataset, int n, const hsize_t *lengths, const int32_t *data) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(n, lengths, NULL);
    const hid_t set =
        H5Dcreate2(file, dataset, H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT); // order is converted
    ck_assert_int_ge(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
}

static void fill_counts(int32_t counts[2][3][4]) {
    for (int step = 0; step < 2; step++) {
        for (int layer = 0; layer < 3; layer++) {
            for (int expert = 0; expert < 4; expert++) {
                counts[step][layer][expert] = 100 * step + 10 * layer + expert;
            }
        }
    }
}

static void expect_counts(const struct expert_load *load, uint32_t n_steps) {
    ck_assert_uint_eq(load->n_steps, n_steps);
    ck_assert_uint_eq(load->n_layers, 3);
    ck_assert_uint_eq(load->n_experts, 4);
    for (uint32_t step = 0; step < n_steps; step++) {
        for (uint32_t layer = 0; layer < 3; layer++) {
            for (uint32_t expert = 0; expert < 4; expert++) {
                ck_assert_double_eq(expert_load_row(load, step, 0, layer)[expert], 100 * step + 10 * layer + expert);
            }
        }
    }
}

START_TEST(counts_are_the_same_from_either_format) {
    int32_t counts[2][3][4];
    const hsize_t lengths[] = {2, 3, 4};
    struct error error = {0};
    fill_counts(counts);
    for (int format = 0; format < 4; format++) {
        const uint32_t n_steps = format % 2 ? 1 : 2; /* one step may go without its dimension */
        if (format < 2) {
            write_npy("counts.npy", format ? HEADER("<i4", "False", "(3, 4)") : HEADER("<i4", "False", "(2, 3, 4)"),
                      counts, sizeof counts / (format ? 2 : 1));
        } else {
            write_hdf5("counts.h5", "counts", 5 - format, lengths + format - 2, &counts[0][0][0]);
        }
        struct expert_load *load = expert_load_file_read(path, "", &error);
        ck_assert_msg(load != NULL, "%s", error.message);
        expect_counts(load, n_steps);
        expert_load_free(load);
    }
}
END_TEST

static void expect_load_refusal(const char *dataset, const char *part) {
    struct error error = {0};
    ck_assert_ptr_null(expert_load_file_read(path, dataset, &error));
    ck_assert_msg(strstr(error.message, part) != NULL, "`%s` lacks `%s`", error.message, part);
    ck_assert_str_eq(error.file, path);
}

START_TEST(counts_that_are_wrong_are_refused_with_their_index) {
    double counts[2][3][4];
    for (int i = 0; i < 24; i++) {
        counts[i / 12][i / 4 % 3][i % 4] = i;
    }
    counts[1][2][3] = NAN;
    write_npy("counts.npy", HEADER("<f8", "False", "(2, 3, 4)"), counts, sizeof counts);
    expect_load_refusal("", "[step 1, layer 2, expert 3] is nan");
    counts[0][1][2] = -1;
    write_npy("counts.npy", HEADER("<f8", "False", "(2, 3, 4)"), counts, sizeof counts);
    expect_load_refusal("", "[step 0, layer 1, expert 2] is -1");
    write_npy("counts.npy", HEADER("<f8", "False", "(24,)"), counts, sizeof counts);
    expect_load_refusal("", "the array has 1 dimension");
    write_npy("counts.npy", HEADER("<f8", "False", "(0, 3, 4)"), counts, 0);
    expect_load_refusal("", "none or too many");
    write_npy("counts.npy", HEADER("<f8", "False", "(1, 12, 4)"), counts, sizeof counts);
    expect_load_refusal("", "cut off");
    snprintf(path, sizeof path, "%s/none.npy", folder);
    expect_load_refusal("", "no such file");
}
END_TEST

START_TEST(hdf5_files_that_are_wrong_are_refused) {
    int32_t counts[2][3][4];
    const hsize_t lengths[] = {2, 3, 4};
    fill_counts(counts);
    write_hdf5("counts.h5", "counts", 3, lengths, &counts[0][0][0]);
    expect_load_refusal("load", "no dataset `load`");
    ck_assert_int_eq(truncate(path, 1000), 0);
    expect_load_refusal("", "no HDF5 file, or it is cut off");
    FILE *stream = fopen(path, "w");
    fputs("layer,expert\n", stream);
    fclose(stream);
    expect_load_refusal("", "no HDF5 file");
    snprintf(path, sizeof path, "%s/none.h5", folder);
    expect_load_refusal("", "no such file");
}
END_TEST

/* ---- traces ---- */

enum { TRACE_TOKENS = 12, TRACE_LAYERS = 2, TRACE_TOP_K = 3, TRACE_EXPERTS = 8 };

static void fill_trace(int32_t *picks) {
    for (int token = 0; token < TRACE_TOKENS; token++) {
        for (int layer = 0; layer < TRACE_LAYERS; layer++) {
            for (int i = 0; i < TRACE_TOP_K; i++) {
                *picks++ = (token + 3 * layer + 2 * i) % TRACE_EXPERTS;
            }
        }
    }
}

static struct gate_parameters trace_parameters(uint32_t ranks, uint32_t tokens) {
    struct gate_parameters parameters = {.kind = EXPERIMENT_GATE_TRACE,
                                         .experts = TRACE_EXPERTS,
                                         .top_k = TRACE_TOP_K,
                                         .ranks = ranks,
                                         .tokens = tokens,
                                         .routing.layer = 1};
    snprintf(parameters.routing.path, sizeof parameters.routing.path, "%s", path);
    return parameters;
}

START_TEST(ranks_take_the_trace_one_after_the_other) {
    int32_t picks[TRACE_TOKENS * TRACE_LAYERS * TRACE_TOP_K];
    const hsize_t lengths[] = {TRACE_TOKENS, TRACE_LAYERS, TRACE_TOP_K};
    fill_trace(picks);
    for (int format = 0; format < 2; format++) {
        if (format) {
            write_hdf5("trace.hdf5", "topk_ids", 3, lengths, picks);
        } else {
            write_npy("trace.npy", HEADER("<i4", "False", "(12, 2, 3)"), picks, sizeof picks);
        }
        struct error error = {0};
        const struct gate_parameters parameters = trace_parameters(3, 4);
        struct gate *gate = gate_create(&parameters, &error);
        ck_assert_msg(gate != NULL, "%s", error.message);
        for (uint32_t rank = 0; rank < 3; rank++) {
            struct gate_source walk = {0};
            gate_source_open(&walk, gate, 5, rank);
            for (uint32_t token = 0; token < 4; token++) {
                uint32_t taken[GATE_LARGEST_TOP_K];
                ck_assert_uint_eq(gate_source_draw(&walk, token, taken), 3);
                for (uint32_t i = 0; i < 3; i++) {
                    ck_assert_uint_eq(taken[i], (4 * rank + token + 3 + 2 * i) % TRACE_EXPERTS);
                }
            }
            gate_source_close(&walk);
        }
        gate_free(gate);
    }
}
END_TEST

static void expect_trace_refusal(struct gate_parameters parameters, const char *part) {
    struct error error = {0};
    ck_assert_ptr_null(gate_create(&parameters, &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
    ck_assert_msg(strstr(error.message, part) != NULL, "`%s` lacks `%s`", error.message, part);
}

START_TEST(traces_that_do_not_fit_are_refused) {
    int32_t picks[TRACE_TOKENS * TRACE_LAYERS * TRACE_TOP_K];
    fill_trace(picks);
    write_npy("trace.npy", HEADER("<i4", "False", "(12, 2, 3)"), picks, sizeof picks);
    expect_trace_refusal(trace_parameters(3, 5), "ends after 12 tokens, 3 ranks of 5 tokens need 15");
    struct gate_parameters parameters = trace_parameters(3, 4);
    parameters.top_k = 2;
    expect_trace_refusal(parameters, "pick 3 experts, those of the model 2");
    parameters = trace_parameters(3, 4);
    parameters.routing.layer = 2;
    expect_trace_refusal(parameters, "no layer 2");
    parameters = trace_parameters(3, 4);
    parameters.experts = 7;
    expect_trace_refusal(parameters, "[token 0, layer 1, 2] is 7: experts have the numbers 0 to 6");
    picks[(5 * TRACE_LAYERS + 1) * TRACE_TOP_K + 1] = -1; // how recordings fill what was not there
    write_npy("trace.npy", HEADER("<i4", "False", "(12, 2, 3)"), picks, sizeof picks);
    expect_trace_refusal(trace_parameters(3, 4), "[token 5, layer 1, 1] is -1");
    picks[(5 * TRACE_LAYERS + 1) * TRACE_TOP_K + 1] = picks[(5 * TRACE_LAYERS + 1) * TRACE_TOP_K];
    write_npy("trace.npy", HEADER("<i4", "False", "(12, 2, 3)"), picks, sizeof picks);
    expect_trace_refusal(trace_parameters(3, 4), "which the token has picked before");
    snprintf(path, sizeof path, "%s/trace.csv", folder);
    expect_trace_refusal(trace_parameters(3, 4), "ends with .npy");
}
END_TEST

static void remove_folder(void) {
    static const char *const names[] = {"counts.npy", "counts.h5", "trace.npy", "trace.hdf5"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void) {
    Suite *suite = suite_create("tensor");
    TCase *cases = tcase_create("tensor");
    if (!mkdtemp(folder)) {
        return EXIT_FAILURE;
    }
    tcase_add_test(cases, numbers_of_every_type_are_read);
    tcase_add_loop_test(cases, arrays_that_are_wrong_are_refused_with_the_byte, 0, sizeof broken / sizeof broken[0]);
    tcase_add_test(cases, arrays_that_are_cut_anywhere_are_refused);
    tcase_add_test(cases, counts_are_the_same_from_either_format);
    tcase_add_test(cases, counts_that_are_wrong_are_refused_with_their_index);
    tcase_add_test(cases, hdf5_files_that_are_wrong_are_refused);
    tcase_add_test(cases, ranks_take_the_trace_one_after_the_other);
    tcase_add_test(cases, traces_that_do_not_fit_are_refused);
    suite_add_tcase(suite, cases);
    const int status = run_suite(suite);
    remove_folder();
    return status;
}
