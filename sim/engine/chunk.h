// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fixed blocks of 15 records, pooled: the only memory that packets ever live in.
 *
 * A block is 512 bytes: small enough that 300,000 idle links cost little, large enough that a busy link takes
 * a new one only every 15 packets. A pool belongs to one worker; a block may be freed into another worker's pool.
 */
#ifndef MOEFABRIC_ENGINE_CHUNK_H
#define MOEFABRIC_ENGINE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

enum { CHUNK_SLOTS = 15, CHUNK_SLOT_BYTES = 32 };

/** One block: a chain link and 15 slots of 32 bytes, aligned to cache lines. */
struct chunk {
    struct chunk *next;
    uint64_t unused[3];
    unsigned char slots[CHUNK_SLOTS][CHUNK_SLOT_BYTES];
};

/** A stack of free blocks and the slabs that they were cut from. Zero-initialise. */
struct chunk_pool {
    struct chunk *free;
    void **slabs;
    size_t n_slabs, slab_capacity;
};

/** Cuts a new slab into free blocks. Called by chunk_take only. */
void chunk_pool_grow(struct chunk_pool *pool);

/** Frees all slabs. Blocks still in use by others become invalid. */
void chunk_pool_fini(struct chunk_pool *pool);

/** Bytes of all slabs. */
size_t chunk_pool_bytes(const struct chunk_pool *pool);

/** Takes a block; its content is undefined but for next = NULL. */
static inline struct chunk *chunk_take(struct chunk_pool *pool) {
    if (!pool->free) {
        chunk_pool_grow(pool);
    }
    struct chunk *chunk = pool->free;
    pool->free = chunk->next;
    chunk->next = NULL;
    return chunk;
}

/** Gives a block back. */
static inline void chunk_give(struct chunk_pool *pool, struct chunk *chunk) {
    chunk->next = pool->free;
    pool->free = chunk;
}

#endif
