// SPDX-License-Identifier: GPL-3.0-or-later
#include "golden.h"

#include "sample.h"

enum { POLICIES = 5, SEEDS = 3 };

struct comparison *golden_comparison(void) {
    static const char *const names[POLICIES] = {"ecmp+dcqcn", "adaptive+dcqcn", "adaptive+none", "adaptive+spectrum_x",
                                                "adaptive+spectrum_x+early_pacing"};
    struct comparison *comparison = comparison_create(POLICIES, names, SEEDS);
    for (uint32_t policy = 0; policy < POLICIES; policy++) {
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            struct measurement *measurement = sample_measurement(names[policy], seed + 1, policy + seed + 1, false);
            comparison_set(comparison, policy, seed, summary_create(measurement));
            measurement_free(measurement);
        }
    }
    return comparison;
}
