// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/simulation.h"

#include "command/failures.h"
#include "command/flow_level.h"
#include "command/ideal.h"
#include "command/measure.h"
#include "command/plan.h"
#include "command/record.h"
#include "command/setup.h"
#include "device/pieces.h"

#include <stdio.h>
#include <string.h>

uint64_t simulation_wire_bytes(const struct topology_nic *nic, uint64_t payload_bytes, uint32_t unit_bytes) {
    const struct pieces pieces = {
        .bytes = payload_bytes, .unit_bytes = unit_bytes, .largest_bytes = (uint32_t)nic->payload_bytes};
    return payload_bytes + pieces_count(&pieces) * nic->header_bytes;
}

/* What a run needs besides its plan, which must outlive it. */
struct needs {
    struct network_parameters parameters;
    struct failure_list failures;
    struct recorder_wishes wishes;
};

static void fini_needs(struct needs *needs) {
    failures_fini(&needs->failures);
    record_fini(&needs->wishes);
}

static bool init_needs(struct needs *needs, const struct simulation *simulation, struct error *error) {
    const struct experiment *experiment = simulation->experiment;
    *needs = (struct needs){0};
    if (!setup_network(experiment, simulation->policy, simulation->seed, &needs->parameters, error) ||
        !failures_init(&needs->failures, experiment, simulation->fabric, error)) {
        return false;
    }
    if (!record_init(&needs->wishes, experiment, simulation->fabric, error)) {
        failures_fini(&needs->failures);
        return false;
    }
    needs->parameters.failures = &needs->failures;
    needs->parameters.series = needs->wishes.n_intervals > 0 ? &needs->wishes : NULL;
    needs->parameters.threads = simulation->threads;
    needs->parameters.exchange = simulation->exchange;
    return true;
}

static struct measurement *run(const struct simulation *simulation, const struct needs *needs, struct plan *plan) {
    const struct traffic traffic = plan_traffic(plan);
    struct network *network = network_create(simulation->fabric, &needs->parameters, &traffic, NULL);
    enum network_status status = network_run(network, simulation->observer, simulation->observer_context);
    if (simulation->exchange) {
        plan_gather(plan, simulation->experiment, simulation->exchange);
    }
    if (status == NETWORK_FINISHED && !plan_finished(plan, simulation->experiment)) {
        status = NETWORK_STALLED;
    }
    const bool first = !simulation->exchange || simulation->exchange->rank == 0;
    struct measurement *measurement =
        first ? measure_network(simulation, plan, network, status) : measurement_create(&(struct measurement_shape){0});
    measurement->series = record_series(network_recorder(network), &needs->wishes, measurement->totals.simulated_ps);
    network_free(network);
    return measurement;
}

void simulation_name(const struct simulation *simulation, char name[MEASUREMENT_NAME_SIZE]) {
    const bool beside = simulation->fluid && simulation->experiment->network_model == EXPERIMENT_NETWORK_BOTH;
    _Static_assert(sizeof simulation->policy->name + sizeof MEASUREMENT_FLUID_SUFFIX - 1 <= MEASUREMENT_NAME_SIZE,
                   "names that differ must differ as columns too");
    snprintf(name, MEASUREMENT_NAME_SIZE, "%s%s", simulation->policy->name, beside ? MEASUREMENT_FLUID_SUFFIX : "");
}

struct measurement *simulation_run(const struct simulation *simulation, struct error *error) {
    struct needs needs;
    struct plan plan;
    struct measurement *measurement = NULL;
    if (simulation->fluid) {
        return flow_level_run(simulation, error);
    }
    if (!init_needs(&needs, simulation, error)) {
        return NULL;
    }
    if (plan_init(&plan, simulation->experiment, simulation->policy->early_pacing, simulation->seed, error)) {
        measurement = run(simulation, &needs, &plan);
        plan_fini(&plan);
    }
    fini_needs(&needs);
    return measurement;
}
