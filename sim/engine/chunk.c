// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/chunk.h"

#include "base/memory.h"

#include <stdlib.h>

void chunk_depot_init(struct chunk_depot *depot) {
    pthread_mutex_init(&depot->lock, NULL);
    depot->magazines = NULL;
}

void chunk_depot_fini(struct chunk_depot *depot) {
    pthread_mutex_destroy(&depot->lock);
}

static struct chunk *depot_take(struct chunk_depot *depot) {
    pthread_mutex_lock(&depot->lock);
    struct chunk *magazine = depot->magazines;
    if (magazine) {
        depot->magazines = magazine->next_magazine;
    }
    pthread_mutex_unlock(&depot->lock);
    return magazine;
}

static void depot_give(struct chunk_depot *depot, struct chunk *magazine) {
    pthread_mutex_lock(&depot->lock);
    magazine->next_magazine = depot->magazines;
    depot->magazines = magazine;
    pthread_mutex_unlock(&depot->lock);
}

static void cut_slab(struct chunk_pool *pool) {
    if (pool->n_slabs == pool->slab_capacity) {
        pool->slab_capacity = pool->slab_capacity ? 2 * pool->slab_capacity : 16;
        pool->slabs = memory_resize(pool->slabs, pool->slab_capacity, sizeof(*pool->slabs));
    }
    struct chunk *chunks = memory_allocate_aligned_to(CHUNK_BYTES, CHUNK_MAGAZINE, sizeof(*chunks));
    pool->slabs[pool->n_slabs++] = chunks;
    for (size_t i = CHUNK_MAGAZINE; i-- > 0;) {
        chunks[i].next = pool->free;
        pool->free = &chunks[i];
    }
    pool->n_free = CHUNK_MAGAZINE;
}

void chunk_pool_refill(struct chunk_pool *pool) {
    struct chunk *magazine = pool->spare;
    pool->spare = NULL;
    if (!magazine && pool->depot) {
        magazine = depot_take(pool->depot);
    }
    if (!magazine) {
        cut_slab(pool);
        return;
    }
    pool->free = magazine;
    pool->n_free = CHUNK_MAGAZINE;
}

void chunk_pool_stow(struct chunk_pool *pool) {
    if (!pool->spare) {
        pool->spare = pool->free;
    } else {
        depot_give(pool->depot, pool->free);
    }
    pool->free = NULL;
    pool->n_free = 0;
}

void chunk_pool_fini(struct chunk_pool *pool) {
    for (size_t i = 0; i < pool->n_slabs; i++) {
        free(pool->slabs[i]);
    }
    free(pool->slabs);
    *pool = (struct chunk_pool){0};
}

size_t chunk_pool_bytes(const struct chunk_pool *pool) {
    return pool->n_slabs * CHUNK_MAGAZINE * sizeof(struct chunk);
}
