// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/endpoint.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/endpoint_internal.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>

struct endpoint *endpoint_create(const struct context *context, uint32_t device) {
    const struct fabric_endpoint *place = &context->fabric->endpoints[device];
    struct endpoint *endpoint = memory_allocate(1, sizeof(*endpoint) + place->n_nics * sizeof(struct nic_port));
    endpoint->context = context;
    endpoint->links = &context->links[context->fabric->devices[device].first_port];
    endpoint->device = device;
    endpoint->last_source = UINT64_MAX;
    endpoint->take_ps = TIME_NEVER;
    endpoint->nic.failover_ps = TIME_NEVER;
    endpoint->n_nics = place->n_nics;
    endpoint->n_lanes = place->n_nvlinks;
    if (endpoint->n_nics > 0) {
        nic_init(endpoint);
        endpoint->receive = receive_buffer_create(context, device);
        endpoint->fails = endpoint->receive != NULL || endpoint->nic.n_changes > 0 || failover_happens(context);
        endpoint->holds_arrivals = endpoint->receive != NULL || context->parameters->infiniband.links;
    }
    endpoint->sends_late =
        context->failures != NULL && failure_plan_holds(context->failures, context->fabric->devices[device].first_port);
    lane_init(endpoint);
    return endpoint;
}

/* Nothing is armed: many messages wait at the start of a run, and few or none later. */
static void free_armed(struct endpoint *endpoint) {
    heap_fini(&endpoint->starts);
    free(endpoint->armed);
    free(endpoint->free_armed);
    endpoint->armed = NULL;
    endpoint->free_armed = NULL;
    endpoint->n_armed = endpoint->n_free_armed = endpoint->armed_capacity = 0;
}

void endpoint_release(struct endpoint *endpoint) {
    nic_fini(endpoint);
    receive_buffer_free(endpoint->receive);
    receiver_fini(endpoint);
    lane_fini(endpoint);
    missing_fini(&endpoint->missing);
    table_fini(&endpoint->parts);
    table_fini(&endpoint->urgent_seen);
    free_armed(endpoint);
    free(endpoint->completed);
    *endpoint = (struct endpoint){.context = endpoint->context,
                                  .device = endpoint->device,
                                  .sent = endpoint->sent,
                                  .n_sent = endpoint->n_sent,
                                  .sent_capacity = endpoint->sent_capacity,
                                  .delivered = endpoint->delivered,
                                  .n_delivered = endpoint->n_delivered,
                                  .delivered_capacity = endpoint->delivered_capacity,
                                  .last_ps = endpoint->last_ps,
                                  .counters = endpoint->counters};
}

void endpoint_free(struct endpoint *endpoint) {
    if (!endpoint) {
        return;
    }
    endpoint_release(endpoint);
    free(endpoint->sent);
    free(endpoint->delivered);
    free(endpoint);
}

static void post(struct endpoint *endpoint, struct engine_worker *worker, const struct traffic_message *message,
                 uint64_t now_ps) {
    if (message->route == TRAFFIC_NVLINK) {
        REQUIRE(endpoint->n_lanes > 0, "endpoint %u has no NVLink", endpoint->device);
        lane_post(endpoint, message, now_ps);
        return;
    }
    REQUIRE(endpoint->n_nics > 0 && message->destination != endpoint->device && message->bytes > 0,
            "endpoint %u posts a message of %llu bytes to endpoint %u", endpoint->device,
            (unsigned long long)message->bytes, message->destination);
    endpoint->counters.posted_messages++;
    pair_post(endpoint, worker, message, now_ps);
}

static void arm(struct endpoint *endpoint, const struct traffic_message *message, uint64_t start_ps) {
    uint32_t slot;
    if (endpoint->n_free_armed > 0) {
        slot = endpoint->free_armed[--endpoint->n_free_armed];
    } else {
        if (endpoint->n_armed == endpoint->armed_capacity) {
            endpoint->armed_capacity += endpoint->armed_capacity / 4 + 8;
            endpoint->armed = memory_resize(endpoint->armed, endpoint->armed_capacity, sizeof(*endpoint->armed));
            endpoint->free_armed =
                memory_resize(endpoint->free_armed, endpoint->armed_capacity, sizeof(*endpoint->free_armed));
        }
        slot = endpoint->n_armed++;
    }
    endpoint->armed[slot] = *message;
    heap_push(&endpoint->starts, start_ps, endpoint->n_armings++, slot);
}

/* When a message of the outbox starts. */
static inline uint64_t start_of(const struct endpoint *endpoint, const struct traffic_message *message,
                                uint64_t now_ps) {
    const uint64_t start_ps = message->start_ps > now_ps ? message->start_ps : now_ps;
    const struct context *context = endpoint->context;
    return __builtin_expect(endpoint->sends_late, 0)
               ? failure_plan_release_ps(context->failures, context->fabric->devices[endpoint->device].first_port,
                                         start_ps)
               : start_ps;
}

static void take_outbox(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    const struct traffic_outbox *outbox = &endpoint->context->outboxes[worker->number].outbox;
    for (uint32_t i = 0; i < outbox->count; i++) {
        const struct traffic_message *message = &outbox->messages[i];
        const uint64_t start_ps = start_of(endpoint, message, now_ps);
        if (start_ps <= now_ps) {
            post(endpoint, worker, message, now_ps);
        } else {
            arm(endpoint, message, start_ps);
        }
    }
}

/* The outbox, emptied to be filled by the traffic. */
static struct traffic_outbox *empty_outbox(const struct endpoint *endpoint, const struct engine_worker *worker) {
    struct traffic_outbox *outbox = &endpoint->context->outboxes[worker->number].outbox;
    outbox->count = 0;
    outbox->takes_series = true;
    return outbox;
}

void endpoint_begin(struct endpoint *endpoint, struct engine_worker *worker) {
    const struct traffic *traffic = endpoint->context->traffic;
    traffic->begin(traffic->plan, endpoint->device, empty_outbox(endpoint, worker));
    take_outbox(endpoint, worker, 0);
}

static void book_delivered(struct endpoint *endpoint, uint32_t source, uint32_t tag, uint64_t now_ps) {
    ENDPOINT_RESERVE(endpoint->delivered, endpoint->n_delivered, endpoint->delivered_capacity);
    endpoint->delivered[endpoint->n_delivered++] =
        (struct endpoint_received){.source = source, .tag = tag, .delivered_ps = now_ps};
}

void endpoint_deliver(struct endpoint *endpoint, struct engine_worker *worker, enum packet_kind kind, uint32_t source,
                      uint32_t tag, uint16_t queue_pair, uint64_t now_ps) {
    const struct traffic *traffic = endpoint->context->traffic;
    endpoint->counters.delivered_messages++;
    endpoint->last_ps = now_ps;
    if (kind == PACKET_DATA) {
        book_delivered(endpoint, source, tag, now_ps);
    }
    if (endpoint->context->trace) {
        trace_add_message(endpoint->context->trace, TRACE_DELIVER, now_ps, endpoint->device, kind, source,
                          endpoint->device, tag, queue_pair);
    }
    traffic->delivered(traffic->plan, endpoint->device, source, tag, now_ps, empty_outbox(endpoint, worker));
    take_outbox(endpoint, worker, now_ps);
}

static inline void take_packet(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                               uint32_t port, uint64_t now_ps) {
    endpoint->nic.reply_plane = (uint8_t)port; // of an NVLink port nobody asks
    const enum packet_kind kind = packet_kind(packet);
    if (kind == PACKET_DATA) {
        receiver_handle_data(endpoint, worker, packet, now_ps);
        return;
    }
    switch (kind) {
    case PACKET_TRIMMED:
        receiver_handle_trimmed(endpoint, worker, packet, now_ps);
        break;
    case PACKET_RECORD:
        lane_handle_record(endpoint, worker, port, packet, now_ps);
        break;
    case PACKET_PROBE:
        receiver_handle_probe(endpoint, worker, packet, now_ps);
        break;
    case PACKET_URGENT:
        receiver_handle_urgent(endpoint, worker, packet, now_ps);
        break;
    case PACKET_URGENT_ACK:
        urgent_handle_reply(endpoint, packet);
        break;
    default:
        pair_handle_reply(endpoint, worker, packet, now_ps);
        break;
    }
}

void endpoint_handle_packet(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                            uint32_t port, uint64_t now_ps) {
    if (port < endpoint->n_nics && endpoint->ports[port].credit != NULL) {
        nic_credit_take(endpoint, worker, port, packet, now_ps);
    }
    take_packet(endpoint, worker, packet, port, now_ps);
}

/* Of an endpoint that holds arrivals. */
static __attribute__((noinline)) void hold_or_handle(struct endpoint *endpoint, struct engine_worker *worker,
                                                     const struct packet *packet, uint32_t port, uint64_t now_ps) {
    if (endpoint->receive == NULL || port >= endpoint->n_nics ||
        !receive_buffer_keeps(endpoint, worker, packet, port, now_ps)) {
        endpoint_handle_packet(endpoint, worker, packet, port, now_ps);
    }
}

static inline void handle_packet(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                                 uint32_t port, uint64_t now_ps) {
    endpoint->links[port].arrived_bytes += packet->size_bytes;
    if (__builtin_expect(endpoint->holds_arrivals, 0)) {
        hold_or_handle(endpoint, worker, packet, port, now_ps);
        return;
    }
    take_packet(endpoint, worker, packet, port, now_ps);
}

static void handle_arrival(struct endpoint *endpoint, struct engine_worker *worker, const struct engine_record *record,
                           enum engine_queue queue) {
    const uint64_t now_ps = engine_stamp_ps(record->stamp);
    const uint32_t port = engine_stamp_port(record->stamp);
    if (queue == ENGINE_PACKET) {
        handle_packet(endpoint, worker, (const void *)record, port, now_ps);
    } else if (port < endpoint->n_nics) {
        nic_handle_control(endpoint, worker, port, (const void *)record, now_ps);
    } else {
        lane_handle_credit(endpoint, worker, port - endpoint->n_nics, (const void *)record, now_ps);
    }
}

static void handle_start(struct endpoint *endpoint, struct engine_worker *worker) {
    const struct heap_entry entry = heap_pop(&endpoint->starts);
    const struct traffic_message message = endpoint->armed[entry.value];
    endpoint->free_armed[endpoint->n_free_armed++] = entry.value;
    if (endpoint->starts.count == 0) {
        free_armed(endpoint);
    }
    post(endpoint, worker, &message, entry.time_ps);
}

/*
 * What the host takes from the receive buffer, message starts and retransmission timers that come before limit_ps (arrivals
 * of one time precede them); and the NIC's link that goes down or comes up until changes_ps, before all else of its time.
 */
static void run_timers(struct endpoint *endpoint, struct engine_worker *worker, uint64_t limit_ps,
                       uint64_t changes_ps) {
    for (;;) {
        const uint64_t start_ps = heap_time_ps(&endpoint->starts);
        const uint64_t timer_ps = heap_time_ps(&endpoint->nic.timers);
        const uint64_t change_ps = nic_next_change_ps(&endpoint->nic);
        const uint64_t take_ps = endpoint->take_ps;
        if (change_ps <= changes_ps && change_ps <= start_ps && change_ps <= timer_ps && change_ps <= take_ps) {
            nic_handle_change(endpoint, worker);
            continue;
        }
        if (start_ps >= limit_ps && timer_ps >= limit_ps && take_ps >= limit_ps) {
            return;
        }
        if (take_ps <= start_ps && take_ps <= timer_ps) {
            receive_buffer_take(endpoint, worker);
        } else if (start_ps <= timer_ps) {
            handle_start(endpoint, worker);
        } else {
            pair_handle_timer(endpoint, worker);
        }
    }
}

/* Whether run_timers may have something to do before an arrival. */
static inline bool is_due(const struct endpoint *endpoint, uint64_t arrival_ps) {
    return heap_time_ps(&endpoint->starts) < arrival_ps || heap_time_ps(&endpoint->nic.timers) < arrival_ps ||
           endpoint->fails;
}

uint64_t endpoint_advance(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct endpoint *endpoint = object;
    const uint32_t n = engine_gather(worker, endpoint->device, begin_ps, end_ps);
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        const struct engine_record *record = engine_arrival(worker, i, &queue);
        if (is_due(endpoint, engine_stamp_ps(record->stamp))) {
            run_timers(endpoint, worker, engine_stamp_ps(record->stamp), engine_stamp_ps(record->stamp));
        }
        handle_arrival(endpoint, worker, record, queue);
    }
    if (is_due(endpoint, end_ps)) {
        run_timers(endpoint, worker, end_ps, end_ps - 1);
    }
    nic_drain(endpoint, worker, end_ps - 1);
    uint64_t due_ps = lane_drain_all(endpoint, worker, end_ps - 1);
    if (__builtin_expect(endpoint->receive != NULL, 0)) {
        const uint64_t receive_ps = receive_buffer_next_ps(endpoint);
        due_ps = receive_ps < due_ps ? receive_ps : due_ps;
    }
    const uint64_t others_ps[] = {nic_next_ps(endpoint), heap_time_ps(&endpoint->starts), pair_next_timer_ps(endpoint),
                                  nic_awaited_change_ps(endpoint)};
    for (int i = 0; i < 4; i++) {
        due_ps = others_ps[i] < due_ps ? others_ps[i] : due_ps;
    }
    return due_ps;
}

void endpoint_finish(struct endpoint *endpoint, uint64_t now_ps) {
    for (uint32_t plane = 0; plane < endpoint->nic.n_planes; plane++) {
        struct nic_port *port = &endpoint->ports[plane];
        if (port->credit) {
            nic_credit_end_stall(port, now_ps);
        } else if (port->paused) {
            endpoint->context->links[port->link].paused_ps += now_ps - port->paused_since_ps;
        }
    }
}

uint32_t endpoint_device(const struct endpoint *endpoint) {
    return endpoint->device;
}

const struct endpoint_counters *endpoint_counters_of(const struct endpoint *endpoint) {
    return &endpoint->counters;
}

const struct endpoint_sent *endpoint_sent_messages(const struct endpoint *endpoint, uint32_t *n) {
    *n = endpoint->n_sent;
    return endpoint->sent;
}

const struct endpoint_received *endpoint_received_messages(const struct endpoint *endpoint, uint32_t *n) {
    *n = endpoint->n_delivered;
    return endpoint->delivered;
}

uint64_t endpoint_last_ps(const struct endpoint *endpoint) {
    return endpoint->last_ps;
}

size_t endpoint_bytes(const struct endpoint *endpoint) {
    const struct nic *nic = &endpoint->nic;
    size_t bytes = sizeof(*endpoint) + endpoint->n_lanes * sizeof(struct lane) +
                   nic->pair_capacity * sizeof(struct queue_pair) +
                   nic->message_capacity * sizeof(struct pair_message) +
                   (nic->timers.capacity + endpoint->starts.capacity) * sizeof(struct heap_entry) +
                   (nic->peers.capacity + nic->parts_sent.capacity + endpoint->receiver_index.capacity +
                    endpoint->parts.capacity + endpoint->urgent_seen.capacity) *
                       sizeof(struct table_slot) +
                   missing_bytes(&endpoint->missing) + series_bytes(endpoint) +
                   endpoint->receiver_capacity * sizeof(struct receiver) +
                   endpoint->armed_capacity * (sizeof(struct traffic_message) + sizeof(uint32_t)) +
                   endpoint->sent_capacity * sizeof(struct endpoint_sent) +
                   endpoint->delivered_capacity * sizeof(struct endpoint_received);
    for (int i = 0; i < TRAFFIC_CHANNELS; i++) {
        bytes += endpoint->channels[i].capacity * sizeof(struct lane_message);
    }
    for (uint32_t i = 0; i < endpoint->n_lanes * TRAFFIC_CHANNELS; i++) {
        bytes += endpoint->lanes[i / TRAFFIC_CHANNELS].queues[i % TRAFFIC_CHANNELS].capacity * sizeof(uint32_t);
    }
    for (uint32_t i = 0; i < endpoint->n_receivers; i++) {
        bytes += endpoint->receivers[i].early_bits / 8;
    }
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        bytes += sizeof(struct nic_port) + endpoint->ports[plane].ring_capacity * sizeof(uint16_t) +
                 endpoint->ports[plane].paced.capacity * sizeof(struct heap_entry) +
                 (endpoint->ports[plane].credit != NULL ? sizeof(struct nic_credit) : 0);
    }
    if (nic->n_planes > 1) {
        bytes += (size_t)nic->pair_capacity * (nic->n_planes - 1) * sizeof(struct pair_plane);
    }
    for (uint32_t i = 0; nic->ledgers && i < nic->n_pairs; i++) {
        bytes += sizeof(struct plane_ledger) + plane_ledger_bytes(&nic->ledgers[i]);
    }
    for (uint32_t i = 0; nic->recoveries && i < nic->n_pairs; i++) {
        bytes += sizeof(struct pair_recovery) + nic->recoveries[i].packets.capacity;
    }
    bytes += nic->urgents ? nic->urgent_capacity * sizeof(struct urgent_sent) : 0;
    return bytes + pull_bytes(endpoint->nic.pulls) + receive_buffer_bytes(endpoint->receive);
}
