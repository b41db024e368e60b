// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A program of steps (step_program.h) as a traffic plan.
 *
 * A rank begins at its jitter. It computes, begins collectives and waits for them; the first messages of a collective start when it begins, and those
 * of later steps of a ring when what they pass on has arrived and the rank itself has begun. What arrives before is kept until then: a rank may be
 * behind its peers. Messages within an NVLink domain take NVLink, the others the fabric.
 *
 * A rank keeps the collectives that it has begun and not ended, and what came early: memory does not grow with the length of the program.
 */
#ifndef MOEFABRIC_WORKLOAD_STEP_PLAN_H
#define MOEFABRIC_WORKLOAD_STEP_PLAN_H

#include "base/error.h"
#include "workload/step_program.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    STEP_PLAN_MESSAGES_MOST = 1 << 27, /**< of a pass, all ranks together */
};

struct step_plan;

/** Where ranks start: uniformly within a span, drawn from a seed (jitter.h). */
struct step_plan_start {
    uint64_t seed, jitter_ps;
};

/**
 * Takes a program over, whatever becomes of it. NULL with *error if it sends nothing, or more messages than STEP_PLAN_MESSAGES_MOST; name stands for
 * the file in the message. Freed by step_plan_free.
 */
struct step_plan *step_plan_create(struct step_program *program, const struct step_plan_start *start, const char *name,
                                   struct error *error);

/** Frees a plan; NULL is allowed. */
void step_plan_free(struct step_plan *plan);

/** As the devices see it. The plan stays the owner. */
struct traffic step_plan_traffic(struct step_plan *plan);

/** Its program. */
const struct step_program *step_plan_program(const struct step_plan *plan);

/** When a rank begins its first step, and when it has ended its last one and all that it began; TIME_NEVER until then. */
struct step_plan_times {
    uint64_t start_ps, end_ps;
};

/** Times of a rank. */
struct step_plan_times step_plan_times(const struct step_plan *plan, uint32_t rank);

/** Takes the end of a rank that another process has simulated. */
void step_plan_take_end(struct step_plan *plan, uint32_t rank, uint64_t end_ps);

/** Messages and their bytes, by where they go. */
struct step_plan_volume {
    uint64_t fabric_bytes, fabric_messages, nvlink_bytes, nvlink_messages;
};

/** What a rank receives in a collective. */
struct step_plan_volume step_plan_received(const struct step_plan *plan, uint32_t rank, uint32_t collective);

/** What all ranks receive in the whole pass. */
struct step_plan_volume step_plan_total(const struct step_plan *plan);

/** A hash of the whole traffic: equal for policies that are shown the same. */
uint64_t step_plan_digest(const struct step_plan *plan);

/** The least time that the ports of a rank take for what it receives in a collective; of all ranks that which receives least. */
struct step_plan_least {
    uint64_t fabric_ps, nvlink_ps;
};

/**
 * The least time of a pass. Nothing of a collective is sent before the first rank has begun it. So no rank ends it before its ports have had time for it
 * since then, and what is begun later begins no sooner than what is computed and waited for allows; and after the first beginning of each
 * collective the ports have yet to take all of it and of those that follow.
 */
uint64_t step_plan_least_ps(const struct step_plan *plan,
                            struct step_plan_least (*least)(const void *context, uint32_t collective),
                            const void *context);

#endif
