// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fixed blocks of 7 records, pooled: the only memory that packets ever live in.
 *
 * A block is 256 bytes, about what a link of 400 Gb/s and 500 ns holds: idle links cost little, and a busy link takes a new
 * one only every 7 packets. It is aligned to its size, so that the address of a slot tells where the block ends. A pool belongs to one worker; a block may be given to another worker's pool than it
 * was taken from. Pools pass what they have too much of through a depot, a magazine of blocks at a time, so that
 * traffic which runs one way makes no pool grow for ever (after Bonwick and Adams: Magazines and Vmem, USENIX 2001).
 */
#ifndef MOEFABRIC_ENGINE_CHUNK_H
#define MOEFABRIC_ENGINE_CHUNK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK_SLOTS = 7, CHUNK_SLOT_BYTES = 32, CHUNK_BYTES = 256, CHUNK_MAGAZINE = 512 };

/** One block: a chain link and 7 slots of 32 bytes, aligned to CHUNK_BYTES. */
struct chunk {
    struct chunk *next;
    struct chunk *next_magazine; /**< in a depot, of a magazine's first block */
    uint64_t unused[2];
    unsigned char slots[CHUNK_SLOTS][CHUNK_SLOT_BYTES];
};

static_assert(sizeof(struct chunk) == CHUNK_BYTES, "a block is as large as its alignment");

/** Full magazines that no pool holds. Shared by pools; ended with chunk_depot_fini after them. */
struct chunk_depot {
    pthread_mutex_t lock;
    struct chunk *magazines;
};

/** A stack of free blocks and the slabs that they are cut from. Zero-initialise; depot may stay NULL. */
struct chunk_pool {
    struct chunk *free;
    struct chunk *spare; /**< a full magazine, or NULL */
    uint32_t n_free;     /**< in free */
    uint32_t n_uncut;    /**< blocks of the newest slab that have never been used */
    struct chunk *uncut; /**< the first of them */
    struct chunk_depot *depot;
    void **slabs;
    size_t n_slabs, slab_capacity;
};

/** An empty depot. */
void chunk_depot_init(struct chunk_depot *depot);

/** Ends a depot; its blocks belong to the pools' slabs. */
void chunk_depot_fini(struct chunk_depot *depot);

/** Finds free blocks for an empty stack: the spare magazine, the depot, or a new slab. Called by chunk_take only. */
void chunk_pool_refill(struct chunk_pool *pool);

/** Puts a full stack aside. Called by chunk_give only. */
void chunk_pool_stow(struct chunk_pool *pool);

/** Frees all slabs. Blocks still in use by others become invalid. */
void chunk_pool_fini(struct chunk_pool *pool);

/** Bytes of all slabs. */
size_t chunk_pool_bytes(const struct chunk_pool *pool);

/** Takes a block; its content is undefined but for next = NULL. */
static inline struct chunk *chunk_take(struct chunk_pool *pool) {
    if (!pool->free) {
        chunk_pool_refill(pool);
    }
    struct chunk *chunk = pool->free;
    pool->free = chunk->next;
    pool->n_free--;
    chunk->next = NULL;
    return chunk;
}

/** Gives a block back. */
static inline void chunk_give(struct chunk_pool *pool, struct chunk *chunk) {
    if (pool->n_free == CHUNK_MAGAZINE && pool->depot) {
        chunk_pool_stow(pool);
    }
    chunk->next = pool->free;
    pool->free = chunk;
    pool->n_free++;
}

/** Whether there is no slot here: one past the last slot of a block, or NULL. */
static inline bool chunk_is_end(const void *slot) {
    return ((uintptr_t)slot & (CHUNK_BYTES - 1)) == 0;
}

/** The block that a slot, or one past its last slot, belongs to. */
static inline struct chunk *chunk_of(unsigned char *slot) {
    return (void *)(((uintptr_t)slot - 1) & ~(uintptr_t)(CHUNK_BYTES - 1));
}

#endif
