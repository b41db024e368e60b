// SPDX-License-Identifier: GPL-3.0-or-later
/* Making and freeing the plan: configuration to counts. What is refused here has been refused by config/experiment_split.h, with its place in the file. */
#include "base/error_id.h"
#include "base/memory.h"
#include "config/experiment_split.h"
#include "workload/model.h"
#include "workload/moe_plan.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* DeepEP low-latency kernels put the source's index (int4) before each copy: 7168 + 224 + 16 = 7408 bytes (csrc/kernels/internode_ll.cu). */
    DIRECT_HEADER_BYTES = 16,
    LARGEST_TOKENS = 1 << 24,
    LARGEST_CHUNK_TOKENS = UINT16_MAX,
};

static bool check_phases(const struct experiment_traffic *traffic, bool early_pacing, struct error *error) {
    if (!traffic->dispatch && !traffic->combine) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "traffic has neither a dispatch nor a combine phase");
    }
    if (early_pacing && !(traffic->exchange_counts && traffic->dispatch)) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_POLICIES,
                         "early pacing needs a dispatch with exchange_counts: nothing else announces what will come");
    }
    if (traffic->tokens_per_gpu == 0 || traffic->tokens_per_gpu > LARGEST_TOKENS) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "%u tokens a GPU are not within 1 and %u", traffic->tokens_per_gpu, (unsigned)LARGEST_TOKENS);
    }
    return true;
}

static bool check_split(const struct moe_counts_shape *shape, struct error *error) {
    const uint32_t n_ranks = shape->placement.n_ranks, group = shape->group_ranks;
    if (group > n_ranks || n_ranks % group != 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "%u GPUs cannot be split into expert-parallel groups of %u", n_ranks, group);
    }
    const struct placement *experts = shape->placement.experts;
    REQUIRE(!experts || (experts->experts == shape->experts && experts->ranks == group),
            "%u experts placed on %u ranks, in a group of %u experts and %u ranks", experts->experts, experts->ranks,
            shape->experts, group);
    if (!experts && (shape->experts < group || shape->experts % group != 0)) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "%u experts cannot be spread evenly over an expert-parallel group of %u GPUs", shape->experts,
                         group);
    }
    if (shape->strided && group % shape->placement.ranks_per_domain != 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "strided groups are made of whole NVLink domains: group of %u, domains of %u", group,
                         shape->placement.ranks_per_domain);
    }
    return true;
}

static bool check_two_hop(const struct moe_counts_shape *shape, struct error *error) {
    if (shape->scattered) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "two_hop needs whole NVLink domains in a group: groups drawn at random can only be direct");
    }
    const uint32_t domain = shape->placement.ranks_per_domain, group = shape->group_ranks;
    if (group % domain != 0 && domain % group != 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "two_hop needs whole NVLink domains in an expert-parallel group or whole groups in a domain: "
                         "group of %u, domains of %u",
                         group, domain);
    }
    if (shape->chunk_tokens == 0 || shape->chunk_tokens > LARGEST_CHUNK_TOKENS) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "%u tokens a chunk are not within 1 and %u", shape->chunk_tokens,
                         (unsigned)LARGEST_CHUNK_TOKENS);
    }
    if (shape->tokens / shape->chunk_tokens >= MOE_TAG_LARGEST_CHUNKS || group / domain > MOE_TAG_LARGEST_DOMAINS) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "%u chunks of a GPU or %u domains of a group are too many",
                         shape->tokens / shape->chunk_tokens, group / domain);
    }
    return true;
}

/* Groups of the node-limited gate are nodes: the NVLink domains, or what node_gpus says. */
static bool set_nodes(struct gate_parameters *parameters, const struct moe_counts_shape *shape,
                      const struct experiment_traffic *traffic, struct error *error) {
    const uint32_t node = traffic->node_gpus ? traffic->node_gpus : shape->placement.ranks_per_domain;
    if (shape->group_ranks > node && shape->group_ranks % node != 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "an expert-parallel group of %u GPUs cannot be split into nodes of %u", shape->group_ranks,
                         node);
    }
    parameters->groups = shape->group_ranks > node ? shape->group_ranks / node : 1;
    parameters->groups_kept = traffic->nodes_kept < parameters->groups ? traffic->nodes_kept : parameters->groups;
    return true;
}

static struct gate *make_gate(const struct experiment_model *model, const struct experiment_traffic *traffic,
                              const struct moe_counts_shape *shape, struct error *error) {
    struct gate_parameters parameters = {.kind = traffic->gate,
                                         .experts = model->experts,
                                         .top_k = model->top_k,
                                         .groups = model->groups,
                                         .groups_kept = model->groups_kept,
                                         .zipf_exponent = traffic->zipf_exponent,
                                         .hot_expert_factor = traffic->hot_expert_factor,
                                         .hot_expert = traffic->hot_expert,
                                         .seed = traffic->popularity_seed ? traffic->popularity_seed : shape->seed,
                                         .routing = traffic->routing,
                                         .ranks = shape->placement.n_ranks,
                                         .tokens = shape->tokens};
    if (traffic->gate == EXPERIMENT_GATE_NODE_LIMITED && !set_nodes(&parameters, shape, traffic, error)) {
        return NULL;
    }
    return gate_create(&parameters, error);
}

uint32_t moe_unit_bytes(const struct experiment_model *model, const struct experiment_traffic *traffic, bool combine) {
    const uint32_t header = traffic->algorithm == EXPERIMENT_ALGORITHM_TWO_HOP ? 0 : DIRECT_HEADER_BYTES;
    return combine ? model_token_bytes(traffic->combine_type, model->hidden)
                   : model_token_bytes(traffic->dispatch_type, model->hidden) + header;
}

static struct moe *assemble(const struct experiment_model *model, const struct experiment_traffic *traffic,
                            const struct moe_counts_shape *shape, const struct gate *gate, bool early_pacing) {
    struct moe *moe = memory_allocate(1, sizeof *moe);
    const uint32_t n_ranks = shape->placement.n_ranks;
    moe->counts = moe_counts_create(shape, gate);
    moe->counts->shape.placement.experts = NULL; // was borrowed
    moe->totals = moe_totals_create(moe->counts);
    moe->traffic = *traffic;
    moe->early_pacing = early_pacing;
    moe->exchange_counts = traffic->exchange_counts && traffic->dispatch;
    moe->seed = shape->seed;
    moe->dispatch_unit_bytes = moe_unit_bytes(model, traffic, false);
    moe->combine_unit_bytes = moe_unit_bytes(model, traffic, true);
    moe->counts_bytes = (uint32_t)experiment_split_counts_bytes(moe->counts->experts_per_rank);
    moe->ranks = memory_allocate_aligned(n_ranks, sizeof *moe->ranks);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        memset(&moe->ranks[rank].times, 0xff, sizeof moe->ranks[rank].times); // TIME_NEVER until it has begun
    }
    moe->grant_words = ((shape->two_hop ? moe->counts->group_domains : shape->group_ranks) + 63) / 64;
    moe->grants = memory_allocate((size_t)n_ranks * moe->grant_words, sizeof *moe->grants);
    moe->missing = memory_allocate(moe->counts->n_chunks, sizeof *moe->missing);
    return moe;
}

struct gate *moe_prepare(const struct experiment_model *model, const struct experiment_traffic *traffic,
                         const struct moe_placement *placement, uint64_t seed, struct moe_counts_shape *shape,
                         struct error *error) {
    *shape = (struct moe_counts_shape){
        .placement = *placement,
        .group_ranks = traffic->expert_parallelism ? traffic->expert_parallelism : placement->n_ranks,
        .experts = model->experts,
        .top_k = model->top_k,
        .tokens = traffic->tokens_per_gpu,
        .two_hop = traffic->algorithm == EXPERIMENT_ALGORITHM_TWO_HOP,
        .chunk_tokens = traffic->chunk_tokens,
        .seed = traffic->seed + seed,
    };
    shape->scattered = traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_RANDOM;
    shape->strided = traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_STRIDED &&
                     shape->group_ranks > placement->ranks_per_domain && shape->group_ranks < placement->n_ranks;
    return make_gate(model, traffic, shape, error);
}

struct moe *moe_create(const struct experiment_model *model, const struct experiment_traffic *traffic,
                       const struct moe_placement *placement, bool early_pacing, uint64_t seed, struct error *error) {
    REQUIRE(placement->ranks_per_domain > 0 && placement->n_ranks % placement->ranks_per_domain == 0,
            "%u ranks in domains of %u", placement->n_ranks, placement->ranks_per_domain);
    struct experiment_model resolved;
    struct moe_counts_shape shape;
    struct moe *moe = NULL;
    if (!model_resolve(model, &resolved, error) || !check_phases(traffic, early_pacing, error)) {
        return NULL;
    }
    struct gate *gate = moe_prepare(&resolved, traffic, placement, seed, &shape, error);
    if (gate && check_split(&shape, error) && (!shape.two_hop || check_two_hop(&shape, error))) {
        moe = assemble(&resolved, traffic, &shape, gate, early_pacing);
    }
    gate_free(gate);
    return moe;
}

void moe_free(struct moe *moe) {
    if (moe) {
        moe_counts_free(moe->counts);
        free(moe->totals);
        free(moe->ranks);
        free(moe->grants);
        free(moe->missing);
        free(moe);
    }
}
