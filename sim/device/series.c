// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A series of NVLink messages, as each port works through it. The traffic generates the same messages whenever it is asked, so only those that
 * some port is at are kept, a block at a time: ports that are at the same block share it, one that comes later has it generated again.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/endpoint_internal.h"

#include <stdlib.h>

/* Generates the next block of a series. NULL: there is none. */
static struct series_block *generate(struct endpoint *endpoint, const struct lane_message *series, uint64_t cursor,
                                     const struct lane_numbers *numbers) {
    const struct traffic *traffic = endpoint->context->traffic;
    struct traffic_message messages[SERIES_BLOCK];
    const uint32_t count =
        traffic->series(traffic->plan, endpoint->device, series->tag, &cursor, messages, SERIES_BLOCK);
    if (count == 0) {
        return NULL;
    }
    struct series_block *block = memory_allocate(1, sizeof(*block));
    block->next = endpoint->series_blocks;
    endpoint->series_blocks = block;
    block->cursor = cursor;
    block->numbers = *numbers;
    block->series = series->destination;
    block->count = (uint16_t)count;
    for (uint32_t i = 0; i < count; i++) {
        block->messages[i] = lane_number(endpoint, &messages[i], series->posted_ps, &block->numbers);
    }
    return block;
}

/* The block that begins at a cursor, where messages are given these numbers. NULL: the series ends there. */
static struct series_block *enter(struct endpoint *endpoint, const struct lane_message *series, uint64_t cursor,
                                  const struct lane_numbers *numbers) {
    struct series_block *block = endpoint->series_blocks;
    while (block && (block->series != series->destination || block->messages[0].sequence != numbers->sequence)) {
        block = block->next;
    }
    if (!block) {
        block = generate(endpoint, series, cursor, numbers);
    }
    if (block) {
        block->users++;
    }
    return block;
}

static void leave(struct endpoint *endpoint, struct series_block *block) {
    if (--block->users > 0) {
        return;
    }
    struct series_block **place = &endpoint->series_blocks;
    while (*place != block) {
        place = &(*place)->next;
    }
    *place = block->next;
    free(block);
}

/* Moves a port on to the next block of its series. False: the series is over. */
static bool move_on(struct endpoint *endpoint, struct lane_queue *queue, const struct lane_message *series) {
    struct series_block *last = queue->block;
    struct lane_numbers numbers = {.sequence = series->sequence,
                                   .record = series->first_record,
                                   .port = series->first_port,
                                   .copied_ps = series->copy_ps};
    uint64_t cursor = 0;
    if (last) {
        numbers = last->numbers;
        cursor = last->cursor;
    }
    queue->block = !last || last->count == SERIES_BLOCK ? enter(endpoint, series, cursor, &numbers) : NULL;
    queue->index = 0;
    if (last) {
        leave(endpoint, last);
    }
    return queue->block;
}

struct lane_message *series_head(struct endpoint *endpoint, uint32_t port, struct lane_queue *queue,
                                 const struct lane_message *series) {
    if (!queue->block && !move_on(endpoint, queue, series)) {
        return NULL;
    }
    for (;;) {
        for (; queue->index < queue->block->count; queue->index++) {
            struct lane_message *message = &queue->block->messages[queue->index];
            if (queue->entered) {
                return message;
            }
            queue->record = lane_first_record(endpoint, message, port);
            if (queue->record < message->n_records) {
                queue->entered = true;
                return message;
            }
        }
        if (!move_on(endpoint, queue, series)) {
            return NULL;
        }
    }
}

void series_count(struct endpoint *endpoint, const struct traffic_message *series, uint64_t now_ps) {
    const struct traffic *traffic = endpoint->context->traffic;
    struct traffic_message messages[SERIES_BLOCK];
    uint32_t count = SERIES_BLOCK;
    for (uint64_t cursor = 0; count == SERIES_BLOCK;) {
        count = traffic->series(traffic->plan, endpoint->device, series->tag, &cursor, messages, SERIES_BLOCK);
        for (uint32_t i = 0; i < count; i++) {
            const struct lane_message message = lane_number(endpoint, &messages[i], now_ps, &endpoint->lane_numbers);
            endpoint->records_left += message.n_records;
            endpoint->counters.posted_messages++;
            endpoint->counters.nvlink_bytes_sent += message.bytes;
        }
    }
}

void series_fini(struct endpoint *endpoint) {
    while (endpoint->series_blocks) {
        struct series_block *block = endpoint->series_blocks;
        endpoint->series_blocks = block->next;
        free(block);
    }
}

size_t series_bytes(const struct endpoint *endpoint) {
    size_t bytes = 0;
    for (const struct series_block *block = endpoint->series_blocks; block; block = block->next) {
        bytes += sizeof(*block);
    }
    return bytes;
}
