// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "training/training_step.h"

#include <inttypes.h>

/* Says what does not divide what. */
static bool divides(uint64_t part, uint64_t whole, const char *what, const char *of, struct error *error) {
    return (part > 0 && whole % part == 0 && whole > 0) ||
           error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                     "%s (%" PRIu64 ") do not divide %s (%" PRIu64 ")", what, part, of, whole);
}

static bool fill_batch(struct training_groups *groups, const struct experiment *experiment, uint64_t sequence,
                       struct error *error) {
    const struct experiment_training *training = &experiment->training;
    const uint64_t at_once = (uint64_t)groups->data * training->micro_batch;
    const bool parts = training->schedule != EXPERIMENT_SCHEDULE_1F1B && training->virtual_stages > 1;
    if (!divides(at_once, training->global_batch, "data-parallel copies × training.micro_batch",
                 "training.global_batch", error) ||
        !divides(groups->tensor, sequence * training->micro_batch, "training.tensor_parallelism GPUs",
                 "the tokens of a micro-batch", error)) {
        return false;
    }
    groups->micro_batches = (uint32_t)(training->global_batch / at_once);
    const uint64_t tokens = sequence * training->micro_batch / groups->tensor;
    if (parts && !divides(groups->pipeline, groups->micro_batches, "with several virtual stages, pipeline stages",
                          "the micro-batches of a copy", error)) {
        return false;
    }
    if (experiment->traffic.tokens_per_gpu != tokens) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "a GPU has %" PRIu64 " tokens of a sequence × %" PRIu32 " sequences ÷ %" PRIu32
                         " tensor-parallel GPUs = %" PRIu64 " tokens, traffic.tokens_per_gpu says %" PRIu32,
                         sequence, training->micro_batch, groups->tensor, tokens, experiment->traffic.tokens_per_gpu);
    }
    groups->tokens = (uint32_t)tokens;
    return true;
}

bool training_groups_fill(struct training_groups *groups, const struct experiment *experiment, struct error *error) {
    const struct experiment_training *training = &experiment->training;
    const struct topology *topology = &experiment->topology;
    const struct experiment_preset *preset = experiment_preset_find(experiment->model.preset);
    const uint32_t simulated = topology->racks * topology->gpus_used;
    const uint64_t stage_gpus = (uint64_t)training->tensor_parallelism * training->pipeline_parallelism;
    *groups = (struct training_groups){.gpus = training->gpus ? training->gpus : simulated,
                                       .tensor = training->tensor_parallelism,
                                       .pipeline = training->pipeline_parallelism,
                                       .gpus_per_domain = topology->gpus_used};
    groups->expert = preset->experts == 0                     ? 1
                     : experiment->traffic.expert_parallelism ? experiment->traffic.expert_parallelism
                                                              : simulated;
    if (!divides(stage_gpus, groups->gpus, "tensor × pipeline parallelism", "the GPUs that train", error)) {
        return false;
    }
    groups->data = (uint32_t)(groups->gpus / stage_gpus);
    const uint64_t of_stage = (uint64_t)groups->data * groups->tensor;
    if (!divides(groups->expert, of_stage, "GPUs of an expert-parallel group", "the GPUs of a pipeline stage", error)) {
        return false;
    }
    groups->expert_data = (uint32_t)(of_stage / groups->expert);
    const double wire = (double)(topology->nic.payload_bytes + topology->nic.header_bytes);
    groups->nic_bytes_per_s =
        (double)topology->nic.rate_bits_per_s * topology->nic.planes / 8 * (double)topology->nic.payload_bytes / wire;
    return fill_batch(groups, experiment,
                      training->sequence_tokens ? training->sequence_tokens : preset->sequence_tokens, error);
}
