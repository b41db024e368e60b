// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A NIC of several planes leaves out planes that do not lead to a destination, some time after they have died, and uses them
 * again as long after they are back. Rules: failures.md. For the files of the endpoint alone.
 */
#ifndef MOEFABRIC_DEVICE_FAILOVER_H
#define MOEFABRIC_DEVICE_FAILOVER_H

#include "device/context.h"

struct endpoint;
struct engine_worker;

/** Planes (bits) that a NIC leaves out at a time towards a destination; 0 where that would leave none. */
uint32_t failover_mask(const struct context *context, uint32_t source, uint32_t destination, uint64_t now_ps);

/** The first plane at or after `plane`, in turn, that is not among those left out (bits; not all of them). */
static inline uint32_t failover_next(uint32_t left_out, uint32_t plane, uint32_t n_planes) {
    while (left_out >> plane & 1) {
        plane = (plane + 1) % n_planes;
    }
    return plane;
}

/** The same of those that are left out towards a destination. */
uint32_t failover_plane(const struct context *context, uint32_t source, uint32_t destination, uint32_t plane,
                        uint64_t now_ps);

/** Whether NICs ever leave out a plane. */
bool failover_happens(const struct context *context);

/** When a NIC looks at its planes for the n-th time, from 0; TIME_NEVER: no more. */
uint64_t failover_step_ps(const struct context *context, uint32_t n);

/** It does: queue pairs leave planes and come back. */
void failover_step(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps);

#endif
