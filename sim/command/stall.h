// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Why a run stalled, for people: the links that wait on each other, or what else is known.
 */
#ifndef MOEFABRIC_COMMAND_STALL_H
#define MOEFABRIC_COMMAND_STALL_H

#include "device/network.h"

#include <stddef.h>

/** Writes one line about links that wait on each other in a circle, and returns true; false with an empty line if there are none. */
bool stall_find_deadlock(const struct network *network, const struct fabric *fabric, char *buffer, size_t size);

/** Writes one line of UTF-8 about a stalled network; cut off at the end of the buffer. */
void stall_describe(const struct network *network, const struct fabric *fabric, char *buffer, size_t size);

#endif
