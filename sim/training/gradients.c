// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/gradients.h"

#include "training/collective.h"
#include "training/layer_time.h"

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

uint64_t gradients_exchange_ps(const struct training_setup *setup, const struct model_parameters *held,
                               uint32_t bytes) {
    const struct training_groups *groups = &setup->groups;
    const struct collective shared = collective_of(setup, groups->replicas, groups->tensor);
    const struct collective experts = collective_of(setup, groups->expert_data, groups->expert);
    return layer_time_ps(collective_scatter_s(&shared, held->trained * bytes) +
                         collective_scatter_s(&experts, held->experts * bytes));
}

uint64_t gradients_norm_ps(const struct training_setup *setup) {
    const struct training_groups *groups = &setup->groups;
    const uint32_t in = groups->gpus < groups->gpus_per_domain ? groups->gpus : groups->gpus_per_domain;
    const struct collective all = {.gpus = groups->gpus, .in_domain = in};
    return groups->gpus > 1 ? layer_time_ps(collective_small_s(&all)) : 0;
}
