// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/perf_deepep.h"
#include "command/perf_log.h"
#include "command/simulation.h"
#include "config/experiment_file.h"
#include "fabric/builder.h"
#include "results/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERRIDE_SIZE = 512, MOST_SIZES = 64 };

const struct arguments_grammar command_perf_grammar = {
    .command = "perf",
    .operand = "KIND TOPOLOGY",
    .words = "alltoall dispatch combine",
    .operand_required = true,
    .more_operands = true,
    .options = ARGUMENTS_SIZES | ARGUMENTS_AGAINST | ARGUMENTS_SET | ARGUMENTS_SEED | ARGUMENTS_THREADS,
    .description =
        "Simulates a sweep as the users' own benchmarks run it, on a topology file, and prints their columns.\n\n"
        "  alltoall   nccl-tests' alltoall_perf: size is a rank's whole buffer, busbw = algbw × (n - 1) ÷ n; all "
        "parts\n"
        "             are posted at once and go straight to their ranks, unless --set traffic.algorithm=NAME says "
        "otherwise\n"
        "  sendrecv   nccl-tests' sendrecv_perf: every rank sends its buffer to the next one, busbw = algbw\n"
        "  dispatch   an expert-parallel dispatch by tokens a GPU, in the units of DeepEP's tests (model and gate as "
        "--set says)\n"
        "  combine    the same for its combine\n\n"
        "Paths and controller are ecmp+dcqcn unless --set policies=[…] says otherwise. Kernels take what section gpu "
        "of the topology says.\n"
        "With --against LOG the sizes are those of a log of nccl-tests, and both times and the error stand side by "
        "side; of dispatch and\n"
        "combine the log is one of DeepEP's tests, and number format and SMs are those of each of its results (tokens: "
        "its [config] line, or --sizes).",
    .examples =
        "  moefabric perf alltoall topologies/hgx-h100-roce.yaml --set cluster.racks=4 --sizes 1MiB:64MiB\n"
        "  moefabric perf alltoall topologies/hgx-h100-roce.yaml --set cluster.racks=4 --set "
        "traffic.algorithm=nccl_p2p\n"
        "  moefabric perf dispatch topologies/gb200-nvl72-spectrumx.yaml --set cluster.racks=1 --sizes 128:1024\n",
};

/** What can be measured. */
enum kind { KIND_ALLTOALL, KIND_SENDRECV, KIND_DISPATCH, KIND_COMBINE };
static const char *const kind_names[] = {"alltoall", "sendrecv", "dispatch", "combine"};
enum { KINDS = sizeof kind_names / sizeof kind_names[0] };

/** One sweep. */
struct sweep {
    const struct arguments *given;
    enum kind kind;
    const char *topology;
    uint64_t sizes[MOST_SIZES]; /**< bytes of a rank's buffer, or tokens of a GPU */
    uint32_t n_sizes;
    struct perf_log log;                  /**< of nccl-tests; empty where there is none */
    struct perf_deepep_log deepep;        /**< the same of DeepEP's tests */
    const struct perf_deepep_row *result; /**< of it, that is being simulated; NULL: none */
};

/** Sizes are bytes, else tokens. */
static bool is_nccl(const struct sweep *sweep) {
    return sweep->kind == KIND_ALLTOALL || sweep->kind == KIND_SENDRECV;
}

/** One point of it. */
struct point {
    double time_us, algbw, busbw;      /**< GB/s */
    double rdma_logical, nvl_received; /**< GB/s, NAN for alltoall */
    uint64_t ranks;
};

static bool find_kind(const char *name, enum kind *kind, struct error *error) {
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = (enum kind)i;
            return true;
        }
    }
    error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "there is no kind \"%s\"", name);
    error_hint(error, "alltoall, sendrecv, dispatch, combine");
    return false;
}

/** FIRST:LAST, doubling; or one size. */
static bool read_sizes(const char *text, enum quantity_kind kind, struct sweep *sweep, struct error *error) {
    char first_text[OVERRIDE_SIZE];
    const char *colon = strchr(text, ':');
    const size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    uint64_t first = 0, last = 0;
    snprintf(first_text, sizeof first_text, "%.*s", (int)length, text);
    if (!quantity_parse(first_text, kind, &first, error) ||
        !quantity_parse(colon != NULL ? colon + 1 : first_text, kind, &last, error) || first == 0 || last < first) {
        error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "--sizes takes FIRST:LAST, not \"%s\"", text);
        error_hint(error, kind == QUANTITY_BYTES ? "e.g. 1MiB:64MiB" : "e.g. 128:4096");
        return false;
    }
    for (uint64_t size = first; sweep->n_sizes < MOST_SIZES; size *= 2) {
        sweep->sizes[sweep->n_sizes++] = size;
        if (size > last / 2) {
            break;
        }
    }
    return true;
}

/** A size for each result of a log of DeepEP's tests: its tokens. */
static bool choose_results(struct sweep *sweep, struct error *error) {
    const struct arguments *given = sweep->given;
    if (!perf_deepep_read(given->against, sweep->kind == KIND_COMBINE, &sweep->deepep, error) ||
        (given->sizes != NULL && !read_sizes(given->sizes, QUANTITY_COUNT, sweep, error))) {
        return false;
    }
    const uint64_t tokens = sweep->n_sizes > 0 ? sweep->sizes[0] : sweep->deepep.tokens;
    if (tokens == 0 || sweep->n_sizes > 1) {
        return error_set(
            error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
            "a log of DeepEP's tests is of one number of tokens; without its [config] line, --sizes says which");
    }
    for (sweep->n_sizes = 0; sweep->n_sizes < sweep->deepep.count; sweep->n_sizes++) {
        sweep->sizes[sweep->n_sizes] = tokens;
    }
    return true;
}

/** Which sizes: those of the log, or those that were asked for. */
static bool choose_sizes(struct sweep *sweep, struct error *error) {
    const struct arguments *given = sweep->given;
    const bool bytes = is_nccl(sweep);
    if (given->against == NULL) {
        const char *usual = bytes ? "256KiB:16MiB" : "128:1024";
        return read_sizes(given->sizes != NULL ? given->sizes : usual, bytes ? QUANTITY_BYTES : QUANTITY_COUNT, sweep,
                          error);
    }
    if (!bytes) {
        return choose_results(sweep, error);
    }
    if (!perf_log_read(given->against, &sweep->log, error)) {
        return false;
    }
    if (sweep->log.count > MOST_SIZES) {
        return error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
                         "the log has %" PRIu32 " results, at most %d can be swept", sweep->log.count, MOST_SIZES);
    }
    for (uint32_t i = 0; i < sweep->log.count; i++) {
        sweep->sizes[sweep->n_sizes++] = sweep->log.rows[i].bytes;
    }
    return true;
}

/** Is an all-to-all asked for under an algorithm other than that of the pattern itself, which posts all parts at once? */
static bool has_algorithm(const struct sweep *sweep) {
    static const char key[] = "traffic.algorithm=";
    const char *found = NULL;
    for (uint32_t i = 0; i < sweep->given->n_overrides; i++) {
        if (strncmp(sweep->given->overrides[i], key, strlen(key)) == 0) {
            found = sweep->given->overrides[i] + strlen(key);
        }
    }
    return sweep->kind == KIND_ALLTOALL && found != NULL && strcmp(found, "direct") != 0;
}

/**
 * Equal parts as a layer: an expert on each rank, one for each token, every expert as many tokens as any other. A token is a piece of a part, so that
 * algorithms can cut it: of 8 KiB, or the part itself; what is left over by rounding is less than two bytes a piece.
 */
static void write_alltoall_layer(FILE *stream, uint64_t bytes_a_peer, uint64_t ranks) {
    const uint64_t pieces = bytes_a_peer / 8192 > 0 ? bytes_a_peer / 8192 : 1;
    const uint64_t hidden = bytes_a_peer / pieces / 2 > 0 ? bytes_a_peer / pieces / 2 : 1;
    fprintf(stream, "model: {hidden: %" PRIu64 ", experts: %" PRIu64 ", top_k: 1}\n", hidden, ranks);
    fprintf(stream,
            "traffic: {pattern: moe, gate: balanced, phases: [dispatch], dispatch_type: bf16, exchange_counts: false, "
            "kernel: platform, tokens_per_gpu: %" PRIu64 "}\n",
            pieces * ranks);
}

static void write_tokens(FILE *stream, const struct perf_deepep_row *result, uint64_t tokens) {
    fprintf(stream, "model: {preset: deepseek-v3}\ntraffic: {pattern: moe, kernel: platform, tokens_per_gpu: %" PRIu64,
            tokens);
    if (result != NULL && result->bf16) {
        fputs(", dispatch_type: bf16", stream);
    }
    if (result != NULL && result->sms > 0) {
        fprintf(stream, ", sms: %" PRIu32, result->sms);
    }
    fputs("}\n", stream);
}

/** The configuration of one point as text; the topology's file name may hold anything. */
static char *write_configuration(const struct sweep *sweep, uint64_t bytes_a_peer, uint64_t tokens, uint64_t ranks) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    REQUIRE(stream != NULL, "no memory for a configuration");
    fputs("name: perf\npolicies: [ecmp+dcqcn]\ntopology: \"", stream);
    for (const char *letter = sweep->topology; *letter != '\0'; letter++) {
        fprintf(stream, *letter == '"' || *letter == '\\' ? "\\%c" : "%c", *letter);
    }
    fputs("\"\n", stream);
    if (ranks > 0 && has_algorithm(sweep)) {
        write_alltoall_layer(stream, bytes_a_peer, ranks);
    } else if (sweep->kind == KIND_ALLTOALL) {
        fprintf(stream, "traffic: {pattern: all_to_all, bytes: %" PRIu64 " B, kernel: platform}\n", bytes_a_peer);
    } else if (sweep->kind == KIND_SENDRECV) {
        fprintf(stream, "traffic: {pattern: ring, bytes: %" PRIu64 " B, kernel: platform}\n", bytes_a_peer);
    } else {
        write_tokens(stream, sweep->result, tokens);
    }
    fclose(stream);
    return text;
}

/** ranks 0: they are not known yet. */
static bool read_experiment(const struct sweep *sweep, uint64_t bytes_a_peer, uint64_t tokens, uint64_t ranks,
                            struct experiment *experiment, int *exit_code) {
    struct error_list errors = {0};
    char *text = write_configuration(sweep, bytes_a_peer, tokens, ranks);
    const bool done = experiment_read_text("perf", text, strlen(text), sweep->given->overrides,
                                           sweep->given->n_overrides, experiment, &errors);
    free(text);
    if (!done) {
        *exit_code = (int)experiment_report(stderr, &errors);
        return false;
    }
    if (sweep->given->has_seed) {
        experiment->seeds[0] = sweep->given->seed;
    }
    return true;
}

/** The phase that is asked for; NULL if there is none. */
static const struct summary_phase *find_phase(const struct sweep *sweep, const struct summary *summary) {
    for (uint32_t i = 0; i < summary->n_phases; i++) {
        if (is_nccl(sweep) || strcmp(summary->phases[i].name, kind_names[sweep->kind]) == 0) {
            return &summary->phases[i];
        }
    }
    return NULL;
}

static void take_point(const struct sweep *sweep, const struct measurement *measurement, uint64_t size,
                       struct point *point) {
    struct summary *summary = summary_create(measurement);
    const struct summary_phase *phase = find_phase(sweep, summary);
    *point = (struct point){NAN, NAN, NAN, NAN, NAN, measurement->n_ranks};
    if (phase != NULL && measurement->outcome == MEASUREMENT_FINISHED) {
        *point = (struct point){phase->time_ps / 1e6,      phase->algbw / 1e9,        phase->busbw / 1e9,
                                phase->rdma_logical / 1e9, phase->nvl_received / 1e9, measurement->n_ranks};
    }
    if (sweep->kind == KIND_SENDRECV && phase != NULL) { // nccl-tests: both are what a rank sends ÷ time
        point->algbw = point->busbw = (double)size / phase->time_ps * 1e3;
    }
    summary_free(summary);
}

static bool simulate(const struct sweep *sweep, const struct experiment *experiment, const struct fabric *fabric,
                     uint64_t size, struct point *point, int *exit_code) {
    struct error error;
    const struct simulation simulation = {.experiment = experiment,
                                          .policy = &experiment->policies[0],
                                          .fabric = fabric,
                                          .seed = experiment->seeds[0],
                                          .threads = sweep->given->threads};
    struct measurement *measurement = simulation_run(&simulation, &error);
    if (measurement == NULL) {
        error_print(stderr, &error);
        *exit_code = (int)error.exit_code;
        return false;
    }
    take_point(sweep, measurement, size, point);
    measurement_free(measurement);
    return true;
}

/** Simulates one size. Of an all-to-all the buffer is cut into a part for each rank, as nccl-tests does it (rounded down, at least 1 byte). */
static bool run_point(const struct sweep *sweep, uint64_t size, uint64_t ranks, struct point *point, int *exit_code) {
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    const uint64_t parts = sweep->kind == KIND_ALLTOALL ? ranks : 1;
    const uint64_t part = size / parts > 0 ? size / parts : 1;
    struct error error;
    bool done = read_experiment(sweep, part, size, ranks, experiment, exit_code);
    struct fabric *fabric = done ? fabric_build(&experiment->topology, &error) : NULL;
    if (done && fabric == NULL) {
        error_print(stderr, &error);
        *exit_code = (int)error.exit_code;
        done = false;
    }
    done = done && simulate(sweep, experiment, fabric, size, point, exit_code);
    fabric_free(fabric);
    free(experiment);
    return done;
}

/** How many ranks there are: asked of the configuration before anything is run. */
static bool count_ranks(const struct sweep *sweep, uint64_t *ranks, int *exit_code) {
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    const bool done = read_experiment(sweep, 1, sweep->sizes[0], 0, experiment, exit_code);
    *ranks = done ? (uint64_t)experiment->topology.racks * experiment->topology.gpus_used : 0;
    if (done) {
        printf("# moefabric perf %s: %" PRIu64 " ranks, %s, %s, seed %" PRIu64 "\n", kind_names[sweep->kind], *ranks,
               sweep->topology, experiment->policies[0].name, experiment->seeds[0]);
    }
    free(experiment);
    return done;
}

static void print_heading(const struct sweep *sweep) {
    if (sweep->deepep.count > 0) {
        printf("# %8s %5s %4s %10s %10s %8s %9s %9s %9s %9s\n# %8s %5s %4s %10s %10s %8s %9s %9s %9s %9s\n", "tokens",
               "type", "SMs", "measured", "simulated", "error", "measured", "simulated", "measured", "simulated", "",
               "", "", "(us)", "(us)", "(%)", "RDMA", "RDMA", "NVL", "NVL");
    } else if (!is_nccl(sweep)) {
        printf("# %10s %12s %14s %14s %14s\n# %10s %12s %14s %14s %14s\n", "tokens", "time", "RDMA", "NVL", "busbw", "",
               "(us)", "(GB/s, log.)", "(GB/s, log.)", "(GB/s)");
    } else if (sweep->log.count > 0) {
        printf("# %12s %12s %12s %10s %12s %12s\n# %12s %12s %12s %10s %12s %12s\n", "size", "measured", "simulated",
               "error", "measured", "simulated", "(B)", "(us)", "(us)", "(%)", "busbw", "busbw");
    } else {
        printf("# %12s %12s %8s %6s %6s %10s %8s %8s\n# %12s %12s %8s %6s %6s %10s %8s %8s\n", "size", "count", "type",
               "redop", "root", "time", "algbw", "busbw", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)");
    }
}

/** What a test of DeepEP measured, and the same simulated. Low-latency tests count other bytes: no bandwidth is printed. */
static void print_result(const struct perf_deepep_row *row, uint64_t tokens, const struct point *point) {
    printf("  %8" PRIu64 " %5s %4" PRIu32 " %10.2f %10.2f %+8.1f %9.2f %9.2f %9.2f %9.2f\n", tokens,
           row->bf16 ? "bf16" : "fp8", row->sms, row->time_us, point->time_us,
           100.0 * (point->time_us - row->time_us) / row->time_us, row->rdma, point->rdma_logical, row->nvl,
           point->nvl_received);
}

static void print_point(const struct sweep *sweep, uint32_t index, const struct point *point) {
    const uint64_t size = sweep->sizes[index];
    if (sweep->deepep.count > 0) {
        print_result(&sweep->deepep.rows[index], size, point);
    } else if (!is_nccl(sweep)) {
        printf("  %10" PRIu64 " %12.2f %14.2f %14.2f %14.2f\n", size, point->time_us, point->rdma_logical,
               point->nvl_received, point->busbw);
    } else if (sweep->log.count > 0) {
        const struct perf_log_row *row = &sweep->log.rows[index];
        printf("  %12" PRIu64 " %12.2f %12.2f %+10.1f %12.2f %12.2f\n", size, row->time_us, point->time_us,
               100.0 * (point->time_us - row->time_us) / row->time_us, row->busbw, point->busbw);
    } else {
        printf("  %12" PRIu64 " %12" PRIu64 " %8s %6s %6d %10.2f %8.2f %8.2f\n", size, size / 4, "float", "none", -1,
               point->time_us, point->algbw, point->busbw);
    }
    fflush(stdout);
}

static int run_sweep(struct sweep *sweep) {
    int exit_code = EXIT_CODE_OK;
    uint64_t ranks = 0;
    if (!count_ranks(sweep, &ranks, &exit_code)) {
        return exit_code;
    }
    print_heading(sweep);
    for (uint32_t i = 0; i < sweep->n_sizes; i++) {
        struct point point;
        sweep->result = sweep->deepep.count > 0 ? &sweep->deepep.rows[i] : NULL;
        if (!run_point(sweep, sweep->sizes[i], ranks, &point, &exit_code)) {
            return exit_code;
        }
        print_point(sweep, i, &point);
    }
    return exit_code;
}

int command_perf(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_perf_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    struct sweep sweep = {.given = &given};
    bool done = find_kind(given.operands[0], &sweep.kind, &error);
    if (done && given.n_operands != 2) {
        done = error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "one kind and one topology file are needed");
        error_hint(&error, "`moefabric perf --help` tells what is allowed");
    }
    if (done) {
        sweep.topology = given.operands[1];
        done = choose_sizes(&sweep, &error);
    }
    if (!done) {
        error_print(stderr, &error);
        code = (int)error.exit_code;
    } else {
        code = run_sweep(&sweep);
    }
    perf_log_free(&sweep.log);
    return code;
}
