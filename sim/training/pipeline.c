// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/pipeline.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "training/pipeline_gradients.h"
#include "training/pipeline_turn.h"

#include <stdlib.h>
#include <string.h>

#define NOT_OVER UINT64_MAX

/* A pass in a stage's order. */
struct step {
    uint32_t micro_batch, part;
};

/* What a stage does in its turn: a forward, a backward or both together. */
struct turn {
    bool has[PIPELINE_DIRECTIONS];
    struct step steps[PIPELINE_DIRECTIONS];
};

/* One stage's order, and how far it is. */
struct stage {
    struct turn *turns;
    uint32_t n_turns, next;
    uint64_t free_ps;
    struct pipeline_gradients gradients;
};

struct run {
    const struct pipeline *pipeline;
    struct stage *stages;
    uint64_t *ends_ps[PIPELINE_DIRECTIONS]; /* [part × micro_batches + micro_batch]; NOT_OVER at first */
    struct pipeline_stage_time *times;
};

static uint32_t parts_of(const struct pipeline *pipeline) {
    return pipeline->stages * pipeline->parts_per_stage;
}

/*
 * The k-th pass of a stage in a direction: with several parts a stage takes as many micro-batches as there are stages through one part, then
 * through the next. The last round may be smaller.
 */
static struct step step_of(const struct pipeline *pipeline, uint32_t stage, uint32_t k,
                           enum pipeline_direction direction) {
    const uint32_t stages = pipeline->stages, parts = pipeline->parts_per_stage;
    if (parts == 1) {
        return (struct step){.micro_batch = k, .part = stage};
    }
    const uint32_t first = k / (stages * parts) * stages, within = k % (stages * parts);
    const uint32_t left = pipeline->micro_batches - first, size = left < stages ? left : stages;
    const uint32_t chunk = direction == PIPELINE_FORWARD ? within / size : parts - 1 - within / size;
    return (struct step){.micro_batch = first + within % size, .part = chunk * stages + stage};
}

/*
 * Forwards before the first backward. A forward and a backward that run together need what both neighbours have done, so there is a micro-batch
 * more on the way to each: with as many as without overlap neighbours would take turns.
 */
static uint32_t warm_up(const struct pipeline *pipeline, uint32_t stage) {
    const uint32_t behind = pipeline->stages - 1 - stage, all = pipeline->micro_batches * pipeline->parts_per_stage;
    const uint32_t rounds = (pipeline->parts_per_stage - 1) * pipeline->stages;
    const bool doubled = pipeline->overlapped || pipeline->parts_per_stage > 1;
    const uint32_t steps = (doubled ? 2 * behind : behind) + rounds + pipeline->overlapped;
    return steps < all ? steps : all;
}

uint32_t pipeline_on_the_way(const struct pipeline *pipeline, uint32_t stage) {
    const uint32_t all = pipeline->micro_batches * pipeline->parts_per_stage;
    return (uint32_t)number_smaller((uint64_t)warm_up(pipeline, stage) + 1, all);
}

static void add_turn(struct run *run, uint32_t stage, const struct turn *turn) {
    run->stages[stage].turns[run->stages[stage].n_turns++] = *turn;
}

static struct turn single(const struct pipeline *pipeline, uint32_t stage, uint32_t k,
                          enum pipeline_direction direction) {
    struct turn turn = {0};
    turn.has[direction] = true;
    turn.steps[direction] = step_of(pipeline, stage, k, direction);
    return turn;
}

static void make_order(struct run *run, uint32_t stage) {
    const struct pipeline *pipeline = run->pipeline;
    const uint32_t all = pipeline->micro_batches * pipeline->parts_per_stage;
    const uint32_t warm = pipeline->forward_only ? all : warm_up(pipeline, stage);
    run->stages[stage].turns = memory_allocate(2 * (size_t)all, sizeof(struct turn));
    for (uint32_t k = 0; k < warm; k++) {
        const struct turn turn = single(pipeline, stage, k, PIPELINE_FORWARD);
        add_turn(run, stage, &turn);
    }
    for (uint32_t k = warm; k < all; k++) {
        struct turn turn = single(pipeline, stage, k, PIPELINE_FORWARD);
        const struct turn backward = single(pipeline, stage, k - warm, PIPELINE_BACKWARD);
        if (pipeline->overlapped) {
            turn.has[PIPELINE_BACKWARD] = true;
            turn.steps[PIPELINE_BACKWARD] = backward.steps[PIPELINE_BACKWARD];
        }
        add_turn(run, stage, &turn);
        if (!pipeline->overlapped) {
            add_turn(run, stage, &backward);
        }
    }
    for (uint32_t k = all - warm; k < all && !pipeline->forward_only; k++) {
        const struct turn turn = single(pipeline, stage, k, PIPELINE_BACKWARD);
        add_turn(run, stage, &turn);
    }
}

static uint64_t *end_of(const struct run *run, enum pipeline_direction direction, const struct step *step) {
    return &run->ends_ps[direction][(size_t)step->part * run->pipeline->micro_batches + step->micro_batch];
}

/* When what a pass needs has come from another stage. False if that is not over yet. */
static bool input_ready(const struct run *run, enum pipeline_direction direction, const struct step *step,
                        uint64_t *ready_ps) {
    const bool backward = direction == PIPELINE_BACKWARD;
    const uint32_t last = backward ? parts_of(run->pipeline) - 1 : 0;
    *ready_ps = 0;
    if (backward && *end_of(run, PIPELINE_FORWARD, step) == NOT_OVER) {
        return false;
    }
    if (step->part == last) {
        return true;
    }
    const struct step before = {step->micro_batch, backward ? step->part + 1 : step->part - 1};
    const uint64_t end_ps = *end_of(run, direction, &before);
    if (end_ps == NOT_OVER) {
        return false;
    }
    *ready_ps = end_ps + (run->pipeline->stages > 1 ? run->pipeline->send_ps : 0);
    return true;
}

/* Who runs a turn, for what it tells. */
struct observed {
    const struct pipeline *pipeline;
    const struct turn *turn;
    uint32_t stage;
};

static void observe(void *context, enum pipeline_direction direction, const struct pipeline_segment *segment,
                    uint64_t begin_ps, uint64_t end_ps) {
    const struct observed *observed = context;
    const struct pipeline_span span = {.stage = observed->stage,
                                       .micro_batch = observed->turn->steps[direction].micro_batch,
                                       .part = observed->turn->steps[direction].part,
                                       .direction = direction,
                                       .resource = segment->resource,
                                       .name = segment->name,
                                       .begin_ps = begin_ps,
                                       .end_ps = end_ps};
    observed->pipeline->observe(observed->pipeline->context, &span);
}

/* Runs a turn from begin_ps on. Returns when it is over. */
static uint64_t run_turn(struct run *run, uint32_t stage, const struct turn *turn, uint64_t begin_ps) {
    const struct pipeline *pipeline = run->pipeline;
    struct observed observed = {pipeline, turn, stage};
    struct pipeline_turn running = {.begin_ps = begin_ps,
                                    .sharing = &pipeline->sharing,
                                    .gradients = &run->stages[stage].gradients,
                                    .observe = pipeline->observe ? observe : NULL,
                                    .context = &observed};
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        running.passes[direction] =
            turn->has[direction] ? &pipeline->passes[turn->steps[direction].part][direction] : NULL;
    }
    const struct pipeline_turn_result result = pipeline_turn_run(&running);
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        if (turn->has[direction]) {
            *end_of(run, (enum pipeline_direction)direction, &turn->steps[direction]) = result.pass_end_ps[direction];
        }
    }
    run->times[stage].compute_ps += result.compute_ps;
    run->times[stage].network_ps += result.network_ps;
    run->times[stage].exposed_ps += result.end_ps - begin_ps - result.compute_ps;
    return result.end_ps;
}

/* Gradients of a part are there after its last backward pass: the last micro-batch is the last of each part. What was put off is done too. */
static bool makes_gradients(const struct run *run, const struct turn *turn) {
    return run->pipeline->overlap_gradients && turn->has[PIPELINE_BACKWARD] &&
           turn->steps[PIPELINE_BACKWARD].micro_batch == run->pipeline->micro_batches - 1;
}

/* The next turn of a stage, if what it needs is there. */
static bool advance(struct run *run, uint32_t number) {
    struct stage *stage = &run->stages[number];
    if (stage->next == stage->n_turns) {
        return false;
    }
    const struct turn *turn = &stage->turns[stage->next];
    uint64_t begin_ps = stage->free_ps, ready_ps;
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        if (!turn->has[direction]) {
            continue;
        }
        if (!input_ready(run, (enum pipeline_direction)direction, &turn->steps[direction], &ready_ps)) {
            return false;
        }
        begin_ps = number_larger(begin_ps, ready_ps);
    }
    run->times[number].waiting_ps += begin_ps - stage->free_ps;
    pipeline_gradients_run(&stage->gradients, begin_ps);
    stage->free_ps = run_turn(run, number, turn, begin_ps);
    stage->next++;
    if (makes_gradients(run, turn)) {
        pipeline_gradients_add(&stage->gradients, stage->free_ps);
    }
    return true;
}

/* Passes are known in order of their stages and turns; a round in which none can begin would be a circle. */
static void run_passes(struct run *run) {
    uint64_t left = 0;
    for (uint32_t stage = 0; stage < run->pipeline->stages; stage++) {
        left += run->stages[stage].n_turns;
    }
    while (left > 0) {
        const uint64_t before = left;
        for (uint32_t stage = 0; stage < run->pipeline->stages; stage++) {
            while (advance(run, stage)) {
                left--;
            }
        }
        REQUIRE(left < before, "passes of a pipeline wait for each other");
    }
}

/* What is left of a stage's gradients when it has no passes any more. */
static uint64_t reduce_gradients(struct run *run, uint32_t number) {
    const struct pipeline *pipeline = run->pipeline;
    struct stage *stage = &run->stages[number];
    struct pipeline_stage_time *time = &run->times[number];
    for (uint32_t i = 0; i < pipeline->parts_per_stage && !pipeline->overlap_gradients; i++) {
        pipeline_gradients_add(&stage->gradients, stage->free_ps);
    }
    pipeline_gradients_run(&stage->gradients, UINT64_MAX);
    const uint64_t end_ps = number_larger(stage->gradients.now_ps, stage->free_ps);
    time->gradient_ps = stage->gradients.busy_ps;
    time->exposed_gradients_ps = end_ps - stage->free_ps;
    return end_ps;
}

uint64_t pipeline_run(const struct pipeline *pipeline, struct pipeline_stage_time *stages) {
    REQUIRE(pipeline->parts_per_stage == 1 || pipeline->forward_only || pipeline->micro_batches % pipeline->stages == 0,
            "%u micro-batches on %u stages of several parts", pipeline->micro_batches, pipeline->stages);
    struct run run = {.pipeline = pipeline, .times = stages};
    const size_t passes = (size_t)parts_of(pipeline) * pipeline->micro_batches;
    uint64_t end_ps = 0;
    run.stages = memory_allocate(pipeline->stages, sizeof *run.stages);
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        run.ends_ps[direction] = memory_allocate(passes, sizeof *run.ends_ps[direction]);
        memset(run.ends_ps[direction], 0xff, passes * sizeof *run.ends_ps[direction]); // NOT_OVER
    }
    for (uint32_t stage = 0; stage < pipeline->stages; stage++) {
        stages[stage] = (struct pipeline_stage_time){0};
        run.stages[stage].gradients = (struct pipeline_gradients){.pipeline = pipeline, .stage = stage};
        make_order(&run, stage);
    }
    run_passes(&run);
    for (uint32_t stage = 0; stage < pipeline->stages; stage++) {
        end_ps =
            number_larger(end_ps, pipeline->forward_only ? run.stages[stage].free_ps : reduce_gradients(&run, stage));
    }
    for (uint32_t stage = 0; stage < pipeline->stages; stage++) {
        stages[stage].waiting_ps += end_ps - run.stages[stage].free_ps - stages[stage].exposed_gradients_ps;
        free(run.stages[stage].turns);
    }
    free(run.ends_ps[PIPELINE_FORWARD]);
    free(run.ends_ps[PIPELINE_BACKWARD]);
    free(run.stages);
    return end_ps;
}
