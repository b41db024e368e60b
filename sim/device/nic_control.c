// SPDX-License-Identifier: GPL-3.0-or-later
/* What holds the transmitters of a NIC and lets them go on: pauses, credit, links that go down and come up, planes that are left. */
#include "device/endpoint_internal.h"
#include "device/nic_credit.h"
#include "fabric/failure_plan.h"

/* Pauses hold no longer. nic_drain up to now_ps, or to just before it, must have been called. */
static void resume(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port, uint64_t now_ps) {
    port->paused = false;
    endpoint->context->links[port->link].paused_ps += now_ps - port->paused_since_ps;
    nic_kick(endpoint, worker, now_ps);
}

void nic_handle_control(struct endpoint *endpoint, struct engine_worker *worker, uint32_t number,
                        const struct control *control, uint64_t now_ps) {
    struct nic_port *port = &endpoint->ports[number];
    nic_drain(endpoint, worker, now_ps);
    if (control->kind == CONTROL_PAUSE) {
        port->paused = true;
        port->paused_since_ps = now_ps;
        endpoint->context->links[port->link].pauses++;
    } else if (control->kind == CONTROL_RESUME && port->paused) {
        resume(endpoint, worker, port, now_ps);
    } else if (control->kind == CONTROL_CREDIT) {
        nic_credit_gain(&endpoint->nic, port, control);
        nic_kick(endpoint, worker, now_ps);
    }
}

bool nic_is_paused(const struct endpoint *endpoint) {
    for (uint32_t plane = 0; plane < endpoint->nic.n_planes; plane++) {
        if (endpoint->ports[plane].paused) {
            return true;
        }
    }
    return false;
}

static uint64_t next_link_change_ps(const struct nic *nic) {
    return nic->n_changes_taken < nic->n_changes ? nic->changes[nic->n_changes_taken].time_ps : TIME_NEVER;
}

uint64_t nic_next_change_ps(const struct nic *nic) {
    const uint64_t change_ps = next_link_change_ps(nic);
    return nic->failover_ps < change_ps ? nic->failover_ps : change_ps;
}

uint64_t nic_awaited_change_ps(const struct endpoint *endpoint) {
    const struct nic *nic = &endpoint->nic;
    const uint64_t next_ps = nic_next_change_ps(nic);
    if (next_ps == TIME_NEVER) { // as nearly always; and a GPU without a NIC has no port to look at
        return TIME_NEVER;
    }
    // planes are left, and links that come up are told credit, whether anything waits or not
    if (nic->failover_ps != TIME_NEVER || endpoint->ports[0].credit) {
        return next_ps < endpoint->context->parameters->limit_ps ? next_ps : TIME_NEVER;
    }
    return nic_is_paused(endpoint) ? next_ps : TIME_NEVER;
}

void nic_handle_change(struct endpoint *endpoint, struct engine_worker *worker) {
    struct nic *nic = &endpoint->nic;
    if (nic->failover_ps < next_link_change_ps(nic)) {
        const uint64_t now_ps = nic->failover_ps;
        nic->failover_ps = failover_step_ps(endpoint->context, ++nic->n_failovers);
        failover_step(endpoint, worker, now_ps);
        return;
    }
    const struct failure_change *change = &nic->changes[nic->n_changes_taken++];
    struct nic_port *port = &endpoint->ports[change->link - endpoint->ports[0].link];
    if (port->credit) {
        nic_drain(endpoint, worker, change->time_ps > 0 ? change->time_ps - 1 : 0);
        nic_credit_change(endpoint, worker, port, change);
        nic_kick(endpoint, worker, change->time_ps);
        return;
    }
    if (change->down && port->paused) {
        nic_drain(endpoint, worker, change->time_ps - 1);
        resume(endpoint, worker, port, change->time_ps);
    }
    if (!change->down && receive_buffer_is_pausing(endpoint->receive)) {
        receive_buffer_pause(endpoint, worker, port->number, change->time_ps); // the leaf has forgotten it
    }
}
