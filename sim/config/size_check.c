// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/size_check.h"

#include "base/quantity.h"

#include <inttypes.h>

#define PS_PER_S 1e12

const char *const size_check_target_keys[SIZE_TARGETS] = {"size.step_time", "size.time_to_train", "size.tokens_per_s",
                                                          "size.all_to_all_p99", "size.tokens_per_s_gpu"};

double size_check_asked(const struct experiment_size *size, enum size_target target) {
    switch (target) {
    case SIZE_TARGET_STEP_TIME:
        return (double)size->step_time_ps / PS_PER_S;
    case SIZE_TARGET_TIME_TO_TRAIN:
        return (double)size->time_to_train_ps / PS_PER_S;
    case SIZE_TARGET_TOKENS_PER_S:
        return size->tokens_per_s;
    case SIZE_TARGET_ALL_TO_ALL_P99:
        return (double)size->all_to_all_p99_ps / PS_PER_S;
    case SIZE_TARGET_TOKENS_PER_S_GPU:
        return size->tokens_per_s_gpu;
    default:
        return 0;
    }
}

enum size_target size_check_target(const struct experiment_size *size) {
    int target = 0;
    while (target < SIZE_TARGETS && size_check_asked(size, (enum size_target)target) == 0) {
        target++;
    }
    return (enum size_target)target;
}

static void check_targets(const struct experiment_size *size, const struct tree_place place,
                          const struct contradiction_scope *scope) {
    const enum size_target first = size_check_target(size);
    if (first == SIZE_TARGETS) {
        tree_report(
            scope->errors, place, ERROR_ID_SIZE,
            "for example step_time: 3 s; others are time_to_train, tokens_per_s, all_to_all_p99, tokens_per_s_gpu",
            "`size` has no target");
    }
    for (int other = (int)first + 1; other < SIZE_TARGETS; other++) {
        if (size_check_asked(size, (enum size_target)other) > 0) {
            contradiction_report(scope, ERROR_ID_SIZE, size_check_target_keys[other], size_check_target_keys[first],
                                 "there are two targets: one is to be reached, others can only be limits");
        }
    }
}

/* Decoding is of its own section, and of a layer's dispatch and combine. */
static void check_decoding(const struct experiment *experiment, enum size_target target,
                           const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const bool decoding = target == SIZE_TARGET_TOKENS_PER_S_GPU;
    if (decoding && experiment->decode.context_tokens == 0) {
        contradiction_report(scope, ERROR_ID_SIZE, "size.tokens_per_s_gpu", "decode.context",
                             "this target is of decoding, and none is described");
    }
    if (decoding && experiment->training.global_batch > 0) {
        contradiction_report(scope, ERROR_ID_SIZE, "size.tokens_per_s_gpu", "training.global_batch",
                             "a design is for decoding or for training, not for both");
    }
    if (decoding && (traffic->pattern != EXPERIMENT_PATTERN_MOE || !traffic->dispatch || !traffic->combine ||
                     traffic->combine_backward || traffic->dispatch_backward)) {
        contradiction_report(scope, ERROR_ID_SIZE, "size.tokens_per_s_gpu", "traffic.phases",
                             "decoding is a dispatch and a combine of pattern moe");
    }
    if (!decoding && experiment->size.output_token_time_ps > 0) {
        contradiction_report(scope, ERROR_ID_SIZE, "size.output_token_time", "size.tokens_per_s_gpu",
                             "the time of an output token is a limit of decoding, which is not the target");
    }
}

/* What a target takes for granted. */
static void check_grounds(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_size *size = &experiment->size;
    const enum size_target target = size_check_target(size);
    check_decoding(experiment, target, scope);
    if ((target == SIZE_TARGET_STEP_TIME || target == SIZE_TARGET_TIME_TO_TRAIN ||
         target == SIZE_TARGET_TOKENS_PER_S) &&
        experiment->training.global_batch == 0) {
        contradiction_report(scope, ERROR_ID_SIZE, size_check_target_keys[target], "training.global_batch",
                             "this target is of a training step, and none is described");
    }
    if (target == SIZE_TARGET_TIME_TO_TRAIN && experiment->training.steps == 0) {
        contradiction_report(scope, ERROR_ID_SIZE, size_check_target_keys[target], "training.steps",
                             "the time to train needs the number of steps");
    }
    if (experiment->n_policies > 1) {
        contradiction_report_hint(scope, ERROR_ID_SIZE, "policies", "size",
                                  "to choose among several, vary them: size.grid: {policies: [ecmp+dcqcn, "
                                  "adaptive+spectrum_x]}",
                                  "a design has one policy, here are %" PRIu32, experiment->n_policies);
    }
}

/* Is a key varied by the design space? Then one of its values may be too large, and others not. */
static bool is_varied(const struct tree_node *section, const char *key) {
    const struct tree_entry *grid = tree_find(section, "grid"), *zip = tree_find(section, "zip");
    return tree_find(section, "list") != NULL || (grid != NULL && tree_find(grid->value, key) != NULL) ||
           (zip != NULL && tree_find(zip->value, key) != NULL);
}

static void check_limits(const struct experiment *experiment, const struct tree_node *section,
                         const struct contradiction_scope *scope) {
    const struct experiment_size *size = &experiment->size;
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    if (size->power_watts > 0 && size->power_watts < size->rack_power_watts) {
        contradiction_report(scope, ERROR_ID_SIZE, "size.power", "size.rack_power",
                             "a power of %s is not enough for one rack of %s",
                             quantity_print(first, QUANTITY_POWER, size->power_watts),
                             quantity_print(second, QUANTITY_POWER, size->rack_power_watts));
    }
    if (size->racks > 0 && experiment->design.racks > size->racks && !is_varied(section, "design.gpus")) {
        contradiction_report(scope, ERROR_ID_SIZE, "size.racks", "design.gpus",
                             "%" PRIu32 " racks of %" PRIu32 " GPUs do not hold the %" PRIu32 " GPUs of the design",
                             size->racks, experiment->topology.gpus_used, experiment->design.gpus);
    }
    if (size->budget > 0 && size->prices[0] == '\0') {
        contradiction_report(scope, ERROR_ID_SIZE, "size.budget", "size.prices",
                             "a budget needs prices, and no file of them is given");
    }
}

void size_check(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct tree_entry *section = scope->experiment == NULL ? NULL : tree_find(scope->experiment, "size");
    if (section == NULL || section->value->kind != TREE_MAPPING) {
        return;
    }
    check_targets(&experiment->size, section->key_place, scope);
    check_grounds(experiment, scope);
    check_limits(experiment, section->value, scope);
}
