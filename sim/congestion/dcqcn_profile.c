// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/rate.h"
#include "congestion/dcqcn.h"

#include <stddef.h>
#include <string.h>

#define MICROSECOND_PS UINT64_C(1000000)
#define MEGABIT_PER_S UINT64_C(1000000)
#define REFERENCE_BITS_PER_S UINT64_C(25000000000) /* the NIC that the steps of `mellanox` are meant for */

enum { FXP20_ONE = 1 << 20 };

struct profile {
    const char *name;
    uint64_t notification_interval_ps;
    struct dcqcn_parameters parameters; /* steps of a 25 Gb/s NIC */
    uint32_t additive_divisor;          /* steps are line / this; 0 = those above */
};

/* Sources: dcqcn.h. */
static const struct profile profiles[] = {
    {
        .name = "paper",
        .notification_interval_ps = 50 * MICROSECOND_PS,
        .parameters =
            {
                .gain_fxp20 = FXP20_ONE / 256,
                .alpha_period_ps = 55 * MICROSECOND_PS,
                .decrease_period_ps = 50 * MICROSECOND_PS,
                .increase_period_ps = 55 * MICROSECOND_PS,
                .fast_recovery_stages = 5,
                .minimum_bits_per_s = 1,
                .first_rate_fxp20 = FXP20_ONE,
                .clamp_target = true,
            },
        .additive_divisor = 20,
    },
    {
        .name = "mellanox",
        .notification_interval_ps = 4 * MICROSECOND_PS,
        .parameters =
            {
                .gain_fxp20 = FXP20_ONE / 256,
                .alpha_period_ps = MICROSECOND_PS,
                .decrease_period_ps = 4 * MICROSECOND_PS,
                .increase_period_ps = 300 * MICROSECOND_PS,
                .fast_recovery_stages = 1,
                .additive_bits_per_s = 5 * MEGABIT_PER_S,
                .hyper_bits_per_s = 50 * MEGABIT_PER_S,
                .minimum_bits_per_s = 100 * MEGABIT_PER_S,
                .first_rate_fxp20 = FXP20_ONE,
                .clamp_target = false,
            },
    },
    {
        .name = "firmware",
        .notification_interval_ps = 2 * MICROSECOND_PS,
        .parameters =
            {
                .gain_fxp20 = 5 * (FXP20_ONE / 1024),
                .alpha_period_ps = MICROSECOND_PS,
                .decrease_period_ps = 4 * MICROSECOND_PS,
                .increase_period_ps = 300 * MICROSECOND_PS,
                .fast_recovery_stages = 1,
                .additive_bits_per_s = 5 * MEGABIT_PER_S,
                .hyper_bits_per_s = 50 * MEGABIT_PER_S,
                .minimum_bits_per_s = MEGABIT_PER_S,
                .first_rate_fxp20 = FXP20_ONE,
                .clamp_target = false,
            },
    },
};

static const struct profile *profile_find(const char *name) {
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        if (strcmp(profiles[i].name, name) == 0) {
            return &profiles[i];
        }
    }
    return NULL;
}

static uint64_t scaled(uint64_t step_bits_per_s, uint64_t line_bits_per_s) {
    return (uint64_t)((rate_wide)step_bits_per_s * line_bits_per_s / REFERENCE_BITS_PER_S);
}

bool dcqcn_profile(const char *name, uint64_t line_bits_per_s, bool scale_steps, struct dcqcn_parameters *parameters,
                   uint64_t *notification_interval_ps) {
    const struct profile *profile = profile_find(name);
    if (profile == NULL) {
        return false;
    }
    *parameters = profile->parameters;
    *notification_interval_ps = profile->notification_interval_ps;
    if (profile->additive_divisor != 0) {
        parameters->additive_bits_per_s = line_bits_per_s / profile->additive_divisor;
        parameters->hyper_bits_per_s = parameters->additive_bits_per_s;
    } else if (scale_steps) {
        parameters->additive_bits_per_s = scaled(parameters->additive_bits_per_s, line_bits_per_s);
        parameters->hyper_bits_per_s = scaled(parameters->hyper_bits_per_s, line_bits_per_s);
    }
    return true;
}
