// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/kernel.h"

#include "base/rate.h"

/* Picoseconds a byte of so many SMs; 0 where their rate is not known. */
static uint64_t ps_per_byte(double bytes_per_s, uint32_t sms) {
    return bytes_per_s > 0 ? rate_ps_per_byte((uint64_t)(8 * bytes_per_s * sms + 0.5)) : 0;
}

struct kernel kernel_of(const struct experiment *experiment, uint64_t map_pairs) {
    const struct topology_gpu *gpu = &experiment->topology.gpu;
    const uint32_t sms = experiment->traffic.sms;
    if (experiment->traffic.kernel == EXPERIMENT_KERNEL_IDEAL) {
        return (struct kernel){0};
    }
    return (struct kernel){
        .base_latency_ps = gpu->base_latency_ps,
        .floor_ps = gpu->kernel_floor_ps,
        .message_ps = gpu->message_cost_ps,
        .map_ps = (map_pairs + sms - 1) / sms * gpu->routing_map_ps,
        .copy_ps_per_byte = ps_per_byte(gpu->sm_copy_bytes_per_s, sms),
        .reduce_ps_per_byte = ps_per_byte(gpu->sm_reduce_bytes_per_s, sms),
    };
}
