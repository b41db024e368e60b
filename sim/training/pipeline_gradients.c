// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/pipeline_gradients.h"

#include "base/number.h"

#include <stddef.h>

/* Of the model. */
static uint32_t part_of(const struct pipeline_gradients *gradients) {
    const struct pipeline *pipeline = gradients->pipeline;
    return (pipeline->parts_per_stage - 1 - gradients->part) * pipeline->stages + gradients->stage;
}

const struct pipeline_segment *pipeline_gradients_piece(const struct pipeline_gradients *gradients) {
    return gradients->part == gradients->ready
               ? NULL
               : &gradients->pipeline->gradients[part_of(gradients)].segments[gradients->piece];
}

/* To a piece that takes time. */
static void begin_piece(struct pipeline_gradients *gradients) {
    gradients->begin_ps = gradients->now_ps;
    while (gradients->part < gradients->ready) {
        const struct pipeline_pass *pass = &gradients->pipeline->gradients[part_of(gradients)];
        if (gradients->piece == pass->n_segments) {
            gradients->part++;
            gradients->piece = 0;
        } else if (pass->segments[gradients->piece].duration_ps == 0) {
            gradients->piece++;
        } else {
            gradients->left_ps = pass->segments[gradients->piece].duration_ps;
            return;
        }
    }
}

void pipeline_gradients_add(struct pipeline_gradients *gradients, uint64_t now_ps) {
    const bool idle = pipeline_gradients_piece(gradients) == NULL;
    gradients->ready++;
    if (idle) {
        gradients->now_ps = number_larger(gradients->now_ps, now_ps);
        begin_piece(gradients);
    }
}

static void observe(const struct pipeline_gradients *gradients) {
    const struct pipeline *pipeline = gradients->pipeline;
    const struct pipeline_span span = {.stage = gradients->stage,
                                       .micro_batch = pipeline->micro_batches - 1,
                                       .part = part_of(gradients),
                                       .direction = PIPELINE_BACKWARD,
                                       .resource = PIPELINE_GRADIENTS,
                                       .name = pipeline_gradients_piece(gradients)->name,
                                       .begin_ps = gradients->begin_ps,
                                       .end_ps = gradients->now_ps};
    if (pipeline->observe) {
        pipeline->observe(pipeline->context, &span);
    }
}

void pipeline_gradients_pass(struct pipeline_gradients *gradients, uint64_t time_ps, uint64_t done_ps) {
    gradients->now_ps += time_ps;
    gradients->busy_ps += time_ps;
    gradients->left_ps -= done_ps;
    if (gradients->left_ps == 0) {
        observe(gradients);
        gradients->piece++;
        begin_piece(gradients);
    }
}

void pipeline_gradients_run(struct pipeline_gradients *gradients, uint64_t until_ps) {
    while (pipeline_gradients_piece(gradients) != NULL && gradients->now_ps < until_ps) {
        const uint64_t time_ps = number_smaller(gradients->left_ps, until_ps - gradients->now_ps);
        pipeline_gradients_pass(gradients, time_ps, time_ps);
    }
}
