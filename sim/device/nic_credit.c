// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/nic_credit.h"

#include "base/memory.h"
#include "device/endpoint_internal.h"
#include "fabric/failure_plan.h"

#include <string.h>

/* What holds the transmitter. */
static void look_at_lanes(const struct nic *nic, struct nic_port *port) {
    const struct nic_credit *credit = port->credit;
    port->paused = !credit->link.dead && credit->link.left[nic->data_class] < credit->largest;
    port->control_held = !credit->link.dead && credit->link.left[PACKET_CLASS_CONTROL] < credit->largest;
}

void nic_credit_init(struct endpoint *endpoint) {
    const struct context *context = endpoint->context;
    if (!context->parameters->infiniband.links) {
        return;
    }
    for (uint32_t plane = 0; plane < endpoint->nic.n_planes; plane++) {
        struct nic_port *port = &endpoint->ports[plane];
        port->credit = memory_allocate(1, sizeof(*port->credit));
        port->credit->largest = link_credit_largest(context->parameters);
        link_credit_init(&port->credit->link, context, port->link);
    }
    endpoint->nic.holds_data = true;
}

void nic_credit_spend(const struct nic *nic, struct nic_port *port, const struct packet *packet, bool lost,
                      uint64_t now_ps) {
    nic_credit_end_stall(port, now_ps);
    if (!lost) {
        port->credit->link.left[packet_class(packet)] -= link_credit_blocks(packet->size_bytes);
        look_at_lanes(nic, port);
    }
}

void nic_credit_gain(const struct nic *nic, struct nic_port *port, const struct control *control) {
    port->credit->link.left[control->lane] += control->amount;
    look_at_lanes(nic, port);
}

void nic_credit_keep(struct endpoint *endpoint, uint32_t port, const struct packet *packet, bool waits) {
    uint32_t *held = &endpoint->ports[port].credit->link.held[packet_class(packet)];
    const uint32_t blocks = link_credit_blocks(packet->size_bytes);
    *held = waits ? *held + blocks : *held - blocks;
}

void nic_credit_take(struct endpoint *endpoint, struct engine_worker *worker, uint32_t number,
                     const struct packet *packet, uint64_t now_ps) {
    const struct nic_port *port = &endpoint->ports[number];
    link_credit_return(&port->credit->link, endpoint->context, worker, port->link, packet_class(packet),
                       link_credit_blocks(packet->size_bytes), now_ps);
}

void nic_credit_change(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                       const struct failure_change *change) {
    struct link_credit *credit = &port->credit->link;
    credit->dead = change->down;
    if (!change->down) {
        memset(credit->left, 0, sizeof(credit->left));
        link_credit_renew(credit, endpoint->context, worker, port->link, change->time_ps);
    }
    look_at_lanes(&endpoint->nic, port);
}

void nic_credit_begin_stall(struct nic_port *port, uint64_t now_ps) {
    if (!port->credit->stalled) {
        port->credit->stalled = true;
        port->credit->stalled_since_ps = now_ps;
        port->counters->credit_stalls++;
    }
}

void nic_credit_end_stall(struct nic_port *port, uint64_t now_ps) {
    if (port->credit->stalled) {
        port->credit->stalled = false;
        port->counters->credit_stalled_ps += now_ps - port->credit->stalled_since_ps;
    }
}

const struct link_credit *nic_credit_of(const struct endpoint *endpoint, uint32_t port) {
    return &endpoint->ports[port].credit->link;
}
