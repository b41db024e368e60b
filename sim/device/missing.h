// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NVLink messages that have arrived in part: how many records of each are still missing.
 *
 * Where the senders' ports have drifted apart (lane.h) thousands of messages of a GPU are in this state, so an entry takes eight bytes and
 * the table grows in small steps.
 */
#ifndef MOEFABRIC_DEVICE_MISSING_H
#define MOEFABRIC_DEVICE_MISSING_H

#include "device/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An entry; left 0 means free. */
struct missing_slot {
    uint32_t tag;
    uint16_t source; /**< low 16 bits: those of one NVLink domain differ in them */
    uint16_t left;   /**< records that have not arrived */
};

/** Open addressing with linear probing, at most 7/8 full. Zero-initialise; freed by missing_fini. */
struct missing {
    struct missing_slot *slots;
    uint32_t count, capacity;
    struct table large; /**< source << 32 | tag → records left, of messages whose number of records does not fit */
};

/** Books a record of a message (source, tag) of so many records, at least 1. True if it was the last to arrive. */
bool missing_take(struct missing *missing, uint32_t source, uint32_t tag, uint32_t records);

/** Bytes of memory. */
size_t missing_bytes(const struct missing *missing);

/** Frees the entries. */
void missing_fini(struct missing *missing);

#endif
