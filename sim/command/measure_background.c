// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/measure_background.h"

#include "base/rate.h"

#include <stdio.h>

static uint64_t known(uint64_t time_ps) {
    return time_ps == TIME_NEVER ? 0 : time_ps;
}

void measure_background_fill(struct measurement *measurement, const struct plan *plan,
                             const struct experiment *experiment, uint32_t first) {
    for (uint32_t item = 0; item < experiment->n_backgrounds; item++) {
        struct measurement_phase *phase = &measurement->phases[first + item];
        snprintf(phase->name, sizeof(phase->name), "%s", experiment->backgrounds[item].name);
        phase->kind = MEASUREMENT_PHASE_BACKGROUND;
        phase->participants = background_participants(plan->background, item);
        for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
            const struct background_times times = background_times(plan->background, item, rank);
            struct measurement_rank_phase *row =
                &measurement->rank_phases[(size_t)rank * measurement->n_phases + first + item];
            row->start_ps = known(times.start_ps);
            row->finish_ps = known(times.end_ps);
        }
    }
}
