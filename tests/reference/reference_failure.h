// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Failures in the naive simulator: every question is answered from the list, each time anew (sim/device/failures.md).
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_FAILURE_H
#define MOEFABRIC_TESTS_REFERENCE_FAILURE_H

#include "reference_world.h"

/** Whether something can fail at all. */
bool reference_failure_any(const struct reference_world *world);

/** Whether a link is down at a time. */
bool reference_failure_down(const struct reference_world *world, uint32_t link, uint64_t time_ps);

/** Whether a link is down at some time in [from_ps, until_ps). */
bool reference_failure_down_within(const struct reference_world *world, uint32_t link, uint64_t from_ps,
                                   uint64_t until_ps);

/** Picoseconds a byte of a link at a time. */
uint64_t reference_failure_ps_per_byte(const struct reference_world *world, uint32_t link, uint64_t time_ps);

/** Whether the host behind a link that enters an endpoint ever fails to take its data. */
bool reference_failure_receives(const struct reference_world *world, uint32_t link);

/** Picoseconds a byte at which that host takes data at a time; 0 = it does not fail, TIME_NEVER = it takes nothing. */
uint64_t reference_failure_receive_ps_per_byte(const struct reference_world *world, uint32_t link, uint64_t time_ps);

/** When a message of an endpoint's GPU that is to start at a time does so. */
uint64_t reference_failure_release_ps(const struct reference_world *world, uint32_t endpoint, uint64_t time_ps);

/** The first time after time_ps at which a failure of that host begins or ends; TIME_NEVER = there is none. */
uint64_t reference_failure_receive_next_ps(const struct reference_world *world, uint32_t link, uint64_t time_ps);

/** Whether a packet that starts on a link now, and would wholly be at its head at end_ps, gets lost. */
bool reference_failure_loses(const struct reference_world *world, uint32_t link, uint64_t end_ps);

/**
 * Ports of a switch towards an endpoint that count now and are not excluded, ascending. ports has room for all of the switch.
 * excludes: the policy leaves out the switch's own dead ports. Returns how many; *avoided: fewer than without failures.
 */
uint16_t reference_failure_candidates(const struct reference_world *world, uint32_t device, uint32_t endpoint,
                                      bool excludes, uint16_t *ports, bool *avoided);

/**
 * What gets through to an endpoint's leaf by each port of the route of a switch, as tables have it, in Mb/s; weights has room for all of
 * the switch, the first is that of the first port of the route.
 */
void reference_failure_weights(const struct reference_world *world, uint32_t device, uint32_t endpoint,
                               uint32_t *weights);

/** Whether a NIC leaves a plane out now towards a destination; never all of them. */
bool reference_failure_left_out(const struct reference_world *world, uint32_t source, uint32_t destination,
                                uint16_t plane);

/** Makes steps of all links that go down or come up. */
void reference_failure_schedule(struct reference_world *world);

#endif
