// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Send channels over NVLink: each sends its messages one after the other, in records that are spread over all NVLinks of the GPU.
 *
 * A channel is one stream, which uses the GPUs that it sends to in the proportions of what it has queued for them. What channels of a
 * domain share are the GPUs' ports: all NVLinks of a GPU together, out and in.
 */
#ifndef MOEFABRIC_FLUID_CHANNELS_H
#define MOEFABRIC_FLUID_CHANNELS_H

#include "fabric/failure_plan.h"
#include "fluid/fluid.h"

struct channels;

/** A message that has arrived. */
struct channels_arrival {
    uint32_t source, destination, tag;
};

/** Those of an NVLink domain. All must outlive it; failures may be NULL. Freed by channels_free. */
struct channels *channels_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                                 const struct failure_plan *failures, const struct traffic *traffic, uint32_t domain);

/** Frees it; NULL is allowed. */
void channels_free(struct channels *channels);

/** Hands a message, or a series of them, of a rank to one of its channels now. */
void channels_post(struct channels *channels, uint32_t source, const struct traffic_message *message, uint64_t now_ps);

/** When the next messages have been sent; TIME_NEVER: none are under way. */
uint64_t channels_time_ps(const struct channels *channels);

/** The channel whose messages are sent by now, how many, and when they will be delivered. */
uint32_t channels_take(struct channels *channels, uint64_t now_ps, uint32_t *count, uint64_t *delivered_ps);

/** The next message of a channel that is delivered. */
struct channels_arrival channels_arrive(struct channels *channels, uint32_t channel);

/** When rates are due to be worked out; TIME_NEVER: nothing has changed. */
uint64_t channels_due_ps(const struct channels *channels);

/** Works them out. */
void channels_solve(struct channels *channels, uint64_t now_ps);

/** Whether something has not been sent. */
bool channels_busy(const struct channels *channels);

/** How often rates were worked out. */
uint64_t channels_solutions(const struct channels *channels);

/** Payload that a rank has sent and received. */
uint64_t channels_sent(const struct channels *channels, uint32_t rank);
uint64_t channels_received(const struct channels *channels, uint32_t rank);

#endif
