// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_eplb.h"

#include "base/memory.h"
#include "workload/placement.h"
#include "workload/placement_eplb.h"

#include <stdlib.h>

/* What is compared; order of the names of key `quantity`. */
enum quantity { QUANTITY_MAX_OVER_MEAN, QUANTITY_GPU_LOAD, QUANTITY_NODE_LOAD };

static const char *const quantities[] = {"max_over_mean", "gpu_load", "node_load", NULL};
static const char *const required[] = {"loads", "replicas", "groups", "nodes", "gpus", "quantity", NULL};

static const struct key keys[] = {
    {"loads", KEY_NUMBERS, .doc = "Of expert 0, 1, ….", VALIDATE_KIND_FIELD(loads),
     .count_offset = offsetof(struct validate_row, parameters.n_loads)},
    {"replicas", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "Of all experts together.",
     VALIDATE_KIND_FIELD(replicas)},
    {"groups", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", .doc = "Of experts.", VALIDATE_KIND_FIELD(groups)},
    {"nodes", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "That the GPUs are divided into.",
     VALIDATE_KIND_FIELD(nodes)},
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "Of all nodes.", VALIDATE_KIND_FIELD(gpus)},
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc = "max_over_mean of the loads of GPUs; gpu_load and node_load: of number `index`.",
     VALIDATE_KIND_FIELD(quantity)},
    {"index", KEY_QUANTITY, QUANTITY_COUNT, "0", "65535", .doc = "gpu_load, node_load: which.",
     VALIDATE_KIND_FIELD(index)},
};

static const char *unit(const struct validate_row *row) {
    return row->parameters.quantity == QUANTITY_MAX_OVER_MEAN ? "× mean" : "tokens";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    const struct validate_row_parameters *given = &row->parameters;
    const uint32_t experts = given->n_loads;
    if (experts == 0 || experts % given->groups != 0 || given->gpus % given->nodes != 0) {
        return validate_setup_refuse(setup, "%u experts in %u groups or %u GPUs in %u nodes do not come out even",
                                     experts, given->groups, given->gpus, given->nodes);
    }
    if (given->replicas < experts || given->replicas % given->gpus != 0) {
        return validate_setup_refuse(setup, "%u replicas are not a multiple of %u GPUs, or fewer than %u experts",
                                     given->replicas, given->gpus, experts);
    }
    if (given->index >= (given->quantity == QUANTITY_NODE_LOAD ? given->nodes : given->gpus)) {
        return validate_setup_refuse(setup, "number %u does not exist", given->index);
    }
    return true;
}

static double figure(const struct validate_row_parameters *given, const double *rank_load) {
    const uint32_t size = given->gpus / given->nodes;
    double sum = 0;
    switch ((enum quantity)given->quantity) {
    case QUANTITY_MAX_OVER_MEAN:
        return placement_imbalance(rank_load, given->gpus);
    case QUANTITY_GPU_LOAD:
        return rank_load[given->index];
    default:
        for (uint32_t gpu = 0; gpu < size; gpu++) {
            sum += rank_load[given->index * size + gpu];
        }
        return sum;
    }
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    (void)error;
    const struct validate_row_parameters *given = &row->parameters;
    const struct placement_eplb_shape shape = {.experts = given->n_loads,
                                               .replicas = given->replicas,
                                               .groups = given->groups,
                                               .nodes = given->nodes,
                                               .ranks = given->gpus};
    double *load = memory_allocate(shape.experts, sizeof *load);
    double *rank_load = memory_allocate(shape.ranks, sizeof *rank_load);
    uint32_t *expert_of_slot = memory_allocate(shape.replicas, sizeof *expert_of_slot);
    for (uint32_t expert = 0; expert < shape.experts; expert++) {
        load[expert] = (double)given->loads[expert];
    }
    placement_eplb(load, &shape, expert_of_slot);
    struct placement *placement = placement_create_slots(shape.experts, shape.ranks, shape.replicas, expert_of_slot);
    placement_spread_load(placement, load, rank_load);
    run->simulated = figure(given, rank_load);
    placement_free(placement);
    free(load);
    free(rank_load);
    free(expert_of_slot);
    return true;
}

const struct validate_kind validate_eplb = {
    .name = "eplb",
    .doc = "loads of GPUs after EPLB has placed and replicated experts",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
