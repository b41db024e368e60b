// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/chunk.h"

#include "base/memory.h"

#include <stdlib.h>

enum { CHUNKS_PER_SLAB = 512 };

void chunk_pool_grow(struct chunk_pool *pool) {
    if (pool->n_slabs == pool->slab_capacity) {
        pool->slab_capacity = pool->slab_capacity ? 2 * pool->slab_capacity : 16;
        pool->slabs = memory_resize(pool->slabs, pool->slab_capacity, sizeof(*pool->slabs));
    }
    struct chunk *chunks = memory_allocate_aligned(CHUNKS_PER_SLAB, sizeof(*chunks));
    pool->slabs[pool->n_slabs++] = chunks;
    for (size_t i = CHUNKS_PER_SLAB; i-- > 0;) {
        chunk_give(pool, &chunks[i]);
    }
}

void chunk_pool_fini(struct chunk_pool *pool) {
    for (size_t i = 0; i < pool->n_slabs; i++) {
        free(pool->slabs[i]);
    }
    free(pool->slabs);
    *pool = (struct chunk_pool){0};
}

size_t chunk_pool_bytes(const struct chunk_pool *pool) {
    return pool->n_slabs * CHUNKS_PER_SLAB * sizeof(struct chunk);
}
