// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which links a stream of bytes uses, and by which part of its rate, under each path policy.
 *
 * A policy that keeps a queue pair on one path is asked for that path, switch by switch, with the very functions that switches ask. One that
 * decides packet by packet is a split: random and round-robin sprays use all shortest ways evenly, those that look at load (adaptive,
 * two_choices, drill, host_reps) by what each way could carry. What all of a leaf's splits to another leaf have in common is one bundle
 * (share.h), and in a fabric where nothing is amiss all uplinks of a leaf are one limit: they are always used alike.
 *
 * ACKs run the other way, and take a constant part of the bytes that they acknowledge. Only links of the scale-out fabric are known here.
 */
#ifndef MOEFABRIC_FLUID_WAYS_H
#define MOEFABRIC_FLUID_WAYS_H

#include "fabric/fabric.h"
#include "fabric/failure_plan.h"
#include "fluid/share.h"
#include "path/path.h"

#include <stdbool.h>

/** Ask for a split over all planes, evenly, instead of one plane. */
#define WAYS_ALL_PLANES UINT32_MAX

/** Everything referred to must outlive the ways. */
struct ways_parameters {
    const struct fabric *fabric;
    const struct path_parameters *path;
    const struct failure_plan *failures; /**< of links, the same from time 0 to the end; NULL: none */
    uint64_t seed;
    uint64_t
        receive_ps_per_byte; /**< at which a host takes data from all its ports together; 0: as fast as they bring it */
    double acknowledge;      /**< bytes of ACKs for a byte on the wire */
};

struct ways;

/** Limits and their capacities. Freed by ways_free. */
struct ways *ways_create(const struct ways_parameters *parameters);

/** Frees it; NULL is allowed. */
void ways_free(struct ways *ways);

/** Capacities of all limits in bytes per picosecond; *count says how many. */
const double *ways_capacities(const struct ways *ways, uint32_t *count);

/** What streams have in common, as far as is known by now; *count says how many. */
const struct share_bundle *ways_bundles(const struct ways *ways, uint32_t *count);

/** Sets uses and bundle of the stream of a queue pair in a plane, or WAYS_ALL_PLANES. The lists live as long as the ways. False if there is no way. */
bool ways_find(struct ways *ways, uint32_t source, uint32_t destination, uint16_t entropy, uint32_t plane,
               struct share_stream *stream);

/** Notes that a stream has carried so many bytes. */
void ways_book(struct ways *ways, const struct share_stream *stream, double bytes);

/** Nothing more will be booked. */
void ways_close(struct ways *ways);

/** After ways_close: bytes that a link has carried, by what was noted. */
double ways_link_bytes(const struct ways *ways, uint32_t link);

#endif
