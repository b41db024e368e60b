// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_site.h"

#include "base/error_id.h"
#include "base/hash.h"
#include "base/memory.h"
#include "workload/model.h"
#include "workload/moe_plan.h"
#include "workload/placement_affinity.h"
#include "workload/placement_choose.h"

#include <stdlib.h>

static const uint64_t largest_picks = UINT64_C(1) << 28; /* 1 GB, and as much again for the index */

/* Where a group lies. */
static void lay_out(struct placement_layout *layout, const struct moe_counts *counts, uint32_t group) {
    const struct moe_counts_shape *shape = &counts->shape;
    uint32_t *gpu = memory_allocate(shape->group_ranks, sizeof *gpu);
    for (uint32_t local = 0; local < shape->group_ranks; local++) {
        gpu[local] = moe_counts_rank(counts, group, local);
    }
    placement_layout_init(layout, gpu, shape->group_ranks, shape->placement.ranks_per_domain);
    free(gpu);
}

static void find_ranks(struct placement_site *site, const struct moe_counts_shape *shape) {
    const uint32_t domain = shape->placement.ranks_per_domain, group = shape->group_ranks;
    struct moe_counts counts = {.shape = *shape, .domain_ranks = domain < group ? domain : group};
    counts.n_groups = moe_counts_participants(&counts) / group;
    site->global_rank = memory_allocate(group, sizeof *site->global_rank);
    for (uint32_t local = 0; local < group; local++) {
        const uint32_t rank = moe_counts_rank(&counts, 0, local);
        site->global_rank[local] = shape->groups ? shape->groups->place[rank] : rank;
    }
    lay_out(&site->layout, &counts, 0);
    site->groups_alike = true;
    for (uint32_t other = 1; other < counts.n_groups; other++) {
        struct placement_layout layout;
        lay_out(&layout, &counts, other);
        site->groups_alike = site->groups_alike && placement_layout_alike(&site->layout, &layout);
        placement_layout_fini(&layout);
    }
    if (shape->groups && site->groups_alike && site->shape.domain_ranks == site->shape.ranks &&
        site->layout.domains > 1) {
        site->shape.layout = &site->layout;
    }
}

bool placement_site_init(struct placement_site *site, const struct experiment *experiment,
                         const struct moe_placement *ranks, uint64_t seed, struct error *error) {
    struct moe_counts_shape shape;
    *site = (struct placement_site){.seed = seed, .traffic_seed = experiment->traffic.seed};
    if (!model_resolve(&experiment->model, &site->model, error)) {
        return false;
    }
    if (experiment->traffic.group_placement == EXPERIMENT_GROUP_PLACEMENT_RANDOM) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "traffic.group_placement is random: another one for every seed, for which no placement of "
                         "experts can be prepared");
    }
    site->shape = placement_choose_shape(&site->model, &experiment->traffic, &experiment->placement, ranks);
    site->shape.replicas = site->model.experts + experiment->placement.redundant_experts;
    if (site->shape.replicas % site->shape.ranks != 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "%u experts and %u redundant ones (placement.redundant_experts) cannot be divided over the "
                         "%u GPUs of an expert-parallel group",
                         site->model.experts, experiment->placement.redundant_experts, site->shape.ranks);
    }
    site->gate = moe_prepare(&site->model, &experiment->traffic, ranks, seed, &shape, error);
    if (!site->gate) {
        return false;
    }
    site->tokens = shape.tokens;
    site->algorithm = experiment->traffic.algorithm;
    site->even = experiment->placement.replica_choice == EXPERIMENT_REPLICA_EVEN;
    find_ranks(site, &shape);
    gpu_groups_free(shape.groups);
    return true;
}

void placement_site_fini(struct placement_site *site) {
    gate_free(site->gate);
    free(site->global_rank);
    placement_layout_fini(&site->layout);
    *site = (struct placement_site){0};
}

static struct placement_tokens *draw(const struct placement_site *site, bool history, const uint64_t *seeds,
                                     uint32_t batches, struct error *error) {
    const uint64_t picks = (uint64_t)batches * site->shape.ranks * site->tokens * site->model.top_k;
    if (picks > largest_picks) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                  "%u micro-batches of %u tokens a GPU are more choices than the %llu that are kept in memory: fewer "
                  "tokens_per_gpu or batches",
                  batches, site->tokens, (unsigned long long)largest_picks);
        return NULL;
    }
    const struct placement_tokens_draw wanted = {.gate = site->gate,
                                                 .global_rank = site->global_rank,
                                                 .batches = batches,
                                                 .sources = site->shape.ranks,
                                                 .tokens = site->tokens,
                                                 .top_k = site->model.top_k,
                                                 .experts = site->model.experts,
                                                 .history = history,
                                                 .seed = seeds};
    return placement_tokens_create(&wanted);
}

struct placement_tokens *placement_site_history(const struct placement_site *site, uint32_t batches,
                                                struct error *error) {
    uint64_t *seeds = memory_allocate(batches, sizeof *seeds);
    for (uint32_t batch = 0; batch < batches; batch++) {
        seeds[batch] = batch == 0 ? site->traffic_seed + site->seed : hash_mix(site->traffic_seed + site->seed + batch);
    }
    struct placement_tokens *tokens = draw(site, true, seeds, batches, error);
    free(seeds);
    return tokens;
}

struct placement_tokens *placement_site_runs(const struct placement_site *site, uint64_t first_seed, uint32_t batches,
                                             struct error *error) {
    uint64_t *seeds = memory_allocate(batches, sizeof *seeds);
    for (uint32_t batch = 0; batch < batches; batch++) {
        seeds[batch] = site->traffic_seed + first_seed + batch;
    }
    struct placement_tokens *tokens = draw(site, false, seeds, batches, error);
    free(seeds);
    return tokens;
}

struct placement *placement_site_rule(const struct placement_site *site, enum experiment_placement_kind kind,
                                      const struct placement_tokens *tokens) {
    const struct experiment_placement as = {.kind = kind};
    struct placement_shape shape = site->shape;
    const struct placement_history history = {.experts = tokens->experts,
                                              .top_k = tokens->top_k,
                                              .tokens = tokens->batches * tokens->sources * tokens->tokens,
                                              .picks = tokens->picks};
    if (!experiment_placement_learns(&as)) {
        shape.replicas = shape.experts;
        return shape.experts % shape.ranks == 0 ? placement_rule(kind, &shape, NULL) : NULL;
    }
    if (kind == EXPERIMENT_PLACEMENT_AFFINITY && shape.experts > PLACEMENT_AFFINITY_LARGEST_EXPERTS) {
        return NULL;
    }
    return placement_rule(kind, &shape, &history);
}
