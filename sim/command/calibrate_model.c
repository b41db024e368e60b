// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/calibrate_model.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "command/simulation.h"
#include "config/experiment_file.h"
#include "fabric/builder.h"
#include "results/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *configuration_of(const struct calibrate_model *model, const struct calibrate_row *row) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    REQUIRE(stream != NULL, "no memory for a configuration");
    fprintf(stream, "name: calibrate\npolicies: [ecmp+dcqcn]\ntopology: \"%s\"\n", model->topology);
    if (row->kind == CALIBRATE_ALLTOALL) {
        fputs("traffic: {pattern: all_to_all, kernel: platform}\n", stream);
    } else {
        fprintf(stream,
                "model: {preset: deepseek-v3}\ntraffic: {pattern: moe, kernel: platform, tokens_per_gpu: %" PRIu64
                ", dispatch_type: %s",
                row->size, row->bf16 && row->kind == CALIBRATE_DISPATCH ? "bf16" : "fp8");
        if (row->sms > 0) {
            fprintf(stream, ", sms: %" PRIu32, row->sms);
        }
        fputs("}\n", stream);
    }
    fclose(stream);
    return text;
}

/* racks 0: as the topology and the command line say. */
static bool read_experiment(const struct calibrate_model *model, const struct calibrate_row *row, uint32_t racks,
                            struct experiment *experiment, int *exit_code) {
    const struct arguments *given = model->given;
    const char *overrides[ARGUMENTS_OVERRIDES + 1];
    char own[64];
    struct error_list errors = {0};
    memcpy(overrides, given->overrides, given->n_overrides * sizeof overrides[0]);
    snprintf(own, sizeof own, "cluster.racks=%" PRIu32, racks);
    overrides[given->n_overrides] = own;
    char *text = configuration_of(model, row);
    const bool good = experiment_read_text("calibrate", text, strlen(text), overrides, given->n_overrides + (racks > 0),
                                           experiment, &errors);
    free(text);
    if (!good) {
        *exit_code = (int)experiment_report(stderr, &errors);
        return false;
    }
    if (given->has_seed) {
        experiment->seeds[0] = given->seed;
    }
    return true;
}

static bool refuse(const struct calibrate_row *row, uint32_t gpus, int *exit_code) {
    struct error error;
    error_set_file(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG, row->path,
                   "a log of %" PRIu32 " ranks: domains of %" PRIu32 " GPUs do not make so many", row->ranks, gpus);
    error_hint(&error, "--set cluster.gpus_used=N says how many GPUs of each domain were used");
    error_print(stderr, &error);
    *exit_code = (int)error.exit_code;
    return false;
}

static bool make_row(struct calibrate_model *model, uint32_t i, int *exit_code) {
    const struct calibrate_row *row = &model->log->rows[i];
    struct experiment *experiment = model->experiments[i] = memory_allocate(1, sizeof *experiment);
    if (!read_experiment(model, row, 0, experiment, exit_code)) {
        return false;
    }
    const uint32_t gpus = experiment->topology.gpus_used;
    if (row->ranks > 0 && row->ranks % gpus != 0) {
        return refuse(row, gpus, exit_code);
    }
    if (row->ranks > 0 && row->ranks != experiment->topology.racks * gpus &&
        !read_experiment(model, row, row->ranks / gpus, experiment, exit_code)) {
        return false;
    }
    const uint64_t ranks = (uint64_t)experiment->topology.racks * gpus;
    if (row->kind == CALIBRATE_ALLTOALL) {
        experiment->traffic.bytes = row->size / ranks > 0 ? row->size / ranks : 1;
    }
    return true;
}

bool calibrate_model_init(struct calibrate_model *model, int *exit_code) {
    if (strpbrk(model->topology, "\"\\") != NULL) {
        fprintf(stderr, "%s: this name of a topology cannot be used\n", model->topology);
        *exit_code = EXIT_CODE_USAGE;
        return false;
    }
    model->experiments = memory_allocate(model->log->count, sizeof *model->experiments);
    for (uint32_t i = 0; i < model->log->count; i++) {
        if (!make_row(model, i, exit_code)) {
            return false;
        }
    }
    const struct topology *topology = &model->experiments[0]->topology;
    model->own = (struct calibrate_values){{topology->nvlink.usable_fraction, topology->nic.usable_fraction,
                                            (double)topology->gpu.base_latency_ps,
                                            (double)topology->gpu.message_cost_ps, topology->gpu.sm_copy_bytes_per_s}};
    return true;
}

uint32_t calibrate_model_racks(const struct calibrate_model *model, uint32_t row) {
    return model->experiments[row]->topology.racks;
}

static void put_values(struct topology *topology, const struct calibrate_values *values) {
    topology->nvlink.usable_fraction = values->of[CALIBRATE_NVLINK_FRACTION];
    topology->nic.usable_fraction = values->of[CALIBRATE_NIC_FRACTION];
    topology->gpu.base_latency_ps = (uint64_t)(values->of[CALIBRATE_BASE_LATENCY] + 0.5);
    topology->gpu.message_cost_ps = (uint64_t)(values->of[CALIBRATE_MESSAGE_COST] + 0.5);
    topology->gpu.sm_copy_bytes_per_s = values->of[CALIBRATE_SM_COPY_RATE];
}

static double time_of(const struct calibrate_row *row, const struct measurement *measurement) {
    double time_us = NAN;
    struct summary *summary = summary_create(measurement);
    for (uint32_t i = 0; i < summary->n_phases && measurement->outcome == MEASUREMENT_FINISHED; i++) {
        if (row->kind == CALIBRATE_ALLTOALL ||
            strcmp(summary->phases[i].name, calibrate_log_kind_name(row->kind)) == 0) {
            time_us = summary->phases[i].time_ps / 1e6;
        }
    }
    summary_free(summary);
    return time_us;
}

bool calibrate_model_simulate(const struct calibrate_model *model, uint32_t row, const struct calibrate_values *values,
                              double *time_us, struct error *error) {
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    *experiment = *model->experiments[row];
    put_values(&experiment->topology, values);
    struct fabric *fabric = fabric_build(&experiment->topology, error);
    const struct simulation simulation = {.experiment = experiment,
                                          .policy = &experiment->policies[0],
                                          .fabric = fabric,
                                          .seed = experiment->seeds[0],
                                          .threads = model->given->threads};
    struct measurement *measurement = fabric != NULL ? simulation_run(&simulation, error) : NULL;
    const bool done = measurement != NULL;
    if (done) {
        *time_us = time_of(&model->log->rows[row], measurement);
    }
    measurement_free(measurement);
    fabric_free(fabric);
    free(experiment);
    return done;
}

void calibrate_model_fini(struct calibrate_model *model) {
    for (uint32_t i = 0; model->experiments != NULL && i < model->log->count; i++) {
        free(model->experiments[i]);
    }
    free(model->experiments);
    *model = (struct calibrate_model){0};
}
