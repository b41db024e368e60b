// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/watchdog.h"

#include "base/memory.h"
#include "device/switch_internal.h"

#include <stdlib.h>

/* One port. */
struct watched {
    uint64_t due_ps; /* paused: a storm is declared then; a storm and not paused: it is over then; else TIME_NEVER */
    bool storm;
    bool held; /* WATCHDOG_FORWARD, in a storm: told to pause, and not doing so */
};

struct watchdog {
    enum watchdog_action action;
    uint64_t detection_ps, restoration_ps;
    uint64_t next_ps; /* not after the earliest due_ps */
    uint32_t n_ports;
    struct watched ports[];
};

struct watchdog *watchdog_create(const struct switch_parameters *parameters, uint32_t n_ports) {
    if (parameters->watchdog_detection_ps == 0 || !parameters->pfc) {
        return NULL;
    }
    struct watchdog *watchdog = memory_allocate(1, sizeof(*watchdog) + n_ports * sizeof(struct watched));
    watchdog->action = parameters->watchdog_action;
    watchdog->detection_ps = parameters->watchdog_detection_ps;
    watchdog->restoration_ps = parameters->watchdog_restoration_ps;
    watchdog->next_ps = TIME_NEVER;
    watchdog->n_ports = n_ports;
    for (uint32_t p = 0; p < n_ports; p++) {
        watchdog->ports[p].due_ps = TIME_NEVER;
    }
    return watchdog;
}

void watchdog_free(struct watchdog *watchdog) {
    free(watchdog);
}

size_t watchdog_bytes(const struct watchdog *watchdog) {
    return watchdog != NULL ? sizeof(*watchdog) + watchdog->n_ports * sizeof(struct watched) : 0;
}

uint64_t watchdog_next_ps(const struct watchdog *watchdog) {
    return watchdog != NULL ? watchdog->next_ps : TIME_NEVER;
}

bool watchdog_is_dropping(const struct watchdog *watchdog, uint32_t port) {
    return watchdog != NULL && watchdog->action == WATCHDOG_DROP && watchdog->ports[port].storm;
}

static void set(struct watchdog *watchdog, uint32_t port, uint64_t due_ps) {
    watchdog->ports[port].due_ps = due_ps;
    watchdog->next_ps = due_ps < watchdog->next_ps ? due_ps : watchdog->next_ps;
}

void watchdog_paused(struct watchdog *watchdog, uint32_t port, uint64_t now_ps) {
    if (watchdog != NULL) {
        set(watchdog, port, watchdog->ports[port].storm ? TIME_NEVER : now_ps + watchdog->detection_ps);
    }
}

void watchdog_resumed(struct watchdog *watchdog, uint32_t port, uint64_t now_ps) {
    if (watchdog != NULL) {
        set(watchdog, port, watchdog->ports[port].storm ? now_ps + watchdog->restoration_ps : TIME_NEVER);
    }
}

bool watchdog_overrides(struct watchdog *watchdog, uint32_t port, bool paused, uint64_t now_ps) {
    if (watchdog == NULL || watchdog->action != WATCHDOG_FORWARD || !watchdog->ports[port].storm) {
        return false;
    }
    if (watchdog->ports[port].held != paused) {
        watchdog->ports[port].held = paused;
        (paused ? watchdog_paused : watchdog_resumed)(watchdog, port, now_ps);
    }
    return true;
}

void watchdog_drop(const struct switch_device *device, const struct switch_port *egress, const struct packet *packet,
                   uint32_t ingress, uint64_t now_ps) {
    egress->counters->watchdog_drops++;
    egress->counters->dropped_bytes += packet->size_bytes;
    if (device->context->trace) {
        trace_add_packet(device->context->trace, TRACE_DROP, now_ps, device->device, (uint16_t)ingress, packet,
                         egress->number);
    }
}

/* All that waits in the lossless queue of a port leaves the buffer. */
static void empty(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                  uint64_t now_ps) {
    struct queue *queue = &port->queues[PACKET_CLASS_LOSSLESS];
    while (!queue_is_empty(queue)) {
        const struct packet packet = *queue_front(queue);
        const uint32_t ingress = queue_ingress(&packet);
        queue_pop(queue, &worker->pool);
        port->depth[PACKET_CLASS_LOSSLESS] -= packet.size_bytes;
        watchdog_drop(device, port, &packet, ingress, now_ps);
        switch_release_lossless(device, worker, &device->ports[ingress], packet.size_bytes, now_ps);
    }
}

/* What waits in the lossless queue of a port, and what joins it, is sent although the other end does not want it. */
static void ignore_pause(struct switch_device *device, struct switch_port *port, uint64_t now_ps) {
    port->paused = false;
    port->counters->paused_ps += now_ps - port->paused_since_ps;
    device->watchdog->ports[port->number].held = true;
}

static void declare_storm(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                          uint64_t now_ps) {
    port->counters->watchdog_storms++;
    if (device->watchdog->action == WATCHDOG_ALERT) {
        return;
    }
    switch_port_drain_any(device, worker, port, now_ps - 1);
    if (device->watchdog->action == WATCHDOG_DROP) {
        empty(device, worker, port, now_ps);
    } else {
        ignore_pause(device, port, now_ps);
    }
    switch_port_note_stale(device, port);
    switch_port_kick(device, worker, port, now_ps);
}

void watchdog_step(struct switch_device *device, struct engine_worker *worker) {
    struct watchdog *watchdog = device->watchdog;
    const uint64_t now_ps = watchdog->next_ps;
    if (device->exact) {
        switch_run_departures(device, worker, now_ps - 1);
    }
    watchdog->next_ps = TIME_NEVER;
    for (uint32_t p = 0; p < watchdog->n_ports; p++) {
        struct watched *port = &watchdog->ports[p];
        if (port->due_ps == now_ps) {
            port->due_ps = TIME_NEVER;
            port->storm = !port->storm;
            if (port->storm) {
                declare_storm(device, worker, &device->ports[p], now_ps);
            }
        }
        watchdog->next_ps = port->due_ps < watchdog->next_ps ? port->due_ps : watchdog->next_ps;
    }
}
