// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/gate_keys.h"

#include "config/experiment.h"

#define FIELD(member)                                                                                                  \
    .offset = offsetof(struct experiment_routing, member), .size = sizeof(((struct experiment_routing *)0)->member)

const struct key gate_keys[GATE_KEYS] = {
    {"file", KEY_TEXT,
     .doc = "measured: how often each expert is picked, by layer: CSV `layer,expert,DOMAIN…` (shares of tokens or "
            "counts), or counts "
            "[layer, expert] or [step, layer, expert] in NumPy .npy or HDF5 (.h5, .hdf5). trace: what each token "
            "picked, [token, k] or "
            "[token, layer, k], in .npy or HDF5. Looked up beside the configuration.",
     FIELD(file)},
    {"dataset", KEY_TEXT, .doc = "HDF5 files: the dataset; default: the only one of the file.", FIELD(dataset)},
    {"layer", KEY_QUANTITY, QUANTITY_COUNT, "0", "65535", "0",
     .doc = "measured, trace: the layer, as the CSV numbers it (tensors: from 0). zipf, dirichlet: each layer has "
            "popularities of its own.",
     FIELD(layer)},
    {"step", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777215", "0",
     .doc = "measured, with steps: the step of the first micro-batch; the next ones take the steps after it.",
     FIELD(step)},
    {"domain", KEY_TEXT,
     .doc = "measured: the column of a CSV; default: the first. each: sources take the columns after the first in turn "
            "(domain_ranks).",
     FIELD(domain)},
    {"alpha", KEY_REAL, QUANTITY_REAL, "0.01", "1000000", "1.0",
     .doc = "dirichlet: popularities are drawn from a Dirichlet law with this parameter for every expert: the smaller, "
            "the more uneven "
            "(1: every division equally likely).",
     FIELD(alpha)},
    {"domains", KEY_QUANTITY, QUANTITY_COUNT, "1", "256", "1",
     .doc = "zipf, dirichlet: kinds of text, each of which prefers experts of its own; sources take them in turn.",
     FIELD(domains)},
    {"domain_ranks", KEY_QUANTITY, QUANTITY_COUNT, "1", "16777215", "1",
     .doc = "Consecutive ranks whose tokens are of one domain.", FIELD(domain_ranks)},
    {"domain_strength", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.5",
     .doc = "zipf, dirichlet with domains: share of the domain's own popularities in what its tokens follow; the rest "
            "is common to all (our "
            "choice).",
     FIELD(domain_strength)},
    {"micro_batches", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "1",
     .doc = "zipf, dirichlet, measured with steps: the tokens of a rank are so many micro-batches one after the other, "
            "each with its own "
            "popularities.",
     FIELD(micro_batches)},
    {"persistence", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.9",
     .doc = "zipf, dirichlet with micro_batches: probability that a micro-batch keeps the popularities of the one "
            "before it; else they are "
            "drawn anew, for all ranks alike: bursts of 1 / (1 - persistence) micro-batches on average (our choice).",
     FIELD(persistence)},
    {"capacity_factor", KEY_REAL, QUANTITY_REAL, "0", "65536", "0",
     .doc = "An expert takes ceil(capacity_factor × tokens_per_gpu × top_k / experts) tokens of a rank, first come, "
            "first served; the rest is "
            "dropped and counted (GShard, arXiv:2006.16668; Megatron-Core moe_expert_capacity_factor). 0 = dropless.",
     FIELD(capacity_factor)},
};
