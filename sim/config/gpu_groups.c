// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/gpu_groups.h"

#include "base/hash.h"
#include "base/memory.h"
#include "config/gpu_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool names_all(const char *gpus) {
    return gpus[0] == '\0' || strcmp(gpus, "all") == 0;
}

bool gpu_groups_plain(const struct experiment_traffic *traffic) {
    return names_all(traffic->gpus) && (traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE ||
                                        traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_STRIDED);
}

uint64_t gpu_groups_count(const struct experiment_traffic *traffic, uint64_t n_gpus) {
    char problem[256];
    struct gpu_list list;
    if (names_all(traffic->gpus) || n_gpus == 0 || n_gpus > UINT32_MAX ||
        !gpu_list_read(&list, traffic->gpus, (uint32_t)n_gpus, problem, sizeof problem)) {
        return n_gpus;
    }
    const uint64_t count = list.n_gpus;
    gpu_list_fini(&list);
    return count;
}

/* An order drawn uniformly (Fisher-Yates). */
static void scatter(const struct gpu_list *list, uint64_t seed, uint32_t *gpu) {
    const uint64_t stream = hash_stream(seed, HASH_PURPOSE_SCATTER, 0, 0);
    for (uint32_t member = 0; member < list->n_gpus; member++) {
        const uint32_t other = hash_below(hash_draw(stream, member), member + 1);
        gpu[member] = gpu[other];
        gpu[other] = list->gpus[member];
    }
}

/* Domains while groups are packed into them. */
struct packing {
    uint32_t n_domains, domain_gpus;
    uint32_t *free_gpus; /* [n_domains] */
    uint32_t *next;      /* [n_domains] place within the domain that is looked at next */
    const bool *is_free; /* [n_gpus] */
};

/* The domain with the fewest free GPUs that are as many as are needed; else the one with most. Of equal ones the first. */
static uint32_t best_domain(const struct packing *packing, uint32_t needed) {
    uint32_t fitting = GPU_GROUPS_NONE, fullest = 0;
    for (uint32_t domain = 0; domain < packing->n_domains; domain++) {
        const uint32_t count = packing->free_gpus[domain];
        if (count >= needed && (fitting == GPU_GROUPS_NONE || count < packing->free_gpus[fitting])) {
            fitting = domain;
        }
        fullest = count > packing->free_gpus[fullest] ? domain : fullest;
    }
    return fitting != GPU_GROUPS_NONE ? fitting : fullest;
}

static uint32_t take_gpu(struct packing *packing, uint32_t domain) {
    uint32_t *next = &packing->next[domain];
    while (!packing->is_free[domain * packing->domain_gpus + *next]) {
        ++*next;
    }
    packing->free_gpus[domain]--;
    return domain * packing->domain_gpus + (*next)++;
}

static void fill_groups(struct packing *packing, const struct gpu_groups *groups) {
    for (uint32_t member = 0; member < groups->n_members;) {
        const uint32_t needed = groups->group_gpus - member % groups->group_gpus;
        const uint32_t domain = best_domain(packing, needed), count = packing->free_gpus[domain];
        for (uint32_t i = 0; i < count && i < needed; i++) {
            groups->gpu[member++] = take_gpu(packing, domain);
        }
    }
}

static void pack(const struct gpu_list *list, const struct gpu_groups_wanted *wanted, struct gpu_groups *groups) {
    bool *is_free = memory_allocate(wanted->n_gpus, sizeof *is_free);
    struct packing packing = {
        .n_domains = wanted->n_gpus / wanted->domain_gpus, .domain_gpus = wanted->domain_gpus, .is_free = is_free};
    packing.free_gpus = memory_allocate(packing.n_domains, sizeof *packing.free_gpus);
    packing.next = memory_allocate(packing.n_domains, sizeof *packing.next);
    for (uint32_t i = 0; i < list->n_gpus; i++) {
        is_free[list->gpus[i]] = true;
        packing.free_gpus[list->gpus[i] / wanted->domain_gpus]++;
    }
    fill_groups(&packing, groups);
    free(is_free);
    free(packing.free_gpus);
    free(packing.next);
}

/* Members of a group that follow each other in one domain, from a member on. */
static uint32_t run_of(const struct gpu_groups *groups, uint32_t member, uint32_t domain_gpus) {
    const uint32_t end = (member / groups->group_gpus + 1) * groups->group_gpus;
    uint32_t length = 1;
    while (member + length < end && groups->gpu[member + length] / domain_gpus == groups->gpu[member] / domain_gpus) {
        length++;
    }
    return length;
}

/* Are all groups made of equally long runs, each of another domain? */
static uint32_t equal_runs(const struct gpu_groups *groups, uint32_t domain_gpus) {
    const uint32_t wanted = run_of(groups, 0, domain_gpus);
    uint32_t *seen = memory_allocate(groups->n_gpus / domain_gpus, sizeof *seen); /* by which group, + 1 */
    bool equal = true;
    for (uint32_t member = 0; equal && member < groups->n_members; member += wanted) {
        const uint32_t group = member / groups->group_gpus + 1, domain = groups->gpu[member] / domain_gpus;
        equal = run_of(groups, member, domain_gpus) == wanted && seen[domain] != group;
        seen[domain] = group;
    }
    free(seen);
    return equal ? wanted : 0;
}

static struct gpu_groups *allocate(const struct gpu_list *list, const struct gpu_groups_wanted *wanted) {
    struct gpu_groups *groups = memory_allocate(1, sizeof *groups);
    *groups = (struct gpu_groups){.n_gpus = wanted->n_gpus,
                                  .n_members = list->n_gpus,
                                  .group_gpus = wanted->group_gpus ? wanted->group_gpus : list->n_gpus};
    groups->gpu = memory_allocate(list->n_gpus, sizeof *groups->gpu);
    groups->member = memory_allocate(wanted->n_gpus, sizeof *groups->member);
    groups->place = gpu_list_places(list, wanted->n_gpus);
    return groups;
}

static void fill(const struct gpu_list *list, const struct gpu_groups_wanted *wanted, struct gpu_groups *groups) {
    if (wanted->placement == EXPERIMENT_GROUP_PLACEMENT_RANDOM) {
        scatter(list, wanted->seed, groups->gpu);
    } else if (wanted->placement == EXPERIMENT_GROUP_PLACEMENT_PACKED) {
        pack(list, wanted, groups);
    } else {
        memcpy(groups->gpu, list->gpus, list->n_gpus * sizeof *groups->gpu);
    }
    memset(groups->member, 0xff, wanted->n_gpus * sizeof *groups->member); /* GPU_GROUPS_NONE */
    for (uint32_t member = 0; member < list->n_gpus; member++) {
        groups->member[groups->gpu[member]] = member;
    }
    groups->domain_gpus = equal_runs(groups, wanted->domain_gpus);
}

struct gpu_groups *gpu_groups_create(const struct gpu_groups_wanted *wanted, char *problem, size_t size) {
    struct gpu_groups *groups = NULL;
    struct gpu_list list;
    if (!gpu_list_read(&list, names_all(wanted->gpus) ? "all" : wanted->gpus, wanted->n_gpus, problem, size)) {
        return NULL;
    }
    if (wanted->group_gpus > 0 && list.n_gpus % wanted->group_gpus != 0) {
        snprintf(problem, size, "groups of %u GPUs do not divide the %u GPUs of the job", wanted->group_gpus,
                 list.n_gpus);
    } else {
        groups = allocate(&list, wanted);
        fill(&list, wanted, groups);
    }
    gpu_list_fini(&list);
    return groups;
}

void gpu_groups_free(struct gpu_groups *groups) {
    if (groups) {
        free(groups->gpu);
        free(groups->member);
        free(groups->place);
        free(groups);
    }
}
