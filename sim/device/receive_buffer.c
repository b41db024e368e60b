// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/receive_buffer.h"

#include "base/memory.h"
#include "device/endpoint_internal.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>

struct receive_buffer {
    struct queue packets;
    uint64_t held_bytes[PACKET_CLASSES];
    uint64_t ps_per_byte; /* of a host that does not fail */
    uint32_t link;        /* that enters the first port of the NIC: what it says of the host holds */
    bool limits;          /* the host has a rate of its own: even a packet that finds nobody before it takes time */
    bool credits;         /* InfiniBand: the leaf has credit for what it sends, so all that comes has room */
    bool pauses;          /* PFC */
    bool pausing;
};

struct receive_buffer *receive_buffer_create(const struct context *context, uint32_t device) {
    const struct fabric_link *out = &context->fabric->links[context->fabric->devices[device].first_port];
    const uint64_t given_ps_per_byte = context->parameters->nic.receive_ps_per_byte;
    const bool fails = context->failures != NULL && failure_plan_receives(context->failures, out->reverse);
    if (given_ps_per_byte == 0 && !fails) {
        return NULL;
    }
    struct receive_buffer *buffer = memory_allocate(1, sizeof(*buffer));
    buffer->link = out->reverse;
    buffer->limits = given_ps_per_byte != 0;
    buffer->ps_per_byte =
        buffer->limits ? given_ps_per_byte
                       : context->fabric->links[out->reverse].ps_per_byte / context->fabric->endpoints[device].n_nics;
    buffer->credits = context->parameters->infiniband.links;
    buffer->pauses = context->parameters->leaf.pfc && !buffer->credits;
    return buffer;
}

void receive_buffer_free(struct receive_buffer *buffer) {
    free(buffer);
}

bool receive_buffer_is_pausing(const struct receive_buffer *buffer) {
    return buffer != NULL && buffer->pausing;
}

uint64_t receive_buffer_next_ps(const struct endpoint *endpoint) {
    const uint64_t change_ps = endpoint->receive->pausing ? nic_next_change_ps(&endpoint->nic) : TIME_NEVER;
    return change_ps < endpoint->take_ps ? change_ps : endpoint->take_ps;
}

size_t receive_buffer_bytes(const struct receive_buffer *buffer) {
    return buffer != NULL ? sizeof(*buffer) : 0;
}

/* How the host fails at a time; 0: it does not, TIME_NEVER: it takes nothing. */
static uint64_t failing_ps_per_byte(const struct context *context, const struct receive_buffer *buffer,
                                    uint64_t time_ps) {
    return context->failures != NULL ? failure_plan_state(context->failures, buffer->link, time_ps).receive_ps_per_byte
                                     : 0;
}

/* When the host will have taken a packet that it turns to at time_ps. */
static uint64_t taken_ps(const struct context *context, const struct receive_buffer *buffer, uint32_t size_bytes,
                         uint64_t time_ps) {
    uint64_t failing = failing_ps_per_byte(context, buffer, time_ps);
    while (failing == TIME_NEVER) {
        time_ps = failure_plan_next_ps(context->failures, buffer->link, time_ps);
        if (time_ps == TIME_NEVER) {
            return TIME_NEVER;
        }
        failing = failing_ps_per_byte(context, buffer, time_ps);
    }
    return time_ps + rate_time_ps(failing > buffer->ps_per_byte ? failing : buffer->ps_per_byte, size_bytes);
}

static void send_control(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port, enum control_kind kind,
                         uint64_t now_ps) {
    const struct context *context = endpoint->context;
    context_send_control(context, worker, endpoint->ports[port].link, now_ps, kind, 0);
    if (context->trace) {
        trace_add_control(context->trace, kind == CONTROL_PAUSE ? TRACE_PAUSE : TRACE_RESUME, now_ps, endpoint->device,
                          (uint16_t)port, 0);
    }
}

void receive_buffer_pause(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port, uint64_t now_ps) {
    endpoint->counters.receive_pauses++;
    send_control(endpoint, worker, port, CONTROL_PAUSE, now_ps);
}

static void discard(struct endpoint *endpoint, const struct packet *packet, uint32_t port, uint64_t now_ps) {
    endpoint->counters.receive_discards++;
    if (endpoint->context->trace) {
        trace_add_packet(endpoint->context->trace, TRACE_DROP, now_ps, endpoint->device, (uint16_t)port, packet, 0);
    }
}

bool receive_buffer_keeps(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                          uint32_t port, uint64_t now_ps) {
    const struct nic_parameters *parameters = &endpoint->context->parameters->nic;
    struct receive_buffer *buffer = endpoint->receive;
    const enum packet_class class = packet_class(packet);
    const bool first = queue_is_empty(&buffer->packets);
    if (class == PACKET_CLASS_CONTROL ||
        (first && !buffer->limits && failing_ps_per_byte(endpoint->context, buffer, now_ps) == 0)) {
        return false;
    }
    const uint64_t held_bytes = buffer->held_bytes[class] + packet->size_bytes;
    if (held_bytes > parameters->receive_buffer_bytes && !buffer->credits) {
        discard(endpoint, packet, port, now_ps);
        return true;
    }
    buffer->held_bytes[class] = held_bytes;
    queue_push(&buffer->packets, &worker->pool, packet);
    if (buffer->credits) {
        nic_credit_keep(endpoint, port, packet, true);
    }
    if (held_bytes > endpoint->counters.receive_deepest_bytes) {
        endpoint->counters.receive_deepest_bytes = held_bytes;
    }
    if (first) {
        endpoint->take_ps = taken_ps(endpoint->context, buffer, packet->size_bytes, now_ps);
    }
    if (class == PACKET_CLASS_LOSSLESS && buffer->pauses && !buffer->pausing &&
        held_bytes > parameters->receive_xoff_bytes) {
        buffer->pausing = true;
        for (uint32_t p = 0; p < endpoint->n_nics; p++) {
            receive_buffer_pause(endpoint, worker, p, now_ps);
        }
    }
    return true;
}

void receive_buffer_take(struct endpoint *endpoint, struct engine_worker *worker) {
    struct receive_buffer *buffer = endpoint->receive;
    const uint64_t now_ps = endpoint->take_ps;
    const struct packet packet = *queue_front(&buffer->packets);
    const enum packet_class class = packet_class(&packet);
    queue_pop(&buffer->packets, &worker->pool);
    if (buffer->credits) {
        nic_credit_keep(endpoint, queue_ingress(&packet), &packet, false);
    }
    endpoint->take_ps = queue_is_empty(&buffer->packets)
                            ? TIME_NEVER
                            : taken_ps(endpoint->context, buffer, queue_front(&buffer->packets)->size_bytes, now_ps);
    buffer->held_bytes[class] -= packet.size_bytes;
    if (class == PACKET_CLASS_LOSSLESS && buffer->pausing &&
        buffer->held_bytes[class] <= endpoint->context->parameters->nic.receive_xon_bytes) {
        buffer->pausing = false;
        for (uint32_t p = 0; p < endpoint->n_nics; p++) {
            send_control(endpoint, worker, p, CONTROL_RESUME, now_ps);
        }
    }
    endpoint_handle_packet(endpoint, worker, &packet, queue_ingress(&packet), now_ps);
}
