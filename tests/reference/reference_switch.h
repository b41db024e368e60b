// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An Ethernet switch of the naive simulator.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_SWITCH_H
#define MOEFABRIC_TESTS_REFERENCE_SWITCH_H

#include "reference_world.h"

/** A switch with empty queues. Freed by reference_switch_free. */
struct reference_switch *reference_switch_create(struct reference_world *world, uint32_t device);

/** Frees a switch; NULL is allowed. */
void reference_switch_free(struct reference_switch *device);

/** Depth of the queues of both data classes of a port. */
uint64_t reference_switch_data_bytes(const struct reference_switch *device, uint16_t port);

/** Handles any step of a switch. */
void reference_switch_step(struct reference_world *world, struct reference_switch *device,
                           const struct reference_step *step);

#endif
