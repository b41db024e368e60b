// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Ranks that see nothing of the others but what arrives over the fabric: those of an NVLink domain, or some without NVLink.
 *
 * An island can run on its own for as long as the fabric's shortest way takes: what others send meanwhile arrives later. So islands run
 * one after the other, each while its state is in the cache, and the fabric carries what they have posted after them.
 */
#ifndef MOEFABRIC_FLUID_ISLAND_H
#define MOEFABRIC_FLUID_ISLAND_H

#include "fabric/failure_plan.h"
#include "fluid/fluid.h"

struct island;

/** A message that a rank has posted on the fabric. */
struct island_post {
    uint64_t time_ps;
    uint32_t source;
    struct traffic_message message;
};

/** Messages posted on the fabric, of several islands one after the other. Zero-initialise; its array is freed by the owner. */
struct island_posts {
    struct island_post *posts;
    uint32_t count, capacity;
};

/** Ranks first … first+count-1, of one NVLink domain or of none. All must outlive it; failures may be NULL. Freed by island_free. */
struct island *island_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                             const struct failure_plan *failures, const struct traffic *traffic, uint32_t first,
                             uint32_t count);

/** Frees it; NULL is allowed. */
void island_free(struct island *island);

/** Asks its ranks for their first messages. */
void island_begin(struct island *island, struct island_posts *posts);

/** A message of the fabric will be delivered to one of its ranks. */
void island_arrive(struct island *island, uint32_t source, uint32_t destination, uint32_t tag, uint64_t time_ps);

/** When something happens next; TIME_NEVER: nothing does. */
uint64_t island_time_ps(const struct island *island);

/** Lets happen all before until_ps, and appends what is posted on the fabric meanwhile. */
void island_run(struct island *island, uint64_t until_ps, struct island_posts *posts);

/** Whether messages over NVLink have not been sent. */
bool island_busy(const struct island *island);

/** Time of its last delivery. */
uint64_t island_end_ps(const struct island *island);

/** Deliveries so far. */
uint64_t island_deliveries(const struct island *island);

/** How often rates over NVLink were worked out. */
uint64_t island_solutions(const struct island *island);

/** Payload that a rank has sent and received over NVLink. */
uint64_t island_sent(const struct island *island, uint32_t rank);
uint64_t island_received(const struct island *island, uint32_t rank);

#endif
