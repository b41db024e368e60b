// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_choose.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "workload/model.h"
#include "workload/moe_plan.h"
#include "workload/placement_affinity.h"

#include <stdlib.h>

/* Groups by tables; NULL where they are arithmetic, or drawn for each seed, or are no groups (which a plan refuses). */
static struct gpu_groups *groups_of(const struct experiment_traffic *traffic, const struct moe_placement *ranks,
                                    uint32_t group) {
    char problem[ERROR_MESSAGE_SIZE];
    const struct gpu_groups_wanted wanted = {.gpus = traffic->gpus,
                                             .n_gpus = ranks->n_ranks,
                                             .domain_gpus = ranks->ranks_per_domain,
                                             .group_gpus = group,
                                             .placement = traffic->group_placement};
    const bool tables = !gpu_groups_plain(traffic) && traffic->group_placement != EXPERIMENT_GROUP_PLACEMENT_RANDOM;
    return tables ? gpu_groups_create(&wanted, problem, sizeof problem) : NULL;
}

/* GPUs of a group in each of its domains; all of them where it is not made of equal parts of domains. */
static uint32_t domain_ranks_of(const struct experiment_traffic *traffic, const struct moe_placement *ranks,
                                uint32_t group) {
    if (gpu_groups_plain(traffic)) {
        return group % ranks->ranks_per_domain == 0 ? ranks->ranks_per_domain : group;
    }
    struct gpu_groups *groups = groups_of(traffic, ranks, group);
    const uint32_t domain_ranks = groups && groups->domain_gpus ? groups->domain_gpus : group;
    gpu_groups_free(groups);
    return domain_ranks;
}

/* Where all groups lie on domains alike, but not on equal parts of them: how. Else false. */
static bool find_layout(struct placement_layout *layout, const struct experiment_traffic *traffic,
                        const struct moe_placement *ranks, const struct placement_shape *shape) {
    struct gpu_groups *groups = groups_of(traffic, ranks, shape->ranks);
    bool alike = groups != NULL && groups->domain_gpus == 0;
    if (alike) {
        placement_layout_init(layout, groups->gpu, shape->ranks, ranks->ranks_per_domain);
    }
    for (uint32_t first = shape->ranks; alike && first < groups->n_members; first += shape->ranks) {
        struct placement_layout other;
        placement_layout_init(&other, groups->gpu + first, shape->ranks, ranks->ranks_per_domain);
        alike = placement_layout_alike(layout, &other);
        placement_layout_fini(&other);
    }
    gpu_groups_free(groups);
    return alike;
}

struct placement_shape placement_choose_shape(const struct experiment_model *model,
                                              const struct experiment_traffic *traffic,
                                              const struct experiment_placement *given,
                                              const struct moe_placement *ranks) {
    const uint32_t n_ranks = (uint32_t)gpu_groups_count(traffic, ranks->n_ranks);
    const uint32_t group = traffic->expert_parallelism ? traffic->expert_parallelism : n_ranks;
    const uint32_t redundant = experiment_placement_learns(given) ? given->redundant_experts : 0;
    return (struct placement_shape){
        .experts = model->experts,
        .groups = model->groups,
        .replicas = model->experts + redundant,
        .ranks = group,
        .domain_ranks = domain_ranks_of(traffic, ranks, group),
    };
}

struct placement *placement_choose_layer(const struct placement_file *file, const struct placement_file_fit *fit) {
    uint32_t first;
    const uint32_t n = placement_file_layer(file, fit->layer, &first);
    uint32_t *expert_of = memory_allocate(n, sizeof *expert_of), *rank_of = memory_allocate(n, sizeof *rank_of);
    for (uint32_t i = 0; i < n; i++) {
        expert_of[i] = file->rows[first + i].expert;
        rank_of[i] = file->rows[first + i].rank;
    }
    struct placement *placement = placement_create(fit->experts, fit->ranks, n, expert_of, rank_of);
    free(expert_of);
    free(rank_of);
    return placement;
}

/* The file was read before, for its mistakes; it may have been changed since. */
static struct placement *from_file(const struct experiment_placement *given, const struct placement_shape *shape,
                                   struct error *error) {
    const struct placement_file_fit fit = {.layer = given->layer, .experts = shape->experts, .ranks = shape->ranks};
    struct error_list errors = {0};
    struct placement_file file = {0};
    struct placement *placement = NULL;
    if (placement_file_read(given->path, &file, &errors) && placement_file_check(&file, &fit, &errors)) {
        placement = placement_choose_layer(&file, &fit);
    } else {
        *error = errors.errors[0];
    }
    placement_file_fini(&file);
    return placement;
}

/* What plans and rules take for granted. */
static bool check_even(const struct placement_shape *shape, enum experiment_placement_kind kind, struct error *error) {
    if (shape->replicas % shape->ranks != 0) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "%u experts, redundant ones included, cannot be spread evenly over an expert-parallel group "
                         "of %u GPUs",
                         shape->replicas, shape->ranks);
    }
    if (kind == EXPERIMENT_PLACEMENT_AFFINITY && shape->experts > PLACEMENT_AFFINITY_LARGEST_EXPERTS) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                         "placement affinity knows up to %d experts, not %u", PLACEMENT_AFFINITY_LARGEST_EXPERTS,
                         shape->experts);
    }
    return true;
}

static struct placement *learn(const struct experiment *experiment, const struct experiment_model *model,
                               const struct moe_placement *ranks, const struct placement_shape *shape, uint64_t seed,
                               struct error *error) {
    struct moe_counts_shape counts;
    struct gate *gate = moe_prepare(model, &experiment->traffic, ranks, seed, &counts, error);
    if (!gate) {
        return NULL;
    }
    struct placement_history *history = placement_history_draw(
        gate, model->experts, model->top_k, (uint32_t)gpu_groups_count(&experiment->traffic, ranks->n_ranks),
        experiment->placement.history_tokens, counts.seed);
    struct placement *placement = placement_rule(experiment->placement.kind, shape, history);
    placement_history_free(history);
    gate_free(gate);
    gpu_groups_free(counts.groups);
    return placement;
}

bool placement_choose(const struct experiment *experiment, const struct moe_placement *ranks, uint64_t seed,
                      struct placement **placement, struct error *error) {
    const struct experiment_placement *given = &experiment->placement;
    struct experiment_model model;
    *placement = NULL;
    if (given->kind == EXPERIMENT_PLACEMENT_CONTIGUOUS) {
        return true;
    }
    if (!model_resolve(&experiment->model, &model, error)) {
        return false;
    }
    struct placement_shape shape = placement_choose_shape(&model, &experiment->traffic, given, ranks);
    struct placement_layout layout = {0};
    if (find_layout(&layout, &experiment->traffic, ranks, &shape)) {
        shape.layout = &layout;
    }
    if (given->kind == EXPERIMENT_PLACEMENT_FILE) {
        *placement = from_file(given, &shape, error);
    } else if (check_even(&shape, given->kind, error)) {
        *placement = experiment_placement_learns(given) ? learn(experiment, &model, ranks, &shape, seed, error)
                                                        : placement_rule(given->kind, &shape, NULL);
    }
    placement_layout_fini(&layout);
    return *placement != NULL;
}
