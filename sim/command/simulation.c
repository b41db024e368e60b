// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/simulation.h"

#include "command/failures.h"
#include "command/ideal.h"
#include "command/measure.h"
#include "command/plan.h"
#include "command/setup.h"
#include "device/pieces.h"

uint64_t simulation_wire_bytes(const struct topology_nic *nic, uint64_t payload_bytes, uint32_t unit_bytes) {
    const struct pieces pieces = {
        .bytes = payload_bytes, .unit_bytes = unit_bytes, .largest_bytes = (uint32_t)nic->payload_bytes};
    return payload_bytes + pieces_count(&pieces) * nic->header_bytes;
}

struct measurement *simulation_run(const struct simulation *simulation, struct error *error) {
    struct network_parameters parameters;
    struct plan plan;
    struct failure_list failures;
    if (!setup_network(simulation->experiment, simulation->policy, simulation->seed, &parameters, error) ||
        !failures_init(&failures, simulation->experiment, simulation->fabric, error)) {
        return NULL;
    }
    if (!plan_init(&plan, simulation->experiment, simulation->policy->early_pacing, simulation->seed, error)) {
        failures_fini(&failures);
        return NULL;
    }
    parameters.failures = &failures;
    parameters.threads = simulation->threads;
    parameters.exchange = simulation->exchange;
    const struct traffic traffic = plan_traffic(&plan);
    struct network *network = network_create(simulation->fabric, &parameters, &traffic, NULL);
    enum network_status status = network_run(network, simulation->observer, simulation->observer_context);
    if (simulation->exchange) {
        plan_gather(&plan, simulation->experiment, simulation->exchange);
    }
    if (status == NETWORK_FINISHED && !plan_finished(&plan, simulation->experiment)) {
        status = NETWORK_STALLED;
    }
    const bool first = !simulation->exchange || simulation->exchange->rank == 0;
    struct measurement *measurement = first ? measure_network(simulation, &plan, network, status)
                                            : measurement_create(&(struct measurement_shape){0});
    network_free(network);
    plan_fini(&plan);
    failures_fini(&failures);
    return measurement;
}
