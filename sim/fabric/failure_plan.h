// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A list of failures worked out: the state of a link at any time, when a device's links go down and up, and which ports
 * lead where by the tables of any time. Immutable: devices only look things up, at any time, in any order.
 */
#ifndef MOEFABRIC_FABRIC_FAILURE_PLAN_H
#define MOEFABRIC_FABRIC_FAILURE_PLAN_H

#include "base/rate.h"
#include "fabric/fabric.h"
#include "fabric/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A link from a time on, until its next state. */
struct failure_state {
    uint64_t from_ps;
    uint64_t ps_per_byte;
    uint64_t loss_fxp32;
    uint64_t
        receive_ps_per_byte; /**< of the host behind the NIC at its head; 0: as without failures, TIME_NEVER: it takes nothing */
    bool down;
    bool holds; /**< the GPU at its tail starts no message */
};

/** A link of a device goes down, or comes up. */
struct failure_change {
    uint64_t time_ps;
    uint32_t link;
    bool down;
};

/** Ports of a switch that lead somewhere: the range first_port … first_port+count-1, or (ports not NULL) count of its ports, ascending. */
struct failure_ports {
    uint16_t first_port, count;
    const uint16_t *ports;
};

struct failure_plan;

/** Works out a list for a fabric; both must outlive the plan. Ends with failure_plan_free. */
struct failure_plan *failure_plan_create(const struct fabric *fabric, const struct failure_list *list);

/** Frees a plan; NULL is allowed. */
void failure_plan_free(struct failure_plan *plan);

/** Whether a link ever fails. */
bool failure_plan_fails(const struct failure_plan *plan, uint32_t link);

/** Whether the host behind the NIC that a link enters ever fails to take its data as it should. */
bool failure_plan_receives(const struct failure_plan *plan, uint32_t link);

/** Whether the GPU whose first port a link leaves ever starts no messages for a time. */
bool failure_plan_holds(const struct failure_plan *plan, uint32_t link);

/** When a message of that GPU that is to start at a time does so; TIME_NEVER: never. */
uint64_t failure_plan_release_ps(const struct failure_plan *plan, uint32_t link, uint64_t time_ps);

/** When the state that a link has at a time ends; TIME_NEVER: it is the last one. */
uint64_t failure_plan_next_ps(const struct failure_plan *plan, uint32_t link, uint64_t time_ps);

/** The state of a link at a time. */
struct failure_state failure_plan_state(const struct failure_plan *plan, uint32_t link, uint64_t time_ps);

/** Whether a link is down at some time in [from_ps, until_ps). */
bool failure_plan_is_down(const struct failure_plan *plan, uint32_t link, uint64_t from_ps, uint64_t until_ps);

/** Times at which links of a device go down and come up, by (time, port); *count says how many. */
const struct failure_change *failure_plan_changes(const struct failure_plan *plan, uint32_t device, uint32_t *count);

/** Number of the tables that hold at a time; equal tables have equal numbers, and 0 stands for those without failures. */
uint32_t failure_plan_tables(const struct failure_plan *plan, uint64_t time_ps);

/** By these tables, the ports of a switch (ordinal) that lead to another leaf (ordinal); count 0 = unreachable. */
struct failure_ports failure_plan_ports(const struct failure_plan *plan, uint32_t tables, uint32_t ordinal,
                                        uint32_t leaf);

/** What a link that is up weighs, of so many picoseconds a byte: its rate in Mb/s, rounded down, at least 1. */
static inline uint32_t failure_plan_weight(uint64_t ps_per_byte) {
    const uint32_t megabits_per_s = (uint32_t)((UINT64_C(8000000) << RATE_FRACTION_BITS) / ps_per_byte);
    return megabits_per_s > 0 ? megabits_per_s : 1;
}

/** From now on failure_plan_weights answers. Called once, right after the plan was created. */
void failure_plan_weigh(struct failure_plan *plan);

/**
 * By the routing tables of a time, the weights of the ports of a switch (ordinal) that lead to another leaf: entry i is that of port first_port + i, what
 * gets through to the leaf by it, in Mb/s; 0 = it leads nowhere. NULL: all that lead there weigh the same, or the plan does not weigh.
 */
const uint32_t *failure_plan_weights(const struct failure_plan *plan, uint64_t time_ps, uint32_t ordinal,
                                     uint32_t leaf);

/** Times at which some cable goes down or comes up, ascending; *count says how many. */
const uint64_t *failure_plan_times(const struct failure_plan *plan, uint32_t *count);

/** Whether a switch (ordinal) led to another leaf (number within its plane) over cables that were up at a time. */
bool failure_plan_reaches(const struct failure_plan *plan, uint32_t ordinal, uint32_t leaf, uint64_t time_ps);

/** Picoseconds after a link died until a per-packet policy leaves its port out. */
uint64_t failure_plan_exclusion_ps(const struct failure_plan *plan);

/** Bytes of memory that a plan holds. */
size_t failure_plan_bytes(const struct failure_plan *plan);

#endif
