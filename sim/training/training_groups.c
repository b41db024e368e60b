// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/training_groups.h"

#include "base/error_id.h"
#include "config/experiment_place.h"
#include "config/experiment_preset.h"

#include <inttypes.h>

/* Says what does not divide what. */
static bool divides(uint64_t part, uint64_t whole, const char *what, const char *of, struct error *error) {
    if (part > 0 && whole > 0 && whole % part == 0) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
              "%s (%" PRIu64 ") do not divide %s (%" PRIu64 ")", what, part, of, whole);
    if (part > whole) {
        error_hint(error, "the least that they divide is %" PRIu64, part);
    } else if (part > 0) {
        error_hint(error, "they divide %" PRIu64 " and %" PRIu64, whole / part * part, (whole / part + 1) * part);
    }
    return false;
}

static void hint_copies(uint64_t copies, uint64_t of_copy, struct error *error) {
    if (copies == 0) {
        error_hint(error, "one copy takes %" PRIu64 " GPUs", of_copy);
    } else {
        error_hint(error, "%" PRIu64 " copies take %" PRIu64 " GPUs, %" PRIu64 " take %" PRIu64, copies,
                   copies * of_copy, copies + 1, (copies + 1) * of_copy);
    }
}

/* GPUs of a copy of the model, times copies, are all GPUs. */
static bool fill_parallel(struct training_groups *groups, const struct experiment_training *training,
                          struct error *error) {
    const uint64_t of_copy = (uint64_t)groups->tensor * groups->context * groups->pipeline;
    if (groups->gpus == 0 || groups->gpus % of_copy != 0) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                  "tensor %" PRIu32 " × context %" PRIu32 " × pipeline %" PRIu32 " parallelism = %" PRIu64
                  " GPUs for a copy of the model do not divide the %" PRIu32 " GPUs that train",
                  groups->tensor, groups->context, groups->pipeline, of_copy, groups->gpus);
        hint_copies(groups->gpus / of_copy, of_copy, error);
        return experiment_place_blame(&training->key_places[EXPERIMENT_TRAINING_GPUS], error);
    }
    groups->data = (uint32_t)(groups->gpus / of_copy);
    groups->replicas = groups->data * groups->context;
    return true;
}

static uint32_t least_common_multiple(uint32_t one, uint32_t other) {
    uint32_t a = one, b = other;
    while (b != 0) { // Euclid's
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return one / a * other;
}

/* Experts take any GPUs of a stage that follow each other; in a dense model each GPU is such a group. */
static bool fill_experts(struct training_groups *groups, const struct experiment *experiment,
                         const struct experiment_preset *preset, uint32_t simulated, struct error *error) {
    const uint64_t of_stage = (uint64_t)groups->replicas * groups->tensor;
    groups->expert = preset->experts == 0                     ? 1
                     : experiment->traffic.expert_parallelism ? experiment->traffic.expert_parallelism
                                                              : simulated;
    if (!divides(groups->expert, of_stage, "GPUs of an expert-parallel group", "the GPUs of a pipeline stage", error)) {
        return false;
    }
    groups->expert_data = (uint32_t)(of_stage / groups->expert);
    groups->block = least_common_multiple(groups->expert, groups->tensor * groups->context);
    return true;
}

/* What `traffic` simulates must be what a GPU of the groups sends. */
static bool check_tokens(const struct training_groups *groups, const struct experiment *experiment, uint64_t sequence,
                         uint64_t tokens, struct error *error) {
    const uint32_t simulated = experiment->traffic.tokens_per_gpu, micro_batch = experiment->training.micro_batch;
    if (simulated == tokens) {
        return true;
    }
    if (groups->context > 1) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "a GPU has %" PRIu64 " tokens of a sequence × %" PRIu32 " sequences ÷ %" PRIu32
                         " tensor-parallel GPUs ÷ %" PRIu32 " GPUs that share a sequence = %" PRIu64
                         " tokens, traffic.tokens_per_gpu says %" PRIu32,
                         sequence, micro_batch, groups->tensor, groups->context, tokens, simulated);
    }
    return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                     "a GPU has %" PRIu64 " tokens of a sequence × %" PRIu32 " sequences ÷ %" PRIu32
                     " tensor-parallel GPUs = %" PRIu64 " tokens, traffic.tokens_per_gpu says %" PRIu32,
                     sequence, micro_batch, groups->tensor, tokens, simulated);
}

static bool fill_tokens(struct training_groups *groups, const struct experiment *experiment, uint64_t sequence,
                        bool has_exchange, struct error *error) {
    const uint64_t shared = (uint64_t)groups->tensor * groups->context;
    const uint64_t all = sequence * experiment->training.micro_batch;
    if (!divides(shared, all,
                 groups->context > 1 ? "tensor × context parallelism GPUs" : "training.tensor_parallelism GPUs",
                 "the tokens of a micro-batch", error) ||
        (has_exchange && !check_tokens(groups, experiment, sequence, all / shared, error))) {
        return false;
    }
    if (all / shared > UINT32_MAX) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "a GPU has %" PRIu64 " tokens of a micro-batch, more than 2^32", all / shared);
    }
    groups->tokens = (uint32_t)(all / shared);
    return true;
}

static bool fill_batch(struct training_groups *groups, const struct experiment_training *training,
                       struct error *error) {
    const uint64_t at_once = (uint64_t)groups->data * training->micro_batch;
    const bool parts = training->schedule != EXPERIMENT_SCHEDULE_1F1B && training->virtual_stages > 1;
    if (!divides(at_once, training->global_batch, "data-parallel copies × training.micro_batch",
                 "training.global_batch", error)) {
        return experiment_place_blame(&training->key_places[EXPERIMENT_TRAINING_GLOBAL_BATCH], error);
    }
    groups->micro_batches = (uint32_t)(training->global_batch / at_once);
    return !parts ||
           divides(groups->pipeline, groups->micro_batches, "with several virtual stages, pipeline stages",
                   "the micro-batches of a copy", error) ||
           experiment_place_blame(&training->key_places[EXPERIMENT_TRAINING_GLOBAL_BATCH], error);
}

/* GPUs of a stage come in blocks, one after another in a domain as the order says. */
static void place(struct training_groups *groups, enum experiment_group_order order) {
    const uint64_t of_stage = (uint64_t)groups->replicas * groups->tensor;
    const uint64_t block = order == EXPERIMENT_GROUP_ORDER_DATA_PIPELINE ? of_stage : groups->block;
    const uint64_t rounds = groups->gpus_per_domain / (block * groups->pipeline); // of all stages in a domain
    const uint64_t fit = rounds > 0 ? rounds * block : block;
    groups->stage_in_domain = (uint32_t)(fit < groups->gpus_per_domain ? fit : groups->gpus_per_domain);
    groups->pipeline_in_domain = rounds > 0;
}

bool training_groups_fill(struct training_groups *groups, const struct experiment *experiment, struct error *error) {
    const struct experiment_training *training = &experiment->training;
    const struct topology *topology = &experiment->topology;
    const struct experiment_preset *preset = experiment_preset_find(experiment->model.preset);
    const uint64_t sequence = training->sequence_tokens ? training->sequence_tokens : preset->sequence_tokens;
    const uint32_t simulated = topology->racks * topology->gpus_used;
    const double wire = (double)(topology->nic.payload_bytes + topology->nic.header_bytes);
    *groups = (struct training_groups){.gpus = training->gpus ? training->gpus : simulated,
                                       .tensor = training->tensor_parallelism,
                                       .context = training->context_parallelism,
                                       .pipeline = training->pipeline_parallelism,
                                       .gpus_per_domain = topology->gpus_used};
    groups->nic_bytes_per_s =
        (double)topology->nic.rate_bits_per_s * topology->nic.planes / 8 * (double)topology->nic.payload_bytes / wire;
    if (!fill_parallel(groups, training, error) || !fill_experts(groups, experiment, preset, simulated, error) ||
        !fill_tokens(groups, experiment, sequence, preset->experts > 0, error) ||
        !fill_batch(groups, training, error)) {
        return false;
    }
    place(groups, training->group_order);
    return true;
}

bool training_groups_in_domain(const struct training_groups *groups, uint32_t n, uint32_t stride) {
    const uint64_t span = (uint64_t)n * stride;
    return span <= groups->gpus_per_domain && groups->gpus_per_domain % span == 0;
}
