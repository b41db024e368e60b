// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How random cases recover from loss: selective repeat, short time-outs, windows by the way.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_LOSS_H
#define MOEFABRIC_TESTS_RANDOM_LOSS_H

#include "device/parameters.h"

#include <stdint.h>

/** Draws it on top of what else is drawn; most cases stay as they are. */
void random_loss_draw(struct network_parameters *parameters, uint64_t number);

#endif
