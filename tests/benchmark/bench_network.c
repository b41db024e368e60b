// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How fast a configuration is simulated, policy by policy. What the columns mean: README.md.
 */
#include "base/table.h"
#include "bench_options.h"
#include "bench_run.h"
#include "bench_work.h"
#include "config/experiment_file.h"

#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, uint32_t n) {
    qsort(values, n, sizeof(*values), compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Medians of the times and the largest of the peaks; all else is the same in each run. */
static bool measure(const struct bench_run *run, uint32_t runs, struct bench_result *result) {
    double cpu_s[BENCH_RUNS_LIMIT], wall_s[BENCH_RUNS_LIMIT];
    uint64_t peak_bytes = 0;
    for (uint32_t i = 0; i < runs; i++) {
        if (!bench_run_apart(run, result)) {
            return false;
        }
        cpu_s[i] = result->cpu_s;
        wall_s[i] = result->wall_s;
        peak_bytes = result->peak_bytes > peak_bytes ? result->peak_bytes : peak_bytes;
    }
    result->cpu_s = median(cpu_s, runs);
    result->wall_s = median(wall_s, runs);
    result->peak_bytes = peak_bytes;
    return true;
}

/* Counts packets in flight with one thread: that number belongs to the policy, not to the threads. */
static bool measure_flight(const struct bench_run *run, uint64_t *packets) {
    struct bench_result result;
    struct bench_run watched = *run;
    watched.threads = 1;
    watched.watch_flight = true;
    const bool good = bench_run_apart(&watched, &result);
    *packets = good ? result.most_in_flight : 0;
    return good;
}

static struct table *create_table(void) {
    struct table *table = table_create();
    table_column(table, "policy", TABLE_LEFT);
    static const char *const titles[] = {
        "threads",   "simulated us", "M hops",           "M data hops", "M hops/CPU-s", "M data/CPU-s", "M hops/s",
        "in flight", "B a packet",   "B grown a packet", "fixed MB",    "model MB",     "peak MB",
    };
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        table_column(table, titles[i], TABLE_RIGHT);
    }
    return table;
}

static void add_row(struct table *table, const struct bench_run *run, const struct bench_result *result) {
    const double hops = (double)result->hops * 1e-6, data_hops = (double)result->data_hops * 1e-6;
    const double packets = result->most_in_flight ? (double)result->most_in_flight : 1;
    table_cell(table, "%s", run->policy->name);
    table_cell(table, "%u", run->threads);
    table_cell(table, "%.1f", (double)result->end_ps * 1e-6);
    table_cell(table, "%.2f", hops);
    table_cell(table, "%.2f", data_hops);
    table_cell(table, "%.2f", hops / result->cpu_s);
    table_cell(table, "%.2f", data_hops / result->cpu_s);
    table_cell(table, "%.2f", hops / result->wall_s);
    table_cell(table, "%llu", (unsigned long long)result->most_in_flight);
    table_cell(table, "%.0f", (double)result->model_bytes / packets);
    table_cell(table, "%.0f", (double)(result->model_bytes - result->fixed_bytes) / packets);
    table_cell(table, "%.1f", (double)result->fixed_bytes * 1e-6);
    table_cell(table, "%.1f", (double)result->model_bytes * 1e-6);
    table_cell(table, "%.1f", (double)result->peak_bytes * 1e-6);
}

/* The rows of one policy. False if a run failed. */
static bool add_policy(struct table *table, const struct bench_options *options, struct bench_run *run) {
    uint64_t in_flight = 0;
    if (!measure_flight(run, &in_flight)) {
        return false;
    }
    for (uint32_t t = 0; t < options->n_threads; t++) {
        struct bench_result result;
        run->threads = options->threads[t];
        if (!measure(run, options->runs, &result)) {
            return false;
        }
        result.most_in_flight = in_flight;
        add_row(table, run, &result);
        if (result.status != NETWORK_FINISHED) {
            fprintf(stderr, "%s did not deliver everything\n", run->policy->name);
            return false;
        }
    }
    return true;
}

/* Valgrind and perf count network_run; what divides their counts is printed, in the form of tools/peers. */
static bool run_once(const struct bench_run *run, bool fluid) {
    struct bench_result result;
    if (!(fluid ? bench_run_fluid(run, &result) : bench_run_here(run, &result))) {
        return false;
    }
    printf("hops %llu data_hops %llu cpu_s %.6f end_us %.6f peak_mb %.1f\n", (unsigned long long)result.hops,
           (unsigned long long)result.data_hops, result.cpu_s, (double)result.end_ps * 1e-6,
           (double)result.peak_bytes * 1e-6);
    return result.status == NETWORK_FINISHED;
}

static bool bench(const struct bench_options *options, const struct experiment *experiment) {
    struct table *table = create_table();
    uint32_t found = 0;
    bool good = true;
    for (uint32_t p = 0; good && p < experiment->n_policies; p++) {
        struct bench_run run = {
            .experiment = experiment, .policy = &experiment->policies[p], .threads = options->threads[0]};
        if (options->policy && strcmp(run.policy->name, options->policy) != 0) {
            continue;
        }
        found++;
        good = options->once ? run_once(&run, options->fluid) : add_policy(table, options, &run);
    }
    if (found == 0) {
        fprintf(stderr, "%s has no policy %s\n", options->path, options->policy);
    } else if (!options->once) {
        printf("%s, seed %llu, median of %u runs\n", experiment->name, (unsigned long long)experiment->seeds[0],
               options->runs);
        table_print(table, stdout, 2);
    }
    table_free(table);
    return good && found > 0;
}

int main(int argc, char **argv) {
    struct bench_options options;
    struct experiment experiment;
    struct error_list errors = {0};
    if (!bench_options_read(&options, argc, argv)) {
        return EXIT_CODE_USAGE;
    }
    if (!experiment_read(options.path, options.overrides, options.n_overrides, &experiment, &errors)) {
        return experiment_report(stderr, &errors);
    }
    if (options.work) {
        return bench_work_print(stdout, &experiment) ? EXIT_CODE_OK : EXIT_CODE_CONFIGURATION;
    }
    return bench(&options, &experiment) ? EXIT_CODE_OK : EXIT_CODE_RUN_FAILED;
}
