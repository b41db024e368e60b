// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An NVSwitch chip of the naive simulator.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_CHIP_H
#define MOEFABRIC_TESTS_REFERENCE_CHIP_H

#include "reference_world.h"

/** A chip with empty queues. Freed by reference_chip_free. */
struct reference_chip *reference_chip_create(struct reference_world *world, uint32_t device);

/** Frees a chip; NULL is allowed. */
void reference_chip_free(struct reference_chip *chip);

/** Depth of the queue of a port. */
uint64_t reference_chip_bytes(const struct reference_chip *chip, uint16_t port);

/** Handles any step of a chip. */
void reference_chip_step(struct reference_world *world, struct reference_chip *chip, const struct reference_step *step);

#endif
