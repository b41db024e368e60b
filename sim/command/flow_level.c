// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/flow_level.h"

#include "base/error_id.h"
#include "base/number.h"
#include "base/rate.h"
#include "command/estimate.h"
#include "command/failures.h"
#include "command/measure_fluid.h"
#include "command/setup.h"

/* So few messages are followed one by one; of more, rates are looked at about so often in the least time that they can take. */
enum { FEW_MESSAGES = 1000, LOOKS = 250 };

static uint64_t resolution_ps(const struct plan *plan, const struct experiment *experiment,
                              const struct fabric *fabric) {
    struct estimate estimate;
    estimate_plan(plan, experiment, fabric, &estimate);
    const struct plan_volume *volume = &estimate.volume, *beside = &estimate.background;
    const uint64_t messages =
        volume->fabric_messages + volume->nvlink_messages + beside->fabric_messages + beside->nvlink_messages;
    if (messages <= FEW_MESSAGES) {
        return 0;
    }
    const uint64_t bytes = volume->fabric_bytes / fabric->n_endpoints;
    const uint64_t nic_ps =
        (uint64_t)(((rate_wide)fabric->links[fabric->devices[0].first_port].ps_per_byte * bytes) >> RATE_FRACTION_BITS);
    return number_larger(estimate.ideal_ps, nic_ps) / LOOKS;
}

static void set_nic(struct fluid_parameters *parameters, const struct network_parameters *network,
                    const struct experiment_policy *policy) {
    const struct nic_parameters *nic = &network->nic;
    parameters->payload_bytes = nic->payload_bytes;
    parameters->header_bytes = nic->header_bytes;
    parameters->control_bytes = nic->control_bytes;
    parameters->acknowledge_bytes = nic->acknowledge_bytes;
    parameters->queue_pairs = nic->queue_pairs;
    parameters->window_bytes = (uint64_t)nic->window_packets * nic->payload_bytes;
    parameters->plane_by_pair = nic->plane_by_pair;
    parameters->planes_alike = policy->global_context && !nic->plane_by_pair;
    parameters->receive_ps_per_byte = nic->receive_ps_per_byte;
    parameters->by_offer = network->congestion.kind == CONGESTION_NONE;
}

bool flow_level_parameters(const struct simulation *simulation, const struct failure_list *failures,
                           const struct plan *plan, struct fluid_parameters *parameters, struct error *error) {
    struct network_parameters network;
    if (!setup_network(simulation->experiment, simulation->policy, simulation->seed, &network, error)) {
        return false;
    }
    *parameters = (struct fluid_parameters){
        .seed = simulation->seed,
        .path = network.path,
        .record_bytes = network.nvlink.record_bytes,
        .failures = failures,
        .limit_ps = network.limit_ps,
        .resolution_ps = resolution_ps(plan, simulation->experiment, simulation->fabric),
    };
    set_nic(parameters, &network, simulation->policy);
    return true;
}

static struct measurement *run(const struct simulation *simulation, const struct plan *plan,
                               const struct fluid_parameters *parameters) {
    const struct traffic traffic = plan_traffic(plan);
    struct fluid *fluid = fluid_create(simulation->fabric, parameters, &traffic);
    enum fluid_status status = fluid_run(fluid, simulation->observer, simulation->observer_context);
    if (status == FLUID_FINISHED && !plan_finished(plan, simulation->experiment)) {
        status = FLUID_STALLED;
    }
    struct measurement *measurement = measure_fluid(simulation, plan, fluid, status);
    fluid_free(fluid);
    return measurement;
}

static bool refuse(struct error *error, const char *reason) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_UNSUPPORTED, "not in the fluid model: %s", reason);
    error_hint(error, "network_model: packet (--model packet) knows it");
    return false;
}

bool flow_level_check(const struct experiment *experiment, const struct fabric *fabric, const struct exchange *exchange,
                      struct error *error) {
    struct failure_list failures = {0};
    if (experiment->network_model == EXPERIMENT_NETWORK_PACKET) {
        return true;
    }
    if (exchange) {
        return refuse(error, "runs over several processes (one needs seconds)");
    }
    if (!failures_init(&failures, experiment, fabric, error)) {
        return false;
    }
    const char *reason = fluid_refuses(&failures);
    failures_fini(&failures);
    return reason == NULL || refuse(error, reason);
}

struct measurement *flow_level_run(const struct simulation *simulation, struct error *error) {
    const struct experiment *experiment = simulation->experiment;
    struct failure_list failures = {0};
    struct plan plan;
    struct measurement *measurement = NULL;
    if (!failures_init(&failures, experiment, simulation->fabric, error)) {
        return NULL;
    }
    const char *reason = fluid_refuses(&failures);
    if (reason != NULL) {
        refuse(error, reason);
    } else if (plan_init(&plan, experiment, simulation->policy->early_pacing, simulation->seed, error)) {
        struct fluid_parameters parameters;
        if (flow_level_parameters(simulation, &failures, &plan, &parameters, error)) {
            measurement = run(simulation, &plan, &parameters);
        }
        plan_fini(&plan);
    }
    failures_fini(&failures);
    return measurement;
}
