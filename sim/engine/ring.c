// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ring.h"

unsigned char *ring_extend(struct ring_writer *writer, struct ring_reader *reader, struct chunk_pool *pool) {
    struct chunk *chunk = chunk_take(pool);
    if (writer->next) {
        chunk_of(writer->next)->next = chunk;
    } else {
        atomic_store_explicit(&reader->first, chunk, memory_order_release);
    }
    return chunk->slots[0];
}

unsigned char *ring_turn(const struct ring_reader *reader, unsigned char *end, struct chunk_pool *pool) {
    if (!end) {
        return atomic_load_explicit(&reader->first, memory_order_acquire)->slots[0];
    }
    struct chunk *read = chunk_of(end), *next = read->next;
    chunk_give(pool, read);
    return next->slots[0];
}
