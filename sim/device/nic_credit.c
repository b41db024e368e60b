// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/nic_credit.h"

#include "base/memory.h"
#include "device/endpoint_internal.h"
#include "device/link_credit.h"
#include "fabric/failure_plan.h"

/* What holds the transmitter. */
static void look_at_lanes(const struct nic *nic, struct nic_port *port) {
    const struct nic_credit *credit = port->credit;
    port->paused = !credit->dead && credit->left[nic->data_class] < credit->largest;
    port->control_held = !credit->dead && credit->left[PACKET_CLASS_CONTROL] < credit->largest;
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
        port->credit->buffer = link_credit_buffer(context, context->fabric->links[port->link].reverse);
        for (int lane = 0; lane < PACKET_CLASSES; lane++) {
            port->credit->left[lane] = link_credit_buffer(context, port->link);
        }
    }
    endpoint->nic.holds_data = true;
}

void nic_credit_spend(const struct nic *nic, struct nic_port *port, const struct packet *packet, bool lost,
                      uint64_t now_ps) {
    nic_credit_end_stall(port, now_ps);
    if (!lost) {
        port->credit->left[packet_class(packet)] -= link_credit_blocks(packet->size_bytes);
        look_at_lanes(nic, port);
    }
}

void nic_credit_gain(const struct nic *nic, struct nic_port *port, const struct control *control) {
    port->credit->left[control->lane] += control->amount;
    look_at_lanes(nic, port);
}

void nic_credit_keep(struct endpoint *endpoint, uint32_t port, const struct packet *packet, bool waits) {
    uint32_t *held = &endpoint->ports[port].credit->held[packet_class(packet)];
    const uint32_t blocks = link_credit_blocks(packet->size_bytes);
    *held = waits ? *held + blocks : *held - blocks;
}

void nic_credit_take(struct endpoint *endpoint, struct engine_worker *worker, uint32_t number,
                     const struct packet *packet, uint64_t now_ps) {
    const struct nic_port *port = &endpoint->ports[number];
    const enum packet_class lane = packet_class(packet);
    link_credit_return(endpoint->context, worker, port->link, lane, &port->credit->gathered[lane],
                       link_credit_blocks(packet->size_bytes), now_ps);
}

void nic_credit_change(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                       const struct failure_change *change) {
    struct nic_credit *credit = port->credit;
    credit->dead = change->down;
    for (int lane = 0; lane < PACKET_CLASSES && !change->down; lane++) {
        credit->left[lane] = 0;
        credit->gathered[lane] = 0;
        link_credit_renew(endpoint->context, worker, port->link, (enum packet_class)lane,
                          credit->buffer - credit->held[lane], change->time_ps);
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

const struct nic_credit *nic_credit_of(const struct endpoint *endpoint, uint32_t port) {
    return endpoint->ports[port].credit;
}
