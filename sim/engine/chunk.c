// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/chunk.h"

#include "base/memory.h"

#include <stdlib.h>

enum { CUT = 16 };

static_assert(CHUNK_MAGAZINE % CUT == 0, "a slab is cut up without a rest");

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

/* Memory that is not touched before it is used. */
static void add_slab(struct chunk_pool *pool) {
    if (pool->n_slabs == pool->slab_capacity) {
        pool->slab_capacity = pool->slab_capacity ? 2 * pool->slab_capacity : 16;
        pool->slabs = memory_resize(pool->slabs, pool->slab_capacity, sizeof(*pool->slabs));
    }
    unsigned char *slab = memory_allocate(CHUNK_MAGAZINE + 1, sizeof(struct chunk));
    pool->slabs[pool->n_slabs++] = slab;
    pool->uncut = (void *)(slab + (-(uintptr_t)slab & (CHUNK_BYTES - 1)));
    pool->n_uncut = CHUNK_MAGAZINE;
}

/* A few blocks at a time: short runs use few. */
static void cut_blocks(struct chunk_pool *pool) {
    if (pool->n_uncut == 0) {
        add_slab(pool);
    }
    for (uint32_t i = CUT; i-- > 0;) {
        pool->uncut[i].next = pool->free;
        pool->free = &pool->uncut[i];
    }
    pool->uncut += CUT;
    pool->n_uncut -= CUT;
    pool->n_free += CUT;
}

void chunk_pool_refill(struct chunk_pool *pool) {
    struct chunk *magazine = pool->spare;
    pool->spare = NULL;
    if (!magazine && pool->depot) {
        magazine = depot_take(pool->depot);
    }
    if (!magazine) {
        cut_blocks(pool);
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
    return pool->n_slabs * (CHUNK_MAGAZINE + 1) * sizeof(struct chunk);
}
