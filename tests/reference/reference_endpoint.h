// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An endpoint of the naive simulator: takes messages from the plan, and hands what arrives to its NIC and NVLink sides.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_ENDPOINT_H
#define MOEFABRIC_TESTS_REFERENCE_ENDPOINT_H

#include "reference_world.h"

#include "device/recorder.h"

/** An endpoint with nothing to do. Freed by reference_endpoint_free. */
struct reference_endpoint *reference_endpoint_create(struct reference_world *world, uint32_t device);

/** Frees an endpoint; NULL is allowed. */
void reference_endpoint_free(struct reference_endpoint *endpoint);

/** Asks the plan for the first messages. */
void reference_endpoint_begin(struct reference_world *world, struct reference_endpoint *endpoint);

/** Handles any step of an endpoint. False if it was a timer that had been set again. */
bool reference_endpoint_step(struct reference_world *world, struct reference_endpoint *endpoint,
                             const struct reference_step *step);

/** Queue pair number `index` to a destination, as the series shows it. */
struct recorder_pair_state reference_endpoint_pair(const struct reference_world *world,
                                                   const struct reference_endpoint *endpoint, uint32_t destination,
                                                   uint32_t index, uint64_t now_ps);

/** How many messages on queue pairs are not complete at their sender. */
uint64_t reference_endpoint_incomplete(const struct reference_endpoint *endpoint);

#endif
