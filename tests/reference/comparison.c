// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparison.h"

#include "base/error.h"
#include "device/network.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MOST = 60, PARTS_MOST = 7, CASES_A_THREADED_ONE = 8, CASES_A_CROWDED_ONE = 80 };

/** One number that both count. */
struct pair {
    const char *name;
    uint64_t engine, reference;
};

static bool equal_pairs(FILE *stream, const char *what, uint32_t number, const struct pair *pairs, size_t count) {
    bool equal = true;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].engine != pairs[i].reference) {
            fprintf(stream, "%s %" PRIu32 " %s: engine %" PRIu64 ", reference %" PRIu64 "\n", what, number,
                    pairs[i].name, pairs[i].engine, pairs[i].reference);
            equal = false;
        }
    }
    return equal;
}

static bool equal_link(FILE *stream, const struct fabric *fabric, uint32_t link, const struct network *network,
                       const struct reference *reference) {
    const struct link_counters *engine = network_link(network, link);
    const struct link_counters *back = network_link(network, fabric->links[link].reverse);
    const struct reference_link_counts *counts = &reference->links[link];
    const struct pair pairs[] = {
        {"bytes", engine->bytes, counts->bytes},
        {"arrived bytes", back->arrived_bytes, counts->arrived_bytes},
        {"packets", engine->packets, counts->packets},
        {"control packets", engine->control_packets, counts->control_packets},
        {"marks", engine->marks, counts->marks},
        {"lossless drops", engine->lossless_drops, counts->drops_lossless},
        {"lossy drops", engine->lossy_drops, counts->drops_lossy},
        {"watchdog drops", engine->watchdog_drops, counts->watchdog_drops},
        {"watchdog storms", engine->watchdog_storms, counts->watchdog_storms},
        {"dropped bytes", engine->dropped_bytes, counts->dropped_bytes},
        {"trims", engine->trims, counts->trims},
        {"trimmed bytes", engine->trimmed_bytes, counts->trimmed_bytes},
        {"lost packets", engine->lost_packets, counts->lost_packets},
        {"lost bytes", engine->lost_bytes, counts->lost_bytes},
        {"unrouted packets", engine->unrouted_packets, counts->unrouted_packets},
        {"unrouted bytes", engine->unrouted_bytes, counts->unrouted_bytes},
        {"pauses", engine->pauses, counts->pauses},
        {"paused time", engine->paused_ps, counts->paused_ps},
        {"credit stalls", engine->credit_stalls, counts->lane_stalls},
        {"time without credit", engine->credit_stalled_ps, counts->lane_stalled_ps},
        {"deepest queue", engine->deepest_bytes, counts->deepest_bytes},
    };
    const bool from_endpoint = fabric->devices[fabric->links[link].tail_device].kind == FABRIC_ENDPOINT;
    const size_t count = sizeof pairs / sizeof *pairs - from_endpoint; /* endpoints have no depth */
    return equal_pairs(stream, "link", link, pairs, count);
}

static uint64_t posted_sum_ps(const struct endpoint *endpoint) {
    uint32_t n;
    const struct endpoint_sent *sent = endpoint_sent_messages(endpoint, &n);
    uint64_t sum_ps = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum_ps += sent[i].posted_ps;
    }
    return sum_ps;
}

static bool equal_endpoint(FILE *stream, uint32_t rank, const struct network *network,
                           const struct reference *reference) {
    const struct endpoint_counters *engine = endpoint_counters_of(network_endpoint(network, rank));
    const struct reference_endpoint_counts *counts = &reference->endpoints[rank];
    const struct pair pairs[] = {
        {"retransmitted", engine->retransmitted_packets, counts->retransmitted_packets},
        {"timeouts", engine->timeouts, counts->timeouts},
        {"duplicates", engine->duplicates, counts->duplicate_packets},
        {"out of order", engine->out_of_order, counts->out_of_order_packets},
        {"reordering depth", engine->reordering_depth, counts->reordering_packets},
        {"notifications sent", engine->notifications_sent, counts->notifications_sent},
        {"notifications received", engine->notifications_received, counts->notifications_received},
        {"NACKs", engine->nacks, counts->nacks},
        {"spurious", engine->spurious, counts->spurious},
        {"probes", engine->probes, counts->probes},
        {"receive discards", engine->receive_discards, counts->receive_discards},
        {"receive pauses", engine->receive_pauses, counts->receive_pauses},
        {"deepest receive buffer", engine->receive_deepest_bytes, counts->receive_deepest_bytes},
        {"times of posting", posted_sum_ps(network_endpoint(network, rank)), counts->posted_sum_ps},
        {"NVLink bytes posted", engine->nvlink_bytes_sent, counts->nvlink_bytes_posted},
        {"NVLink bytes received", engine->nvlink_bytes_received, counts->nvlink_bytes_received},
        {"messages posted", engine->posted_messages, counts->messages_posted},
        {"messages delivered", engine->delivered_messages, counts->messages_delivered},
    };
    return equal_pairs(stream, "endpoint", rank, pairs, sizeof pairs / sizeof *pairs);
}

/** The rows that both have of one quantity. */
static bool equal_rows(FILE *stream, const char *what, int quantity, uint32_t n_rows, uint32_t n_columns,
                       uint64_t *engine, const uint64_t *reference) {
    bool equal = true;
    for (uint32_t row = 0; row < n_rows && equal; row++) {
        for (uint32_t column = 0; column < n_columns && equal; column++) {
            const size_t cell = (size_t)row * n_columns + column;
            equal = engine[cell] == reference[cell];
            if (!equal) {
                fprintf(stream,
                        "%s quantity %d, interval %" PRIu32 ", column %" PRIu32 ": engine %" PRIu64
                        ", reference %" PRIu64 "\n",
                        what, quantity, row, column, engine[cell], reference[cell]);
            }
        }
    }
    free(engine);
    return equal;
}

/** Intervals until the last thing that happened, as the engine is to have recorded them. */
static uint32_t intervals_of(const struct recorder_wishes *wishes, uint64_t end_ps) {
    const uint64_t length_ps = end_ps > wishes->from_ps ? end_ps - wishes->from_ps : 0;
    const uint64_t intervals = (length_ps + wishes->interval_ps - 1) / wishes->interval_ps;
    return intervals < wishes->n_intervals ? (uint32_t)intervals : wishes->n_intervals;
}

/** The series, but for the last interval of a run that stalled, which ended with it. */
static bool equal_series(FILE *stream, const struct recorder_wishes *wishes, const struct network *network,
                         bool finished, const struct reference *reference) {
    struct recorder *recorder = network_recorder(network);
    if (recorder == NULL) {
        return true;
    }
    uint32_t n_rows = recorder_intervals(recorder);
    bool equal = !finished || n_rows == intervals_of(wishes, network_end_ps(network));
    if (!equal) {
        fprintf(stream, "the engine recorded %" PRIu32 " intervals\n", n_rows);
    }
    n_rows -= !finished && n_rows > 0;
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        equal = equal_rows(stream, "links", q, n_rows, wishes->n_links,
                           recorder_release(recorder, (enum recorder_quantity)q), reference->series[q]) &&
                equal;
    }
    for (int q = 0; q < RECORDER_PAIR_QUANTITIES; q++) {
        equal = equal_rows(stream, "queue pairs", q, n_rows, recorder_pair_columns(recorder),
                           recorder_release_pairs(recorder, (enum recorder_pair_quantity)q),
                           reference->series_of_pairs[q]) &&
                equal;
    }
    return equal;
}

static bool equal_counters(FILE *stream, const struct fabric *fabric, const struct network *network,
                           const struct reference *reference) {
    bool equal = true;
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        equal = equal_link(stream, fabric, link, network, reference) && equal;
    }
    for (uint32_t rank = 0; rank < fabric->n_endpoints; rank++) {
        equal = equal_endpoint(stream, rank, network, reference) && equal;
    }
    return equal;
}

/** A view of the part of a sorted trace that lies before a time. */
static struct trace before(const struct trace *trace, uint64_t limit_ps) {
    struct trace part = *trace;
    while (part.count > 0 && part.records[part.count - 1].time_ps >= limit_ps) {
        part.count--;
    }
    return part;
}

/** A run that was over long before the limit ends as it should; one that reaches the limit may have been over or not. */
static bool equal_end(FILE *stream, enum network_status status, const struct reference *reference, uint64_t limit_ps) {
    const enum network_status expected = reference->finished ? NETWORK_FINISHED : NETWORK_STALLED;
    if (reference->last_ps > limit_ps / 2 || status == expected) {
        return true;
    }
    fprintf(stream, "the engine ended with status %d instead of %d\n", (int)status, (int)expected);
    return false;
}

static bool equal_in_windows(FILE *stream, const struct random_case *random_case, const struct reference *reference,
                             uint64_t parts, uint32_t threads) {
    struct network_parameters parameters = random_case->parameters;
    parameters.threads = threads;
    parameters.window_ps = random_case->fabric->smallest_latency_ps / parts;
    struct trace trace = {0};
    struct network *network = network_create(random_case->fabric, &parameters, &random_case->traffic, &trace);
    const enum network_status status = network_run(network, NULL, NULL);
    trace_sort(&trace);
    const bool limited = status == NETWORK_LIMIT;
    const struct trace engine = before(&trace, parameters.limit_ps);
    bool equal = trace_compare(stream, "reference", &reference->trace, "engine", &engine);
    if (!limited) {
        equal = equal_counters(stream, random_case->fabric, network, reference) && equal;
        equal = equal_series(stream, parameters.series, network, status == NETWORK_FINISHED, reference) && equal;
    }
    equal = equal_end(stream, status, reference, parameters.limit_ps) && equal;
    if (!equal) {
        fprintf(stream, "with the window in %" PRIu64 " parts, %" PRIu32 " threads\n", parts, threads);
    }
    network_free(network);
    trace_free(&trace);
    return equal;
}

size_t comparison_plan(uint64_t number, struct comparison_run runs[COMPARISON_RUNS_MOST]) {
    static const uint64_t parts[] = {1, 2, PARTS_MOST};
    enum { WINDOWS = sizeof parts / sizeof *parts };
    size_t count = 0;
    for (size_t i = 0; i < WINDOWS; i++) {
        runs[count++] = (struct comparison_run){.parts = parts[i], .threads = 1};
    }
    if (number % CASES_A_THREADED_ONE == 0) {
        runs[count++] = (struct comparison_run){.parts = parts[number / CASES_A_THREADED_ONE % WINDOWS], .threads = 2};
    }
    if (number % CASES_A_CROWDED_ONE == 0) { /* few, since barriers are slow on a busy machine */
        const uint64_t turn = number / CASES_A_CROWDED_ONE;
        runs[count++] = (struct comparison_run){.parts = parts[turn % WINDOWS], .threads = 3};
        runs[count++] = (struct comparison_run){.parts = parts[(turn + 1) % WINDOWS], .threads = 8};
    }
    return count;
}

bool comparison_equal(FILE *stream, const struct random_case *random_case, const struct reference *reference) {
    struct comparison_run runs[COMPARISON_RUNS_MOST];
    const size_t count = comparison_plan(random_case->recipe.number, runs);
    for (size_t i = 0; i < count; i++) {
        if (!equal_in_windows(stream, random_case, reference, runs[i].parts, runs[i].threads)) {
            return false;
        }
    }
    return true;
}

bool comparison_equal_apart(FILE *stream, const struct random_case *random_case, const struct reference *known) {
    fflush(NULL);
    const pid_t child = fork();
    REQUIRE(child >= 0, "no process for a comparison");
    if (child == 0) {
        signal(SIGALRM, SIG_DFL); /* the test runner's own handler would end its whole process group */
        alarm(SECONDS_MOST);
        const struct reference *reference =
            known != NULL ? known : reference_run(random_case->fabric, &random_case->parameters, &random_case->traffic);
        const bool equal = comparison_equal(stream, random_case, reference);
        fflush(stream);
        _exit(equal ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        fprintf(stream, "ended by signal %d\n", WTERMSIG(status));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}
