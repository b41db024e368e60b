// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Ports need nothing of each other, so each is brought up to date when it is touched. What leaves in a window is noted with its
 * time, put in order when the window ends, and gives credit back then: a credit changes nothing here in the same window.
 */
#include "device/switch_credit.h"

#include "base/memory.h"
#include "base/number.h"
#include "device/link_credit.h"
#include "device/switch_internal.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_RELEASES = 24, FIRST_RELEASES = 64 };

/* Room in the buffer of an ingress that becomes free, or (blocks 0) an ingress whose link has come up. In order of time, phase, port. */
struct release {
    uint64_t time_ps;
    uint32_t blocks;
    uint16_t port, ingress;
    uint8_t phase, lane;
};

enum { PHASE_LINK = 0, PHASE_DEPARTURE = 1, PHASE_ARRIVAL = 4 };

struct switch_credit {
    struct link_credit *ports;
    struct release *releases;
    uint32_t n_releases, capacity, n_ports;
};

struct switch_credit *switch_credit_create(const struct context *context, uint32_t device) {
    if (!context->parameters->infiniband.links) {
        return NULL;
    }
    const struct fabric_device *place = &context->fabric->devices[device];
    struct switch_credit *credit = memory_allocate(1, sizeof(*credit));
    credit->n_ports = place->n_ports;
    credit->ports = memory_allocate(place->n_ports, sizeof(*credit->ports));
    for (uint32_t p = 0; p < place->n_ports; p++) {
        link_credit_init(&credit->ports[p], context, place->first_port + p);
    }
    return credit;
}

void switch_credit_free(struct switch_credit *credit) {
    if (credit) {
        free(credit->ports);
        free(credit->releases);
        free(credit);
    }
}

size_t switch_credit_bytes(const struct switch_credit *credit) {
    return credit ? sizeof(*credit) + credit->n_ports * sizeof(struct link_credit) +
                        credit->capacity * sizeof(struct release)
                  : 0;
}

/* ---- what becomes free ---- */

static void note_release(struct switch_credit *credit, const struct release *release) {
    if (credit->n_releases == credit->capacity) {
        credit->capacity = credit->capacity ? 2 * credit->capacity : FIRST_RELEASES;
        credit->releases = memory_resize(credit->releases, credit->capacity, sizeof(*credit->releases));
    }
    credit->releases[credit->n_releases++] = *release;
}

static int compare_releases(const void *a, const void *b) {
    const struct release *one = a, *other = b;
    if (one->time_ps != other->time_ps) {
        return one->time_ps < other->time_ps ? -1 : 1;
    }
    return one->phase != other->phase ? one->phase - other->phase : one->port - other->port;
}

static void sort_releases(struct release *releases, uint32_t n) {
    if (n > FEW_RELEASES) {
        qsort(releases, n, sizeof(*releases), compare_releases);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const struct release moved = releases[i];
        uint32_t j = i;
        for (; j > 0 && compare_releases(&moved, &releases[j - 1]) < 0; j--) {
            releases[j] = releases[j - 1];
        }
        releases[j] = moved;
    }
}

static void return_credits(struct switch_device *device, struct engine_worker *worker) {
    struct switch_credit *credit = device->credit;
    sort_releases(credit->releases, credit->n_releases);
    for (uint32_t i = 0; i < credit->n_releases; i++) {
        const struct release *release = &credit->releases[i];
        struct link_credit *ingress = &credit->ports[release->ingress];
        const uint32_t link = device->ports[release->ingress].link;
        if (release->blocks == 0) {
            link_credit_renew(ingress, device->context, worker, link, release->time_ps);
            continue;
        }
        ingress->held[release->lane] -= release->blocks;
        link_credit_return(ingress, device->context, worker, link, (enum packet_class)release->lane, release->blocks,
                           release->time_ps);
    }
    credit->n_releases = 0;
}

/* ---- the transmitter ---- */

static void end_stall(struct switch_port *port, uint64_t now_ps) {
    if (port->paused) {
        port->paused = false;
        port->counters->credit_stalled_ps += now_ps - port->paused_since_ps;
    }
}

static void begin_stall(struct switch_device *device, struct switch_port *port, uint64_t now_ps) {
    if (!port->paused) {
        port->paused = true;
        port->paused_since_ps = now_ps;
        port->counters->credit_stalls++;
        switch_port_note_stale(device, port);
    }
}

/* What a port has to send at a time, as bits of lanes: heads that may start; and whether some only lack credit. */
struct heads {
    unsigned open;
    bool blocked;
    uint64_t wait_ps; /* when the first of the others is ready */
};

static struct heads look_at_heads(const struct switch_device *device, const struct switch_port *port, uint64_t now_ps) {
    const struct link_credit *credit = &device->credit->ports[port->number];
    struct heads heads = {.wait_ps = TIME_NEVER};
    for (unsigned lane = 0; lane < PACKET_CLASSES; lane++) {
        if (queue_is_empty(&port->queues[lane])) {
            continue;
        }
        const struct packet *head = queue_front(&port->queues[lane]);
        const uint64_t ready_ps = queue_ready_ps(head);
        if (ready_ps > now_ps) {
            heads.wait_ps = number_smaller(heads.wait_ps, ready_ps);
        } else if (credit->dead || credit->left[lane] >= link_credit_blocks(head->size_bytes)) {
            heads.open |= 1u << lane;
        } else {
            heads.blocked = true;
        }
    }
    return heads;
}

/* The lane to send from, of those whose head may start. */
static enum packet_class choose_lane(const struct switch_device *device, struct switch_port *port, unsigned open) {
    const unsigned data = 1u << PACKET_CLASS_LOSSLESS | 1u << PACKET_CLASS_LOSSY;
    if (open & 1u << PACKET_CLASS_CONTROL) {
        return PACKET_CLASS_CONTROL;
    }
    if ((open & data) == data) {
        return switch_port_take_turn(device, port);
    }
    port->turn = open & 1u << PACKET_CLASS_LOSSLESS ? PACKET_CLASS_LOSSLESS : PACKET_CLASS_LOSSY;
    port->deficit[PACKET_CLASS_LOSSLESS] = port->deficit[PACKET_CLASS_LOSSY] = 0;
    return (enum packet_class)port->turn;
}

/* Starts a packet. One that gets lost takes no credit: the receiver learns what was sent, and makes it good (IBTA 7.9.4.4, FCTBS). */
static void start(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                  enum packet_class lane, uint64_t now_ps) {
    struct packet *packet = queue_front(&port->queues[lane]);
    const uint64_t lost = port->counters->lost_packets;
    end_stall(port, now_ps);
    switch_port_start(device, worker, port, packet, queue_ingress(packet), now_ps);
    if (port->counters->lost_packets == lost) {
        device->credit->ports[port->number].left[lane] -= link_credit_blocks(packet->size_bytes);
    }
    queue_pop(&port->queues[lane], &worker->pool);
}

/* A transmitter that is free chooses at now_ps; if it starts nothing, its next decision is when a head becomes ready. */
static void choose(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                   uint64_t now_ps) {
    const struct heads heads = look_at_heads(device, port, now_ps);
    if (heads.open) {
        start(device, worker, port, choose_lane(device, port, heads.open), now_ps);
    } else {
        port->decision_ps = heads.wait_ps;
        if (heads.blocked) {
            begin_stall(device, port, now_ps);
        }
    }
    if (port->decision_ps != TIME_NEVER) {
        switch_port_activate(device, port);
    }
}

static void depart(struct switch_device *device, struct switch_port *port) {
    const uint32_t size = port->sending_bytes;
    note_release(device->credit, &(struct release){.time_ps = port->decision_ps,
                                                   .phase = PHASE_DEPARTURE,
                                                   .port = port->number,
                                                   .ingress = port->sending_ingress,
                                                   .lane = port->sending_class,
                                                   .blocks = link_credit_blocks(size)});
    port->sending_bytes = 0;
    port->depth[port->sending_class] -= size;
    device->lossy.used_bytes -= size;
}

void switch_credit_catch_up(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                            uint64_t now_ps) {
    do {
        const uint64_t decision_ps = port->decision_ps;
        if (port->sending_bytes) {
            depart(device, port);
        }
        choose(device, worker, port, decision_ps);
    } while (port->decision_ps <= now_ps);
}

static void kick(struct switch_device *device, struct engine_worker *worker, struct switch_port *port,
                 uint64_t now_ps) {
    if (port->sending_bytes == 0) {
        choose(device, worker, port, now_ps);
    }
}

/* ---- arrivals ---- */

static void handle_packet(struct switch_device *device, struct engine_worker *worker, struct packet *packet,
                          uint32_t number, uint64_t now_ps) {
    const enum packet_class lane = packet_class(packet);
    const uint32_t size = packet->size_bytes, blocks = link_credit_blocks(size);
    device->ports[number].counters->arrived_bytes += size;
    device->credit->ports[number].held[lane] += blocks;
    struct switch_port *egress = switch_route(device, packet, number, now_ps);
    if (egress == NULL) { // unrouted: its room is free at once
        note_release(device->credit, &(struct release){.time_ps = now_ps,
                                                       .phase = PHASE_ARRIVAL,
                                                       .port = (uint16_t)number,
                                                       .ingress = (uint16_t)number,
                                                       .lane = (uint8_t)lane,
                                                       .blocks = blocks});
        return;
    }
    switch_port_drain_any(device, worker, egress, now_ps);
    device->lossy.used_bytes += size;
    egress->depth[lane] += size;
    const uint64_t data_bytes = (uint64_t)egress->depth[PACKET_CLASS_LOSSLESS] + egress->depth[PACKET_CLASS_LOSSY];
    egress->counters->deepest_bytes = number_larger(egress->counters->deepest_bytes, data_bytes);
    packet->time_ps = queue_stamp(switch_ready_ps(device, number, egress, size, now_ps), number);
    queue_push(&egress->queues[lane], &worker->pool, packet);
    switch_port_note_stale(device, egress); // if it is idle, its depth grows all the same
    kick(device, worker, egress, now_ps);
}

static void handle_credit(struct switch_device *device, struct engine_worker *worker, const struct control *control,
                          uint32_t number, uint64_t now_ps) {
    struct switch_port *port = &device->ports[number];
    switch_port_drain_any(device, worker, port, now_ps);
    device->credit->ports[number].left[control->lane] += control->amount;
    kick(device, worker, port, now_ps);
}

void switch_credit_change(struct switch_device *device, struct engine_worker *worker,
                          const struct failure_change *change) {
    struct switch_port *port = &device->ports[change->link - device->ports[0].link];
    struct link_credit *credit = &device->credit->ports[port->number];
    if (change->time_ps > 0) {
        switch_port_drain_any(device, worker, port, change->time_ps - 1);
    }
    credit->dead = change->down;
    if (change->down) {
        kick(device, worker, port, change->time_ps);
        return;
    }
    memset(credit->left, 0, sizeof(credit->left));
    note_release(device->credit,
                 &(struct release){
                     .time_ps = change->time_ps, .phase = PHASE_LINK, .port = port->number, .ingress = port->number});
}

/* ---- windows ---- */

/* Everything that starts or leaves before the window ends; returns when the next does: departures give credit, so all count. */
static uint64_t close_window(struct switch_device *device, struct engine_worker *worker, uint64_t end_ps) {
    if (device->next_look_ps < end_ps) {
        switch_look(device, worker, end_ps - 1);
    }
    uint64_t due_ps =
        device->next_failure_ps < device->context->parameters->limit_ps ? device->next_failure_ps : TIME_NEVER;
    for (uint32_t w = 0; w < device->words; w++) {
        device->stale[w] |= device->active[w];
        for (uint64_t bits = device->active[w]; bits; bits &= bits - 1) {
            struct switch_port *port = &device->ports[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            switch_port_drain_any(device, worker, port, end_ps - 1);
            if (port->decision_ps == TIME_NEVER) {
                device->active[w] &= ~(bits & -bits);
            }
            due_ps = number_smaller(due_ps, port->decision_ps);
        }
    }
    return_credits(device, worker);
    return due_ps;
}

uint64_t switch_credit_advance(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct switch_device *device = object;
    const uint32_t n = engine_gather(worker, device->device, begin_ps, end_ps);
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        struct engine_record *record = engine_arrival(worker, i, &queue);
        const uint64_t now_ps = engine_stamp_ps(record->stamp);
        const uint32_t port = engine_stamp_port(record->stamp);
        if (now_ps >= device->next_look_ps) {
            switch_look(device, worker, now_ps);
        }
        if (queue == ENGINE_PACKET) {
            handle_packet(device, worker, (void *)record, port, now_ps);
        } else {
            handle_credit(device, worker, (void *)record, port, now_ps);
        }
    }
    return close_window(device, worker, end_ps);
}

void switch_credit_finish(struct switch_port *port, uint64_t now_ps) {
    if (port->paused) { // it stays so: what waits for what may be asked afterwards
        port->counters->credit_stalled_ps += now_ps - port->paused_since_ps;
        port->paused_since_ps = now_ps;
    }
}

/* ---- what is asked ---- */

bool switch_credit_waits(const struct switch_device *device, uint32_t port) {
    return device->ports[port].paused;
}

bool switch_credit_holds_from(const struct switch_device *device, uint32_t egress, uint32_t ingress) {
    const struct link_credit *credit = &device->credit->ports[egress];
    for (int lane = 0; lane < PACKET_CLASSES; lane++) {
        const struct queue *queue = &device->ports[egress].queues[lane];
        if (!queue_is_empty(queue) && credit->left[lane] < link_credit_blocks(queue_front(queue)->size_bytes) &&
            queue_holds_from(queue, ingress)) {
            return true;
        }
    }
    return false;
}

const struct link_credit *switch_credit_of(const struct switch_device *device, uint32_t port) {
    return &device->credit->ports[port];
}
