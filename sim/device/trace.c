// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/trace.h"

#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 1024, CONTEXT_RECORDS = 6 };

static const char *const event_names[TRACE_EVENTS] = {"start",  "drop",   "trim",    "lose",    "pause",
                                                      "resume", "credit", "deliver", "complete"};
static const char *const kind_names[] = {"DATA",        "URGENT", "ACK",  "NACK",          "CONGESTION", "PROBE",
                                         "PROBE_REPLY", "RECORD", "PULL", "SELECTIVE_ACK", "URGENT_ACK", "TRIMMED"};

static_assert(sizeof kind_names / sizeof kind_names[0] == PACKET_TRIMMED + 1, "each kind of packet has a name");

void trace_add(struct trace *trace, const struct trace_record *record) {
    while (atomic_flag_test_and_set_explicit(&trace->busy, memory_order_acquire)) {
    }
    if (trace->count == trace->capacity) {
        trace->capacity = trace->capacity ? trace->capacity * 2 : FIRST_CAPACITY;
        trace->records = memory_resize(trace->records, trace->capacity, sizeof *trace->records);
    }
    trace->records[trace->count++] = *record;
    atomic_flag_clear_explicit(&trace->busy, memory_order_release);
}

void trace_add_packet(struct trace *trace, enum trace_event event, uint64_t time_ps, uint32_t device, uint16_t port,
                      const struct packet *packet, uint64_t detail) {
    trace_add(trace, &(struct trace_record){.time_ps = time_ps,
                                            .detail = detail,
                                            .device = device,
                                            .source = packet->source,
                                            .destination = packet->destination,
                                            .number = packet->number,
                                            .message = packet->message,
                                            .port = port,
                                            .queue_pair = packet->queue_pair,
                                            .size_bytes = packet->size_bytes,
                                            .event = (uint8_t)event,
                                            .kind = (uint8_t)packet_kind(packet),
                                            .flags_transmission = packet->flags_transmission});
}

void trace_add_control(struct trace *trace, enum trace_event event, uint64_t time_ps, uint32_t device, uint16_t port,
                       uint64_t detail) {
    trace_add(trace,
              &(struct trace_record){
                  .time_ps = time_ps, .detail = detail, .device = device, .port = port, .event = (uint8_t)event});
}

void trace_add_message(struct trace *trace, enum trace_event event, uint64_t time_ps, uint32_t device,
                       enum packet_kind kind, uint32_t source, uint32_t destination, uint32_t tag,
                       uint16_t queue_pair) {
    trace_add(trace, &(struct trace_record){.time_ps = time_ps,
                                            .device = device,
                                            .source = source,
                                            .destination = destination,
                                            .message = tag,
                                            .queue_pair = queue_pair,
                                            .event = (uint8_t)event,
                                            .kind = (uint8_t)kind});
}

void trace_free(struct trace *trace) {
    free(trace->records);
    trace->records = NULL;
    trace->count = trace->capacity = 0;
}

static int order(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int order_of_place(const struct trace_record *a, const struct trace_record *b) {
    const int orders[] = {order(a->time_ps, b->time_ps), order(a->device, b->device), order(a->event, b->event),
                          order(a->port, b->port)};
    int found = 0;
    for (size_t i = 0; i < sizeof orders / sizeof *orders && found == 0; i++) {
        found = orders[i];
    }
    return found;
}

static int order_of_packet(const struct trace_record *a, const struct trace_record *b) {
    const int orders[] = {
        order(a->source, b->source),   order(a->queue_pair, b->queue_pair),
        order(a->number, b->number),   order(a->flags_transmission, b->flags_transmission),
        order(a->kind, b->kind),       order(a->destination, b->destination),
        order(a->message, b->message), order(a->size_bytes, b->size_bytes),
        order(a->detail, b->detail),
    };
    int found = 0;
    for (size_t i = 0; i < sizeof orders / sizeof *orders && found == 0; i++) {
        found = orders[i];
    }
    return found;
}

static int compare_records(const void *a, const void *b) {
    const int place = order_of_place(a, b);
    return place ? place : order_of_packet(a, b);
}

void trace_sort(struct trace *trace) {
    if (trace->count > 1) {
        qsort(trace->records, trace->count, sizeof *trace->records, compare_records);
    }
}

void trace_print(FILE *stream, const struct trace_record *record) {
    fprintf(stream,
            "%12" PRIu64 " ps device %-3" PRIu32 " port %-2u %-8s %-11s %" PRIu32 "->%" PRIu32 " qp %u number %" PRIu32
            " message %" PRIu32 " size %u flags %x transmission %u detail %" PRIu64 "\n",
            record->time_ps, record->device, (unsigned)record->port, event_names[record->event],
            kind_names[record->kind], record->source, record->destination, (unsigned)record->queue_pair, record->number,
            record->message, (unsigned)record->size_bytes, (unsigned)(record->flags_transmission & 15),
            (unsigned)(record->flags_transmission >> 4), record->detail);
}

static void print_from(FILE *stream, const char *name, const struct trace *trace, size_t first) {
    fprintf(stream, "%s (%zu records):\n", name, trace->count);
    for (size_t i = first; i < trace->count && i < first + CONTEXT_RECORDS; i++) {
        trace_print(stream, &trace->records[i]);
    }
}

bool trace_compare(FILE *stream, const char *name_a, const struct trace *a, const char *name_b, const struct trace *b) {
    size_t same = 0;
    while (same < a->count && same < b->count && compare_records(&a->records[same], &b->records[same]) == 0) {
        same++;
    }
    if (same == a->count && same == b->count) {
        return true;
    }
    fprintf(stream, "traces differ at record %zu; before it:\n", same);
    for (size_t i = same > CONTEXT_RECORDS ? same - CONTEXT_RECORDS : 0; i < same; i++) {
        trace_print(stream, &a->records[i]);
    }
    print_from(stream, name_a, a, same);
    print_from(stream, name_b, b, same);
    return false;
}
