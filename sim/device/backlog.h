// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NVLink messages that are posted but not yet lined up at the ports: a series of the traffic, which is generated a few messages at a
 * time when a port has nothing else to send, and what was posted behind it. A message has the numbers that it would have
 * if all had been lined up at once, so that nothing but memory depends on how far a series has come.
 */
#ifndef MOEFABRIC_DEVICE_BACKLOG_H
#define MOEFABRIC_DEVICE_BACKLOG_H

#include "workload/traffic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the next NVLink message of a GPU is given. */
struct backlog_numbers {
    uint64_t record;   /**< of its first record, counted over all NVLink messages of the GPU */
    uint64_t sequence; /**< of the message */
};

/** A posted message or series, with what its next message is given. */
struct backlog_entry {
    struct traffic_message message;
    uint64_t cursor; /**< series: how far it has come */
    uint64_t posted_ps;
    struct backlog_numbers numbers;
};

/** Those of one channel, in order of posting. Zero-initialise. */
struct backlog {
    struct backlog_entry *entries;
    uint32_t first, end, capacity;
};

/** Nothing waits. */
static inline bool backlog_is_empty(const struct backlog *backlog) {
    return backlog->first == backlog->end;
}

/** Appends an entry. */
void backlog_add(struct backlog *backlog, const struct backlog_entry *entry);

/** The first entry; there is one. Valid until the next call of backlog_add. */
struct backlog_entry *backlog_first(struct backlog *backlog);

/** Lets the first entry go. */
void backlog_pass(struct backlog *backlog);

/** Frees what a backlog owns. */
void backlog_fini(struct backlog *backlog);

#endif
