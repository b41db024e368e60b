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

/* To what is left of others; gaps are spread over all of it. */
static void put_off(struct pipeline_segment *left, const struct pipeline_segment *added) {
    const double left_ps = (double)left->duration_ps, added_ps = (double)added->duration_ps;
    const double gaps_ps = left->gap_share * left_ps + added->gap_share * added_ps;
    const uint64_t all_ps = left->duration_ps + added->duration_ps;
    *left = *added;
    left->duration_ps = all_ps;
    left->gap_share = all_ps > 0 ? gaps_ps / (left_ps + added_ps) : 0;
}

/* Puts off what may be, and gives a resource that is free to the thread that comes to it. */
static void begin_segment(struct state *state, int direction) {
    struct thread *thread = &state->threads[direction];
    while (!is_over(thread) && !thread->runs && segment_of(thread)->put_off) {
        put_off(&state->put_off, segment_of(thread));
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

/* How long work of so many picoseconds takes beside others. */
static uint64_t lasts_ps(uint64_t left_ps, double factor) {
    return factor > 1 ? (uint64_t)ceil((double)left_ps * factor) : left_ps;
}

/* What of it is done in so long a time: all that is left if that takes no longer. */
static uint64_t done_ps(uint64_t left_ps, uint64_t time_ps, double factor) {
    return time_ps >= lasts_ps(left_ps, factor) ? left_ps
           : factor > 1                         ? number_smaller(left_ps, (uint64_t)((double)time_ps / factor))
                                                : time_ps;
}

/* Of a time in which something is computed, what counts as computing: all of it but for gaps while something is sent. */
static uint64_t computing_ps(const struct state *state, bool puts_off, bool communicating, uint64_t time_ps) {
    const struct pipeline_segment *computed =
        puts_off ? &state->put_off : segment_of(&state->threads[state->works[PIPELINE_COMPUTE].direction]);
    return communicating ? time_ps - (uint64_t)((double)time_ps * computed->gap_share + 0.5) : time_ps;
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

/* What runs: what is left of it (NULL: nothing), and how many times as long as alone it takes. */
struct running {
    uint64_t *left_ps[PIPELINE_RESOURCES];
    double factors[PIPELINE_RESOURCES];
};

static struct running what_runs(struct state *state) {
    struct work *compute = &state->works[PIPELINE_COMPUTE], *network = &state->works[PIPELINE_NETWORK];
    struct pipeline_gradients *gradients = state->turn->gradients;
    const struct pipeline_segment *piece = gradients ? pipeline_gradients_piece(gradients) : NULL;
    const struct pipeline_segment *exchange =
        network->direction != NOBODY ? segment_of(&state->threads[network->direction]) : NULL;
    struct running running = {.left_ps = {computes_put_off(state)        ? &state->put_off.duration_ps
                                          : compute->direction != NOBODY ? &compute->left_ps
                                                                         : NULL,
                                          exchange ? &network->left_ps : NULL, piece ? &gradients->left_ps : NULL}};
    const struct pipeline_factors factors =
        pipeline_sharing_factors(state->turn->sharing, running.left_ps[PIPELINE_COMPUTE] != NULL,
                                 exchange ? &exchange->load : NULL, piece ? &piece->load : NULL);
    running.factors[PIPELINE_COMPUTE] = factors.compute;
    running.factors[PIPELINE_NETWORK] = factors.network;
    running.factors[PIPELINE_GRADIENTS] = factors.gradients;
    return running;
}

/* To the next end of a segment, of what was put off, or of a piece of gradients. False if nothing of the passes is left. */
static bool step(struct state *state) {
    const bool puts_off = computes_put_off(state);
    const struct running running = what_runs(state);
    const uint64_t begin_ps = state->now_ps;
    uint64_t time_ps = UINT64_MAX, done[PIPELINE_RESOURCES] = {0};
    if (running.left_ps[PIPELINE_COMPUTE] == NULL && running.left_ps[PIPELINE_NETWORK] == NULL) {
        return false;
    }
    for (int i = 0; i < PIPELINE_RESOURCES; i++) {
        if (running.left_ps[i]) {
            time_ps = number_smaller(time_ps, lasts_ps(*running.left_ps[i], running.factors[i]));
        }
    }
    for (int i = 0; i < PIPELINE_RESOURCES; i++) {
        done[i] = running.left_ps[i] ? done_ps(*running.left_ps[i], time_ps, running.factors[i]) : 0;
    }
    state->now_ps += time_ps;
    if (running.left_ps[PIPELINE_COMPUTE]) {
        const bool sends = running.left_ps[PIPELINE_NETWORK] != NULL;
        state->result.compute_ps += computing_ps(state, puts_off, sends, time_ps);
        *running.left_ps[PIPELINE_COMPUTE] -= done[PIPELINE_COMPUTE];
    }
    if (running.left_ps[PIPELINE_NETWORK]) {
        *running.left_ps[PIPELINE_NETWORK] -= done[PIPELINE_NETWORK];
        state->result.network_ps += time_ps;
    }
    if (running.left_ps[PIPELINE_GRADIENTS]) {
        pipeline_gradients_pass(state->turn->gradients, time_ps, done[PIPELINE_GRADIENTS]);
    }
    if (puts_off) {
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
