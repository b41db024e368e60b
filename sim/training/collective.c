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

static double rings_s(const struct collective *collective, double bytes) {
    const double n = collective->gpus, in_domain = collective->in_domain, domains = domains_of(collective);
    const double passed = bytes * (n - 1) / n;
    const double nvlink_s = in_domain > 1 ? passed / collective->nvlink_bytes_per_s : 0;
    const double nic_s = domains > 1 ? passed / in_domain / collective->nic_bytes_per_s : 0;
    const double crossings = domains > 1 ? domains : 0;
    return fmax(nvlink_s, nic_s) + (n - 1 - crossings > 0 ? n - 1 - crossings : 0) * RING_NVLINK_S +
           fmin(crossings, n - 1) * RING_NIC_S;
}

/* Within a domain. */
static double domain_s(const struct collective *collective, double bytes) {
    const double m = collective->in_domain, share = reduces_in_nvlink(collective) ? SWITCH_SHARE : 1;
    if (m <= 1) {
        return 0;
    }
    return (m - 1) / m * bytes / (collective->nvlink_bytes_per_s * share) +
           (reduces_in_nvlink(collective) ? SWITCH_S : (m - 1) * RING_NVLINK_S);
}

/* Between domains, of what a GPU has after its own. Switches that reduce take no steps from GPU to GPU. */
static double between_s(const struct collective *collective, double bytes) {
    const double k = domains_of(collective);
    if (k <= 1) {
        return 0;
    }
    const double steps = collective->algorithm == EXPERIMENT_COLLECTIVE_SHARP ? 1 : k - 1;
    return (k - 1) / k * bytes / collective->in_domain / collective->nic_bytes_per_s + steps * RING_NIC_S;
}

double collective_scatter_s(const struct collective *collective, double bytes) {
    if (collective->gpus <= 1 || bytes <= 0) {
        return 0;
    }
    return collective->algorithm == EXPERIMENT_COLLECTIVE_RINGS
               ? rings_s(collective, bytes)
               : domain_s(collective, bytes) + between_s(collective, bytes);
}

double collective_small_s(const struct collective *collective) {
    return 2 * (ceil(log2(fmax(1, collective->in_domain))) * TREE_NVLINK_S +
                ceil(log2(fmax(1, domains_of(collective)))) * TREE_NIC_S);
}
