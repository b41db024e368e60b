// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NVLink ports of a GPU. Which records a port sends is fixed when a message is posted, so every port works through the
 * channels on its own and is looked at only when the window ends or a credit comes.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/credit.h"
#include "device/endpoint_internal.h"

#include <stdlib.h>

enum { SERIES_BATCH = 32 };

void lane_init(struct endpoint *endpoint) {
    const struct context *context = endpoint->context;
    const uint32_t first = context->fabric->devices[endpoint->device].first_port + endpoint->n_nics;
    endpoint->lanes = memory_allocate(endpoint->n_lanes, sizeof(*endpoint->lanes));
    for (uint32_t i = 0; i < endpoint->n_lanes; i++) {
        const struct fabric_link *link = &context->fabric->links[first + i];
        endpoint->lanes[i] = (struct lane){
            .ps_per_byte = link->ps_per_byte,
            .latency_ps = link->latency_ps,
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
    channel->capacity = old.capacity ? 2 * old.capacity : 16;
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
        queue->capacity = old.capacity ? 2 * old.capacity : 16;
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
        backlog_fini(&endpoint->channels[channel].backlog);
    }
}

static struct pieces pieces_of(const struct endpoint *endpoint, const struct traffic_message *message) {
    return (struct pieces){.bytes = message->bytes,
                           .unit_bytes = message->unit_bytes,
                           .largest_bytes = endpoint->context->parameters->nvlink.record_bytes};
}

/* Gives a message its numbers, and lines it up at the ports that its records go to. */
static void line_up(struct endpoint *endpoint, const struct traffic_message *message, uint64_t posted_ps,
                    struct backlog_numbers *numbers) {
    struct channel *channel = &endpoint->channels[message->channel];
    if (channel->end - channel->first == channel->capacity) {
        grow(channel);
    }
    struct lane_message *posted = message_at(channel, channel->end++);
    *posted = (struct lane_message){
        .pieces = pieces_of(endpoint, message),
        .destination = message->destination,
        .tag = message->tag,
        .first_record = numbers->record,
        .first_port = (uint32_t)((numbers->record + endpoint->device) % endpoint->n_lanes),
        .posted_ps = posted_ps,
        .sequence = numbers->sequence++,
    };
    posted->n_records = pieces_count(&posted->pieces);
    posted->ports_left = posted->n_records < endpoint->n_lanes ? (uint32_t)posted->n_records : endpoint->n_lanes;
    for (uint32_t i = 0; i < posted->ports_left; i++) {
        const uint32_t port = posted->first_port + i;
        struct lane *lane = &endpoint->lanes[port < endpoint->n_lanes ? port : port - endpoint->n_lanes];
        enqueue(&lane->queues[message->channel], channel->end - 1);
    }
    numbers->record += posted->n_records;
}

static void count_posted(struct endpoint *endpoint, const struct traffic_message *message) {
    REQUIRE(message->destination != endpoint->device && message->bytes > 0 && message->route == TRAFFIC_NVLINK,
            "endpoint %u posts a message of %llu bytes to endpoint %u over NVLink", endpoint->device,
            (unsigned long long)message->bytes, message->destination);
    endpoint->counters.posted_messages++;
    endpoint->counters.nvlink_bytes_sent += message->bytes;
}

/* Reserves the numbers of a message or of a whole series for later. */
static void put_back(struct endpoint *endpoint, const struct traffic_message *message, uint64_t now_ps) {
    const struct traffic *traffic = endpoint->context->traffic;
    struct backlog_numbers *numbers = &endpoint->lane_numbers;
    struct traffic_message batch[SERIES_BATCH] = {*message};
    backlog_add(&endpoint->channels[message->channel].backlog,
                &(struct backlog_entry){.message = *message, .posted_ps = now_ps, .numbers = *numbers});
    uint32_t count = message->series ? SERIES_BATCH : 1;
    for (uint64_t cursor = 0; count > 0;) {
        if (message->series) {
            count = traffic->series(traffic->plan, endpoint->device, message->tag, &cursor, batch, SERIES_BATCH);
        }
        for (uint32_t i = 0; i < count; i++) {
            const struct pieces pieces = pieces_of(endpoint, &batch[i]);
            count_posted(endpoint, &batch[i]);
            numbers->record += pieces_count(&pieces);
            numbers->sequence++;
        }
        count = count == SERIES_BATCH ? count : 0;
    }
}

void lane_post(struct endpoint *endpoint, const struct traffic_message *message, uint64_t now_ps) {
    const uint64_t before = endpoint->lane_numbers.record;
    if (message->series || !backlog_is_empty(&endpoint->channels[message->channel].backlog)) {
        put_back(endpoint, message, now_ps);
    } else {
        count_posted(endpoint, message);
        line_up(endpoint, message, now_ps, &endpoint->lane_numbers);
    }
    endpoint->records_left += endpoint->lane_numbers.record - before;
}

/* Lines up the next of a channel's backlog. */
static void bring_forward(struct endpoint *endpoint, struct channel *channel) {
    const struct traffic *traffic = endpoint->context->traffic;
    struct backlog_entry *entry = backlog_first(&channel->backlog);
    struct traffic_message batch[SERIES_BATCH] = {entry->message};
    uint32_t count = 1;
    if (entry->message.series) {
        count =
            traffic->series(traffic->plan, endpoint->device, entry->message.tag, &entry->cursor, batch, SERIES_BATCH);
    }
    for (uint32_t i = 0; i < count; i++) {
        line_up(endpoint, &batch[i], entry->posted_ps, &entry->numbers);
    }
    if (count < SERIES_BATCH) {
        backlog_pass(&channel->backlog);
    }
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

/* The oldest message of a channel that has a record left for this port, NULL if none; queue->record is that record. */
static struct lane_message *head_of(struct endpoint *endpoint, uint32_t port, uint32_t number) {
    struct lane_queue *queue = &endpoint->lanes[port].queues[number];
    while (queue->first == queue->end) {
        if (backlog_is_empty(&endpoint->channels[number].backlog)) {
            return NULL;
        }
        bring_forward(endpoint, &endpoint->channels[number]);
    }
    struct lane_message *message =
        message_at(&endpoint->channels[number], queue->messages[queue->first & (queue->capacity - 1)]);
    if (!queue->entered) { // record n of GPU g goes to port (n + g) mod ports
        queue->record =
            port >= message->first_port ? port - message->first_port : port + endpoint->n_lanes - message->first_port;
        queue->entered = true;
    }
    return message;
}

/* What a port starts next. */
struct lane_start {
    uint64_t time_ps;
    uint32_t channel;
    struct lane_message *message;
};

/* From now on those posted before the port was ready take turns; if there are none, the next to be posted starts at once. */
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
        if (message->posted_ps < ready_ps) {
            return (struct lane_start){.time_ps = ready_ps, .channel = channel, .message = message};
        }
        if (message->sequence < sequence) {
            sequence = message->sequence;
            next = (struct lane_start){.time_ps = message->posted_ps, .channel = channel, .message = message};
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
    const uint32_t size = pieces_size(&message->pieces, queue->record);
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
    lane->free_ps = next->time_ps + rate_next_ps(lane->ps_per_byte, size, &lane->carry);
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
    if (queue->record >= message->n_records) {
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
    if (records > 1) {
        const uint64_t key = (uint64_t)packet->source << 32 | packet->message;
        uint32_t *left = table_find(&endpoint->unfinished, key);
        if (!left) {
            table_add(&endpoint->unfinished, key, records - 1);
            return;
        }
        if (--*left > 0) {
            return;
        }
        table_remove(&endpoint->unfinished, key);
    }
    endpoint_deliver(endpoint, worker, PACKET_RECORD, packet->source, packet->message, 0, now_ps);
}
