// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/table.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

static uint32_t home_of(const struct table *table, uint64_t key) {
    return (uint32_t)hash_mix(key) & (table->capacity - 1);
}

uint32_t *table_find(const struct table *table, uint64_t key) {
    if (table->capacity == 0) {
        return NULL;
    }
    for (uint32_t at = home_of(table, key);; at = (at + 1) & (table->capacity - 1)) {
        struct table_slot *slot = &table->slots[at];
        if (slot->value == TABLE_EMPTY) {
            return NULL;
        }
        if (slot->key == key) {
            return &slot->value;
        }
    }
}

static void place(struct table *table, uint64_t key, uint32_t value) {
    uint32_t at = home_of(table, key);
    while (table->slots[at].value != TABLE_EMPTY) {
        at = (at + 1) & (table->capacity - 1);
    }
    table->slots[at] = (struct table_slot){.key = key, .value = value};
}

static void grow(struct table *table) {
    const struct table old = *table;
    table->capacity = old.capacity ? 2 * old.capacity : 8;
    table->slots = memory_allocate(table->capacity, sizeof(*table->slots));
    for (uint32_t i = 0; i < table->capacity; i++) {
        table->slots[i].value = TABLE_EMPTY;
    }
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].value != TABLE_EMPTY) {
            place(table, old.slots[i].key, old.slots[i].value);
        }
    }
    free(old.slots);
}

void table_add(struct table *table, uint64_t key, uint32_t value) {
    if (2 * (table->count + 1) > table->capacity) {
        grow(table);
    }
    place(table, key, value);
    table->count++;
}

/* Closes the gap by moving back what probed past it (Knuth, The Art of Computer Programming 3, 6.4, algorithm R). */
void table_remove(struct table *table, uint64_t key) {
    const uint32_t mask = table->capacity - 1;
    uint32_t gap = home_of(table, key);
    while (table->slots[gap].key != key || table->slots[gap].value == TABLE_EMPTY) {
        gap = (gap + 1) & mask;
    }
    for (uint32_t at = (gap + 1) & mask; table->slots[at].value != TABLE_EMPTY; at = (at + 1) & mask) {
        const uint32_t home = home_of(table, table->slots[at].key);
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            table->slots[gap] = table->slots[at];
            gap = at;
        }
    }
    table->slots[gap].value = TABLE_EMPTY;
    table->count--;
}

bool table_count_down_many(struct table *table, uint64_t key, uint32_t n) {
    uint32_t *left = table_find(table, key);
    if (!left) {
        table_add(table, key, n - 1);
        return false;
    }
    if (--*left > 0) {
        return false;
    }
    table_remove(table, key);
    return true;
}

void table_fini(struct table *table) {
    free(table->slots);
    *table = (struct table){0};
}
