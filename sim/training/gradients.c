// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/gradients.h"

#include "base/memory.h"
#include "training/collective.h"
#include "training/layer_time.h"

#include <stdlib.h>

/* Of n copies of what so many GPUs hold together, those in an NVLink domain. */
static uint32_t in_domain(const struct training_groups *groups, uint32_t n, uint32_t gpus) {
    const uint32_t fit = groups->stage_in_domain / gpus;
    return fit == 0 ? 1 : n < fit ? n : fit;
}

static struct collective collective_of(const struct training_setup *setup, uint32_t copies, uint32_t gpus) {
    const struct training_groups *groups = &setup->groups;
    return (struct collective){.algorithm = setup->training->gradient_collective,
                               .gpus = copies,
                               .in_domain = in_domain(groups, copies, gpus),
                               .nvlink_bytes_per_s = groups->nvlink_bytes_per_s,
                               .nic_bytes_per_s = groups->nic_bytes_per_s};
}

enum { PIECES = 2 };

static struct pipeline_segment piece(const struct training_setup *setup, uint32_t copies, uint32_t gpus, double bytes,
                                     const char *name) {
    const struct collective collective = collective_of(setup, copies, gpus);
    const struct collective_time time = collective_scatter(&collective, bytes);
    struct pipeline_segment piece = {
        .duration_ps = layer_time_ps(time.all_s), .resource = PIPELINE_GRADIENTS, .name = name};
    if (time.all_s > 0) {
        piece.load = (struct pipeline_load){.nvlink = time.nvlink_s / time.all_s, .nic = time.nic_s / time.all_s};
    }
    return piece;
}

struct pipeline_pass gradients_pass(const struct training_setup *setup, const struct model_parameters *held,
                                    uint32_t bytes) {
    const struct training_groups *groups = &setup->groups;
    struct pipeline_pass pass = {.segments = memory_allocate(PIECES, sizeof *pass.segments), .n_segments = PIECES};
    pass.segments[0] = piece(setup, groups->replicas, groups->tensor, held->trained * bytes, "gradients");
    pass.segments[1] = piece(setup, groups->expert_data, groups->expert, held->experts * bytes, "gradients of experts");
    return pass;
}

uint64_t gradients_exchange_ps(const struct training_setup *setup, const struct model_parameters *held,
                               uint32_t bytes) {
    struct pipeline_pass pass = gradients_pass(setup, held, bytes);
    const uint64_t all_ps = pass.segments[0].duration_ps + pass.segments[1].duration_ps;
    free(pass.segments);
    return all_ps;
}

uint64_t gradients_norm_ps(const struct training_setup *setup) {
    const struct training_groups *groups = &setup->groups;
    const uint32_t in = groups->gpus < groups->gpus_per_domain ? groups->gpus : groups->gpus_per_domain;
    const struct collective all = {.gpus = groups->gpus, .in_domain = in};
    return groups->gpus > 1 ? layer_time_ps(collective_small_s(&all)) : 0;
}
