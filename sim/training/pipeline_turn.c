// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/pipeline_turn.h"

#include "base/number.h"

#include <math.h>
#include <stddef.h>

enum { RESOURCES = PIPELINE_GRADIENTS, NOBODY = -1 }; /* passes take what stands before gradients */

/* A pass that is under way. */
struct thread {
    const struct pipeline_pass *pass;
    uint32_t next; /* segment that is to begin, or runs */
    bool runs;
};

/* A resource at work. */
struct work {
    int direction; /* of the thread, or NOBODY */
    uint64_t left_ps, begin_ps;
};

struct state {
    const struct pipeline_turn *turn;
    struct thread threads[PIPELINE_DIRECTIONS];
    struct work works[RESOURCES];
    struct pipeline_segment put_off; /* its duration is what is left */
    uint64_t now_ps;
    struct pipeline_turn_result result;
};

static const struct pipeline_segment *segment_of(const struct thread *thread) {
    return &thread->pass->segments[thread->next];
}

static bool is_over(const struct thread *thread) {
    return thread->pass == NULL || thread->next == thread->pass->n_segments;
}

static void end_pass(struct state *state, int direction) {
    if (is_over(&state->threads[direction])) {
        state->result.pass_end_ps[direction] = state->now_ps;
    }
}

/* Puts off what may be, and gives a resource that is free to the thread that comes to it. */
static void begin_segment(struct state *state, int direction) {
    struct thread *thread = &state->threads[direction];
    while (!is_over(thread) && !thread->runs && segment_of(thread)->put_off) {
        const uint64_t before_ps = state->put_off.duration_ps;
        state->put_off = *segment_of(thread);
        state->put_off.duration_ps += before_ps;
        thread->next++;
        end_pass(state, direction);
    }
    if (is_over(thread) || thread->runs) {
        return;
    }
    const enum pipeline_resource resource = segment_of(thread)->resource;
    struct work *work = &state->works[resource];
    const bool taken = resource == PIPELINE_COMPUTE && state->put_off.duration_ps > 0;
    if (work->direction == NOBODY && !taken) {
        *work = (struct work){
            .direction = direction, .left_ps = segment_of(thread)->duration_ps, .begin_ps = state->now_ps};
        thread->runs = true;
    }
}

static bool computes_put_off(const struct state *state) {
    return state->works[PIPELINE_COMPUTE].direction == NOBODY && state->put_off.duration_ps > 0;
}

/* How long work of so many picoseconds takes beside the other resource's. */
static uint64_t lasts_ps(uint64_t left_ps, double factor) {
    return factor > 1 ? (uint64_t)ceil((double)left_ps * factor) : left_ps;
}

/* What of it is done in so long a time: all that is left if that takes no longer. */
static uint64_t done_ps(uint64_t left_ps, uint64_t time_ps, double factor) {
    return time_ps >= lasts_ps(left_ps, factor) ? left_ps
           : factor > 1                         ? number_smaller(left_ps, (uint64_t)((double)time_ps / factor))
                                                : time_ps;
}

static void observe(const struct state *state, int direction, const struct pipeline_segment *segment,
                    uint64_t begin_ps) {
    if (state->turn->observe && state->now_ps > begin_ps) {
        state->turn->observe(state->turn->context, (enum pipeline_direction)direction, segment, begin_ps,
                             state->now_ps);
    }
}

static void end_segment(struct state *state, struct work *work) {
    struct thread *thread = &state->threads[work->direction];
    observe(state, work->direction, segment_of(thread), work->begin_ps);
    thread->runs = false;
    thread->next++;
    end_pass(state, work->direction);
    work->direction = NOBODY;
}

/* To the next end of a segment, or of what was put off. False if nothing is left. */
static bool step(struct state *state) {
    struct work *compute = &state->works[PIPELINE_COMPUTE], *network = &state->works[PIPELINE_NETWORK];
    const bool put_off = computes_put_off(state), computing = put_off || compute->direction != NOBODY;
    const bool communicating = network->direction != NOBODY, both = computing && communicating;
    uint64_t *const left_ps[RESOURCES] = {put_off ? &state->put_off.duration_ps : &compute->left_ps, &network->left_ps};
    const double factors[RESOURCES] = {both ? state->turn->sharing->compute_factor : 1,
                                       both ? state->turn->sharing->network_factor : 1};
    const uint64_t begin_ps = state->now_ps;
    uint64_t time_ps = UINT64_MAX;
    if (!computing && !communicating) {
        return false;
    }
    if (computing) {
        time_ps = lasts_ps(*left_ps[PIPELINE_COMPUTE], factors[PIPELINE_COMPUTE]);
    }
    if (communicating) {
        time_ps = number_smaller(time_ps, lasts_ps(*left_ps[PIPELINE_NETWORK], factors[PIPELINE_NETWORK]));
    }
    state->now_ps += time_ps;
    if (computing) {
        *left_ps[PIPELINE_COMPUTE] -= done_ps(*left_ps[PIPELINE_COMPUTE], time_ps, factors[PIPELINE_COMPUTE]);
        state->result.compute_ps += time_ps;
    }
    if (communicating) {
        *left_ps[PIPELINE_NETWORK] -= done_ps(*left_ps[PIPELINE_NETWORK], time_ps, factors[PIPELINE_NETWORK]);
        state->result.network_ps += time_ps;
    }
    if (put_off) {
        observe(state, PIPELINE_BACKWARD, &state->put_off, begin_ps);
    }
    return true;
}

struct pipeline_turn_result pipeline_turn_run(const struct pipeline_turn *turn) {
    struct state state = {.turn = turn, .now_ps = turn->begin_ps};
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        state.threads[direction].pass = turn->passes[direction];
        end_pass(&state, direction);
    }
    for (int resource = 0; resource < RESOURCES; resource++) {
        state.works[resource].direction = NOBODY;
    }
    do {
        for (int resource = 0; resource < RESOURCES; resource++) {
            if (state.works[resource].direction != NOBODY && state.works[resource].left_ps == 0) {
                end_segment(&state, &state.works[resource]);
            }
        }
        for (int direction = PIPELINE_DIRECTIONS - 1; direction >= 0; direction--) {
            begin_segment(&state, direction);
        }
    } while (step(&state));
    state.result.end_ps = state.now_ps;
    return state.result;
}
