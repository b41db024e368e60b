// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NVLink ports of a GPU. Which records a port sends is fixed when a message is posted, so every port works through the
 * channels on its own and is looked at only when the window ends or a credit comes.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/credit.h"
#include "device/endpoint_internal.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>

enum { FIRST_MESSAGES = 16 };

void lane_init(struct endpoint *endpoint) {
    const struct context *context = endpoint->context;
    const uint32_t first = context->fabric->devices[endpoint->device].first_port + endpoint->n_nics;
    REQUIRE(endpoint->n_lanes <= UINT16_MAX, "endpoint %u has %u NVLink ports", endpoint->device, endpoint->n_lanes);
    endpoint->lanes = memory_allocate(endpoint->n_lanes, sizeof(*endpoint->lanes));
    endpoint->lane_numbers.port = endpoint->n_lanes ? endpoint->device % endpoint->n_lanes : 0;
    for (uint32_t i = 0; i < endpoint->n_lanes; i++) {
        const struct fabric_link *link = &context->fabric->links[first + i];
        endpoint->lanes[i] = (struct lane){
            .ps_per_byte = link->ps_per_byte,
            .latency_ps = link->latency_ps,
            .fails = context->failures != NULL && failure_plan_fails(context->failures, first + i),
            .credit_bytes = credit_initial_bytes(context, first + i),
            .link = first + i,
            .last_channel = TRAFFIC_CHANNELS - 1,
        };
    }
}

static struct lane_message *message_at(const struct channel *channel, uint64_t number) {
    return &channel->messages[number & (channel->capacity - 1)];
}

static void grow(struct channel *channel) {
    const struct channel old = *channel;
    channel->capacity = old.capacity ? 2 * old.capacity : FIRST_MESSAGES;
    channel->messages = memory_allocate(channel->capacity, sizeof(*channel->messages));
    for (uint64_t number = old.first; number < old.end; number++) {
        *message_at(channel, number) = *message_at(&old, number);
    }
    free(old.messages);
}

/* Lines a message up at one port. */
static void enqueue(struct lane_queue *queue, uint64_t message) {
    if (queue->end - queue->first == queue->capacity) {
        const struct lane_queue old = *queue;
        queue->capacity = old.capacity ? 2 * old.capacity : FIRST_MESSAGES;
        queue->messages = memory_allocate(queue->capacity, sizeof(*queue->messages));
        for (uint32_t at = old.first; at != old.end; at++) {
            queue->messages[at & (queue->capacity - 1)] = old.messages[at & (old.capacity - 1)];
        }
        free(old.messages);
    }
    queue->messages[queue->end++ & (queue->capacity - 1)] = (uint32_t)message;
}

void lane_fini(struct endpoint *endpoint) {
    for (uint32_t port = 0; port < endpoint->n_lanes; port++) {
        for (int channel = 0; channel < TRAFFIC_CHANNELS; channel++) {
            free(endpoint->lanes[port].queues[channel].messages);
        }
    }
    free(endpoint->lanes);
    for (int channel = 0; channel < TRAFFIC_CHANNELS; channel++) {
        free(endpoint->channels[channel].messages);
    }
    series_fini(endpoint);
}

static struct pieces pieces_of(const struct endpoint *endpoint, uint64_t bytes, uint32_t unit_bytes) {
    return (struct pieces){
        .bytes = bytes, .unit_bytes = unit_bytes, .largest_bytes = endpoint->context->parameters->nvlink.record_bytes};
}

/* What it takes to copy so many bytes out, at least 1 ps. */
static uint64_t copy_time_ps(const struct endpoint *endpoint, uint64_t bytes) {
    const uint64_t time_ps = rate_long_time_ps(endpoint->context->parameters->nvlink.copy_ps_per_byte, bytes);
    return time_ps > 0 ? time_ps : 1;
}

/* The SMs copy a message when they are done with those before it, its local units first. */
static void plan_copy(const struct endpoint *endpoint, const struct traffic_message *message,
                      struct lane_message *numbered, struct lane_numbers *numbers) {
    const uint64_t local = (uint64_t)message->local_units * message->unit_bytes;
    numbered->copy_ps = numbers->copied_ps > numbered->posted_ps ? numbers->copied_ps : numbered->posted_ps;
    numbered->copy_ps += local > 0 ? copy_time_ps(endpoint, local) : 0;
    numbers->copied_ps = numbered->copy_ps + copy_time_ps(endpoint, message->bytes);
}

struct lane_message lane_number(const struct endpoint *endpoint, const struct traffic_message *message,
                                uint64_t posted_ps, struct lane_numbers *numbers) {
    REQUIRE(message->destination != endpoint->device && message->bytes > 0 && message->route == TRAFFIC_NVLINK,
            "endpoint %u posts a message of %llu bytes to endpoint %u over NVLink", endpoint->device,
            (unsigned long long)message->bytes, message->destination);
    const struct pieces pieces = pieces_of(endpoint, message->bytes, message->unit_bytes);
    const uint64_t n_records = pieces_count(&pieces);
    REQUIRE(n_records <= UINT32_MAX, "endpoint %u posts a message of %llu records", endpoint->device,
            (unsigned long long)n_records);
    struct lane_message numbered = {
        .bytes = message->bytes,
        .posted_ps = posted_ps,
        .sequence = numbers->sequence++,
        .unit_bytes = message->unit_bytes,
        .destination = message->destination,
        .tag = message->tag,
        .first_record = numbers->record,
        .n_records = (uint32_t)n_records,
        .first_port = (uint16_t)numbers->port,
    };
    numbers->record += numbered.n_records;
    numbers->port = (uint32_t)((numbers->port + n_records) % endpoint->n_lanes);
    if (endpoint->context->parameters->nvlink.copy_ps_per_byte > 0) {
        plan_copy(endpoint, message, &numbered, numbers);
    }
    return numbered;
}

/* Puts a message at the end of its channel, and lines it up at so many ports from its first one on. */
static void line_up(struct endpoint *endpoint, uint32_t number, const struct lane_message *message, uint32_t n_ports) {
    struct channel *channel = &endpoint->channels[number];
    if (channel->end - channel->first == channel->capacity) {
        grow(channel);
    }
    struct lane_message *posted = message_at(channel, channel->end);
    *posted = *message;
    posted->ports_left = (uint16_t)n_ports;
    for (uint32_t i = 0; i < n_ports; i++) {
        const uint32_t port = message->first_port + i;
        struct lane *lane = &endpoint->lanes[port < endpoint->n_lanes ? port : port - endpoint->n_lanes];
        enqueue(&lane->queues[number], channel->end);
    }
    channel->end++;
}

/* A channel on which nothing waits gives its memory back: what follows a burst of messages may be a series, which needs little. */
static void trim(struct endpoint *endpoint, uint32_t number) {
    struct channel *channel = &endpoint->channels[number];
    if (channel->first != channel->end) {
        return;
    }
    free(channel->messages);
    channel->messages = NULL;
    channel->capacity = 0;
    for (uint32_t port = 0; port < endpoint->n_lanes; port++) {
        struct lane_queue *queue = &endpoint->lanes[port].queues[number];
        free(queue->messages);
        queue->messages = NULL;
        queue->capacity = 0;
    }
}

/* A series takes its numbers now, so that those of its messages do not depend on when they are generated. */
static void post_series(struct endpoint *endpoint, const struct traffic_message *series, uint64_t now_ps) {
    const struct lane_message message = {.posted_ps = now_ps,
                                         .copy_ps = endpoint->lane_numbers.copied_ps,
                                         .sequence = endpoint->lane_numbers.sequence,
                                         .destination = endpoint->n_series++,
                                         .tag = series->tag,
                                         .first_record = endpoint->lane_numbers.record,
                                         .first_port = (uint16_t)endpoint->lane_numbers.port};
    series_count(endpoint, series, now_ps);
    trim(endpoint, series->channel);
    line_up(endpoint, series->channel, &message, endpoint->n_lanes);
}

void lane_post(struct endpoint *endpoint, const struct traffic_message *message, uint64_t now_ps) {
    if (message->series) {
        post_series(endpoint, message, now_ps);
        return;
    }
    const struct lane_message numbered = lane_number(endpoint, message, now_ps, &endpoint->lane_numbers);
    line_up(endpoint, message->channel, &numbered,
            numbered.n_records < endpoint->n_lanes ? numbered.n_records : endpoint->n_lanes);
    endpoint->records_left += numbered.n_records;
    endpoint->counters.posted_messages++;
    endpoint->counters.nvlink_bytes_sent += numbered.bytes;
}

/* A port is done with the message at the front of its queue; messages that no port needs any more are let go. */
static void pass(struct channel *channel, struct lane_queue *queue, struct lane_message *message) {
    queue->first++;
    queue->entered = false;
    message->ports_left--;
    while (channel->first < channel->end && message_at(channel, channel->first)->ports_left == 0) {
        channel->first++;
    }
}

uint32_t lane_first_record(const struct endpoint *endpoint, const struct lane_message *message, uint32_t port) {
    return port >= message->first_port ? port - message->first_port : port + endpoint->n_lanes - message->first_port;
}

/* The oldest message of a channel that has a record left for this port, NULL if none; queue->record is that record. */
static struct lane_message *head_of(struct endpoint *endpoint, uint32_t port, uint32_t number) {
    struct lane_queue *queue = &endpoint->lanes[port].queues[number];
    struct channel *channel = &endpoint->channels[number];
    while (queue->first != queue->end) {
        struct lane_message *message = message_at(channel, queue->messages[queue->first & (queue->capacity - 1)]);
        if (message->n_records > 0) {
            if (!queue->entered) {
                queue->record = lane_first_record(endpoint, message, port);
                queue->entered = true;
            }
            return message;
        }
        struct lane_message *part = series_head(endpoint, port, queue, message);
        if (part) {
            return part;
        }
        pass(channel, queue, message);
    }
    return NULL;
}

/* What a port starts next. */
struct lane_start {
    uint64_t time_ps;
    uint32_t channel;
    struct lane_message *message;
};

/* When the record that a port has come to may be sent: it is posted, and copied out. */
static inline uint64_t record_ps(const struct endpoint *endpoint, const struct lane_message *message, uint64_t record) {
    if (__builtin_expect(endpoint->context->parameters->nvlink.copy_ps_per_byte == 0, 1)) {
        return message->posted_ps;
    }
    const struct pieces pieces = pieces_of(endpoint, message->bytes, message->unit_bytes);
    return message->copy_ps + copy_time_ps(endpoint, pieces_end(&pieces, record));
}

/* From now on those that may be sent before the port is ready take turns; if there are none, the first that may be starts at once. */
static struct lane_start next_start(struct endpoint *endpoint, uint32_t port) {
    struct lane *lane = &endpoint->lanes[port];
    struct lane_start next = {.time_ps = TIME_NEVER};
    if (lane->credit_bytes < endpoint->context->parameters->nvlink.record_bytes) {
        return next;
    }
    const uint64_t ready_ps = lane->free_ps > lane->unblocked_ps ? lane->free_ps : lane->unblocked_ps;
    uint64_t sequence = UINT64_MAX;
    for (uint32_t i = 1; i <= TRAFFIC_CHANNELS; i++) {
        const uint32_t channel = (lane->last_channel + i) % TRAFFIC_CHANNELS;
        struct lane_message *message = head_of(endpoint, port, channel);
        if (!message) {
            continue;
        }
        const uint64_t sendable_ps = record_ps(endpoint, message, lane->queues[channel].record);
        if (sendable_ps < ready_ps) {
            return (struct lane_start){.time_ps = ready_ps, .channel = channel, .message = message};
        }
        if (message->sequence < sequence) { // which is also the first that is copied out
            sequence = message->sequence;
            next = (struct lane_start){.time_ps = sendable_ps, .channel = channel, .message = message};
        }
    }
    return next;
}

static void start(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port,
                  const struct lane_start *next) {
    const struct context *context = endpoint->context;
    struct lane *lane = &endpoint->lanes[port];
    struct lane_queue *queue = &lane->queues[next->channel];
    struct lane_message *message = next->message;
    const struct pieces pieces = pieces_of(endpoint, message->bytes, message->unit_bytes);
    const uint32_t size = pieces_size(&pieces, queue->record);
    struct packet packet = {
        .source = endpoint->device,
        .destination = message->destination,
        .number = (uint32_t)(message->first_record + queue->record),
        .message = message->tag,
        .queue_pair = (uint16_t)(message->n_records >> 16),
        .size_bytes = (uint16_t)size,
        .entropy = (uint16_t)message->n_records,
        .kind_class = PACKET_RECORD | PACKET_CLASS_LOSSLESS << 4,
    };
    const uint64_t ps_per_byte = __builtin_expect(lane->fails, 0)
                                     ? failure_plan_state(context->failures, lane->link, next->time_ps).ps_per_byte
                                     : lane->ps_per_byte;
    lane->free_ps = next->time_ps + rate_next_ps(ps_per_byte, size, &lane->carry);
    packet.time_ps = lane->free_ps + lane->latency_ps;
    engine_send(worker, context->rings, lane->link, ENGINE_PACKET, &packet);
    counters_sent(&context->links[lane->link], &packet);
    lane->credit_bytes -= size;
    lane->last_channel = (uint8_t)next->channel;
    endpoint->records_left--;
    if (context->trace) {
        trace_add_packet(context->trace, TRACE_START, next->time_ps, endpoint->device,
                         (uint16_t)(endpoint->n_nics + port), &packet, lane->free_ps);
    }
    queue->record += endpoint->n_lanes;
    if (queue->record < message->n_records) {
        return;
    }
    if (queue->block) {
        queue->index++;
        queue->entered = false;
    } else {
        pass(&endpoint->channels[next->channel], queue, message);
    }
}

/* Starts everything that a port starts up to and including now_ps; returns a time that is not later than its next start. */
static uint64_t drain(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port, uint64_t now_ps) {
    const struct lane *lane = &endpoint->lanes[port];
    for (;;) {
        if (lane->free_ps > now_ps) {
            return lane->free_ps; // whatever comes next comes after this
        }
        const struct lane_start next = next_start(endpoint, port);
        if (next.time_ps > now_ps) {
            return next.time_ps;
        }
        start(endpoint, worker, port, &next);
    }
}

uint64_t lane_drain_all(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    uint64_t due_ps = TIME_NEVER;
    for (uint32_t port = 0; port < endpoint->n_lanes && endpoint->records_left > 0; port++) {
        engine_prefetch_slot(endpoint->context->rings, endpoint->lanes[port].link, ENGINE_PACKET);
    }
    for (uint32_t port = 0; port < endpoint->n_lanes && endpoint->records_left > 0; port++) {
        const uint64_t next_ps = drain(endpoint, worker, port, now_ps);
        due_ps = next_ps < due_ps ? next_ps : due_ps;
    }
    return due_ps;
}

void lane_handle_credit(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port,
                        const struct control *control, uint64_t now_ps) {
    struct lane *lane = &endpoint->lanes[port];
    const uint32_t needed = endpoint->context->parameters->nvlink.record_bytes;
    drain(endpoint, worker, port, now_ps);
    if (lane->credit_bytes < needed && lane->credit_bytes + control->amount >= needed) {
        lane->unblocked_ps = now_ps;
    }
    lane->credit_bytes += control->amount;
    drain(endpoint, worker, port, now_ps);
}

void lane_handle_record(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port,
                        const struct packet *packet, uint64_t now_ps) {
    struct lane *lane = &endpoint->lanes[port - endpoint->n_nics];
    const uint32_t records = (uint32_t)packet->queue_pair << 16 | packet->entropy;
    endpoint->counters.nvlink_bytes_received += packet->size_bytes;
    credit_return(endpoint->context, worker, endpoint->device, port, lane->link, &lane->gathered_bytes,
                  packet->size_bytes, now_ps);
    if (missing_take(&endpoint->missing, packet->source, packet->message, records)) {
        endpoint_deliver(endpoint, worker, PACKET_RECORD, packet->source, packet->message, 0, now_ps);
    }
}
