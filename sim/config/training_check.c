// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/training_check.h"

#include "config/experiment_preset.h"

#include <inttypes.h>
#include <string.h>

const char *const training_check_of_layers[] = {
    "training.virtual_stages",
    "training.schedule",
    "training.pipeline_layout",
    "training.expert_precision",
    "training.attention_precision",
    "training.logits_precision",
    "training.attention_efficiency",
    "training.expert_efficiency",
    "training.overlap_gradients",
    "training.overlap_parameters",
    "training.parameter_bytes",
    "training.kernels",
    "training.kernel_gap",
    "training.router",
    "training.recompute",
    "training.expert_buffers",
    "training.rank_skew",
    "training.defer_weight_gradients",
    NULL,
};

bool training_check_has_layers(const struct experiment *experiment) {
    const struct experiment_preset *preset = experiment_preset_find(experiment->model.preset);
    return experiment->training.global_batch == 0 || preset == NULL || !experiment_preset_is_recommender(preset);
}

bool training_check_has_tables(const struct experiment *experiment) {
    return !training_check_has_layers(experiment);
}

static void check_traffic(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    if (traffic->pattern != EXPERIMENT_PATTERN_ALL_TO_ALL) {
        contradiction_report_hint(
            scope, ERROR_ID_CONFLICT_TRAFFIC, "traffic.pattern", "model.preset", "traffic: {pattern: all_to_all}",
            "vectors of `%s` go from every GPU to every other: its training needs another pattern",
            experiment->model.preset);
    }
    if (traffic->gpus[0] != '\0' && strcmp(traffic->gpus, "all") != 0) {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "traffic.gpus", "model.preset",
                             "tables of `%s` are spread over all GPUs", experiment->model.preset);
    }
    if (traffic->expert_parallelism > 0) {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "traffic.expert_parallelism", "model.preset",
                             "`%s` is a recommender: it has no experts", experiment->model.preset);
    }
}

void training_check(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_training *training = &experiment->training;
    const struct {
        const char *key;
        uint32_t value;
        const char *why;
    } ones[] = {
        {"training.tensor_parallelism", training->tensor_parallelism, "its matrices are whole on each"},
        {"training.context_parallelism", training->context_parallelism, "a sample is no sequence"},
        {"training.pipeline_parallelism", training->pipeline_parallelism, "it has no stages"},
        {"training.sequence", training->sequence_tokens, "a sample is no sequence"},
        {"training.micro_batch", training->micro_batch, "a GPU takes its samples of a step at once"},
    };
    if (training_check_has_layers(experiment)) {
        return;
    }
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        if (ones[i].value > 1) {
            contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, ones[i].key, "model.preset",
                                 "%s is %" PRIu32 ": tables of `%s` are spread over all GPUs, and %s", ones[i].key,
                                 ones[i].value, experiment->model.preset, ones[i].why);
        }
    }
    check_traffic(experiment, scope);
}

static bool has_gradients_beside(const struct experiment_training *training) {
    return training->global_batch > 0 && training->schedule != EXPERIMENT_SCHEDULE_1F1B &&
           training->virtual_stages > 1 && training->overlap_gradients;
}

bool training_check_has_contention(const struct experiment *experiment) {
    const struct experiment_training *training = &experiment->training;
    const bool overlap = training->global_batch > 0 && training->schedule == EXPERIMENT_SCHEDULE_1F1B_OVERLAP;
    const bool later = training->global_batch > 0 && training->defer_weight_gradients;
    return overlap || later || has_gradients_beside(training);
}

bool training_check_counts_kernels(const struct experiment *experiment) {
    const struct experiment_training *training = &experiment->training;
    return training->global_batch > 0 && (training->kernel_gap_ps > 0 || !training->cuda_graphs);
}

bool training_check_has_kernels(const struct experiment *experiment) {
    return experiment->training.global_batch > 0 && experiment->training.kernels_per_layer > 0;
}

bool training_check_has_gradient_sms(const struct experiment *experiment) {
    return has_gradients_beside(&experiment->training) && experiment->training.contention;
}
