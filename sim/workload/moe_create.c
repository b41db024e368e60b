// SPDX-License-Identifier: GPL-3.0-or-later
/* Making and freeing the plan: configuration to counts. What is refused here has been refused by config/experiment_split.h, with its place in the file. */
#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"
#include "config/experiment_split.h"
#include "workload/model.h"
#include "workload/moe_plan.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_TOKENS = 1 << 24,
    LARGEST_CHUNK_TOKENS = UINT16_MAX,
};

bool moe_has_phase(const struct experiment_traffic *traffic, enum moe_phase phase) {
    const bool has[MOE_PHASES] = {traffic->dispatch, traffic->combine, traffic->combine_backward,
                                  traffic->dispatch_backward};
    return has[phase];
}

static bool check_phases(const struct experiment_traffic *traffic, bool early_pacing, struct error *error) {
    if (!traffic->dispatch && !traffic->combine && !traffic->combine_backward && !traffic->dispatch_backward) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, "traffic has no phase");
    }
    if (early_pacing && !experiment_algorithm_needs[traffic->algorithm].grants) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_POLICIES,
                         "early pacing is known to algorithms direct and two_hop, not to %s",
                         experiment_algorithm_names[traffic->algorithm]);
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
    const uint32_t n_ranks = shape->groups ? shape->groups->n_members : shape->placement.n_ranks;
    const uint32_t group = shape->group_ranks;
    if (group == 0 || group > n_ranks || n_ranks % group != 0) {
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

/* Tags have a number for each domain. */
static bool check_domain_count(uint32_t domains, const char *of, struct error *error) {
    return domains <= MOE_TAG_LARGEST_DOMAINS || error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                                                           "%u domains of %s are too many", domains, of);
}

/* Groups by tables: domains are those of the group where it has equal parts of each, else (pxn) those of the cluster. */
static bool check_domains_of_tables(const struct moe_counts_shape *shape, bool by_domain, const char *algorithm,
                                    struct error *error) {
    if (!by_domain) {
        return check_domain_count(shape->placement.n_ranks / shape->placement.ranks_per_domain, "a cluster", error);
    }
    if (shape->groups->domain_gpus == 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "%s needs as many GPUs of every group in each of its NVLink domains", algorithm);
    }
    return check_domain_count(shape->group_ranks / shape->groups->domain_gpus, "a group", error);
}

/* Algorithms that hand copies on know ranks by domain and position. */
static bool check_domains(const struct moe_counts_shape *shape, const char *algorithm, struct error *error) {
    const uint32_t domain = shape->placement.ranks_per_domain, group = shape->group_ranks;
    if (group % domain != 0 && domain % group != 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "%s needs whole NVLink domains in an expert-parallel group or whole groups in a domain: "
                         "group of %u, domains of %u",
                         algorithm, group, domain);
    }
    return check_domain_count(group / domain, "a group", error);
}

static bool check_chunks(const struct moe_counts_shape *shape, struct error *error) {
    if (shape->chunk_tokens == 0 || shape->chunk_tokens > LARGEST_CHUNK_TOKENS) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "%u tokens a chunk are not within 1 and %u", shape->chunk_tokens,
                         (unsigned)LARGEST_CHUNK_TOKENS);
    }
    if (shape->tokens / shape->chunk_tokens >= MOE_TAG_LARGEST_CHUNKS) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, "%u chunks of a GPU are too many",
                         shape->tokens / shape->chunk_tokens);
    }
    return true;
}

/* What the algorithm needs; all copies of a source may have one destination. */
static bool check_algorithm(const struct experiment_model *model, const struct experiment_traffic *traffic,
                            const struct moe_counts_shape *shape, struct error *error) {
    const enum experiment_algorithm algorithm = traffic->algorithm;
    const struct experiment_algorithm_needs *needs = &experiment_algorithm_needs[algorithm];
    const uint64_t most = (uint64_t)shape->tokens * shape->top_k;
    for (enum moe_phase phase = 0; needs->byte_chunks && phase < MOE_PHASES; phase++) {
        const uint32_t unit_bytes = moe_unit_bytes(model, traffic, phase);
        const uint64_t copies = number_larger(traffic->chunk_bytes / unit_bytes, 1);
        if (moe_has_phase(traffic, phase) && most / copies >= MOE_TAG_LARGEST_CHUNKS) {
            return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                             "chunks of %llu bytes: a destination may get more than %d of them",
                             (unsigned long long)traffic->chunk_bytes, (int)MOE_TAG_LARGEST_CHUNKS);
        }
    }
    if (needs->channels && traffic->channels == 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, "%s needs a channel",
                         experiment_algorithm_names[algorithm]);
    }
    if (!needs->positions) {
        return true;
    }
    const char *name = experiment_algorithm_names[algorithm];
    return (shape->groups ? check_domains_of_tables(shape, needs->by_domain, name, error)
                          : check_domains(shape, name, error)) &&
           (!shape->two_hop || check_chunks(shape, error));
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
                                         .ranks = shape->groups ? shape->groups->n_members : shape->placement.n_ranks,
                                         .tokens = shape->tokens};
    if (traffic->gate == EXPERIMENT_GATE_NODE_LIMITED && !set_nodes(&parameters, shape, traffic, error)) {
        return NULL;
    }
    return gate_create(&parameters, error);
}

const struct moe_algorithm *moe_algorithm_of(enum experiment_algorithm algorithm) {
    static const struct moe_algorithm *const algorithms[EXPERIMENT_ALGORITHMS] = {
        &moe_direct, &moe_two_hop, &moe_pxn, &moe_nccl_p2p, &moe_pairwise, &moe_hybrid_ep};
    return algorithms[algorithm];
}

uint32_t moe_unit_bytes(const struct experiment_model *model, const struct experiment_traffic *traffic,
                        enum moe_phase phase) {
    const enum experiment_type types[MOE_PHASES] = {traffic->dispatch_type, traffic->combine_type,
                                                    traffic->combine_backward_type, traffic->dispatch_backward_type};
    const uint32_t header = moe_phase_outward(phase) ? moe_algorithm_of(traffic->algorithm)->header_bytes : 0;
    return model_token_bytes(types[phase], model->hidden) + header;
}

/* Forward phases always (byte counts are asked for them), backward ones where they are simulated. */
static void sum_phases(struct moe *moe) {
    const struct moe_algorithm *algorithm = moe->algorithm;
    const uint32_t n_ranks = moe->counts->shape.placement.n_ranks;
    for (enum moe_phase phase = 0; phase < MOE_PHASES; phase++) {
        if (moe_phase_backward(phase) && !moe->has_phase[phase]) {
            continue;
        }
        struct moe_totals *totals = memory_allocate(n_ranks, sizeof *totals);
        moe->totals[phase] = totals;
        if (!algorithm->mirrored || phase == MOE_PHASE_DISPATCH) {
            algorithm->sum(moe, phase, totals);
            continue;
        }
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            const struct moe_totals *out = &moe->totals[MOE_PHASE_DISPATCH][rank];
            totals[rank] = moe_phase_outward(phase) ? *out : moe_totals_mirror(out);
        }
    }
}

/* The routing map has a byte for each token and expert (a tensor of booleans: DeepEP, docs/Hybrid-EP_Implementation.md). */
static uint64_t counts_bytes(const struct moe *moe) {
    const struct moe_counts_shape *shape = &moe->counts->shape;
    return moe_gathers_map(moe) ? (uint64_t)shape->tokens * shape->experts
                                : experiment_split_counts_bytes(moe->counts->experts_per_rank);
}

static struct moe *assemble(const struct experiment_model *model, const struct experiment_traffic *traffic,
                            const struct moe_counts_shape *shape, const struct gate *gate, bool early_pacing) {
    struct moe *moe = memory_allocate(1, sizeof *moe);
    const uint32_t n_ranks = shape->placement.n_ranks;
    moe->counts = moe_counts_create(shape, gate);
    moe->counts->shape.placement.experts = NULL; // was borrowed
    moe->traffic = *traffic;
    moe->algorithm = moe_algorithm_of(traffic->algorithm);
    moe->early_pacing = early_pacing;
    moe->exchange_counts = traffic->exchange_counts && traffic->dispatch;
    moe->seed = shape->seed;
    for (enum moe_phase phase = 0; phase < MOE_PHASES; phase++) {
        moe->has_phase[phase] = moe_has_phase(traffic, phase);
        moe->unit_bytes[phase] = moe_unit_bytes(model, traffic, phase);
    }
    sum_phases(moe);
    moe->counts_bytes = counts_bytes(moe);
    moe->ranks = memory_allocate_aligned(n_ranks, sizeof *moe->ranks);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        memset(&moe->ranks[rank].times, 0xff, sizeof moe->ranks[rank].times); // TIME_NEVER until it has begun
    }
    moe->grant_words = ((shape->two_hop ? moe->counts->group_domains : shape->group_ranks) + 63) / 64;
    moe->grants = memory_allocate((size_t)n_ranks * moe->grant_words, sizeof *moe->grants);
    moe->state = moe->algorithm->create ? moe->algorithm->create(moe) : NULL;
    return moe;
}

/* A mistake that is of no line of a file is one of what the configuration asks of it. */
static void point_at_settings(const struct experiment_routing *routing, struct error *error) {
    const struct experiment_place *file = &routing->file_place, *layer = &routing->layer_place;
    if (!error || error->line > 0 || error->hint[0] != '\0' || file->line == 0 || routing->file[0] == '\0') {
        return;
    }
    if (layer->line > 0) {
        error_hint(error, "`gate.file` is set at %s:%u:%u, `gate.layer` at %s:%u:%u", file->file, file->line,
                   file->column, layer->file, layer->line, layer->column);
    } else {
        error_hint(error, "`gate.file` is set at %s:%u:%u", file->file, file->line, file->column);
    }
}

/* Groups by tables, and how many ranks one has. */
static bool make_groups(const struct experiment_traffic *traffic, struct moe_counts_shape *shape, struct error *error) {
    char problem[ERROR_MESSAGE_SIZE];
    const struct gpu_groups_wanted wanted = {.gpus = traffic->gpus,
                                             .n_gpus = shape->placement.n_ranks,
                                             .domain_gpus = shape->placement.ranks_per_domain,
                                             .group_gpus = traffic->expert_parallelism,
                                             .placement = traffic->group_placement,
                                             .seed = shape->seed};
    shape->groups = gpu_groups_create(&wanted, problem, sizeof problem);
    if (!shape->groups) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS, "%s", problem);
    }
    shape->group_ranks = shape->groups->group_gpus;
    return true;
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
        .two_hop = experiment_algorithm_by_domain(traffic->algorithm),
        .chunk_tokens = traffic->chunk_tokens,
        .seed = traffic->seed + seed,
    };
    if (!gpu_groups_plain(traffic) && !make_groups(traffic, shape, error)) {
        return NULL;
    }
    shape->strided = traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_STRIDED &&
                     shape->group_ranks > placement->ranks_per_domain && shape->group_ranks < placement->n_ranks;
    struct gate *gate = make_gate(model, traffic, shape, error);
    if (!gate) {
        point_at_settings(&traffic->routing, error);
        gpu_groups_free(shape->groups);
    }
    return gate;
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
    if (gate && check_split(&shape, error) && check_algorithm(&resolved, traffic, &shape, error)) {
        moe = assemble(&resolved, traffic, &shape, gate, early_pacing);
    } else if (gate) {
        gpu_groups_free(shape.groups);
    }
    gate_free(gate);
    return moe;
}

void moe_set_kernel(struct moe *moe, const struct kernel *kernel) {
    moe->kernel = *kernel;
}

void moe_free(struct moe *moe) {
    if (moe) {
        if (moe->algorithm->destroy) {
            moe->algorithm->destroy(moe->state);
        }
        moe_counts_free(moe->counts);
        for (int phase = 0; phase < MOE_PHASES; phase++) {
            free(moe->totals[phase]);
        }
        free(moe->ranks);
        free(moe->grants);
        free(moe);
    }
}
