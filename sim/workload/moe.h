// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Dispatch and combine of one mixture-of-experts layer as a plan.
 *
 * Algorithms:
 * - direct (low-latency kernels of DeepEP): a rank sends every (token, expert) copy to the expert's rank, NVLink within the domain, the fabric
 *   otherwise; one message a destination, in units of one copy. Combine sends each copy's result straight back.
 * - two_hop (DeepEP's normal kernels): a token crosses the fabric once per remote domain that it has an expert in, in chunks, to the rank with the
 *   sender's position there, which sends it on over NVLink once per rank (channel 1). Within the domain a token goes to each of its ranks once (channel 0).
 *   Combine is the same way back: parts of a chunk are gathered at the forwarder (channel 1), which sends the chunk, reduced to one result a token,
 *   to the source when all parts are there.
 *
 * Phases of a rank: it starts (jitter); it sends the others their receive counts; with the last counts in it dispatches; expert_time_ps after
 * its last dispatch delivery it combines. A forwarder forwards from its own start on, and returns chunks from its own combine start on.
 * With early pacing a rank that has all counts tells each sender that has bytes for its port (urgent, 64 bytes); a sender holds
 * its data for that rank until then, and marks it with its share of the bytes announced to that port.
 *
 * Destinations are walked from the next rank on, and chunks of all domains in turn, so that senders do not march in step.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_H
#define MOEFABRIC_WORKLOAD_MOE_H

#include "base/error.h"
#include "config/experiment.h"
#include "workload/moe_counts.h"
#include "workload/moe_placement.h"
#include "workload/moe_tag.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

struct moe;

/** Times of one rank, in order; TIME_NEVER until they have come. */
struct moe_phase_times {
    uint64_t start_ps;          /**< its jittered start */
    uint64_t counts_done_ps;    /**< all receive counts in; TIME_NEVER if none are exchanged */
    uint64_t dispatch_start_ps; /**< its dispatch may begin (with early pacing: some of it) */
    uint64_t
        dispatch_end_ps; /**< last delivery of dispatch to it, chunks to be forwarded included; its start if nothing comes */
    uint64_t combine_start_ps; /**< its combine begins */
    uint64_t combine_end_ps;   /**< last delivery of combine to it, parts to be gathered included */
};

/**
 * Draws the tokens and prepares the plan. The seed of all draws is traffic->seed + seed. The model may be a preset (model_resolve is applied).
 * early_pacing needs exchange_counts. NULL with *error if the configuration contradicts itself. Freed by moe_free.
 */
struct moe *moe_create(const struct experiment_model *model, const struct experiment_traffic *traffic,
                       const struct moe_placement *placement, bool early_pacing, uint64_t seed, struct error *error);

/** Bytes of one token copy in dispatch or combine; model resolved. */
uint32_t moe_unit_bytes(const struct experiment_model *model, const struct experiment_traffic *traffic, bool combine);

/** Frees the plan; NULL is allowed. */
void moe_free(struct moe *moe);

/** The plan as devices see it; moe stays its owner. `begin` of all ranks sets it back, so it can be run again. */
struct traffic moe_traffic(struct moe *moe);

/** Times of a rank so far. */
struct moe_phase_times moe_phase_times(const struct moe *moe, uint32_t rank);

/** Sets the times of a rank that was simulated by another process. */
void moe_take_times(struct moe *moe, uint32_t rank, const struct moe_phase_times *times);

/** True if every rank has finished every phase. */
bool moe_finished(const struct moe *moe);

/** Takes a tag apart: what kind of message it is. */
struct moe_tag moe_describe_tag(uint32_t tag);

/** The counts that the plan follows; they live as long as moe. */
const struct moe_counts *moe_plan_counts(const struct moe *moe);

#endif
