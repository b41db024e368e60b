// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A port is drained when touched; the departures of a window are noted with their times, put in order at its end, and
 * give credits back then: a credit never changes what this chip does in the same window.
 */
#include "device/chip.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/credit.h"
#include "device/queue.h"

#include <stdlib.h>

enum { DEPARTURE_BUCKETS = 64, FEW_DEPARTURES = 24, DEPARTURES_AHEAD = 6 };

/* A port: its transmitter and queue, and what came in by it. */
struct chip_port {
    uint64_t free_ps; /* end of what is being sent */
    uint64_t ps_per_byte, latency_ps;
    uint64_t credit_bytes; /* of the buffer at the other end */
    uint64_t depth_bytes;
    struct queue queue;
    uint32_t carry;
    uint32_t link;          /* that leaves it */
    uint32_t sending_bytes; /* 0: nothing is being sent */
    uint16_t sending_ingress;
    uint16_t number;
    uint32_t gathered_bytes; /* as ingress: freed, not yet given back */
};

/* A departure that has still to give its credit back. */
struct departure {
    uint64_t time_ps;
    uint32_t size_bytes;
    uint16_t port, ingress;
};

struct chip {
    const struct context *context;
    uint32_t device, n_ports, words;
    uint64_t *active; /* a bit a port: sending, or has a queue */
    struct departure *departures, *sorted;
    uint32_t n_departures, departure_capacity;
    struct chip_port ports[];
};

struct chip *chip_create(const struct context *context, uint32_t device) {
    const struct fabric_device *place = &context->fabric->devices[device];
    struct chip *chip = memory_allocate(1, sizeof(*chip) + place->n_ports * sizeof(struct chip_port));
    chip->context = context;
    chip->device = device;
    chip->n_ports = place->n_ports;
    chip->words = (place->n_ports + 63) / 64;
    chip->active = memory_allocate(chip->words, sizeof(uint64_t));
    for (uint32_t p = 0; p < place->n_ports; p++) {
        const uint32_t link = place->first_port + p;
        chip->ports[p] = (struct chip_port){
            .ps_per_byte = context->fabric->links[link].ps_per_byte,
            .latency_ps = context->fabric->links[link].latency_ps,
            .credit_bytes = credit_initial_bytes(context, link),
            .link = link,
            .number = (uint16_t)p,
        };
    }
    return chip;
}

void chip_free(struct chip *chip) {
    if (chip) {
        free(chip->active);
        free(chip->departures);
        free(chip->sorted);
        free(chip);
    }
}

static void note_departure(struct chip *chip, struct chip_port *port) {
    if (chip->n_departures == chip->departure_capacity) {
        chip->departure_capacity = chip->departure_capacity ? 2 * chip->departure_capacity : 64;
        chip->departures = memory_resize(chip->departures, chip->departure_capacity, sizeof(*chip->departures));
        chip->sorted = memory_resize(chip->sorted, chip->departure_capacity, sizeof(*chip->sorted));
    }
    chip->departures[chip->n_departures++] = (struct departure){.time_ps = port->free_ps,
                                                                .size_bytes = port->sending_bytes,
                                                                .port = port->number,
                                                                .ingress = port->sending_ingress};
    port->depth_bytes -= port->sending_bytes;
    port->sending_bytes = 0;
}

static void start(struct chip *chip, struct engine_worker *worker, struct chip_port *port, struct packet *packet,
                  uint32_t ingress, uint64_t now_ps) {
    const struct context *context = chip->context;
    const uint64_t duration_ps = rate_next_ps(port->ps_per_byte, packet->size_bytes, &port->carry);
    port->free_ps = now_ps + duration_ps;
    port->credit_bytes -= packet->size_bytes;
    port->sending_bytes = packet->size_bytes;
    port->sending_ingress = (uint16_t)ingress;
    packet->time_ps = port->free_ps + port->latency_ps;
    engine_send(worker, context->rings, port->link, ENGINE_PACKET, packet);
    counters_sent(&context->links[port->link], packet);
    chip->active[port->number / 64] |= UINT64_C(1) << (port->number % 64);
    if (context->trace) {
        trace_add_packet(context->trace, TRACE_START, now_ps, chip->device, port->number, packet, port->free_ps);
    }
}

static bool has_credit(const struct chip *chip, const struct chip_port *port) {
    return port->credit_bytes >= chip->context->parameters->nvlink.record_bytes;
}

/* An idle port starts its oldest record, if it has one and the credit for it. */
static void kick(struct chip *chip, struct engine_worker *worker, struct chip_port *port, uint64_t now_ps) {
    if (port->sending_bytes == 0 && !queue_is_empty(&port->queue) && has_credit(chip, port)) {
        struct packet *packet = queue_front(&port->queue);
        start(chip, worker, port, packet, queue_ingress(packet), now_ps);
        queue_pop(&port->queue, &worker->pool);
    }
}

static void drain(struct chip *chip, struct engine_worker *worker, struct chip_port *port, uint64_t now_ps) {
    while (port->sending_bytes && port->free_ps <= now_ps) {
        const uint64_t free_ps = port->free_ps;
        note_departure(chip, port);
        kick(chip, worker, port, free_ps);
    }
}

static void handle_record(struct chip *chip, struct engine_worker *worker, struct packet *packet, uint32_t ingress,
                          uint64_t now_ps) {
    const struct context *context = chip->context;
    const struct fabric_route routes = fabric_chip_route_to(context->fabric, chip->device, packet->destination);
    struct chip_port *port = &chip->ports[routes.first_port + ingress % routes.count];
    struct link_counters *counters = &context->links[port->link];
    context->links[chip->ports[ingress].link].arrived_bytes += packet->size_bytes;
    drain(chip, worker, port, now_ps);
    port->depth_bytes += packet->size_bytes;
    counters->deepest_bytes = port->depth_bytes > counters->deepest_bytes ? port->depth_bytes : counters->deepest_bytes;
    if (port->sending_bytes == 0 && queue_is_empty(&port->queue) && has_credit(chip, port)) {
        start(chip, worker, port, packet, ingress, now_ps);
        return;
    }
    packet->time_ps = queue_stamp(now_ps, ingress);
    queue_push(&port->queue, &worker->pool, packet);
}

static void handle_credit(struct chip *chip, struct engine_worker *worker, const struct control *control,
                          uint32_t number, uint64_t now_ps) {
    struct chip_port *port = &chip->ports[number];
    drain(chip, worker, port, now_ps);
    port->credit_bytes += control->amount;
    kick(chip, worker, port, now_ps);
}

static bool comes_before(const struct departure *a, const struct departure *b) {
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->port < b->port;
}

static void insertion_sort(struct departure *departures, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        const struct departure moved = departures[i];
        uint32_t j = i;
        for (; j > 0 && comes_before(&moved, &departures[j - 1]); j--) {
            departures[j] = departures[j - 1];
        }
        departures[j] = moved;
    }
}

/* Spreads the departures of a window over buckets of equal time first: they come port by port. */
static void sort_departures(struct chip *chip, uint64_t begin_ps, uint64_t end_ps) {
    uint32_t starts[DEPARTURE_BUCKETS + 1] = {0};
    const uint32_t n = chip->n_departures;
    unsigned shift = 0;
    while (((end_ps - begin_ps) >> shift) >= DEPARTURE_BUCKETS) {
        shift++;
    }
    for (uint32_t i = 0; i < n; i++) {
        starts[((chip->departures[i].time_ps - begin_ps) >> shift) + 1]++;
    }
    for (uint32_t b = 0; b < DEPARTURE_BUCKETS; b++) {
        starts[b + 1] += starts[b];
    }
    for (uint32_t i = 0; i < n; i++) {
        chip->sorted[starts[(chip->departures[i].time_ps - begin_ps) >> shift]++] = chip->departures[i];
    }
    struct departure *swap = chip->departures;
    chip->departures = chip->sorted;
    chip->sorted = swap;
}

static void return_credits(struct chip *chip, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    if (chip->n_departures > FEW_DEPARTURES) {
        sort_departures(chip, begin_ps, end_ps);
    }
    insertion_sort(chip->departures, chip->n_departures);
    for (uint32_t i = 0; i < chip->n_departures; i++) {
        if (i + DEPARTURES_AHEAD < chip->n_departures) {
            const uint16_t next = chip->departures[i + DEPARTURES_AHEAD].ingress;
            engine_prefetch_slot(chip->context->rings, chip->ports[next].link, ENGINE_CONTROL);
        }
        const struct departure *departure = &chip->departures[i];
        struct chip_port *ingress = &chip->ports[departure->ingress];
        credit_return(chip->context, worker, chip->device, departure->ingress, ingress->link, &ingress->gathered_bytes,
                      departure->size_bytes, departure->time_ps);
    }
    chip->n_departures = 0;
}

/* All departures before the end have to be known: they give credits. Returns the next one. */
static uint64_t close_window(struct chip *chip, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    uint64_t due_ps = TIME_NEVER;
    for (uint32_t w = 0; w < chip->words; w++) {
        for (uint64_t bits = chip->active[w]; bits; bits &= bits - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(bits);
            struct chip_port *port = &chip->ports[w * 64 + bit];
            drain(chip, worker, port, end_ps - 1);
            if (port->sending_bytes == 0) {
                chip->active[w] &= ~(UINT64_C(1) << bit);
            } else if (port->free_ps < due_ps) {
                due_ps = port->free_ps;
            }
        }
    }
    return_credits(chip, worker, begin_ps, end_ps);
    return due_ps;
}

uint64_t chip_advance(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct chip *chip = object;
    const uint32_t n = engine_gather(worker, chip->device, begin_ps, end_ps);
    for (uint32_t p = 0; p < chip->n_ports; p++) {
        engine_prefetch_slot(chip->context->rings, chip->ports[p].link, ENGINE_PACKET);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        struct engine_record *record = engine_arrival(worker, i, &queue);
        const uint64_t now_ps = engine_stamp_ps(record->stamp);
        const uint32_t port = engine_stamp_port(record->stamp);
        if (queue == ENGINE_PACKET) {
            handle_record(chip, worker, (void *)record, port, now_ps);
        } else {
            handle_credit(chip, worker, (void *)record, port, now_ps);
        }
    }
    return close_window(chip, worker, begin_ps, end_ps);
}

struct recorder_port chip_recorder_port(const struct chip *chip, uint32_t number) {
    const struct chip_port *port = &chip->ports[number];
    return (struct recorder_port){.depth_bytes = port->depth_bytes,
                                  .free_ps = port->sending_bytes ? port->free_ps : 0,
                                  .paused_since_ps = TIME_NEVER};
}

uint64_t chip_buffered_bytes(const struct chip *chip) {
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < chip->n_ports; p++) {
        bytes += chip->ports[p].depth_bytes;
    }
    return bytes;
}

size_t chip_bytes(const struct chip *chip) {
    return sizeof(*chip) + chip->n_ports * sizeof(struct chip_port) + chip->words * sizeof(uint64_t) +
           2 * sizeof(struct departure) * chip->departure_capacity;
}
