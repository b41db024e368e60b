// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/gradients.h"

#include "training/layer_time.h"

/* A ring over n GPUs, some of them in one NVLink domain: as many rings as those are, so that all their NICs carry a share. */
static double ring_seconds(const struct training_groups *groups, double bytes, uint32_t n, uint32_t in_domain) {
    const double passed = n > 1 ? bytes * (n - 1) / n : 0;
    const double nvlink = in_domain > 1 ? passed / groups->nvlink_bytes_per_s : 0;
    const double nic = n > in_domain ? passed / in_domain / groups->nic_bytes_per_s : 0;
    return nvlink > nic ? nvlink : nic;
}

/* Of n copies of what so many GPUs hold together, those in an NVLink domain. */
static uint32_t in_domain(const struct training_groups *groups, uint32_t n, uint32_t gpus) {
    const uint32_t fit = groups->stage_in_domain / gpus;
    return fit == 0 ? 1 : n < fit ? n : fit;
}

uint64_t gradients_exchange_ps(const struct training_groups *groups, const struct model_parameters *held,
                               uint32_t bytes) {
    const double shared = ring_seconds(groups, held->trained * bytes, groups->replicas,
                                       in_domain(groups, groups->replicas, groups->tensor));
    const double experts = ring_seconds(groups, held->experts * bytes, groups->expert_data,
                                        in_domain(groups, groups->expert_data, groups->expert));
    return layer_time_ps(shared + experts);
}
