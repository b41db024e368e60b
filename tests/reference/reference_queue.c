// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_queue.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void reference_queue_push(struct reference_queue *queue, const struct reference_queued *item) {
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity * 2 + 8;
        queue->items = memory_resize(queue->items, queue->capacity, sizeof *queue->items);
    }
    queue->items[queue->count++] = *item;
}

struct reference_queued reference_queue_pop(struct reference_queue *queue) {
    REQUIRE(queue->count > 0, "head of an empty queue");
    const struct reference_queued head = queue->items[0];
    queue->count--;
    memmove(queue->items, queue->items + 1, queue->count * sizeof *queue->items);
    return head;
}

void reference_queue_free(struct reference_queue *queue) {
    free(queue->items);
    *queue = (struct reference_queue){0};
}
