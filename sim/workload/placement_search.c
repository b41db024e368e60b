// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_search.h"

#include "base/error.h"
#include "base/memory.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_siman.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES_A_TEMPERATURE = 100 };

static const double first_temperature = 0.01, temperature_range = 1000; /* × first energy; first ÷ last */

/* What all placements of a search share. */
struct work {
    const struct placement_search *search;
    uint32_t steps;
    double energy; /* of the placement that was counted last */
    bool stopped;
};

/* One placement as GSL moves it about. */
struct state {
    struct work *work;
    uint32_t *expert_of_slot; /* [replicas] */
    uint32_t *replicas_of;    /* [experts] */
};

static const struct placement_shape *shape_of(const struct state *state) {
    return state->work->search->shape;
}

static void *state_copy(void *pointer) {
    const struct state *from = pointer;
    const struct placement_shape *shape = shape_of(from);
    struct state *to = memory_allocate(1, sizeof *to);
    to->work = from->work;
    to->expert_of_slot = memory_allocate(shape->replicas, sizeof *to->expert_of_slot);
    to->replicas_of = memory_allocate(shape->experts, sizeof *to->replicas_of);
    memcpy(to->expert_of_slot, from->expert_of_slot, shape->replicas * sizeof *to->expert_of_slot);
    memcpy(to->replicas_of, from->replicas_of, shape->experts * sizeof *to->replicas_of);
    return to;
}

static void state_assign(void *source, void *destination) {
    const struct state *from = source;
    struct state *to = destination;
    memcpy(to->expert_of_slot, from->expert_of_slot, shape_of(from)->replicas * sizeof *to->expert_of_slot);
    memcpy(to->replicas_of, from->replicas_of, shape_of(from)->experts * sizeof *to->replicas_of);
}

static void state_free(void *pointer) {
    struct state *state = pointer;
    free(state->expert_of_slot);
    free(state->replicas_of);
    free(state);
}

static struct placement *state_placement(const struct state *state) {
    const struct placement_shape *shape = shape_of(state);
    return placement_create_slots(shape->experts, shape->ranks, shape->replicas, state->expert_of_slot);
}

static double state_energy(void *pointer) {
    const struct state *state = pointer;
    struct work *work = state->work;
    const struct placement_search *search = work->search;
    if (work->stopped) {
        return INFINITY; // what is left to try is never better
    }
    struct placement *placement = state_placement(state);
    placement_traffic_place(search->traffic, placement);
    placement_free(placement);
    work->energy = placement_traffic_energy(search->traffic);
    work->steps++;
    work->stopped = search->stop && search->stop(search->context, work->steps, work->energy);
    return work->energy;
}

/* Slots of two ranks change experts. */
static void exchange(const gsl_rng *random, struct state *state) {
    const struct placement_shape *shape = shape_of(state);
    const uint32_t slots = shape->replicas / shape->ranks;
    const uint32_t one = (uint32_t)gsl_rng_uniform_int(random, shape->replicas);
    const uint32_t step = (uint32_t)gsl_rng_uniform_int(random, (unsigned long)(shape->ranks - 1) * slots);
    const uint32_t other = ((one / slots + 1) * slots + step) % shape->replicas; /* on any other rank */
    const uint32_t expert = state->expert_of_slot[one];
    state->expert_of_slot[one] = state->expert_of_slot[other];
    state->expert_of_slot[other] = expert;
}

/* A slot whose expert has another replica takes another expert. */
static void replace(const gsl_rng *random, struct state *state) {
    const struct placement_tokens *tokens = state->work->search->tokens;
    const size_t picks = (size_t)tokens->batches * tokens->sources * tokens->tokens * tokens->top_k;
    const uint32_t slot = (uint32_t)gsl_rng_uniform_int(random, shape_of(state)->replicas);
    const uint32_t expert = tokens->picks[(size_t)(gsl_rng_uniform(random) * (double)picks)];
    if (state->replicas_of[state->expert_of_slot[slot]] > 1) {
        state->replicas_of[state->expert_of_slot[slot]]--;
        state->replicas_of[expert]++;
        state->expert_of_slot[slot] = expert;
    }
}

static void state_step(const gsl_rng *random, void *pointer, double size) {
    struct state *state = pointer;
    const bool redundant = shape_of(state)->replicas > shape_of(state)->experts;
    (void)size;
    if (state->work->stopped) {
        return; // GSL goes on to its last step: let it be quick
    }
    if (redundant && gsl_rng_uniform(random) < 0.5) {
        replace(random, state);
    } else if (shape_of(state)->ranks > 1) {
        exchange(random, state);
    }
}

static struct state *state_create(struct work *work, const struct placement *start) {
    const struct placement_shape *shape = work->search->shape;
    const uint32_t slots = shape->replicas / shape->ranks;
    uint32_t *filled = memory_allocate(shape->ranks, sizeof *filled);
    struct state *state = memory_allocate(1, sizeof *state);
    state->work = work;
    state->expert_of_slot = memory_allocate(shape->replicas, sizeof *state->expert_of_slot);
    state->replicas_of = memory_allocate(shape->experts, sizeof *state->replicas_of);
    for (uint32_t expert = 0; expert < shape->experts; expert++) {
        state->replicas_of[expert] = placement_replicas_of(start, expert);
        for (uint32_t i = start->first[expert]; i < start->first[expert + 1]; i++) {
            const uint32_t rank = start->rank[i];
            REQUIRE(filled[rank] < slots, "rank %u has more than %u slots", rank, slots);
            state->expert_of_slot[rank * slots + filled[rank]++] = expert;
        }
    }
    free(filled);
    return state;
}

struct placement *placement_search_run(const struct placement_search *search, const struct placement *start) {
    struct work work = {.search = search};
    struct state *state = state_create(&work, start);
    const double before = state_energy(state);
    const uint32_t levels = search->steps / TRIES_A_TEMPERATURE + 1;
    const gsl_siman_params_t parameters = {.iters_fixed_T = TRIES_A_TEMPERATURE,
                                           .k = 1,
                                           .t_initial = first_temperature * before,
                                           .mu_t = pow(temperature_range, 1.0 / levels),
                                           .t_min = first_temperature * before / temperature_range};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, (unsigned long)search->seed);
    if (before > 0) {
        gsl_siman_solve(random, state, state_energy, state_step, NULL, NULL, state_assign, state_copy, state_free, 0,
                        parameters);
    }
    gsl_rng_free(random);
    struct placement *best = state_placement(state);
    state_free(state);
    return best;
}
