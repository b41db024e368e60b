// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench_run.h"

#include "bench_flight.h"
#include "command/flow_level.h"
#include "command/plan.h"
#include "command/setup.h"
#include "fabric/builder.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Looks are 64 windows apart: shorter windows, which change no result, bring them near enough to each other. */
enum { WATCHED_WINDOW_PARTS = 8 };

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Largest resident size of this program; getrusage would count the one that started it too. */
static uint64_t peak_bytes(void) {
    unsigned long long kilobytes = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof(line), status) && sscanf(line, "VmHWM: %llu kB", &kilobytes) != 1) {
    }
    if (status) {
        fclose(status);
    }
    return kilobytes * 1024;
}

static void simulate(const struct bench_run *run, struct network *network, struct bench_flight *flight,
                     struct bench_result *result) {
    result->fixed_bytes = network_bytes(network);
    const double cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double wall_s = seconds_of(CLOCK_MONOTONIC);
    result->status = network_run(network, run->watch_flight ? bench_flight_look : NULL, flight);
    result->cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    result->wall_s = seconds_of(CLOCK_MONOTONIC) - wall_s;
    result->model_bytes = network_bytes(network);
    result->hops = network_hops(network);
    result->data_hops = network_data_hops(network);
    result->end_ps = network_end_ps(network);
    result->windows = network_windows(network);
    result->most_in_flight = flight->most_packets;
}

bool bench_run_here(const struct bench_run *run, struct bench_result *result) {
    const struct experiment *experiment = run->experiment;
    const uint64_t seed = experiment->seeds[0];
    struct network_parameters parameters;
    struct plan plan = {0};
    struct error error = {0};
    *result = (struct bench_result){0};
    struct fabric *fabric = fabric_build(&experiment->topology, &error);
    const bool good = fabric && setup_network(experiment, run->policy, seed, &parameters, &error) &&
                      plan_init(&plan, experiment, run->policy->early_pacing, seed, &error);
    if (good) {
        parameters.threads = run->threads;
        parameters.window_ps = run->watch_flight ? fabric->smallest_latency_ps / WATCHED_WINDOW_PARTS : 0;
        const struct traffic traffic = plan_traffic(&plan);
        struct network *network = network_create(fabric, &parameters, &traffic, NULL);
        struct bench_flight flight = {.fabric = fabric, .network = network};
        result->fabric_bytes = fabric_bytes(fabric);
        simulate(run, network, &flight, result);
        result->peak_bytes = peak_bytes();
        network_free(network);
    } else {
        error_print(stderr, &error);
    }
    plan_fini(&plan);
    fabric_free(fabric);
    return good;
}

static void simulate_flows(const struct simulation *simulation, const struct fluid_parameters *parameters,
                           struct plan *plan, struct bench_result *result) {
    const struct traffic traffic = plan_traffic(plan);
    const double cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    struct fluid *fluid = fluid_create(simulation->fabric, parameters, &traffic);
    const enum fluid_status status = fluid_run(fluid, NULL, NULL);
    result->cpu_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    result->status = status == FLUID_FINISHED ? NETWORK_FINISHED : NETWORK_STALLED;
    result->end_ps = fluid_end_ps(fluid);
    result->peak_bytes = peak_bytes();
    fluid_free(fluid);
}

bool bench_run_fluid(const struct bench_run *run, struct bench_result *result) {
    const struct experiment *experiment = run->experiment;
    const struct failure_list failures = {0};
    struct fluid_parameters parameters;
    struct plan plan = {0};
    struct error error = {0};
    *result = (struct bench_result){0};
    struct fabric *fabric = fabric_build(&experiment->topology, &error);
    const struct simulation simulation = {
        .experiment = experiment, .policy = run->policy, .fabric = fabric, .fluid = true, .seed = experiment->seeds[0]};
    const bool good = fabric && plan_init(&plan, experiment, run->policy->early_pacing, simulation.seed, &error) &&
                      flow_level_parameters(&simulation, &failures, &plan, &parameters, &error);
    if (good) {
        simulate_flows(&simulation, &parameters, &plan, result);
    } else {
        error_print(stderr, &error);
    }
    plan_fini(&plan);
    fabric_free(fabric);
    return good;
}

/* What the child does: its result goes through the pipe as it is. */
static int child(const struct bench_run *run, int pipe_end) {
    struct bench_result result;
    if (!bench_run_here(run, &result)) {
        return EXIT_CODE_CONFIGURATION;
    }
    return write(pipe_end, &result, sizeof(result)) == (ssize_t)sizeof(result) ? EXIT_CODE_OK : EXIT_CODE_RUN_FAILED;
}

bool bench_run_apart(const struct bench_run *run, struct bench_result *result) {
    int ends[2], status = 0;
    if (pipe(ends) != 0) {
        perror("pipe");
        return false;
    }
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(child(run, ends[1]));
    }
    close(ends[1]);
    const bool got = pid > 0 && read(ends[0], result, sizeof(*result)) == (ssize_t)sizeof(*result);
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !got || status != 0) {
        fprintf(stderr, "a run of %s ended without a result\n", run->policy->name);
        return false;
    }
    return true;
}
