// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/missing.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 16, SLOTS_KEPT = 512 /* by an empty table: what fills it again is seldom more */ };

/* The upper half of the hash, scaled to the capacity, which need not be a power of two. */
static uint32_t home_of(const struct missing *missing, uint16_t source, uint32_t tag) {
    const uint64_t hash = hash_mix((uint64_t)source << 32 | tag) >> 32;
    return (uint32_t)(hash * missing->capacity >> 32);
}

static uint32_t after(const struct missing *missing, uint32_t at) {
    return at + 1 < missing->capacity ? at + 1 : 0;
}

/* The slot of a message, or the free one where it would go. */
static struct missing_slot *find(const struct missing *missing, uint16_t source, uint32_t tag) {
    uint32_t at = home_of(missing, source, tag);
    while (missing->slots[at].left != 0 && (missing->slots[at].tag != tag || missing->slots[at].source != source)) {
        at = after(missing, at);
    }
    return &missing->slots[at];
}

static void grow(struct missing *missing) {
    const struct missing old = *missing;
    missing->capacity = old.capacity ? old.capacity + old.capacity / 4 : FIRST_SLOTS;
    missing->slots = memory_allocate(missing->capacity, sizeof(*missing->slots));
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].left != 0) {
            *find(missing, old.slots[i].source, old.slots[i].tag) = old.slots[i];
        }
    }
    free(old.slots);
}

/* Steps from one slot on to another. */
static uint32_t distance(const struct missing *missing, uint32_t from, uint32_t to) {
    return to >= from ? to - from : to + missing->capacity - from;
}

/* Frees a slot and moves back what probed past it (Knuth, The Art of Computer Programming 3, 6.4, algorithm R). */
static void remove_at(struct missing *missing, uint32_t gap) {
    for (uint32_t at = after(missing, gap); missing->slots[at].left != 0; at = after(missing, at)) {
        const uint32_t home = home_of(missing, missing->slots[at].source, missing->slots[at].tag);
        if (distance(missing, home, at) >= distance(missing, gap, at)) {
            missing->slots[gap] = missing->slots[at];
            gap = at;
        }
    }
    missing->slots[gap].left = 0;
    missing->count--;
    if (missing->count == 0 && missing->capacity > SLOTS_KEPT) {
        free(missing->slots);
        missing->slots = NULL;
        missing->capacity = 0;
    }
}

bool missing_take(struct missing *missing, uint32_t source, uint32_t tag, uint32_t records) {
    if (records == 1) {
        return true;
    }
    if (records - 1 > UINT16_MAX) {
        return table_count_down(&missing->large, (uint64_t)source << 32 | tag, records);
    }
    if (8 * (uint64_t)(missing->count + 1) > 7 * (uint64_t)missing->capacity) {
        grow(missing);
    }
    struct missing_slot *slot = find(missing, (uint16_t)source, tag);
    if (slot->left == 0) {
        *slot = (struct missing_slot){.tag = tag, .source = (uint16_t)source, .left = (uint16_t)(records - 1)};
        missing->count++;
        return false;
    }
    if (slot->left > 1) {
        slot->left--;
        return false;
    }
    remove_at(missing, (uint32_t)(slot - missing->slots));
    return true;
}

size_t missing_bytes(const struct missing *missing) {
    return missing->capacity * sizeof(struct missing_slot) + missing->large.capacity * sizeof(struct table_slot);
}

void missing_fini(struct missing *missing) {
    free(missing->slots);
    table_fini(&missing->large);
    *missing = (struct missing){0};
}
