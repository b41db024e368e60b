// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/size_decode.h"

#include "base/error_id.h"
#include "sizing/decode.h"

#define PS_PER_S 1e12

static bool fill(struct decode_setup *setup, const struct experiment *experiment, struct error *error) {
    const struct experiment_training *training = &experiment->training;
    const struct topology *topology = &experiment->topology;
    const struct model_shape *shape = model_shape_find(experiment->model.preset);
    const struct gpu *gpu = gpu_find(training->gpu);
    if (shape == NULL || experiment_preset_find(experiment->model.preset)->experts == 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_SIZE,
                         "decoding needs a model.preset with experts whose layers are known");
    }
    if (gpu->tflops[training->precision] <= 0 || gpu->tflops[training->expert_precision] <= 0 ||
        gpu->tflops[training->attention_precision] <= 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_SIZE,
                         "a GPU `%s` does not compute in training.precision, expert_precision or attention_precision",
                         gpu->name);
    }
    const uint32_t given = experiment->traffic.expert_parallelism;
    *setup = (struct decode_setup){.decode = &experiment->decode,
                                   .training = training,
                                   .preset = experiment_preset_find(experiment->model.preset),
                                   .shape = shape,
                                   .gpu = gpu,
                                   .sequences = experiment->traffic.tokens_per_gpu,
                                   .group = given > 0 ? given : topology->racks * topology->gpus_used,
                                   .expert_load = 1};
    return true;
}

bool size_decode_memory(const struct experiment *experiment, double *bytes, struct error *error) {
    struct decode_setup setup;
    if (!fill(&setup, experiment, error)) {
        return false;
    }
    *bytes = decode_step_of(&setup).memory_bytes;
    return true;
}

bool size_decode_value(const struct experiment *experiment, const struct training_exchange *exchange,
                       double *tokens_per_s, double *token_s, struct error *error) {
    struct decode_setup setup;
    if (!fill(&setup, experiment, error)) {
        return false;
    }
    setup.expert_load = exchange->expert_load;
    setup.exchange_s =
        (double)(exchange->phase_ps[TRAINING_DISPATCH] + exchange->phase_ps[TRAINING_COMBINE]) / PS_PER_S;
    const struct decode_step step = decode_step_of(&setup);
    *tokens_per_s = step.tokens_per_s;
    *token_s = step.token_s;
    return true;
}
