// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The shared buffer of a switch: who is let in, who is paused, who is resumed.
 *
 * While nobody is paused and an upper bound of the occupancy admits everything, ports are drained only when touched: a
 * packet costs one event a hop, and every decision is what the exact occupancy would have given, since less occupancy
 * only admits more. When the bound fails, the switch turns exact: departures are handled one by one, in order.
 */
#include "base/error.h"
#include "device/switch_internal.h"

/* From now on departures are handled one by one. All ports are brought up to now_ps first. */
static void make_exact(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps) {
    for (uint32_t w = 0; w < device->words; w++) {
        for (uint64_t bits = device->active[w]; bits; bits &= bits - 1) {
            switch_port_drain(device, worker, &device->ports[w * 64 + (uint32_t)__builtin_ctzll(bits)], now_ps);
        }
    }
    device->exact = true;
    for (uint32_t w = 0; w < device->words; w++) {
        for (uint64_t bits = device->active[w]; bits; bits &= bits - 1) {
            const struct switch_port *port = &device->ports[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (port->decision_ps != TIME_NEVER) {
                heap_push(&device->departures, port->decision_ps, port->number, 0);
            }
        }
    }
}

void switch_run_departures(struct switch_device *device, struct engine_worker *worker, uint64_t now_ps) {
    while (heap_time_ps(&device->departures) <= now_ps) {
        const struct heap_entry entry = heap_pop(&device->departures);
        struct switch_port *port = &device->ports[entry.tie];
        if (port->decision_ps == entry.time_ps) { // else it was planned anew since
            switch_port_catch_up(device, worker, port, entry.time_ps);
        }
    }
}

void switch_send_pause(struct switch_device *device, struct engine_worker *worker, const struct switch_port *ingress,
                       uint64_t now_ps) {
    context_send_control(device->context, worker, ingress->link, now_ps, CONTROL_PAUSE, 0);
    if (device->context->trace) {
        trace_add_control(device->context->trace, TRACE_PAUSE, now_ps, device->device, ingress->number, 0);
    }
}

bool switch_squeeze_lossless(struct switch_device *device, struct engine_worker *worker, struct switch_port *ingress,
                             uint32_t size_bytes, uint64_t now_ps) {
    if (!device->exact) {
        make_exact(device, worker, now_ps);
        if (switch_pool_admits(&device->lossless, size_bytes, ingress->shared_bytes + size_bytes)) {
            ingress->shared_bytes += size_bytes;
            device->lossless.used_bytes += size_bytes;
            return true;
        }
    }
    device->strained = true;
    if (ingress->headroom_bytes + size_bytes > ingress->headroom_limit_bytes) {
        return false;
    }
    ingress->headroom_bytes += size_bytes;
    if (!ingress->pausing) {
        ingress->pausing = true;
        device->n_pausing++;
        switch_send_pause(device, worker, ingress, now_ps);
    }
    return true;
}

bool switch_squeeze_lossy(struct switch_device *device, struct engine_worker *worker, const struct switch_port *egress,
                          enum packet_class class, uint32_t size_bytes, uint64_t now_ps) {
    const uint64_t depth_bytes = (uint64_t)egress->depth[class] + size_bytes;
    if (depth_bytes > device->queue_limit_bytes[class]) {
        return false; // the pool has no part in this
    }
    if (!switch_pool_admits(&device->lossy, size_bytes, depth_bytes)) {
        if (device->exact) {
            device->strained = true;
            return false;
        }
        make_exact(device, worker, now_ps);
        if (!switch_pool_admits(&device->lossy, size_bytes, depth_bytes)) {
            device->strained = true;
            return false;
        }
    }
    device->lossy.used_bytes += size_bytes;
    return true;
}

static bool may_resume(const struct switch_device *device, const struct switch_port *ingress) {
    const uint64_t xon_bytes = device->parameters->xon_bytes;
    return ingress->headroom_bytes == 0 &&
           (ingress->shared_bytes <= xon_bytes ||
            ingress->shared_bytes + xon_bytes <= switch_threshold_bytes(&device->lossless));
}

void switch_release_paused(struct switch_device *device, struct engine_worker *worker, struct switch_port *ingress,
                           uint32_t size_bytes, uint64_t now_ps) {
    const uint32_t from_headroom = size_bytes < ingress->headroom_bytes ? size_bytes : ingress->headroom_bytes;
    ingress->headroom_bytes -= from_headroom;
    ingress->shared_bytes -= size_bytes - from_headroom;
    device->lossless.used_bytes -= size_bytes - from_headroom;
    if (!ingress->pausing || !may_resume(device, ingress)) {
        return;
    }
    REQUIRE(device->exact, "switch %u resumes a port while its departures are lazy", device->device);
    ingress->pausing = false;
    device->n_pausing--;
    context_send_control(device->context, worker, ingress->link, now_ps, CONTROL_RESUME, 0);
    if (device->context->trace) {
        trace_add_control(device->context->trace, TRACE_RESUME, now_ps, device->device, ingress->number, 0);
    }
}
