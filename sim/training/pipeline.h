// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A pipeline of stages in time: which pass of which micro-batch runs when, what of its communication is hidden, where stages wait.
 *
 * All data-parallel copies are alike, so one GPU stands for each stage. A stage computes on one resource and communicates on another;
 * a pass (forward or backward, of one micro-batch through one part of the model) is segments in turn on the one and the other. Stages take
 * their passes in the order of the schedule (Megatron-LM, arXiv:2104.04473, section 2.2): warm-up forwards, then a forward and a backward
 * in turn, then the backwards that are left. Part u of the model is on stage u mod stages.
 *
 * `overlapped`: that forward and that backward run together, two threads on the stage's two resources, each resource given to whichever can
 * begin first (the backward on a tie, see pipeline_turn.h); one more forward is warmed up, so that they are of different micro-batches.
 */
#ifndef MOEFABRIC_TRAINING_PIPELINE_H
#define MOEFABRIC_TRAINING_PIPELINE_H

#include "training/pipeline_sharing.h"

#include <stdbool.h>
#include <stdint.h>

/** What a segment is done with. Gradients are reduced beside passes: no pass waits for them, but they share a GPU with it. */
enum pipeline_resource { PIPELINE_COMPUTE, PIPELINE_NETWORK, PIPELINE_GRADIENTS, PIPELINE_RESOURCES };

/** A piece of a pass. */
struct pipeline_segment {
    uint64_t duration_ps;
    enum pipeline_resource resource;
    const char *name;          /**< for the timeline; not freed */
    bool put_off;              /**< computing that no pass waits for: the next to be computed, while its pass goes on */
    struct pipeline_load load; /**< of what is sent */
    double gap_share; /**< of computing, the share of its time in which no kernel runs: it hides nothing then */
};

/** A pass through one part of the model. */
struct pipeline_pass {
    struct pipeline_segment *segments;
    uint32_t n_segments;
};

enum pipeline_direction { PIPELINE_FORWARD, PIPELINE_BACKWARD, PIPELINE_DIRECTIONS };

/** Something that took time, for a timeline. */
struct pipeline_span {
    uint32_t stage, micro_batch, part;
    enum pipeline_direction direction;
    enum pipeline_resource resource;
    const char *name;
    uint64_t begin_ps, end_ps;
};

/** A pipeline. */
struct pipeline {
    uint32_t stages, parts_per_stage, micro_batches; /**< of training with several parts: a multiple of stages */
    bool overlapped;
    bool forward_only; /**< an evaluation: no backward passes, no gradients, and any number of micro-batches */
    const struct pipeline_pass (
        *passes)[PIPELINE_DIRECTIONS]; /**< [stages × parts_per_stage] in the order of the model */
    struct pipeline_sharing sharing;
    uint64_t send_ps;                      /**< from a stage to another */
    const struct pipeline_pass *gradients; /**< [stages × parts_per_stage] what reduces a part's gradients */
    bool overlap_gradients;                /**< after the part's last backward pass; else after the stage's last pass */
    void (*observe)(
        void *context,
        const struct pipeline_span *span); /**< NULL, or told of each segment and reduction, not in order of time */
    void *context;
};

/** What became of one stage's time. */
struct pipeline_stage_time {
    uint64_t compute_ps; /**< segments of computing, but for gaps between their kernels beside communication */
    uint64_t network_ps; /**< segments of communication in passes */
    uint64_t
        exposed_ps; /**< passes' time in which no kernel computes beside communication that goes on: that is not hidden */
    uint64_t waiting_ps;           /**< between passes, before the first and after the last */
    uint64_t gradient_ps;          /**< reducing gradients */
    uint64_t exposed_gradients_ps; /**< of that, after the stage's last pass */
};

/** Passes of a stage that have gone forward and not yet back, at most. */
uint32_t pipeline_on_the_way(const struct pipeline *pipeline, uint32_t stage);

/** When the last stage is done; fills stages[pipeline.stages]. */
uint64_t pipeline_run(const struct pipeline *pipeline, struct pipeline_stage_time *stages);

#endif
