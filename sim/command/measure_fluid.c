// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/measure_fluid.h"

#include "base/rate.h"
#include "command/measure.h"
#include "fabric/names.h"

#include <stdio.h>

static enum measurement_outcome outcome_of(enum fluid_status status) {
    switch (status) {
    case FLUID_FINISHED:
        return MEASUREMENT_FINISHED;
    case FLUID_LIMIT:
        return MEASUREMENT_LIMIT;
    case FLUID_INTERRUPTED:
        return MEASUREMENT_INTERRUPTED;
    default:
        return MEASUREMENT_STALLED;
    }
}

static void fill_links(struct measurement *measurement, const struct fabric *fabric, const struct fluid *fluid) {
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const struct fabric_link *link = &fabric->links[l];
        struct measurement_link *row = &measurement->links[l];
        const uint64_t bytes = fluid_link_bytes(fluid, l);
        *row = (struct measurement_link){
            .kind = link->kind == FABRIC_NVLINK ? MEASUREMENT_LINK_NVLINK : MEASUREMENT_LINK_ETHERNET,
            .tail_device = link->tail_device,
            .head_device = link->head_device,
            .rate_bits_per_s = link->rate_bits_per_s,
            .bytes = bytes,
            .busy_ps = (uint64_t)(((rate_wide)link->ps_per_byte * bytes) >> RATE_FRACTION_BITS),
        };
        fabric_link_name(fabric, l, row->name, sizeof(row->name));
        if (link->kind == FABRIC_ETHERNET && link->tail_device < fabric->n_endpoints) {
            measurement->totals.sent_bytes += bytes;
            measurement->totals.delivered_bytes += bytes;
        }
    }
}

static void fill_endpoints(struct measurement *measurement, const struct fabric *fabric, const struct fluid *fluid) {
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        struct measurement_endpoint *row = &measurement->endpoints[rank];
        row->rack = fabric->devices[rank].rack == FABRIC_NONE ? MEASUREMENT_NONE : fabric->devices[rank].rack;
        row->nvlink_sent_bytes = fluid_nvlink_sent(fluid, rank);
        row->nvlink_received_bytes = fluid_nvlink_received(fluid, rank);
    }
}

static void fill_messages(struct measurement *measurement, const struct plan *plan, const struct fluid *fluid) {
    uint64_t n;
    const struct fluid_message *messages = fluid_messages(fluid, &n);
    measurement_reserve_messages(measurement, n);
    for (uint64_t i = 0; i < n; i++) {
        const struct fluid_message *message = &messages[i];
        const bool delivered = message->delivered_ps != 0;
        const struct measurement_message row = {
            .source = message->source,
            .destination = message->destination,
            .tag = message->tag,
            .phase = measure_phase_of(plan, message->tag),
            .bytes = message->bytes,
            .posted_ps = message->posted_ps,
            .completed_ps = message->delivered_ps,
            .acknowledged_ps = delivered ? fluid_acknowledged_ps(fluid, message) : 0,
        };
        measurement_add_message(measurement, &row);
        if (row.acknowledged_ps > measurement->totals.simulated_ps) {
            measurement->totals.simulated_ps = row.acknowledged_ps; // as with packets, the last acknowledgement counts
        }
        measurement->endpoints[message->source].fabric_sent_bytes += message->bytes;
        measurement->endpoints[message->destination].fabric_received_bytes += delivered ? message->bytes : 0;
    }
}

static void diagnose(struct measurement *measurement, const struct fluid *fluid) {
    const struct fluid_message *stuck = fluid_stuck(fluid);
    if (stuck != NULL) {
        snprintf(measurement->diagnosis, sizeof(measurement->diagnosis),
                 "a message from GPU %u to GPU %u has no way, or a link on it is down", stuck->source,
                 stuck->destination);
    }
}

struct measurement *measure_fluid(const struct simulation *simulation, const struct plan *plan,
                                  const struct fluid *fluid, enum fluid_status status) {
    struct measurement *measurement = measure_begin(simulation, plan);
    measurement->model = MEASUREMENT_MODEL_FLUID;
    measurement->outcome = outcome_of(status);
    if (status == FLUID_STALLED) {
        diagnose(measurement, fluid);
    }
    measurement->totals.simulated_ps = fluid_end_ps(fluid);
    fill_links(measurement, simulation->fabric, fluid);
    fill_endpoints(measurement, simulation->fabric, fluid);
    fill_messages(measurement, plan, fluid);
    measure_finish(measurement, simulation, plan);
    measurement_explain(measurement,
                        "by the fluid model: flows at max-min fair rates; no queues, marks, pauses, drops or "
                        "congestion control");
    return measurement;
}
