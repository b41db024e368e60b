// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Dispatch and combine of one mixture-of-experts layer as a plan, and their backward passes.
 *
 * Phases of a rank (moe_phase.h): it starts (jitter); it sends the others their receive counts; with the last counts in it dispatches; expert_time_ps
 * after its last dispatch delivery it combines; turn_time_ps after its last combine delivery it dispatches gradients (no counts: the layout is known),
 * and expert_backward_time_ps after the last one it sends gradients back. Each phase follows the one before it that is simulated.
 * What a rank sends in a phase, in which order and after which deliveries is its algorithm's affair: moe_algorithm.h, README.md.
 *
 * Kernels that take time (kernel.h): nothing is sent in a phase until its kernel is there and has scanned the routing map; messages for the NIC are
 * handed over one after the other (direct: every token copy is one); what goes back is summed up (moe_kernel.h); no phase is shorter than the floor.
 *
 * With early pacing (direct and two_hop) a rank that has all counts tells each sender that has bytes for its port (urgent, 64 bytes); a sender holds
 * the data of its dispatch for that rank until then, and marks it with its share of the bytes announced to that port.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_H
#define MOEFABRIC_WORKLOAD_MOE_H

#include "base/error.h"
#include "config/experiment.h"
#include "workload/kernel.h"
#include "workload/moe_counts.h"
#include "workload/moe_phase.h"
#include "workload/moe_placement.h"
#include "workload/moe_tag.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

struct moe;

/** Times of one rank, in order; TIME_NEVER until they have come. */
struct moe_phase_times {
    uint64_t start_ps;             /**< its jittered start */
    uint64_t counts_done_ps;       /**< all receive counts in; TIME_NEVER if none are exchanged */
    uint64_t begin_ps[MOE_PHASES]; /**< it may send in the phase (with early pacing: some of dispatch) */
    uint64_t end_ps
        [MOE_PHASES]; /**< last delivery of the phase to it, what it hands on included; the beginning if nothing comes */
};

/**
 * Draws the tokens and prepares the plan. The seed of all draws is traffic->seed + seed. The model may be a preset (model_resolve is applied).
 * early_pacing needs exchange_counts. NULL with *error if the configuration contradicts itself. Freed by moe_free.
 */
struct moe *moe_create(const struct experiment_model *model, const struct experiment_traffic *traffic,
                       const struct moe_placement *placement, bool early_pacing, uint64_t seed, struct error *error);

/** Sets what its kernels take; before the plan is begun. Without it: nothing. */
void moe_set_kernel(struct moe *moe, const struct kernel *kernel);

/** Bytes of one token copy in a phase; model resolved. */
uint32_t moe_unit_bytes(const struct experiment_model *model, const struct experiment_traffic *traffic,
                        enum moe_phase phase);

/** Is a phase simulated? */
bool moe_has_phase(const struct experiment_traffic *traffic, enum moe_phase phase);

/** Frees the plan; NULL is allowed. */
void moe_free(struct moe *moe);

/** The plan as devices see it; moe stays its owner. `begin` of all ranks sets it back, so it can be run again. */
struct traffic moe_traffic(struct moe *moe);

/** Times of a rank so far. */
struct moe_phase_times moe_phase_times(const struct moe *moe, uint32_t rank);

/** Sets the times of a rank that was simulated by another process. */
void moe_take_times(struct moe *moe, uint32_t rank, const struct moe_phase_times *times);

/** True if every rank has finished every phase that is simulated. */
bool moe_finished(const struct moe *moe);

/** Takes a tag apart: what kind of message it is. */
struct moe_tag moe_describe_tag(uint32_t tag);

/** The counts that the plan follows; they live as long as moe. */
const struct moe_counts *moe_plan_counts(const struct moe *moe);

#endif
