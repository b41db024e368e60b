// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Series of the naive simulator: before the first step of an interval is handled, everything is looked at.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_RECORDER_H
#define MOEFABRIC_TESTS_REFERENCE_RECORDER_H

#include "reference_world.h"

/** Makes room for the series that the parameters wish for, if any. */
void reference_recorder_begin(struct reference_world *world);

/** The next step is at time_ps: intervals that end until then end now. TIME_NEVER: all that are left. */
void reference_recorder_pass(struct reference_world *world, uint64_t time_ps);

#endif
