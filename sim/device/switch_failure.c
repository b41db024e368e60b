// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/switch_failure.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/switch_credit.h"
#include "device/switch_internal.h"
#include "device/wire.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>

struct switch_failure {
    const struct failure_plan *plan;
    const struct failure_change *changes; /* of the switch's links */
    uint32_t n_changes;
    uint32_t n_taken;    /* steps taken so far */
    uint32_t n_noticed;  /* changes that exclusion has followed so far */
    uint32_t n_excluded; /* ports */
    uint32_t n_ports;
    bool of_links;
    bool excludes;                  /* the policy decides packet by packet */
    bool *excluded;                 /* [n_ports] */
    struct fabric_route *no_routes; /* [n_leaves], all empty */
    uint32_t n_leaves;              /* of a plane */
    uint16_t *left;                 /* [n_ports] scratch: candidates without those */
};

struct switch_failure *switch_failure_create(const struct context *context, uint32_t device, uint32_t n_ports) {
    if (context->failures == NULL) {
        return NULL;
    }
    struct switch_failure *failure = memory_allocate(1, sizeof(*failure));
    const uint32_t first = context->fabric->devices[device].first_port;
    failure->plan = context->failures;
    failure->changes = failure_plan_changes(failure->plan, device, &failure->n_changes);
    failure->n_ports = n_ports;
    failure->excludes = context->path->reorders;
    failure->excluded = memory_allocate(n_ports, sizeof(*failure->excluded));
    failure->n_leaves = context->fabric->plane_leaves;
    failure->no_routes = memory_allocate(failure->n_leaves, sizeof(*failure->no_routes));
    failure->left = memory_allocate(n_ports, sizeof(*failure->left));
    for (uint32_t p = 0; p < n_ports; p++) {
        failure->of_links |= failure_plan_fails(failure->plan, first + p) ||
                             failure_plan_fails(failure->plan, context->fabric->links[first + p].reverse);
    }
    return failure;
}

void switch_failure_free(struct switch_failure *failure) {
    if (failure != NULL) {
        free(failure->excluded);
        free(failure->left);
        free(failure->no_routes);
        free(failure);
    }
}

size_t switch_failure_bytes(const struct switch_failure *failure) {
    return failure == NULL ? 0
                           : sizeof(*failure) + failure->n_ports * (sizeof(bool) + sizeof(uint16_t)) +
                                 failure->n_leaves * sizeof(*failure->no_routes);
}

bool switch_failure_of_links(const struct switch_failure *failure) {
    return failure->of_links;
}

uint64_t switch_failure_next_ps(const struct switch_failure *failure) {
    return failure->n_taken < failure->n_changes ? failure->changes[failure->n_taken].time_ps : TIME_NEVER;
}

const struct fabric_route *switch_failure_no_routes(const struct switch_failure *failure) {
    return failure->no_routes;
}

void switch_failure_start(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                          const struct packet *packet, uint32_t ingress, uint64_t now_ps) {
    const struct wire_start start = wire_start(device->context, port->link, packet->size_bytes, &port->carry, now_ps);
    if (start.lost) {
        wire_lose(device->context, port->link, packet, now_ps);
    } else {
        engine_put(worker, port->out, ENGINE_PACKET,
                   now_ps + port->latency_ps + (start.duration_ps & port->arrival_mask), packet);
    }
    port->decision_ps = now_ps + start.duration_ps;
    port->sending_bytes = packet->size_bytes;
    port->sending_ingress = (uint16_t)ingress;
    port->sending_class = (uint8_t)packet_class(packet);
    counters_sent(port->counters, packet);
    switch_port_note(device, port, packet, now_ps);
}

/* ---- which way ---- */

/* Ports that have been dead, or alive again, for long enough. */
static void notice(struct switch_device *device, struct switch_failure *failure, uint64_t now_ps) {
    const uint64_t exclusion_ps = failure_plan_exclusion_ps(failure->plan);
    while (failure->n_noticed < failure->n_changes &&
           failure->changes[failure->n_noticed].time_ps + exclusion_ps <= now_ps) {
        const struct failure_change *change = &failure->changes[failure->n_noticed++];
        failure->excluded[change->link - device->ports[0].link] = change->down;
        failure->n_excluded += change->down ? 1 : UINT32_MAX;
    }
}

/* Candidates without the ports that are excluded, unless none is left. */
static struct failure_ports exclude(struct switch_failure *failure, struct failure_ports ports) {
    uint16_t n = 0;
    for (uint32_t i = 0; i < ports.count; i++) {
        const uint16_t port = ports.ports != NULL ? ports.ports[i] : (uint16_t)(ports.first_port + i);
        if (!failure->excluded[port]) {
            failure->left[n++] = port;
        }
    }
    if (n == 0 || n == ports.count) {
        return ports;
    }
    return (struct failure_ports){.first_port = ports.first_port, .count = n, .ports = failure->left};
}

/* By the weights of the ports towards the leaf, if they have any. */
static struct switch_port *choose(struct switch_device *device, const struct packet *packet, uint32_t ingress,
                                  const struct failure_ports *ports, uint32_t leaf, uint64_t now_ps) {
    const struct failure_plan *plan = device->failure->plan;
    const struct path_request request = {
        .now_ps = now_ps,
        .source = packet->source,
        .destination = packet->destination,
        .entropy = packet->entropy,
        .ingress_port = (uint16_t)ingress,
        .first_port = ports->first_port,
        .count = ports->count,
        .ports = ports->ports,
        .weights = failure_plan_weights(plan, now_ps, device->context->fabric->devices[device->device].ordinal, leaf),
        .adaptive = packet->flags_transmission & PACKET_FLAG_ADAPTIVE,
    };
    const uint16_t only = path_candidate(&request, 0);
    return &device->ports[ports->count == 1 ? only : device->context->path->choose(device->path, &request)];
}

static void drop_unrouted(const struct switch_device *device, const struct packet *packet, uint32_t ingress,
                          uint64_t now_ps) {
    device->ports[ingress].counters->unrouted_packets++;
    device->ports[ingress].counters->unrouted_bytes += packet->size_bytes;
    if (device->context->trace) {
        trace_add_packet(device->context->trace, TRACE_DROP, now_ps, device->device, (uint16_t)ingress, packet,
                         TRACE_UNROUTED);
    }
}

struct switch_port *switch_failure_route(struct switch_device *device, const struct packet *packet, uint32_t ingress,
                                         uint64_t now_ps) {
    const struct fabric_endpoint *to = &device->endpoints[packet->destination];
    struct switch_failure *failure = device->failure;
    REQUIRE(failure != NULL, "switch %u knows no way to endpoint %u", device->device, packet->destination);
    struct failure_ports ports = failure_plan_ports(failure->plan, failure_plan_tables(failure->plan, now_ps),
                                                    device->context->fabric->devices[device->device].ordinal, to->leaf);
    if (failure->excludes) {
        notice(device, failure, now_ps);
        ports = failure->n_excluded > 0 ? exclude(failure, ports) : ports;
    }
    if (ports.count == 0) {
        drop_unrouted(device, packet, ingress, now_ps);
        return NULL;
    }
    return choose(device, packet, ingress, &ports, to->leaf, now_ps);
}

void switch_failure_rates(const struct switch_device *device, const struct switch_port *ingress,
                          const struct switch_port *egress, uint64_t now_ps, uint64_t *in_ps_per_byte,
                          uint64_t *out_ps_per_byte) {
    const struct failure_plan *plan = device->failure->plan;
    const struct fabric_link *links = device->context->fabric->links;
    const uint32_t in = links[ingress->link].reverse;
    *in_ps_per_byte = failure_plan_state(plan, in, now_ps - links[in].latency_ps).ps_per_byte;
    *out_ps_per_byte = failure_plan_state(plan, egress->link, now_ps).ps_per_byte;
}

/* ---- links that go down and come up ---- */

/* The other end's pause is gone with the link: what waited is sent, into the void. */
static void forget_pause(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                         uint64_t now_ps) {
    if (watchdog_overrides(device->watchdog, port->number, false, now_ps) || !port->paused) {
        return;
    }
    switch_port_drain_any(device, worker, port, now_ps - 1);
    port->paused = false;
    port->counters->paused_ps += now_ps - port->paused_since_ps;
    watchdog_resumed(device->watchdog, port->number, now_ps);
    switch_port_note_stale(device, port);
    switch_port_kick(device, worker, port, now_ps);
}

void switch_failure_step(struct switch_device *device, struct engine_worker *worker) {
    const struct failure_change *change = &device->failure->changes[device->failure->n_taken++];
    struct switch_port *port = &device->ports[change->link - device->ports[0].link];
    if (device->credit) {
        switch_credit_change(device, worker, change);
        return;
    }
    if (change->time_ps == 0) {
        return; // nobody is paused yet
    }
    if (device->exact) {
        switch_run_departures(device, worker, change->time_ps - 1);
    }
    if (change->down) {
        forget_pause(device, worker, port, change->time_ps);
    } else if (port->pausing) {
        switch_send_pause(device, worker, port, change->time_ps);
    }
}

uint64_t switch_failure_due_ps(const struct switch_device *device) {
    const uint64_t next_ps = switch_failure_next_ps(device->failure);
    if (next_ps == TIME_NEVER || device->n_pausing > 0) {
        return next_ps;
    }
    for (uint32_t p = 0; p < device->n_ports; p++) {
        if (device->ports[p].paused) {
            return next_ps;
        }
    }
    return TIME_NEVER;
}
