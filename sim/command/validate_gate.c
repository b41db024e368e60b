// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_gate.h"

#include "command/plan.h"
#include "workload/moe_summary.h"

#include <stdio.h>

/* Order of the names of key `quantity`. */
enum quantity {
    QUANTITY_NODES,
    QUANTITY_RANKS,
    QUANTITY_RDMA_DISPATCH,
    QUANTITY_RDMA_COMBINE,
    QUANTITY_WIRE_DISPATCH,
    QUANTITY_WIRE_COMBINE,
    QUANTITY_NVL_DISPATCH,
    QUANTITY_NVL_COMBINE,
};

static const char *const quantities[] = {"nodes",        "ranks",         "rdma_dispatch",
                                         "rdma_combine", "wire_dispatch", "wire_combine",
                                         "nvl_dispatch", "nvl_combine",   NULL};
static const char *const required[] = {"nodes", "gpus", "quantity", "configuration", NULL};

static const struct key keys[] = {
    {"nodes", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "NVLink domains.", VALIDATE_KIND_FIELD(nodes)},
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", .doc = "GPUs used of a node.", VALIDATE_KIND_FIELD(gpus)},
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc = "nodes, ranks: distinct ones a token, the own included; rdma, wire, nvl: bytes a GPU of a phase as DeepEP "
            "counts them.",
     VALIDATE_KIND_FIELD(quantity)},
};

static const char *unit(const struct validate_row *row) {
    return row->parameters.quantity == QUANTITY_NODES   ? "nodes a token"
           : row->parameters.quantity == QUANTITY_RANKS ? "ranks a token"
                                                        : "MB a GPU";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    char own[2][VALIDATE_SETUP_OVERRIDE_SIZE];
    snprintf(own[0], sizeof(own[0]), "cluster.racks=%u", row->parameters.nodes);
    snprintf(own[1], sizeof(own[1]), "cluster.gpus_used=%u", row->parameters.gpus);
    if (!validate_setup_read(setup, row, own, 2)) {
        return false;
    }
    return row->experiment->traffic.pattern == EXPERIMENT_PATTERN_MOE ||
           validate_setup_refuse(setup, "only the traffic pattern moe has a gate");
}

static uint64_t bytes_of(const struct moe *moe, enum quantity quantity, uint32_t rank) {
    const bool combine = (quantity - QUANTITY_RDMA_DISPATCH) % 2 == 1;
    const struct moe_summary_logical logical =
        moe_summary_logical(moe, rank, combine ? MOE_SUMMARY_COMBINE : MOE_SUMMARY_DISPATCH);
    return quantity < QUANTITY_WIRE_DISPATCH  ? logical.domains_bytes
           : quantity < QUANTITY_NVL_DISPATCH ? logical.fabric_wire_bytes
                                              : logical.ranks_bytes;
}

/* Mean over all ranks. */
static double mean_of(const struct moe *moe, enum quantity quantity) {
    const struct moe_counts *counts = moe_plan_counts(moe);
    const uint32_t n_ranks = counts->shape.placement.n_ranks;
    double sum = 0;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        sum += quantity == QUANTITY_NODES   ? (double)counts->domains_sent[rank] / counts->shape.tokens
               : quantity == QUANTITY_RANKS ? (double)counts->ranks_received[rank] / counts->shape.tokens
                                            : (double)bytes_of(moe, quantity, rank) / 1e6;
    }
    return sum / n_ranks;
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    struct plan plan;
    if (!plan_init(&plan, row->experiment, false, row->experiment->seeds[0], error)) {
        return false;
    }
    run->simulated = mean_of(plan.moe, (enum quantity)row->parameters.quantity);
    plan_fini(&plan);
    return true;
}

const struct validate_kind validate_gate = {
    .name = "gate",
    .doc = "distinct destinations of a token, and bytes by the definitions of DeepEP",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
