// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/preview.h"

#include "base/quantity.h"
#include "command/record.h"

#include <stdlib.h>

static const char *text(char *buffer, enum quantity_kind kind, double value) {
    return quantity_print_short(buffer, kind, value);
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void print_switches(FILE *stream, uint32_t count, const char *name) {
    if (count > 0) {
        fprintf(stream, "%u %s%s, ", count, name, plural(count));
    }
}

static void print_cluster(FILE *stream, const struct experiment *experiment, const struct fabric *fabric) {
    const struct topology *topology = &experiment->topology;
    char rate[QUANTITY_TEXT_SIZE];
    fprintf(stream, "cluster   %s: ", topology->name);
    if (topology->nvlink.gpus > 1) {
        fprintf(stream, "%u NVLink domain%s × ", topology->racks, plural(topology->racks));
    }
    const uint32_t gpus = topology->nvlink.gpus > 1 ? topology->gpus_used : fabric->n_endpoints;
    fprintf(stream, "%u GPU%s, ", gpus, plural(gpus));
    if (fabric->n_planes > 1) {
        fprintf(stream, "in %u planes ", fabric->n_planes);
    }
    fprintf(stream, "%u %s, ", fabric->n_leaves, fabric->n_leaves == 1 ? "leaf" : "leaves");
    print_switches(stream, fabric->n_spines, "spine");
    print_switches(stream, fabric->n_super_spines, "super-spine");
    fprintf(stream, "NICs of ");
    if (fabric->n_planes > 1) {
        fprintf(stream, "%u × ", fabric->n_planes);
    }
    fprintf(stream, "%s\n", text(rate, QUANTITY_RATE, (double)topology->nic.rate_bits_per_s));
}

static void print_traffic(FILE *stream, const struct experiment *experiment, const struct estimate *estimate) {
    static const char *const patterns[] = {"mixture of experts", "single flow",       "permutation", "incast",
                                           "all-to-all",         "connection matrix", "workload",    "ring"};
    static const char *const gates[] = {"uniform",  "zipf",      "hot_expert", "group_limited", "node_limited",
                                        "balanced", "dirichlet", "measured",   "trace"};
    const struct experiment_traffic *traffic = &experiment->traffic;
    char fabric_bytes[QUANTITY_TEXT_SIZE], nvlink_bytes[QUANTITY_TEXT_SIZE], size[QUANTITY_TEXT_SIZE];
    if (traffic->pattern == EXPERIMENT_PATTERN_MOE) {
        fprintf(stream, "traffic   mixture of experts, %s: %u token%s a GPU, gate %s, %s; ",
                experiment->model.preset[0] ? experiment->model.preset : "no preset", traffic->tokens_per_gpu,
                plural(traffic->tokens_per_gpu), gates[traffic->gate], experiment_algorithm_names[traffic->algorithm]);
    } else if (traffic->pattern == EXPERIMENT_PATTERN_CONNECTION_MATRIX) {
        fprintf(stream, "traffic   connection matrix %s, %llu flows; ", traffic->matrix,
                (unsigned long long)estimate->volume.fabric_messages);
    } else if (traffic->pattern == EXPERIMENT_PATTERN_WORKLOAD_TEXT) {
        fprintf(stream, "traffic   workload text %s: %u collective%s, %s of computing; ", traffic->workload,
                estimate->collectives, plural(estimate->collectives),
                text(size, QUANTITY_TIME, (double)estimate->compute_ps));
    } else {
        fprintf(stream, "traffic   %s, messages of %s; ", patterns[traffic->pattern],
                quantity_print(size, QUANTITY_BYTES, traffic->bytes));
    }
    fprintf(stream, "%s over the fabric", text(fabric_bytes, QUANTITY_BYTES, (double)estimate->volume.fabric_bytes));
    if (estimate->volume.nvlink_bytes > 0) {
        fprintf(stream, ", %s over NVLink", text(nvlink_bytes, QUANTITY_BYTES, (double)estimate->volume.nvlink_bytes));
    }
    fprintf(stream, " (digest %016llx)\n", (unsigned long long)estimate->digest);
}

static void print_backgrounds(FILE *stream, const struct experiment *experiment, const struct estimate *estimate) {
    static const char *const patterns[] = {"all-to-all", "ring", "pipeline", "writes"};
    char fabric_bytes[QUANTITY_TEXT_SIZE], nvlink_bytes[QUANTITY_TEXT_SIZE];
    for (uint32_t i = 0; i < experiment->n_backgrounds; i++) {
        const struct experiment_background *item = &experiment->backgrounds[i];
        const struct background_volume *volume = &estimate->backgrounds[i];
        fprintf(stream, "beside    %s: %s, GPUs %s, %u round%s; %s over the fabric", item->name,
                patterns[item->pattern], item->gpus, item->rounds, plural(item->rounds),
                text(fabric_bytes, QUANTITY_BYTES, (double)volume->fabric_bytes));
        if (volume->nvlink_bytes > 0) {
            fprintf(stream, ", %s over NVLink", text(nvlink_bytes, QUANTITY_BYTES, (double)volume->nvlink_bytes));
        }
        fprintf(stream, "\n");
    }
}

/* Two digits of an estimate are all that it is worth. */
static double rounded(double value) {
    char digits[32];
    snprintf(digits, sizeof(digits), "%.1e", value);
    return strtod(digits, NULL);
}

/* "8.1 billion", "3.7 thousand" */
static void print_count(FILE *stream, double count) {
    static const char *const names[] = {"", " thousand", " million", " billion"};
    int thousands = 0;
    for (; count >= 1e3 && thousands < 3; thousands++) {
        count /= 1e3;
    }
    fprintf(stream, "%g%s", rounded(count), names[thousands]);
}

static void print_cost(FILE *stream, const struct estimate *estimate, uint32_t n_policies, uint32_t n_seeds,
                       unsigned threads) {
    const uint32_t runs = n_policies * n_seeds;
    const unsigned at_once = threads < runs ? threads : runs;
    char memory[QUANTITY_TEXT_SIZE], time[QUANTITY_TEXT_SIZE];
    fprintf(stream, "runs      %u polic%s × %u seed%s, %u at a time: about ", n_policies, n_policies == 1 ? "y" : "ies",
            n_seeds, plural(n_seeds), at_once);
    print_count(stream, estimate->hops);
    fprintf(stream, " packet-hops each, %s memory, %s in all\n",
            text(memory, QUANTITY_BYTES, rounded(estimate->memory_bytes * at_once)),
            text(time, QUANTITY_TIME, rounded(1e12 * estimate->cpu_seconds * runs / at_once)));
}

/* What series take, and where they end. */
static void print_series(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                         uint32_t n_policies) {
    const struct experiment_record *record = &experiment->record;
    char interval[QUANTITY_TEXT_SIZE], until[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE];
    struct recorder_wishes wishes;
    struct error error;
    if (record->interval_ps == 0 || !record_init(&wishes, experiment, fabric, &error)) {
        return;
    }
    const uint64_t end_ps = wishes.from_ps + wishes.n_intervals * wishes.interval_ps;
    fprintf(stream, "series    %u link%s, %u pair%s every %s until %s: at most %s in all runs\n", wishes.n_links,
            plural(wishes.n_links), wishes.n_pairs, plural(wishes.n_pairs),
            text(interval, QUANTITY_TIME, (double)record->interval_ps), text(until, QUANTITY_TIME, (double)end_ps),
            text(most, QUANTITY_BYTES, (double)record_most_bytes(experiment, fabric, n_policies)));
    record_fini(&wishes);
}

/* A run that cannot finish is said before it is paid for. */
static void print_limit(FILE *stream, const struct experiment *experiment, const struct estimate *estimate) {
    if (estimate->ideal_ps >= experiment->limit_ps) {
        char least[QUANTITY_TEXT_SIZE], limit[QUANTITY_TEXT_SIZE];
        fprintf(stream, "limit     this traffic takes at least %s, limits.simulated_time is %s: no run will finish\n",
                text(least, QUANTITY_TIME, rounded((double)estimate->ideal_ps)),
                text(limit, QUANTITY_TIME, (double)experiment->limit_ps));
    }
}

void preview_print(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                   const struct estimate *estimate, uint32_t n_policies, unsigned threads) {
    print_cluster(stream, experiment, fabric);
    print_traffic(stream, experiment, estimate);
    print_backgrounds(stream, experiment, estimate);
    print_cost(stream, estimate, n_policies, experiment->n_seeds, threads);
    print_series(stream, experiment, fabric, n_policies);
    print_limit(stream, experiment, estimate);
}
