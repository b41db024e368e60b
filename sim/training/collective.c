// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/collective.h"

#include <math.h>

/* NCCL, src/graph/tuning.cc: hwLatencies of rings, protocol Simple; of trees, protocol LL; nvlsEfficiency of Blackwell. */
#define RING_NVLINK_S 3.4e-6
#define RING_NIC_S 14.0e-6
#define TREE_NVLINK_S 0.6e-6
#define TREE_NIC_S 2.7e-6
#define SWITCH_S 25.0e-6 /* NVLS, a collective */
#define SWITCH_SHARE 0.74

static double domains_of(const struct collective *collective) {
    return ceil((double)collective->gpus / collective->in_domain);
}

static bool reduces_in_nvlink(const struct collective *collective) {
    return collective->algorithm == EXPERIMENT_COLLECTIVE_NVLS || collective->algorithm == EXPERIMENT_COLLECTIVE_SHARP;
}

static struct collective_time rings(const struct collective *collective, double bytes) {
    const double n = collective->gpus, in_domain = collective->in_domain, domains = domains_of(collective);
    const double passed = bytes * (n - 1) / n;
    const double crossings = domains > 1 ? domains : 0;
    struct collective_time time = {.nvlink_s = in_domain > 1 ? passed / collective->nvlink_bytes_per_s : 0,
                                   .nic_s = domains > 1 ? passed / in_domain / collective->nic_bytes_per_s : 0};
    time.all_s = fmax(time.nvlink_s, time.nic_s) + (n - 1 - crossings > 0 ? n - 1 - crossings : 0) * RING_NVLINK_S +
                 fmin(crossings, n - 1) * RING_NIC_S;
    return time;
}

/* Within a domain. Where switches reduce, links are as busy as they get at their share of the rate. */
static void add_domain(struct collective_time *time, const struct collective *collective, double bytes) {
    const double m = collective->in_domain, share = reduces_in_nvlink(collective) ? SWITCH_SHARE : 1;
    if (m > 1) {
        time->nvlink_s = (m - 1) / m * bytes / (collective->nvlink_bytes_per_s * share);
        time->all_s += time->nvlink_s + (reduces_in_nvlink(collective) ? SWITCH_S : (m - 1) * RING_NVLINK_S);
    }
}

/* Between domains, of what a GPU has after its own. Switches that reduce take no steps from GPU to GPU. */
static void add_between(struct collective_time *time, const struct collective *collective, double bytes) {
    const double k = domains_of(collective);
    if (k > 1) {
        const double steps = collective->algorithm == EXPERIMENT_COLLECTIVE_SHARP ? 1 : k - 1;
        time->nic_s = (k - 1) / k * bytes / collective->in_domain / collective->nic_bytes_per_s;
        time->all_s += time->nic_s + steps * RING_NIC_S;
    }
}

struct collective_time collective_scatter(const struct collective *collective, double bytes) {
    struct collective_time time = {0};
    if (collective->gpus <= 1 || bytes <= 0) {
        return time;
    }
    if (collective->algorithm == EXPERIMENT_COLLECTIVE_RINGS) {
        return rings(collective, bytes);
    }
    add_domain(&time, collective, bytes);
    add_between(&time, collective, bytes);
    return time;
}

double collective_small_s(const struct collective *collective) {
    return 2 * (ceil(log2(fmax(1, collective->in_domain))) * TREE_NVLINK_S +
                ceil(log2(fmax(1, domains_of(collective)))) * TREE_NIC_S);
}
