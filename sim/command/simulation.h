// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One run: an experiment under one policy with one seed, from its plan to its measurement.
 */
#ifndef MOEFABRIC_COMMAND_SIMULATION_H
#define MOEFABRIC_COMMAND_SIMULATION_H

#include "base/error.h"
#include "config/experiment.h"
#include "device/network.h"
#include "fabric/fabric.h"
#include "results/measurement.h"

/** What to run. */
struct simulation {
    const struct experiment *experiment;
    const struct experiment_policy *policy;
    const struct fabric *fabric; /**< of the experiment's topology; shared by runs */
    bool fluid;                  /**< by the fluid model */
    uint64_t seed;
    uint32_t threads; /**< of this run */
    const struct exchange
        *exchange;              /**< NULL, or the ranks that this run is spread over: all of them call simulation_run */
    network_observer *observer; /**< may be NULL */
    void *observer_context;
};

/** Runs it. The caller owns the measurement, whatever its outcome; NULL with *error if it cannot start. Ranks other than 0 get an empty measurement. May be called from several threads. */
struct measurement *simulation_run(const struct simulation *simulation, struct error *error);

/** Name of its column: that of the policy, and of the fluid model where it stands beside packets. */
void simulation_name(const struct simulation *simulation, char name[MEASUREMENT_NAME_SIZE]);

/** Wire bytes of a payload in packets of the NIC that never straddle a unit (0: no units). */
uint64_t simulation_wire_bytes(const struct topology_nic *nic, uint64_t payload_bytes, uint32_t unit_bytes);

#endif
