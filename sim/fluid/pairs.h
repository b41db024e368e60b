// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Queue pairs over the scale-out fabric: each sends its messages one after the other, and all that have one share the links.
 */
#ifndef MOEFABRIC_FLUID_PAIRS_H
#define MOEFABRIC_FLUID_PAIRS_H

#include "fabric/failure_plan.h"
#include "fluid/fluid.h"

struct pairs;

/** Both must outlive it; failures may be NULL. Freed by pairs_free. */
struct pairs *pairs_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                           const struct failure_plan *failures);

/** Frees it; NULL is allowed. */
void pairs_free(struct pairs *pairs);

/** Hands a message of a rank to its queue pair now. */
void pairs_post(struct pairs *pairs, uint32_t source, const struct traffic_message *message, uint64_t now_ps);

/** When an urgent message, which overtakes all others, arrives. */
uint64_t pairs_urgent_ps(struct pairs *pairs, uint32_t source, const struct traffic_message *message, uint64_t now_ps);

/** When the next message has been sent; TIME_NEVER: none is under way. */
uint64_t pairs_time_ps(const struct pairs *pairs);

/** The message that is sent by now, and when it will be delivered. */
uint32_t pairs_take(struct pairs *pairs, uint64_t now_ps, uint64_t *delivered_ps);

/** When rates are due to be worked out; TIME_NEVER: nothing has changed. */
uint64_t pairs_due_ps(const struct pairs *pairs, uint64_t now_ps);

/** Works them out. */
void pairs_solve(struct pairs *pairs, uint64_t now_ps);

/** A message by its number. */
struct fluid_message *pairs_message(struct pairs *pairs, uint32_t number);

/** All messages. */
const struct fluid_message *pairs_messages(const struct pairs *pairs, uint64_t *count);

/** How often rates were worked out. */
uint64_t pairs_solutions(const struct pairs *pairs);

/** Time that a control packet takes from one rank to another. */
uint64_t pairs_control_ps(const struct pairs *pairs, uint32_t source, uint32_t destination);

/** Of a run that ends early: deliveries after this time do not come. */
void pairs_forget_after(struct pairs *pairs, uint64_t end_ps);

/** After the run: adds up what links have carried. */
void pairs_close(struct pairs *pairs);

/** After pairs_close: wire bytes of a link. */
uint64_t pairs_link_bytes(const struct pairs *pairs, uint32_t link);

#endif
