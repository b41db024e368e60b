// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What plain draws seldom bring about is wished for, a few things at a time, so that rare things also meet each other.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_WISHES_H
#define MOEFABRIC_TESTS_RANDOM_WISHES_H

#include "device/parameters.h"

#include <stdbool.h>
#include <stdint.h>

/** Whether this case has wishes: it needs traffic that crowds then. */
bool random_wishes_has(uint64_t number);

/** Whether a switch is to blink: to be gone shortly and often, while ports are paused. */
bool random_wishes_blinks(uint64_t number);

/** Bends the drawn figures of a case towards its wishes, if it has some. They may still not come true. */
void random_wishes_grant(struct network_parameters *parameters, uint64_t number);

#endif
