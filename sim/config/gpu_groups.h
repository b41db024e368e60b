// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which GPUs of a cluster a job has, and which of them form an expert-parallel group: where that is more than arithmetic on ranks.
 *
 * A job has all GPUs, or those that traffic.gpus names: what a scheduler found free on racks that others use in part. A GPU is a place of the whole
 * cluster and keeps its NIC, its leaf and its NVLink domain, whoever is beside it. A group is a number of them; a GPU has a local number in its group.
 */
#ifndef MOEFABRIC_CONFIG_GPU_GROUPS_H
#define MOEFABRIC_CONFIG_GPU_GROUPS_H

#include "config/experiment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_GROUPS_NONE UINT32_MAX

/** The groups of a job. Owns its arrays; freed by gpu_groups_free. */
struct gpu_groups {
    uint32_t n_gpus;     /**< of the cluster */
    uint32_t n_members;  /**< GPUs that the job has */
    uint32_t group_gpus; /**< of a group; divides n_members */
    uint32_t *gpu;       /**< [n_members] of member group × group_gpus + local */
    uint32_t *member;    /**< [n_gpus] its inverse; GPU_GROUPS_NONE: not of the job */
    uint32_t
        *place; /**< [n_gpus] number in the order in which GPUs are named, whatever their group; or GPU_GROUPS_NONE */
    uint32_t
        domain_gpus; /**< how many GPUs every group has in each NVLink domain that it has any in, their local numbers one after the other; 0 = not so */
};

/** What they are made from. */
struct gpu_groups_wanted {
    const char *gpus;     /**< traffic.gpus */
    uint32_t n_gpus;      /**< of the cluster */
    uint32_t domain_gpus; /**< places of an NVLink domain; divides n_gpus */
    uint32_t group_gpus;  /**< 0 = all of the job */
    enum experiment_group_placement placement;
    uint64_t seed; /**< of the traffic: random */
};

/** Does a job have all GPUs, in groups that follow from ranks alone? Then there is no need of tables. */
bool gpu_groups_plain(const struct experiment_traffic *traffic);

/** How many GPUs a list leaves a job of those of the cluster: all of them if it names all, or cannot be read (which is told elsewhere). */
uint64_t gpu_groups_count(const struct experiment_traffic *traffic, uint64_t n_gpus);

/**
 * Makes the groups. consecutive: in the order in which GPUs are named. random: drawn from the seed. packed: as a scheduler that knows racks does it: a group goes
 * to the domain with the fewest free GPUs that hold it; where none does, it takes the domain with most free GPUs and goes on with the rest.
 * NULL, with a sentence in problem (cut at size), if the list cannot be read or groups do not divide it.
 */
struct gpu_groups *gpu_groups_create(const struct gpu_groups_wanted *wanted, char *problem, size_t size);

/** Frees them; NULL is allowed. */
void gpu_groups_free(struct gpu_groups *groups);

#endif
