// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_levers.h"

#include "base/table.h"
#include "training/training_cut.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Levers, in the order of the table. */
enum lever {
    LEVER_GRAPHS,
    LEVER_FUSION,
    LEVER_PERMUTE,
    LEVER_ROUTER,
    LEVER_ATTENTION,
    LEVER_OVERLAP,
    LEVER_BALANCE,
    LEVERS
};

/* NVIDIA's article on MLPerf Training v6.0 (2026-06-16), which does not say what of a step each figure is of. Of DeepSeek-V3 on GB300 alone. */
static const struct {
    const char *name, *published;
} levers[LEVERS] = {
    [LEVER_GRAPHS] = {"full-iteration graphs: no launches, no host", "no figure"},
    [LEVER_FUSION] = {"kernels fused", "8 %; 93 % in another model"},
    [LEVER_PERMUTE] = {"permutation in the exchanges' kernels", "5 %"},
    [LEVER_ROUTER] = {"router's FP32 on tensor cores", "that kernel 5 ×"},
    [LEVER_ATTENTION] = {"attention in MXFP8", "no figure"},
    [LEVER_OVERLAP] = {"exchanges behind computing", "8 %"},
    [LEVER_BALANCE] = {"stages balanced", "4 %"},
};

#define HOST_SYNC_PS                                                                                                   \
    UINT64_C(20000000) /* estimate: a copy of counts to the host and its answer, 20 us, unless the configuration says */

/* As many layers in each part as in any other, the first ones one more. */
static void even_layout(const struct training_setup *setup, char *text, size_t size) {
    const uint32_t parts = training_cut_parts(setup);
    uint32_t layers = 0;
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        layers += model_shape_count(setup->shape, setup->preset, (enum model_layer)kind);
    }
    size_t length = 0;
    for (uint32_t part = 0; part < parts && length < size; part++) {
        length += (size_t)snprintf(text + length, size - length, "%s%" PRIu32, part > 0 ? "," : "",
                                   layers / parts + (part < layers % parts));
    }
    if (length >= size) {
        snprintf(text, size, "auto"); // more parts than a layout can say
    }
}

static void set(struct experiment_training *training, const struct training_setup *setup, enum lever lever, bool on) {
    const bool blocks = setup->gpu->tflops[EXPERIMENT_PRECISION_MXFP8] > 0;
    switch (lever) {
    case LEVER_GRAPHS:
        training->cuda_graphs = on;
        training->host_sync_ps = training->host_sync_ps > 0 ? training->host_sync_ps : HOST_SYNC_PS;
        break;
    case LEVER_FUSION:
        training->kernels = on ? EXPERIMENT_KERNELS_FUSED_PERMUTE : EXPERIMENT_KERNELS_SEPARATE;
        break;
    case LEVER_PERMUTE:
        if (!on && training->kernels == EXPERIMENT_KERNELS_FUSED_PERMUTE) {
            training->kernels = EXPERIMENT_KERNELS_FUSED;
        }
        break;
    case LEVER_ROUTER:
        training->router = on ? EXPERIMENT_ROUTER_TENSOR_CORES : EXPERIMENT_ROUTER_CUDA_CORES;
        break;
    case LEVER_ATTENTION:
        training->attention_precision = on && blocks ? EXPERIMENT_PRECISION_MXFP8 : EXPERIMENT_PRECISION_BF16;
        break;
    case LEVER_OVERLAP:
        training->schedule = on ? EXPERIMENT_SCHEDULE_1F1B_OVERLAP : EXPERIMENT_SCHEDULE_INTERLEAVED;
        training->defer_weight_gradients = on;
        break;
    default:
        if (on) {
            snprintf(training->pipeline_layout, sizeof training->pipeline_layout, "auto");
        } else {
            even_layout(setup, training->pipeline_layout, sizeof training->pipeline_layout);
        }
    }
}

/* TFLOPS of a step with all levers of a set of bits. */
static bool tflops_of(const struct training_setup *setup, const struct training_exchange *exchange, uint32_t on,
                      double *tflops, struct error *error) {
    struct experiment_training training = *setup->training;
    struct training_setup changed = *setup;
    struct training_result result;
    changed.training = &training;
    changed.exchange = *exchange;
    if (training.schedule == EXPERIMENT_SCHEDULE_1F1B) {
        training.virtual_stages = 1; // as it is now; other schedules would take them
    }
    for (int lever = 0; lever < LEVERS; lever++) {
        set(&training, setup, (enum lever)lever, on >> lever & 1);
    }
    if (!training_step(&changed, NULL, NULL, &result, error)) {
        return false;
    }
    *tflops = result.operations / ((double)result.step_ps / 1e12) / setup->groups.gpus / 1e12;
    training_result_fini(&result);
    return true;
}

static bool were_published(const struct training_setup *setup) {
    return strcmp(setup->preset->name, "deepseek-v3") == 0 && setup->training->gpu == EXPERIMENT_GPU_GB300;
}

bool train_levers_print(FILE *stream, const struct training_setup *setup, const struct training_exchange *exchange,
                        const char *policy, struct error *error) {
    const uint32_t all = (1u << LEVERS) - 1;
    struct table *table = table_create();
    double with, without;
    char heading[2 * EXPERIMENT_NAME_SIZE];
    snprintf(heading, sizeof heading, "software: a step without it%s%s", policy != NULL ? ", " : "",
             policy != NULL ? policy : "");
    table_column(table, heading, TABLE_LEFT);
    table_column(table, "TFLOPS", TABLE_RIGHT);
    table_column(table, "it gives", TABLE_RIGHT);
    if (were_published(setup)) {
        table_column(table, "published", TABLE_LEFT);
    }
    bool done = tflops_of(setup, exchange, all, &with, error);
    for (int lever = 0; lever < LEVERS && done; lever++) {
        if (lever == LEVER_ATTENTION && setup->gpu->tflops[EXPERIMENT_PRECISION_MXFP8] == 0) {
            continue; // not with this GPU
        }
        done = tflops_of(setup, exchange, all & ~(1u << lever), &without, error);
        table_cell(table, "%s", levers[lever].name);
        table_cell(table, "%.0f", without);
        table_cell(table, "%+.1f %%", 100 * (with / without - 1));
        if (were_published(setup)) {
            table_cell(table, "%s", levers[lever].published);
        }
    }
    if (done && (done = tflops_of(setup, exchange, 0, &without, error))) {
        table_cell(table, "all of them: %.0f TFLOPS", with);
        table_cell(table, "%.0f", without);
        table_cell(table, "%+.1f %%", 100 * (with / without - 1));
        if (were_published(setup)) {
            table_cell(table, "+27.0 %%, 1,298 to 1,648 TFLOPS");
        }
        fputc('\n', stream);
        table_print(table, stream, 0);
    }
    table_free(table);
    return done;
}
