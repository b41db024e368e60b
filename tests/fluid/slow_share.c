// SPDX-License-Identifier: GPL-3.0-or-later
#include "slow_share.h"

#include <math.h>
#include <stdlib.h>

static double part_of_list(const struct share_use *uses, uint32_t n_uses, uint32_t limit) {
    double part = 0;
    for (uint32_t u = 0; u < n_uses; u++) {
        part += uses[u].limit == limit ? (double)uses[u].weight_fxp24 / SHARE_ONE : 0;
    }
    return part;
}

double slow_share_part(const struct slow_share *problem, uint32_t number, uint32_t limit) {
    const struct share_stream *stream = &problem->streams[number];
    double part = part_of_list(stream->uses, stream->n_uses, limit);
    if (stream->bundle != SHARE_NONE) {
        const struct share_bundle *bundle = &problem->bundles[stream->bundle];
        part += part_of_list(bundle->uses, bundle->n_uses, limit);
    }
    return part;
}

void slow_share_add_up(const struct slow_share *problem, double *used) {
    for (uint32_t l = 0; l < problem->n_limits; l++) {
        used[l] = 0;
        for (uint32_t s = 0; s < problem->n_streams; s++) {
            used[l] += slow_share_part(problem, s, l) * problem->streams[s].rate;
        }
    }
}

static bool is_fastest(const struct slow_share *problem, uint32_t stream, uint32_t limit) {
    const double level = problem->streams[stream].rate / problem->streams[stream].weight;
    for (uint32_t s = 0; s < problem->n_streams; s++) {
        const double other = problem->streams[s].rate / problem->streams[s].weight;
        if (slow_share_part(problem, s, limit) > 0 && other > level * (1 + 1e-9) + 1e-12) {
            return false;
        }
    }
    return true;
}

bool slow_share_has_reason(const struct slow_share *problem, const double *used, uint32_t stream) {
    if (problem->streams[stream].rate >= problem->streams[stream].most * (1 - 1e-9)) {
        return true;
    }
    for (uint32_t l = 0; l < problem->n_limits; l++) {
        if (slow_share_part(problem, stream, l) > 0 && used[l] >= problem->capacities[l] * (1 - 1e-9) - 1e-12 &&
            is_fastest(problem, stream, l)) {
            return true;
        }
    }
    return false;
}

/* By how much all that rise can rise together, until the first limit is full or the first has its most. */
static double step_of(const struct slow_share *problem, const double *rates, const bool *stopped) {
    double step = INFINITY;
    for (uint32_t l = 0; l < problem->n_limits; l++) {
        double left = problem->capacities[l], slope = 0;
        for (uint32_t s = 0; s < problem->n_streams; s++) {
            const double part = slow_share_part(problem, s, l);
            left -= part * rates[s];
            slope += stopped[s] ? 0 : part * problem->streams[s].weight;
        }
        step = slope > 0 ? fmin(step, fmax(left, 0) / slope) : step;
    }
    for (uint32_t s = 0; s < problem->n_streams; s++) {
        if (!stopped[s]) {
            step = fmin(step, (problem->streams[s].most - rates[s]) / problem->streams[s].weight);
        }
    }
    return step;
}

static bool must_stop(const struct slow_share *problem, const double *rates, uint32_t stream) {
    if (rates[stream] >= problem->streams[stream].most * (1 - 1e-12)) {
        return true;
    }
    for (uint32_t l = 0; l < problem->n_limits; l++) {
        double used = 0;
        for (uint32_t s = 0; s < problem->n_streams; s++) {
            used += slow_share_part(problem, s, l) * rates[s];
        }
        if (slow_share_part(problem, stream, l) > 0 && used >= problem->capacities[l] * (1 - 1e-12)) {
            return true;
        }
    }
    return false;
}

void slow_share_solve(const struct slow_share *problem, double *rates) {
    bool *stopped = calloc(problem->n_streams, sizeof(*stopped));
    bool *stops = calloc(problem->n_streams, sizeof(*stops));
    for (uint32_t s = 0; s < problem->n_streams; s++) {
        rates[s] = 0;
    }
    for (uint32_t rising = problem->n_streams; rising > 0;) {
        const double step = step_of(problem, rates, stopped);
        for (uint32_t s = 0; s < problem->n_streams; s++) {
            rates[s] += stopped[s] ? 0 : step * problem->streams[s].weight;
        }
        for (uint32_t s = 0; s < problem->n_streams; s++) {
            stops[s] = !stopped[s] && must_stop(problem, rates, s);
        }
        for (uint32_t s = 0; s < problem->n_streams; s++) {
            stopped[s] = stopped[s] || stops[s];
            rising -= stops[s];
        }
    }
    free(stopped);
    free(stops);
}
