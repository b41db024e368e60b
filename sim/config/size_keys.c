// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/size_keys.h"

#include "config/experiment.h"

#define FIELD(member)                                                                                                  \
    .offset = offsetof(struct experiment_size, member), .size = sizeof(((struct experiment_size *)0)->member)

#define TARGET " One target is given. 0 = not asked."
#define LIMIT " 0 = no limit."
#define SPACE                                                                                                          \
    "The design space, as in section `sweep`: keys of section `design` are what it is for, others may be varied too "  \
    "(`traffic.expert_parallelism`, `cluster.gpus_used`, `policies`, `topology`). "

const struct key size_keys[SIZE_KEYS] = {
    {"step_time", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "Target: a training step takes at most so long (section `training`)." TARGET, FIELD(step_time_ps)},
    {"time_to_train", KEY_QUANTITY, QUANTITY_TIME, "0 s", "18000000 s", "0 s",
     .doc = "Target: the run takes at most so long, its evaluations included (`training.steps`)." TARGET,
     FIELD(time_to_train_ps)},
    {"tokens_per_s", KEY_REAL, QUANTITY_REAL, "0", "1e15", "0",
     .doc = "Target: tokens that are trained in a second by all GPUs, at least." TARGET, FIELD(tokens_per_s)},
    {"all_to_all_p99", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "Target: 99 % of the GPUs have finished all phases of the traffic after so long (`rank_time.p99`)." TARGET,
     FIELD(all_to_all_p99_ps)},
    {"tokens_per_s_gpu", KEY_REAL, QUANTITY_REAL, "0", "1e9", "0",
     .doc = "Target: tokens that a GPU decodes in a second, at least (section `decode`), where output_token_time is "
            "kept." TARGET,
     FIELD(tokens_per_s_gpu)},
    {"output_token_time", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "Decoding: most that a sequence waits from one token to the next." LIMIT, FIELD(output_token_time_ps)},
    {"power", KEY_QUANTITY, QUANTITY_POWER, NULL, "10000 MW", "0 W",
     .doc = "Most that racks and network may draw, maximum figures added up." LIMIT, FIELD(power_watts)},
    {"racks", KEY_QUANTITY, QUANTITY_COUNT, "0", "65536", "0", .doc = "Most racks (NVLink domains)." LIMIT,
     FIELD(racks)},
    {"budget", KEY_REAL, QUANTITY_REAL, "0", "1e15", "0",
     .doc = "Most that parts may cost, by the file `prices` and in its currency." LIMIT, FIELD(budget)},
    {"memory", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.9",
     .doc = "Share of a GPU's memory that weights, gradients, optimiser and activations may fill (training.recompute, "
            "training.expert_buffers); the rest is for the framework and buffers of exchanges (estimate).",
     FIELD(memory_share)},
    {"rack_power", KEY_QUANTITY, QUANTITY_POWER, NULL, "1000 MW", "0 W",
     .doc = "Of a rack with its GPUs, CPUs and NVLink: as part of all power. 0 = not known: the network alone counts.",
     FIELD(rack_power_watts)},
    {"prices", KEY_TEXT,
     .doc = "A file of prices (topologies/README.md), beside the configuration. No price is built in.", FIELD(prices)},
    {"model_error", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.163",
     .doc = "How far predictions may be off: both ends of an interval are moved out by so much. 16.3 % is the largest "
            "error of a predicted time to train of models beyond 400 billion parameters (row V13.405b.gb200 of "
            "`moefabric validate`, configs/validation/time-to-train.yaml). Models of 8 to 20 billion on hundreds of "
            "GPUs have been missed by up to 51 % (V16.8b.512, training-steps.yaml): give that for such.",
     FIELD(model_error)},
    {"fluid_error", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.1",
     .doc =
         "A design goes on to the packets if it may be among the best, were the fluid model wrong by so much: 10 % is "
         "what tests hold it to where loads are skewed (sim/fluid/README.md).",
     FIELD(fluid_error)},
    {"finalists", KEY_QUANTITY, QUANTITY_COUNT, "0", "10000", "8",
     .doc = "Designs that are simulated packet by packet, at most; 0 = none: the fluid model decides.",
     FIELD(finalists)},
    {"grid", KEY_AXES, .doc = SPACE "Every combination.", FIELD(n_points)},
    {"zip", KEY_AXES, .doc = SPACE "Values go together, first with first.", FIELD(n_points)},
    {"list", KEY_POINTS, .doc = SPACE "Designs one by one.", FIELD(n_points)},
    {"seeds", KEY_NUMBERS,
     .doc = "Finalists are simulated with these seeds, in place of `seeds`; n stands for 1 to n. Five and more give "
            "confidence intervals, fewer the lowest and highest.",
     FIELD(seeds), .count_offset = offsetof(struct experiment_size, n_seeds)},
    {"limit", KEY_QUANTITY, QUANTITY_COUNT, "1", "1000000", "10000", .doc = "More designs than so many are refused.",
     FIELD(limit)},
};
