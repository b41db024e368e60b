// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/failure_rates.h"

#include "base/number.h"

#include <math.h>

#define SECONDS_PER_HOUR 3600.0

/* Llama 3 405B: 419 unexpected interruptions in 54 days of 16,384 GPUs in hosts of 8 (arXiv:2407.21783, table 5). */
#define LLAMA3_GPU_HOURS (16384 * 54 * 24.0)
#define LLAMA3_HOST_HOURS (LLAMA3_GPU_HOURS / 8)
#define LLAMA3 "arXiv:2407.21783, table 5: "
/* HPN: shares of parts that fail in a month (Qian et al., Alibaba HPN, SIGCOMM 2024, section 2.3). */
#define MONTH_HOURS 730.0
#define HPN "Alibaba HPN, SIGCOMM 2024, section 2.3: "
/* Meta's research clusters: failures a day of a node of 8 GPUs, all causes. */
#define RSC_GPU_HOURS (8 * 24.0)
#define RSC "arXiv:2410.21680: "

const char *const failure_component_names[FAILURE_COMPONENTS] = {
    "GPU", "NIC", "host", "NVLink switch", "link of a NIC", "leaf switch", "fabric link", "spine", "software"};

#define HPN_LINK                                                                                                       \
    { 0.00057 / MONTH_HOURS, HPN "0.057 % of links between NIC and leaf a month" }
#define HPN_SWITCH                                                                                                     \
    { 0.00051 / MONTH_HOURS, HPN "0.051 % of leaf switches a month" }

static const struct failure_rate rates[EXPERIMENT_FAILURE_SOURCES][FAILURE_COMPONENTS] = {
    [EXPERIMENT_FAILURE_SOURCE_LLAMA3] =
        {
            [FAILURE_GPU] = {268 / LLAMA3_GPU_HOURS, LLAMA3 "148 faulty, 72 HBM3, 19 SRAM, 17 system processor, 6 "
                                                            "silent data corruption, 6 thermal"},
            [FAILURE_NIC] = {7 / LLAMA3_GPU_HOURS, LLAMA3 "7"},
            [FAILURE_HOST] = {46 / LLAMA3_HOST_HOURS, LLAMA3 "32 maintenance, 3 SSD, 3 power supply, 2 each chassis, "
                                                             "IO board, CPU, memory"},
            [FAILURE_NVLINK_SWITCH] = {0.00051 / MONTH_HOURS,
                                       "none is published: taken to be as that of a leaf switch"},
            [FAILURE_HOST_LINK] = HPN_LINK,
            [FAILURE_LEAF] = HPN_SWITCH,
            [FAILURE_FABRIC_LINK] = HPN_LINK,
            [FAILURE_SPINE] = HPN_SWITCH,
            [FAILURE_SOFTWARE] = {63 / LLAMA3_GPU_HOURS, LLAMA3 "54 software, 7 NCCL time-outs, 2 dependency"},
        },
    [EXPERIMENT_FAILURE_SOURCE_RSC1] = {[FAILURE_GPU] = {6.50e-3 / RSC_GPU_HOURS,
                                                         RSC "6.50 in 1,000 node-days of RSC-1, all causes"}},
    [EXPERIMENT_FAILURE_SOURCE_RSC2] = {[FAILURE_GPU] = {2.34e-3 / RSC_GPU_HOURS,
                                                         RSC "2.34 in 1,000 node-days of RSC-2, all causes"}},
};

const struct failure_rate *failure_rates_published(enum experiment_failure_source source,
                                                   enum failure_component component) {
    return &rates[source][component];
}

static double given_mtbf_s(const struct experiment_interruptions *failures, enum failure_component component) {
    switch (component) {
    case FAILURE_GPU:
        return failures->gpu_mtbf_s;
    case FAILURE_NIC:
        return failures->nic_mtbf_s;
    case FAILURE_HOST:
        return failures->host_mtbf_s;
    case FAILURE_NVLINK_SWITCH:
        return failures->nvlink_switch_mtbf_s;
    case FAILURE_HOST_LINK:
    case FAILURE_FABRIC_LINK:
        return failures->link_mtbf_s;
    case FAILURE_LEAF:
        return failures->leaf_mtbf_s;
    case FAILURE_SPINE:
        return failures->spine_mtbf_s;
    default:
        return failures->software_mtbf_s;
    }
}

/* Parts of the topology for its GPUs, in proportion for others; a part is whole. */
static uint64_t in_proportion(uint64_t parts, const struct topology *topology, uint32_t gpus) {
    const double of = (double)topology->racks * topology->gpus_used;
    return (uint64_t)ceil((double)parts * gpus / of - 1e-9);
}

static void count(struct failure_part parts[FAILURE_COMPONENTS], const struct experiment_interruptions *failures,
                  const struct topology *topology, uint32_t gpus) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint32_t planes = topology->nic.planes > 0 ? topology->nic.planes : 1;
    const uint32_t downlinks = fabric->leaf_downlinks > 0 ? fabric->leaf_downlinks : topology->gpus_used;
    const uint64_t leaves = number_divide_up(gpus, downlinks),
                   own = number_divide_up((uint64_t)topology->racks * topology->gpus_used, downlinks);
    const uint64_t pods = fabric->pod_racks > 0 ? number_divide_up(topology->racks, fabric->pod_racks) : 1;
    const uint64_t spines = (pods * fabric->spines + fabric->super_spines) * planes;
    const uint64_t links =
        fabric->spines > 0 ? (own * fabric->leaf_uplinks + pods * fabric->spines * fabric->spine_uplinks) * planes : 0;
    parts[FAILURE_GPU].count = parts[FAILURE_NIC].count = parts[FAILURE_SOFTWARE].count = gpus;
    parts[FAILURE_HOST].count = number_divide_up(gpus, failures->host_gpus);
    parts[FAILURE_NVLINK_SWITCH].count =
        topology->nvlink.gpus > 1 ? number_divide_up(gpus, topology->gpus_used) * topology->nvlink.chips : 0;
    parts[FAILURE_HOST_LINK].count = (uint64_t)gpus * planes;
    parts[FAILURE_LEAF].count = leaves * planes;
    parts[FAILURE_FABRIC_LINK].count = in_proportion(links, topology, gpus);
    parts[FAILURE_SPINE].count = in_proportion(spines, topology, gpus);
    if (topology->spine.ports > 0 && (uint64_t)gpus > (uint64_t)topology->racks * topology->gpus_used) {
        const uint64_t full = number_divide_up(parts[FAILURE_FABRIC_LINK].count, topology->spine.ports);
        parts[FAILURE_SPINE].count = number_smaller(full, parts[FAILURE_SPINE].count);
    }
    parts[FAILURE_LEAF].out_gpus = downlinks < gpus ? downlinks : gpus;
}

void failure_rates_fill(struct failure_part parts[FAILURE_COMPONENTS], const struct experiment_interruptions *failures,
                        const struct topology *topology, uint32_t gpus) {
    const bool around = failures->reroute && topology->nic.planes > 1;
    for (int i = 0; i < FAILURE_COMPONENTS; i++) {
        const double mtbf_s = given_mtbf_s(failures, (enum failure_component)i);
        parts[i] = (struct failure_part){
            .per_s = mtbf_s > 0 ? 1 / mtbf_s : rates[failures->rates][i].per_hour / SECONDS_PER_HOUR,
            .interrupts = true,
            .out_gpus = i == FAILURE_SOFTWARE ? 0 : failures->host_gpus,
        };
    }
    count(parts, failures, topology, gpus);
    parts[FAILURE_NVLINK_SWITCH].out_gpus = topology->gpus_used;
    parts[FAILURE_HOST_LINK].interrupts = parts[FAILURE_LEAF].interrupts = !around;
    parts[FAILURE_FABRIC_LINK].interrupts = parts[FAILURE_SPINE].interrupts = !failures->reroute;
    parts[FAILURE_FABRIC_LINK].out_gpus = parts[FAILURE_SPINE].out_gpus = 0; // routing converges, and GPUs are well
}

double failure_rates_sum(const struct failure_part parts[FAILURE_COMPONENTS]) {
    double sum = 0;
    for (int i = 0; i < FAILURE_COMPONENTS; i++) {
        sum += parts[i].interrupts ? (double)parts[i].count * parts[i].per_s : 0;
    }
    return sum;
}
