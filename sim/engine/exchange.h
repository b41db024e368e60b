// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One run over several processes (ranks): what a rank's devices send to devices of other ranks, handed over once a window.
 *
 * The engine collects such records while a window runs. Between windows each rank sends one message to every rank, and all
 * agree when the next window begins. How that is done is behind this interface: mpi_exchange.h is the one implementation.
 */
#ifndef MOEFABRIC_ENGINE_EXCHANGE_H
#define MOEFABRIC_ENGINE_EXCHANGE_H

#include "engine/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A record on its way to another rank. */
struct exchange_record {
    uint32_t link;
    uint32_t queue; /**< enum engine_queue */
    _Alignas(8) unsigned char bytes[CHUNK_SLOT_BYTES];
};

/** Records in the order in which they were sent. Zero-initialise. */
struct exchange_buffer {
    struct exchange_record *records;
    uint32_t count, capacity;
};

/** What all ranks agree on after a window. */
struct exchange_verdict {
    uint64_t next_ps; /**< earliest time at which anything is due anywhere */
    bool stop;        /**< some rank was asked to stop */
};

/** A way to reach the other ranks. All functions are collective: every rank calls them, in the same order. */
struct exchange {
    uint32_t rank, n_ranks;
    void *context;
    /**
     * Ends a window: outgoing[r] goes to rank r (outgoing[rank] is empty), incoming[r] (emptied first) receives what rank r
     * sent here; *verdict goes in with this rank's opinion and comes out with that of all.
     */
    void (*end_window)(void *context, const struct exchange_buffer *outgoing, struct exchange_buffer *incoming,
                       struct exchange_verdict *verdict);
    /** Adds up n numbers over all ranks; the sums are at rank 0 only. */
    void (*sum)(void *context, uint64_t *numbers, size_t n);
    /** Earliest of each of n times over all ranks (below 2^63, or TIME_NEVER); at rank 0 only. */
    void (*minimum)(void *context, uint64_t *times_ps, size_t n);
    /** Brings every rank's block of bytes to rank 0: *all (to be freed) holds them in rank order, sizes[n_ranks] their sizes. Elsewhere *all is NULL. */
    void (*gather)(void *context, const void *block, size_t size, unsigned char **all, size_t *sizes);
};

/** Appends a copy of a record. */
void exchange_buffer_add(struct exchange_buffer *buffer, uint32_t link, uint32_t queue, const void *record);

/** Frees what a buffer owns. */
void exchange_buffer_fini(struct exchange_buffer *buffer);

#endif
