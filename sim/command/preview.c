// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/preview.h"

#include "base/quantity.h"
#include "command/estimate.h"

static const char *text(char *buffer, enum quantity_kind kind, double value) {
    return quantity_print_short(buffer, kind, value);
}

static void print_cluster(FILE *stream, const struct experiment *experiment, const struct fabric *fabric) {
    const struct topology *topology = &experiment->topology;
    char rate[QUANTITY_TEXT_SIZE];
    fprintf(stream, "cluster   %s: %u %s × %u GPUs, %u leaves, %u spines, NICs of %s\n", topology->name, topology->racks,
            topology->nvlink.gpus > 1 ? "NVLink domains" : "places", topology->gpus_used, fabric->n_leaves,
            fabric->n_switches - fabric->n_leaves, text(rate, QUANTITY_RATE, (double)topology->nic.rate_bits_per_s));
}

static void print_traffic(FILE *stream, const struct experiment *experiment, const struct estimate *estimate) {
    static const char *const patterns[] = {"mixture of experts", "single flow", "permutation", "incast", "all-to-all"};
    static const char *const gates[] = {"uniform", "zipf", "hot_expert", "group_limited", "node_limited"};
    static const char *const algorithms[] = {"direct", "two_hop"};
    const struct experiment_traffic *traffic = &experiment->traffic;
    char fabric_bytes[QUANTITY_TEXT_SIZE], nvlink_bytes[QUANTITY_TEXT_SIZE], size[QUANTITY_TEXT_SIZE];
    fprintf(stream, "traffic   %s", patterns[traffic->pattern]);
    if (traffic->pattern == EXPERIMENT_PATTERN_MOE) {
        fprintf(stream, " %s: %u tokens a GPU, gate %s, %s", experiment->model.preset, traffic->tokens_per_gpu,
                gates[traffic->gate], algorithms[traffic->algorithm]);
    } else {
        fprintf(stream, " of %s", text(size, QUANTITY_BYTES, (double)traffic->bytes));
    }
    fprintf(stream, "; %s over the fabric, %s over NVLink (digest %016llx)\n",
            text(fabric_bytes, QUANTITY_BYTES, (double)estimate->volume.fabric_bytes),
            text(nvlink_bytes, QUANTITY_BYTES, (double)estimate->volume.nvlink_bytes), (unsigned long long)estimate->digest);
}

bool preview_print(FILE *stream, const struct experiment *experiment, const struct fabric *fabric, uint32_t n_policies,
                   unsigned threads, struct error *error) {
    struct estimate estimate;
    if (!estimate_run(experiment, fabric, &estimate, error)) {
        return false;
    }
    const uint32_t runs = n_policies * experiment->n_seeds;
    const unsigned at_once = threads < runs ? threads : runs;
    char memory[QUANTITY_TEXT_SIZE], time[QUANTITY_TEXT_SIZE];
    print_cluster(stream, experiment, fabric);
    print_traffic(stream, experiment, &estimate);
    fprintf(stream, "runs      %u policies × %u seeds, %u at a time: about %.3g million packet-hops each, %s memory, %s in all\n",
            n_policies, experiment->n_seeds, at_once, estimate.hops * 1e-6,
            text(memory, QUANTITY_BYTES, estimate.memory_bytes * at_once),
            text(time, QUANTITY_TIME, 1e12 * estimate.cpu_seconds * runs / at_once));
    return true;
}
