// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_rail.h"

#include "base/memory.h"
#include "command/validate_seeds.h"
#include "results/summary.h"

#include <stdio.h>
#include <stdlib.h>

/* Order of the names of key `quantity`. */
enum quantity { QUANTITY_BUSBW, QUANTITY_KEPT, QUANTITY_LEAD };

static const char *const quantities[] = {"busbw", "kept", "lead", NULL};
static const char *const required[] = {"quantity", "gpus", "configuration", NULL};

static const struct key keys[] = {
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc = "busbw: of the whole nodes, in GB/s; kept: busbw beside the configuration's background ÷ busbw without it; "
            "lead: busbw less that of plain Ethernet, which is ECMP with DCQCN, in GB/s.",
     VALIDATE_KIND_FIELD(quantity)},
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024",
     .doc = "GPUs of a node in the publication, each with a NIC; one of them is simulated.", VALIDATE_KIND_FIELD(gpus)},
};

static const char *unit(const struct validate_row *row) {
    return row->parameters.quantity == QUANTITY_KEPT ? "× busbw alone" : "GB/s busbw";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    if (!validate_setup_read(setup, row, NULL, 0)) {
        return false;
    }
    if (row->experiment->traffic.pattern != EXPERIMENT_PATTERN_ALL_TO_ALL || row->experiment->topology.gpus_used != 1) {
        return validate_setup_refuse(setup, "a rail is an all_to_all among nodes of one GPU (gpus_used 1)");
    }
    if (row->parameters.quantity == QUANTITY_KEPT && row->experiment->n_backgrounds == 0) {
        return validate_setup_refuse(setup, "what is kept beside a background needs one");
    }
    return true;
}

/*
 * What a NIC sends is all that leaves its GPU's node for the others, so with N nodes of M GPUs, n = N × M, busbw = rate of the NIC × N ÷ (N - 1) × (n - 1) ÷ n.
 * The simulated all-to-all of N hosts has busbw = rate of the NIC.
 */
static double node_busbw(const struct validate_row *row, const struct fabric *fabric,
                         const struct measurement *measurement) {
    (void)fabric;
    struct summary *summary = summary_create(measurement);
    const double nodes = measurement->phases[0].participants, n = nodes * row->parameters.gpus;
    const double value = summary->phases[0].busbw / 1e9 * nodes / (nodes - 1) * (n - 1) / n;
    summary_free(summary);
    return value;
}

/* The other configuration that a row is compared with: without its background, or on plain Ethernet. */
static void turn_into_other(struct experiment *experiment, enum quantity quantity) {
    struct experiment_policy *policy = &experiment->policies[0];
    if (quantity == QUANTITY_KEPT) {
        experiment->n_backgrounds = 0;
        return;
    }
    snprintf(policy->path, sizeof(policy->path), "ecmp");
    snprintf(policy->congestion, sizeof(policy->congestion), "dcqcn");
    policy->early_pacing = false;
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    const enum quantity quantity = (enum quantity)row->parameters.quantity;
    if (!validate_seeds(row, run, node_busbw, error)) {
        return false;
    }
    if (quantity == QUANTITY_BUSBW) {
        return true;
    }
    const double own = run->simulated;
    struct experiment *experiment = memory_allocate(1, sizeof(*experiment));
    *experiment = *row->experiment;
    turn_into_other(experiment, quantity);
    struct validate_row other = *row;
    other.experiment = experiment;
    const bool good = validate_seeds(&other, run, node_busbw, error);
    run->simulated = quantity == QUANTITY_KEPT ? own / run->simulated : own - run->simulated;
    free(experiment);
    return good;
}

const struct validate_kind validate_rail_alltoall = {
    .name = "rail_alltoall",
    .doc = "bus bandwidth (logical) of an all-to-all over nodes, of which one rail is simulated, or how much of it is "
           "kept "
           "beside other traffic",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
