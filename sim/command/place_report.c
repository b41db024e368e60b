// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/place_report.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "config/placement_yaml.h"
#include "workload/placement_move.h"

#include <math.h>
#include <stdlib.h>

static void time_cell(struct table *table, double ps) {
    char text[QUANTITY_TEXT_SIZE];
    table_cell(table, "%s", quantity_print_short(text, QUANTITY_TIME, ps));
}

struct place_saving place_report_saving(const struct place_report *report, const struct place_candidate *other) {
    const uint32_t n = report->candidates->batches;
    double *savings = memory_allocate(n, sizeof(*savings));
    struct place_saving saving = {0};
    for (uint32_t batch = 0; batch < n; batch++) {
        savings[batch] = 100 * (1 - report->found->times_ps[batch] / other->times_ps[batch]);
        saving.mean += savings[batch] / n;
    }
    saving.interval = interval_of_mean(savings, n);
    free(savings);
    return saving;
}

static void saving_cell(struct table *table, const struct place_report *report, const struct place_candidate *other) {
    const struct place_saving saving = place_report_saving(report, other);
    if (other == report->found) {
        table_cell(table, "-");
    } else if (isnan(saving.interval.low)) {
        table_cell(table, "%.1f %%", saving.mean);
    } else {
        table_cell(table, "%.1f %% [%.1f, %.1f]", saving.mean, saving.interval.low, saving.interval.high);
    }
}

/* The fastest that was not searched for. */
static const struct place_candidate *best_rule(const struct place_report *report) {
    const struct place_candidate *best = NULL;
    for (uint32_t i = 0; i < report->candidates->count; i++) {
        const struct place_candidate *candidate = &report->candidates->list[i];
        if (candidate != report->found && (!best || candidate->unseen.time_ps < best->unseen.time_ps)) {
            best = candidate;
        }
    }
    REQUIRE(best != NULL, "no placement by rule to compare with");
    return best;
}

struct table *place_report_layers(void) {
    struct table *table = table_create();
    table_column(table, "layer", TABLE_RIGHT);
    table_column(table, "eplb", TABLE_RIGHT);
    table_column(table, "best by rule", TABLE_LEFT);
    table_column(table, "its time", TABLE_RIGHT);
    table_column(table, "found", TABLE_RIGHT);
    table_column(table, "saves against eplb", TABLE_RIGHT);
    table_column(table, "against the best", TABLE_RIGHT);
    return table;
}

void place_report_layer(const struct place_report *report, uint32_t layer, struct table *table) {
    const struct place_candidate *eplb = place_candidate_find(report->candidates, "eplb"), *best = best_rule(report);
    table_cell(table, "%u", layer);
    time_cell(table, eplb->unseen.time_ps);
    table_cell(table, "%s", best->name);
    time_cell(table, best->unseen.time_ps);
    time_cell(table, report->found->unseen.time_ps);
    saving_cell(table, report, eplb);
    saving_cell(table, report, best);
}

static void print_candidates(const struct place_report *report, FILE *stream) {
    struct table *table = table_create();
    table_column(table, "placement", TABLE_LEFT);
    table_column(table, "replicas", TABLE_RIGHT);
    table_column(table, "GPU load, max ÷ mean", TABLE_RIGHT);
    table_column(table, "slowest NIC", TABLE_RIGHT);
    table_column(table, "slowest NVLink", TABLE_RIGHT);
    table_column(table, "slowest experts", TABLE_RIGHT);
    table_column(table, "time", TABLE_RIGHT);
    table_column(table, "time learnt", TABLE_RIGHT);
    table_column(table, "found saves", TABLE_RIGHT);
    for (uint32_t i = 0; i < report->candidates->count; i++) {
        const struct place_candidate *candidate = &report->candidates->list[i];
        table_cell(table, "%s", candidate->name);
        table_cell(table, "%u", candidate->placement->replicas);
        table_cell(table, "%.3f", candidate->unseen.imbalance);
        time_cell(table, candidate->unseen.nic_ps);
        time_cell(table, candidate->unseen.nvlink_ps);
        time_cell(table, candidate->unseen.expert_ps);
        time_cell(table, candidate->unseen.time_ps);
        time_cell(table, candidate->learnt.time_ps);
        saving_cell(table, report, candidate);
    }
    table_print(table, stream, 2);
    table_free(table);
}

/* Bytes of an expert: 3 × hidden × intermediate elements; FP8 with a 4-byte scale a block of 128 × 128 (DeepSeek-V3), NVFP4 with a byte a block of 16. */
static double expert_bytes(const struct place_report *report) {
    static const double element[] = {1 + 4.0 / (128 * 128), 2, 0.5 + 1.0 / 16};
    const struct experiment_model *model = &report->site->model;
    return 3.0 * model->hidden * model->intermediate * element[report->experiment->placement.weight_type];
}

static void print_move(const struct place_report *report, FILE *stream) {
    const struct place_byte_times byte = place_candidate_byte_times(report->fabric);
    const struct placement_move move =
        placement_move_count(report->configured->placement, report->found->placement, &report->site->layout);
    const double bytes = expert_bytes(report);
    const double move_ps = bytes * fmax(byte.nic_ps * move.most_fabric, byte.nvlink_ps * move.most_nvlink);
    const double saved_ps = report->configured->unseen.time_ps - report->found->unseen.time_ps;
    char one[QUANTITY_TEXT_SIZE], whole[QUANTITY_TEXT_SIZE], time[QUANTITY_TEXT_SIZE];
    fprintf(stream, "\n  moving from %s: %u experts over NVLink, %u over the fabric", report->configured->name,
            move.over_nvlink, move.over_fabric);
    if (bytes <= 0) {
        fprintf(stream, "; model.intermediate would tell their size\n");
        return;
    }
    fprintf(stream, ", %s each, %s in all; at least %s a layer\n", quantity_print_short(one, QUANTITY_BYTES, bytes),
            quantity_print_short(whole, QUANTITY_BYTES, bytes * (move.over_nvlink + move.over_fabric)),
            quantity_print_short(time, QUANTITY_TIME, move_ps));
    if (saved_ps > 0 && move_ps > 0) {
        fprintf(
            stream,
            "  saves %s a micro-batch and layer: pays after %.0f micro-batches, so re-balance less often than that\n",
            quantity_print_short(time, QUANTITY_TIME, saved_ps), ceil(move_ps / saved_ps));
    } else if (saved_ps <= 0) {
        fprintf(stream, "  saves nothing against %s\n", report->configured->name);
    }
}

void place_report_print(const struct place_report *report, FILE *stream) {
    const struct placement_shape *shape = &report->site->shape;
    fprintf(stream, "%s: %u experts, %u replicas on %u GPUs in NVLink domains of %u\n", report->experiment->name,
            shape->experts, shape->replicas, shape->ranks, shape->domain_ranks);
    fprintf(
        stream,
        "learnt from %u micro-batches of %u tokens a GPU; tried on %u others, the tokens of seeds %llu to %llu%s\n\n",
        report->batches, report->site->tokens, report->candidates->batches,
        (unsigned long long)report->first_unseen_seed,
        (unsigned long long)(report->first_unseen_seed + report->candidates->batches - 1),
        report->interrupted ? "; interrupted: the best so far" : "");
    print_candidates(report, stream);
    fprintf(stream,
            "\n  times without latency and queues: bytes ÷ rate of the slowest GPU, dispatch + experts + "
            "combine; %s\n",
            experiment_algorithm_by_domain(report->experiment->traffic.algorithm)
                ? "two hops: a hot expert loads NVLink and its GPU, not its NIC"
                : "every copy to its GPU: a hot expert is incast at its NIC");
    if (!report->site->groups_alike) {
        fprintf(stream, "  expert-parallel groups lie differently on NVLink domains: this is the first of them\n");
    }
    print_move(report, stream);
}

static void write_csv(FILE *stream, const struct place_layer *layer) {
    const struct placement *placement = layer->placement;
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        for (uint32_t i = placement->first[expert]; i < placement->first[expert + 1]; i++) {
            fprintf(stream, "%u,%u,%u,%u\n", layer->layer, expert, i - placement->first[expert], placement->rank[i]);
        }
    }
}

static void write_yaml(FILE *stream, const struct place_layer *layer) {
    const struct placement *placement = layer->placement;
    fprintf(stream, "  %u: [", layer->layer);
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        const bool several = placement_replicas_of(placement, expert) > 1;
        fprintf(stream, "%s%s", expert > 0 ? ", " : "", several ? "[" : "");
        for (uint32_t i = placement->first[expert]; i < placement->first[expert + 1]; i++) {
            fprintf(stream, "%s%u", i > placement->first[expert] ? ", " : "", placement->rank[i]);
        }
        fprintf(stream, "%s", several ? "]" : "");
    }
    fprintf(stream, "]\n");
}

bool place_report_write(const struct place_layer *layers, uint32_t n_layers, const char *heading, const char *path,
                        struct error *error) {
    const bool yaml = placement_yaml_is_name(path);
    struct file_writer writer = {0};
    if (!file_writer_open(&writer, path, error)) {
        return false;
    }
    fprintf(writer.stream, "# moefabric place, %s\n%s\n", heading, yaml ? "layers:" : "layer,expert,replica,rank");
    for (uint32_t i = 0; i < n_layers; i++) {
        if (yaml) {
            write_yaml(writer.stream, &layers[i]);
        } else {
            write_csv(writer.stream, &layers[i]);
        }
    }
    return file_writer_commit(&writer, error);
}
