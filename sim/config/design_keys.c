// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/design_keys.h"

#include "config/experiment.h"

#define FIELD(member)                                                                                                  \
    .offset = offsetof(struct experiment_design, member), .size = sizeof(((struct experiment_design *)0)->member)

static const char *const leaves[] = {"as_topology", "shared", "rail", "rack_rail", NULL};

const struct key design_keys[DESIGN_KEYS] = {
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "0", "1048576", "0",
     .doc = "GPUs that the whole cluster must have, in whole racks of `gpus_used` each; 0 = those of the topology. "
            "Where `cluster.racks` is given, so many of its racks are simulated; else all.",
     FIELD(gpus)},
    {"nic_rate", KEY_QUANTITY, QUANTITY_RATE, "0", "100 Tb/s", "0",
     .doc = "Of a GPU, all planes together; 0 = as in the topology. Switches keep their capacity and have as many "
            "ports as it gives at the rate of a plane: 51.2 Tb/s are 64 × 800, 128 × 400 or 256 × 200 Gb/s (NVIDIA "
            "Spectrum-4).",
     FIELD(nic_rate_bits_per_s)},
    {"planes", KEY_QUANTITY, QUANTITY_COUNT, "0", "8", "0",
     .doc = "Fabrics side by side, each with its share of the NIC's rate; 0 = as in the topology.", FIELD(planes)},
    {"oversubscription", KEY_REAL, QUANTITY_REAL, "0", "64", "0",
     .doc = "Downlinks ÷ uplinks of a leaf, at most; 0 = not asked for: 1 where the fabric is worked out. The tiers "
            "above have none.",
     FIELD(oversubscription)},
    {"tiers", KEY_QUANTITY, QUANTITY_COUNT, "0", "3", "0",
     .doc = "Tiers of switches: 1 is one leaf a plane, 2 leaves and spines, 3 pods joined by super-spines; 0 = the "
            "fewest that reach all GPUs.",
     FIELD(tiers)},
    {"leaves", KEY_CHOICE, .fallback = "as_topology", .names = leaves,
     .doc = "Who shares a leaf. shared: consecutive GPUs, whatever their rail. rail: GPUs of one rail. rack_rail: the "
            "same, and all GPUs of a rack's rail are on one leaf. as_topology: shared or rail, as the topology's "
            "wiring is.",
     FIELD(leaves)},
    {"most_ports", KEY_QUANTITY, QUANTITY_COUNT, "1", "65535", "256",
     .doc =
         "Ports that a switch's capacity is split into at most (NVIDIA Spectrum-4: 256 × 200 Gb/s; a fabric of 512 × "
         "100 Gb/s is published in arXiv:2605.04333).",
     FIELD(most_ports)},
};
