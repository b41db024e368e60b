// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Least times: what traffic would take if nothing else were on the fabric.
 */
#ifndef MOEFABRIC_COMMAND_IDEAL_H
#define MOEFABRIC_COMMAND_IDEAL_H

#include "command/plan.h"
#include "fabric/fabric.h"
#include "workload/moe_summary.h"

#include <stdint.h>

/** What ideal times are computed from. */
struct ideal {
    const struct fabric *fabric;
    const struct experiment *experiment;
    const struct plan *plan;
};

/** Bytes of one token copy that packets never straddle, 0 if there is no such unit. */
uint32_t ideal_unit_bytes(const struct ideal *ideal, uint32_t phase);

/**
 * Unloaded time of a flow over the fabric, alone from its source to its destination: all its packets at the NIC's rate, and the rest of the
 * way of the largest. Exact where no link on the way is slower than the NIC, and those of store-and-forward switches are as fast as it
 * (a smaller packet behind the largest then never waits for anything but it). ACKs of flows in the other direction are other
 * traffic and do not count. The signature of measurement_ideal; context is a struct ideal, phase one of enum measure_phase (measure.h).
 */
uint64_t ideal_flow_ps(const void *context, uint32_t source, uint32_t destination, uint32_t phase, uint64_t bytes);

/** Time that a message, headers included, takes on the link of a rank's NIC. */
uint64_t ideal_wire_ps(const struct ideal *ideal, uint32_t rank, uint32_t phase, uint64_t bytes);

/** Least time in which a rank's NVLink ports take these bytes from another GPU of its domain. */
uint64_t ideal_nvlink_ps(const struct ideal *ideal, uint32_t rank, uint64_t bytes);

/** Least time of a phase of a mixture-of-experts plan: the fullest NIC or GPU, in bytes ÷ rate, and one packet's way. */
uint64_t ideal_phase_ps(const struct ideal *ideal, enum moe_summary_phase phase);

/** Least time in which a rank's NIC and NVLink ports take what it receives in a phase: bytes ÷ rate, and the shortest way of a first byte. 0 = it receives nothing. */
uint64_t ideal_rank_ps(const struct ideal *ideal, uint32_t rank, enum moe_summary_phase phase);

/** Least time of a program of steps (step_plan_least_ps): what is computed and waited for, collectives as fast as NIC and NVLink ports take bytes. */
uint64_t ideal_steps_ps(const struct ideal *ideal);

#endif
