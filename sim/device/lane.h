// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NVLink ports of an endpoint and what is posted on them. Inside of the endpoint, as endpoint_internal.h.
 *
 * Ports drift apart: of messages of two records, full and part-filled, some ports get the full ones only. Thousands of messages may lie between
 * the first and the last port, so a message is small, and a series is one message here: each port works through it by itself.
 */
#ifndef MOEFABRIC_DEVICE_LANE_H
#define MOEFABRIC_DEVICE_LANE_H

#include "device/pieces.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/** What the next NVLink message of a GPU is given. */
struct lane_numbers {
    uint64_t sequence; /**< of the message */
    uint32_t record; /**< low 32 bits of the number of its first record, counted over all NVLink messages of the GPU */
    uint32_t port;   /**< NVLink port of that record */
    uint64_t copied_ps; /**< when all messages before it are copied out; no limit: unused */
};

/** A message on an NVLink channel, or a series of them. */
struct lane_message {
    uint64_t bytes;
    uint64_t posted_ps;
    uint64_t copy_ps;  /**< when its copying begins; no limit: unused */
    uint64_t sequence; /**< order of posting within the GPU */
    uint32_t unit_bytes;
    uint32_t destination; /**< rank; of a series: its number */
    uint32_t tag;
    uint32_t first_record; /**< low 32 bits */
    uint32_t n_records;    /**< 0: a series */
    uint16_t first_port;   /**< of its first record */
    uint16_t ports_left;   /**< ports that have not passed it yet */
};

enum { SERIES_BLOCK = 16 };

/** Some messages of a series, side by side, for the ports that work on them. */
struct series_block {
    struct series_block *next; /**< of the endpoint, in no order */
    uint64_t cursor;           /**< where the series goes on */
    struct lane_numbers numbers;
    uint32_t series; /**< number of the series */
    uint16_t count, users;
    struct lane_message messages[SERIES_BLOCK];
};

/** One NVLink send channel: messages in order of posting, circular; each port works through those that have records for it. */
struct channel {
    struct lane_message *messages;
    uint64_t first, end; /**< absolute numbers of the oldest kept, and one past the newest */
    uint32_t capacity;   /**< 0 or a power of two */
};

/** Messages of one channel that have records for one port, in order of posting; circular. */
struct lane_queue {
    uint32_t *messages;         /**< low 32 bits of their numbers in the channel */
    uint32_t first, end;        /**< absolute, wrapping */
    uint32_t capacity;          /**< 0 or a power of two */
    uint16_t index;             /**< of the message within block */
    bool entered;               /**< record is set */
    uint64_t record;            /**< next record of the first message for this port */
    struct series_block *block; /**< the first message is a series, and the port has come to here; else NULL */
};

/** One NVLink port. */
struct lane {
    uint64_t free_ps, unblocked_ps;
    uint64_t ps_per_byte, latency_ps;
    bool fails; /**< is slow at times: its rate is looked up at each start */
    uint64_t credit_bytes;
    uint32_t carry;
    uint32_t link;
    uint32_t gathered_bytes; /**< received, credit not yet given back */
    uint8_t last_channel;
    struct lane_queue queues[TRAFFIC_CHANNELS];
};

#endif
