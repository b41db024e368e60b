// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixture.h"

#include <string.h>

struct topology fixture_rack(uint32_t planes) {
    return (struct topology){
        .racks = 1,
        .gpus_used = 64,
        .nic = {
            .rate_bits_per_s = UINT64_C(400000000000), .planes = planes, .payload_bytes = 4096, .header_bytes = 64}};
}

struct topology fixture_nodes(uint32_t nodes, uint32_t leaf_nics) {
    return (struct topology){.racks = nodes,
                             .gpus_used = 8,
                             .nvlink = {.gpus = 8, .chips = 4},
                             .nic = {.planes = 1},
                             .fabric = {.leaf_downlinks = leaf_nics, .leaf_uplinks = leaf_nics, .spines = leaf_nics}};
}

void fixture_deepseek_v3(struct experiment *experiment) {
    memset(experiment, 0, sizeof *experiment);
    strcpy(experiment->model.preset, "deepseek-v3");
    experiment->traffic.tokens_per_gpu = 4096;
    experiment->traffic.expert_parallelism = 64;
    experiment->topology = fixture_rack(2);
    experiment->training = (struct experiment_training){.gpus = 256,
                                                        .gpu = EXPERIMENT_GPU_GB300,
                                                        .tensor_parallelism = 1,
                                                        .context_parallelism = 1,
                                                        .pipeline_parallelism = 4,
                                                        .virtual_stages = 4,
                                                        .micro_batch = 1,
                                                        .global_batch = 512,
                                                        .schedule = EXPERIMENT_SCHEDULE_INTERLEAVED,
                                                        .pipeline_layout = "auto",
                                                        .precision = EXPERIMENT_PRECISION_MXFP8,
                                                        .expert_precision = EXPERIMENT_PRECISION_MXFP8,
                                                        .attention_precision = EXPERIMENT_PRECISION_BF16,
                                                        .logits_precision = EXPERIMENT_PRECISION_BF16,
                                                        .matrix_efficiency = 0.5,
                                                        .attention_efficiency = 0.4,
                                                        .expert_efficiency = 0.25,
                                                        .memory_efficiency = 0.9,
                                                        .optimiser_state_bytes = 12,
                                                        .cuda_graphs = true,
                                                        .stragglers = {.slow_gpu_clock = 1, .seed = 1}};
}

struct training_setup fixture_setup(const struct experiment *experiment) {
    struct training_setup setup = {.training = &experiment->training,
                                   .preset = experiment_preset_find(experiment->model.preset),
                                   .shape = model_shape_find(experiment->model.preset),
                                   .gpu = gpu_find(experiment->training.gpu),
                                   .exchange = {.expert_load = 1}};
    struct error error = {0};
    ck_assert_msg(training_groups_fill(&setup.groups, experiment, &error), "%s", error.message);
    setup.groups.nvlink_bytes_per_s = 720e9;
    return setup;
}

struct training_result fixture_step(const struct training_setup *setup) {
    struct training_result result;
    struct error error = {0};
    ck_assert_msg(training_step(setup, NULL, NULL, &result, &error), "%s", error.message);
    return result;
}
