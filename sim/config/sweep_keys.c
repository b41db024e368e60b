// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/sweep_keys.h"

#include "config/experiment.h"

#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)

const struct key sweep_keys[SWEEP_KEYS] = {
    {"grid", KEY_AXES,
     .doc = "Every combination of the values of these keys. A key is named with its section, in one piece: "
            "`traffic.tokens_per_gpu: [256, 1024]`, `topology.nic.rate: {from: 100 Gb/s, to: 800 Gb/s, factor: 2}`, "
            "`policies: [ecmp+dcqcn, adaptive+dcqcn]`. The last key changes fastest.",
     FIELD(experiment_sweep, n_points)},
    {"zip", KEY_AXES,
     .doc = "Keys whose values go together, first with first, second with second: as many values for each. Combined "
            "with everything that `grid` and `list` give.",
     FIELD(experiment_sweep, n_points)},
    {"list", KEY_POINTS,
     .doc = "Settings one by one, each a mapping of keys to values; combined with everything that `grid` and `zip` "
            "give.",
     FIELD(experiment_sweep, n_points)},
    {"seeds", KEY_NUMBERS, .doc = "Every point is run with these seeds, in place of `seeds`; n stands for 1 to n.",
     FIELD(experiment_sweep, seeds), .count_offset = offsetof(struct experiment_sweep, n_seeds)},
    {"limit", KEY_QUANTITY, QUANTITY_COUNT, "1", "1000000", "10000",
     .doc = "More points than so many are refused: a digit too many is noticed before days are spent on it.",
     FIELD(experiment_sweep, limit)},
};
