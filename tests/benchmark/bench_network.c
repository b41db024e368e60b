// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How fast the devices run: packet-hops per CPU-second, on set-ups that peers are measured by.
 *
 * usage: bench_network CASE [PATH [CONTROLLER [THREADS]]]
 *   CASE: permutation-128, permutation-1024, permutation-8192, incast, all-to-all
 */
#include "base/error.h"
#include "base/memory.h"
#include "config/experiment.h"
#include "congestion/dcqcn.h"
#include "congestion/spectrum_x.h"
#include "device/network.h"
#include "fabric/irregular.h"
#include "workload/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* One case: a leaf-spine of 400 Gb/s links, 500 ns each. */
struct bench_case {
    const char *name;
    uint32_t hosts, per_leaf, spines;
    enum experiment_pattern pattern;
    uint32_t senders;
    uint64_t bytes;
    uint64_t pool_bytes;
};

static const struct bench_case cases[] = {
    {"permutation-128", 128, 16, 16, EXPERIMENT_PATTERN_PERMUTATION, 0, 8u << 20, 67737959},
    {"permutation-1024", 1024, 32, 32, EXPERIMENT_PATTERN_PERMUTATION, 0, 2u << 20, 67737959},
    {"permutation-8192", 8192, 64, 64, EXPERIMENT_PATTERN_PERMUTATION, 0, 256u << 10, 67737959},
    {"incast", 128, 16, 16, EXPERIMENT_PATTERN_INCAST, 64, 8u << 20, 2u << 20},
    {"all-to-all", 128, 16, 16, EXPERIMENT_PATTERN_ALL_TO_ALL, 0, 64u << 10, 67737959},
};

static struct fabric *leaf_spine(const struct bench_case *bench) {
    const uint32_t leaves = bench->hosts / bench->per_leaf;
    uint32_t *gpus = memory_allocate(bench->hosts, sizeof(*gpus));
    uint32_t *leaf_of = memory_allocate(bench->hosts, sizeof(*leaf_of));
    uint32_t *parallel = memory_allocate((size_t)leaves * bench->spines, sizeof(*parallel));
    for (uint32_t i = 0; i < bench->hosts; i++) {
        gpus[i] = 1;
        leaf_of[i] = i / bench->per_leaf;
    }
    for (uint32_t i = 0; i < leaves * bench->spines; i++) {
        parallel[i] = 1;
    }
    const struct irregular_figures figures = {
        .rate_bits_per_s = UINT64_C(400000000000), .latency_ps = 500000, .propagation_ps = 500000};
    const struct irregular_cable cable = {.up = figures, .down = figures};
    const struct irregular_description description = {
        .n_domains = bench->hosts,
        .domain_gpus = gpus,
        .n_leaves = leaves,
        .endpoint_leaf = leaf_of,
        .n_spines = bench->spines,
        .parallel_links = parallel,
        .leaf_cut_through = true,
        .spine_cut_through = true,
        .host = cable,
        .uplink = cable,
    };
    struct fabric *fabric = irregular_build(&description);
    free(gpus);
    free(leaf_of);
    free(parallel);
    return fabric;
}

static struct network_parameters parameters_of(const struct bench_case *bench, const char *path, const char *controller) {
    const struct switch_parameters switches = {
        .pfc = true,
        .lossless_pool_bytes = bench->pool_bytes,
        .lossy_pool_bytes = 8u << 20,
        .headroom_bytes = 231424,
        .xon_bytes = 19456,
        .ecn = true,
        .ecn_minimum_bytes = 159744,
        .ecn_maximum_bytes = 1500000,
        .ecn_probability_fxp20 = 1u << 20,
        .class_weight = {0, 1, 1},
    };
    struct network_parameters parameters = {
        .seed = 1,
        .leaf = switches,
        .spine = switches,
        .nic = {.payload_bytes = 4096,
                .header_bytes = 64,
                .control_bytes = 64,
                .acknowledge_bytes = 1,
                .queue_pairs = 1,
                .out_of_order = true,
                .adaptive_marking = strcmp(path, "adaptive") == 0,
                .data_class = PACKET_CLASS_LOSSLESS,
                .retransmit_timeout_ps = UINT64_C(4294967296000),
                .nack_interval_ps = 500000000},
        .nvlink = {.record_bytes = 4096, .credit_grain_bytes = 8192},
        .path = {.kind = strcmp(path, "adaptive") == 0 ? PATH_ADAPTIVE : PATH_ECMP,
                 .refresh_period_ps = 1000000,
                 .grade_bounds_bytes = {11024, 22048, 44096}},
        .limit_ps = (UINT64_C(1) << 48) - 1,
    };
    struct congestion_parameters *congestion = &parameters.congestion;
    if (strcmp(controller, "dcqcn") == 0) {
        congestion->kind = CONGESTION_DCQCN;
        dcqcn_profile("mellanox", UINT64_C(400000000000), true, &congestion->dcqcn, &congestion->notification_interval_ps);
    } else if (strcmp(controller, "spectrum_x") == 0) {
        congestion->kind = CONGESTION_SPECTRUM_X;
        spectrum_x_defaults(&congestion->spectrum_x);
        congestion->notification_interval_ps = 4000000;
    }
    return parameters;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run(const struct bench_case *bench, const char *path, const char *controller, uint32_t threads) {
    struct fabric *fabric = leaf_spine(bench);
    struct network_parameters parameters = parameters_of(bench, path, controller);
    parameters.threads = threads;
    const struct experiment_traffic pattern = {.pattern = bench->pattern, .bytes = bench->bytes, .senders = bench->senders};
    const struct moe_placement placement = {.n_ranks = bench->hosts, .ranks_per_domain = 1};
    struct error error = {0};
    struct pattern *plan = pattern_create(&pattern, &placement, 1, &error);
    if (!plan) {
        error_print(stderr, &error);
        return error.exit_code;
    }
    const struct traffic traffic = pattern_traffic(plan);
    struct network *network = network_create(fabric, &parameters, &traffic, NULL);
    const double begin_s = cpu_seconds();
    const enum network_status status = network_run(network, NULL, NULL);
    const double cpu_s = cpu_seconds() - begin_s;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double hops = (double)network_hops(network);
    printf("%-16s %-8s %-10s status %d  end %9.2f us  %6.2f M hops (%5.2f M data)  %6.2f s  %6.2f M hops/CPU-s  windows %llu  model %.1f MB  peak %.1f MB\n",
           bench->name, path, controller, (int)status, (double)network_end_ps(network) * 1e-6, hops * 1e-6,
           (double)network_data_hops(network) * 1e-6, cpu_s, hops * 1e-6 / cpu_s,
           (unsigned long long)network_windows(network), (double)network_bytes(network) * 1e-6,
           (double)usage.ru_maxrss * 1024e-6);
    network_free(network);
    pattern_free(plan);
    fabric_free(fabric);
    return status == NETWORK_FINISHED ? 0 : 1;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "permutation-1024";
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return run(&cases[i], argc > 2 ? argv[2] : "adaptive", argc > 3 ? argv[3] : "dcqcn",
                       argc > 4 ? (uint32_t)atoi(argv[4]) : 1);
        }
    }
    fprintf(stderr, "no case is called %s\n", name);
    return EXIT_CODE_USAGE;
}
