// SPDX-License-Identifier: GPL-3.0-or-later
#include "instant.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

/* A binary heap of message numbers by (delivery time, number). */
struct heap {
    uint32_t *numbers;
    uint32_t count, capacity;
};

static bool earlier(const struct instant_run *run, uint32_t left, uint32_t right) {
    const uint64_t left_ps = run->messages[left].delivered_ps, right_ps = run->messages[right].delivered_ps;
    return left_ps != right_ps ? left_ps < right_ps : left < right;
}

static void heap_push(struct heap *heap, const struct instant_run *run, uint32_t number) {
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity ? 2 * heap->capacity : 256;
        heap->numbers = memory_resize(heap->numbers, heap->capacity, sizeof *heap->numbers);
    }
    uint32_t at = heap->count++;
    while (at > 0 && earlier(run, number, heap->numbers[(at - 1) / 2])) {
        heap->numbers[at] = heap->numbers[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->numbers[at] = number;
}

static uint32_t heap_pop(struct heap *heap, const struct instant_run *run) {
    const uint32_t first = heap->numbers[0], moved = heap->numbers[--heap->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && earlier(run, heap->numbers[child + 1], heap->numbers[child])) {
            child++;
        }
        if (!earlier(run, heap->numbers[child], moved)) {
            break;
        }
        heap->numbers[at] = heap->numbers[child];
        at = child;
    }
    heap->numbers[at] = moved;
    return first;
}

static void post(struct instant_run *run, struct heap *heap, const struct traffic_message *message, uint32_t source,
                 uint64_t now_ps, uint64_t flight_ps) {
    REQUIRE(message->destination != source && message->bytes > 0, "message from %u to itself or empty", source);
    if (run->count == run->capacity) {
        run->capacity = run->capacity ? 2 * run->capacity : 256;
        run->messages = memory_resize(run->messages, run->capacity, sizeof *run->messages);
    }
    const uint64_t start_ps = message->start_ps > now_ps ? message->start_ps : now_ps;
    run->messages[run->count] = (struct instant_message){
        .message = *message, .source = source, .posted_ps = now_ps, .delivered_ps = start_ps + flight_ps};
    heap_push(heap, run, run->count++);
}

struct instant_run instant_run(const struct traffic *traffic, uint64_t latency_ps, uint64_t spread_ps, uint64_t seed) {
    struct instant_run run = {0};
    struct heap heap = {0};
    struct traffic_outbox outbox = {0};
    const uint64_t stream = hash_stream(seed, HASH_PURPOSE_TEST, 0, 0);
    uint32_t rank = 0;
    uint64_t now_ps = 0;
    while (rank < traffic->n_ranks || heap.count > 0) {
        outbox.count = 0;
        uint32_t asked;
        if (rank < traffic->n_ranks) {
            asked = rank++;
            traffic->begin(traffic->plan, asked, &outbox);
        } else {
            const struct instant_message arrived = run.messages[heap_pop(&heap, &run)];
            asked = arrived.message.destination;
            now_ps = arrived.delivered_ps;
            traffic->delivered(traffic->plan, asked, arrived.source, arrived.message.tag, now_ps, &outbox);
        }
        for (uint32_t i = 0; i < outbox.count; i++) {
            const uint64_t extra_ps = spread_ps ? hash_draw(stream, run.count) % spread_ps : 0;
            post(&run, &heap, &outbox.messages[i], asked, now_ps, latency_ps + extra_ps);
        }
    }
    free(heap.numbers);
    traffic_outbox_free(&outbox);
    return run;
}

void instant_free(struct instant_run *run) {
    free(run->messages);
    *run = (struct instant_run){0};
}
