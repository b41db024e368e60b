// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/fifo.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void fifo_grow(struct fifo *fifo) {
    const uint32_t capacity = fifo->capacity ? 2 * fifo->capacity : 64;
    struct fifo_entry *ring = memory_allocate(capacity, sizeof(*ring));
    for (uint32_t i = 0; i < fifo->count; i++) {
        ring[i] = fifo->ring[(fifo->first + i) & (fifo->capacity - 1)];
    }
    free(fifo->ring);
    fifo->ring = ring;
    fifo->capacity = capacity;
    fifo->first = 0;
}

void fifo_send(struct fifo *fifo, uint32_t count) {
    REQUIRE(count <= fifo_unsent(fifo), "%u messages of %u are sent", count, fifo_unsent(fifo));
    fifo->sent += count;
}

/* Those that wait move to the front once as many have gone as stay: each moves once at most for each that goes. */
static void make_room(struct fifo *fifo) {
    if (fifo->first_waiting > 0 && fifo->first_waiting >= fifo->n_waiting) {
        memmove(fifo->waiting, &fifo->waiting[fifo->first_waiting], fifo->n_waiting * sizeof(*fifo->waiting));
        fifo->first_waiting = 0;
    } else {
        fifo->waiting_capacity = fifo->waiting_capacity ? 2 * fifo->waiting_capacity : 4;
        fifo->waiting = memory_resize(fifo->waiting, fifo->waiting_capacity, sizeof(*fifo->waiting));
    }
}

void fifo_wait(struct fifo *fifo, const struct traffic_message *message) {
    if (fifo->first_waiting + fifo->n_waiting == fifo->waiting_capacity) {
        make_room(fifo);
    }
    fifo->waiting[fifo->first_waiting + fifo->n_waiting++] = (struct fifo_waiting){.message = *message};
}

struct fifo_waiting *fifo_first_waiting(struct fifo *fifo) {
    return fifo->n_waiting > 0 ? &fifo->waiting[fifo->first_waiting] : NULL;
}

void fifo_drop_waiting(struct fifo *fifo) {
    REQUIRE(fifo->n_waiting > 0, "no message waits");
    fifo->first_waiting++;
    fifo->n_waiting--;
}

void fifo_fini(struct fifo *fifo) {
    free(fifo->ring);
    free(fifo->waiting);
    *fifo = (struct fifo){0};
}
