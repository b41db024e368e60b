// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A hash table from 64-bit keys to 32-bit values inside one device: peers, receivers, unfinished messages.
 */
#ifndef MOEFABRIC_DEVICE_TABLE_H
#define MOEFABRIC_DEVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A slot; value TABLE_EMPTY means free. */
struct table_slot {
    uint64_t key;
    uint32_t value;
};

#define TABLE_EMPTY UINT32_MAX

/** Open addressing with linear probing, at most half full. Zero-initialise; freed by table_fini. */
struct table {
    struct table_slot *slots;
    uint32_t count, capacity; /**< capacity: 0 or a power of two */
};

/** Pointer to the value of a key, NULL if there is none. Valid until the next insertion or removal. */
uint32_t *table_find(const struct table *table, uint64_t key);

/** Adds a key that is not there yet, with a value other than TABLE_EMPTY. */
void table_add(struct table *table, uint64_t key, uint32_t value);

/** Removes a key that is there. */
void table_remove(struct table *table, uint64_t key);

/** table_count_down from 2 or more. Called by that only. */
bool table_count_down_many(struct table *table, uint64_t key, uint32_t n);

/** Counts a key down from n, at least 1, and forgets it at 0. True if it has come to that; with n = 1 at once. */
static inline bool table_count_down(struct table *table, uint64_t key, uint32_t n) {
    return n == 1 || table_count_down_many(table, key, n);
}

/** Frees the slots. */
void table_fini(struct table *table);

#endif
