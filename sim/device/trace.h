// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A log of what devices did, for comparing two simulators step by step. Runs of normal size do not keep one.
 */
#ifndef MOEFABRIC_DEVICE_TRACE_H
#define MOEFABRIC_DEVICE_TRACE_H

#include "device/packet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** What a record tells of. Fields that an event does not name are 0. Rules of the events: sim/device/README.md. */
enum trace_event {
    TRACE_START, /**< a packet is put on the link that leaves port; all packet fields (a mark included); detail = end of its transmission (ps) */
    TRACE_DROP, /**< a switch drops a packet that came in at port; all packet fields; detail = egress port it was meant for, or TRACE_UNROUTED */
    TRACE_TRIM, /**< a switch cuts a packet that came in at port to its header; all packet fields, as it was before; detail = egress port */
    TRACE_LOSE, /**< of a packet that starts on the link that leaves port: it gets lost there; all packet fields */
    TRACE_PAUSE,  /**< a switch pauses its ingress port */
    TRACE_RESUME, /**< a switch resumes its ingress port */
    TRACE_CREDIT, /**< credits go out on the link that leaves port; detail = bytes; InfiniBand: blocks, and the lane from bit 32 on */
    TRACE_DELIVER, /**< a message has wholly arrived at the endpoint device: kind, source, destination, message; queue_pair (kind DATA) */
    TRACE_COMPLETE, /**< a message over the fabric is wholly acknowledged at its sender device: kind DATA, source, destination, message, queue_pair */
    TRACE_EVENTS
};

enum { TRACE_UNROUTED = UINT16_MAX }; /**< egress port of a packet that has none */

/** One thing that happened. */
struct trace_record {
    uint64_t time_ps;
    uint64_t detail; /**< see enum trace_event */
    uint32_t device;
    uint32_t source, destination; /**< endpoints, as in the packet */
    uint32_t number;              /**< of the packet */
    uint32_t message;             /**< of the packet; tag of the message at TRACE_DELIVER and TRACE_COMPLETE */
    uint16_t port;
    uint16_t queue_pair;
    uint16_t size_bytes;
    uint8_t event; /**< enum trace_event */
    uint8_t kind;  /**< enum packet_kind */
    uint8_t flags_transmission;
};

/** Records in the order in which they were added; several threads may add. Zero-initialise. */
struct trace {
    atomic_flag busy;
    struct trace_record *records;
    size_t count, capacity;
};

/** Appends a copy of a record. */
void trace_add(struct trace *trace, const struct trace_record *record);

/** Appends a record of an event that has a packet (TRACE_START, TRACE_DROP). */
void trace_add_packet(struct trace *trace, enum trace_event event, uint64_t time_ps, uint32_t device, uint16_t port,
                      const struct packet *packet, uint64_t detail);

/** Appends a record of an event that has none (TRACE_PAUSE, TRACE_RESUME, TRACE_CREDIT). */
void trace_add_control(struct trace *trace, enum trace_event event, uint64_t time_ps, uint32_t device, uint16_t port,
                       uint64_t detail);

/** Appends a record of a message (TRACE_DELIVER, TRACE_COMPLETE); kind: DATA, URGENT or RECORD; queue_pair 0 unless DATA. */
void trace_add_message(struct trace *trace, enum trace_event event, uint64_t time_ps, uint32_t device,
                       enum packet_kind kind, uint32_t source, uint32_t destination, uint32_t tag, uint16_t queue_pair);

/** Frees the records; the trace is empty again. */
void trace_free(struct trace *trace);

/** Sorts by time, device, event, port, then every other field: one order, whatever order the records were added in. */
void trace_sort(struct trace *trace);

/** Prints a record as one line. */
void trace_print(FILE *stream, const struct trace_record *record);

/** Whether two sorted traces are equal; if not, prints the first difference and what led to it, under the names given. */
bool trace_compare(FILE *stream, const char *name_a, const struct trace *a, const char *name_b, const struct trace *b);

#endif
