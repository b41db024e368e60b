// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a network counted, as the rows that the results room stores.
 */
#ifndef MOEFABRIC_COMMAND_MEASURE_H
#define MOEFABRIC_COMMAND_MEASURE_H

#include "command/plan.h"
#include "command/simulation.h"
#include "workload/moe_summary.h"

/** Phases of a mixture-of-experts run; a pattern has one phase, number 0. */
enum measure_phase {
    MEASURE_PHASE_DISPATCH = 0,
    MEASURE_PHASE_COMBINE = 1,
    MEASURE_PHASE_COUNTS = 2,
    MEASURE_PHASE_COMBINE_BACKWARD = 3, /**< only with a backward pass, as the next one */
    MEASURE_PHASE_DISPATCH_BACKWARD = 4,
    MEASURE_PHASES = 5
};

/** Phases of the measured traffic of a plan; those of the background follow. */
uint32_t measure_phases(const struct plan *plan);

/** What a phase of a mixture-of-experts run is in its summary. */
enum moe_summary_phase measure_phase_summary(uint32_t phase);

/** The phase of a message of a plan: one of enum measure_phase; 0 for a pattern. */
uint32_t measure_phase_of(const struct plan *plan, uint32_t tag);

/** A measurement of a plan with nothing in it but who ran it and with what traffic. The caller owns it. */
struct measurement *measure_begin(const struct simulation *simulation, const struct plan *plan);

/** When everything else is in it: fills phases, ranks and experts from the plan, and finishes it. */
void measure_finish(struct measurement *measurement, const struct simulation *simulation, const struct plan *plan);

/** A finished measurement of a run that has ended with status. The caller owns it. Releases the network (network_release): rows take its place in memory. */
struct measurement *measure_network(const struct simulation *simulation, const struct plan *plan,
                                    struct network *network, enum network_status status);

#endif
