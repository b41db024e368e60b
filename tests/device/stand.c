// SPDX-License-Identifier: GPL-3.0-or-later
#include "stand.h"

#include "base/memory.h"
#include "rig.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct stand *stand_create(void) {
    const struct rig_shape shape = {
        .leaves = 1, .hosts_per_leaf = STAND_PORTS, .up_ps = STAND_PS_PER_BYTE, .latency_ps = STAND_LATENCY_PS};
    struct stand *stand = memory_allocate(1, sizeof(*stand));
    stand->fabric = rig_fabric(&shape);
    stand->parameters = rig_parameters();
    return stand;
}

void stand_free(struct stand *stand) {
    switch_free(stand->device);
    engine_free(stand->engine);
    fabric_free(stand->fabric);
    free(stand->context.links);
    free(stand->sights);
    free(stand);
}

static uint64_t run_switch(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    const struct stand *stand = object;
    return switch_advance(stand->device, worker, begin_ps, end_ps);
}

static void note(struct stand *stand, uint32_t port, bool control, const void *record) {
    if (stand->n_sights == stand->capacity) {
        stand->capacity = stand->capacity ? 2 * stand->capacity : 1024;
        stand->sights = memory_resize(stand->sights, stand->capacity, sizeof(*stand->sights));
    }
    struct stand_sight *sight = &stand->sights[stand->n_sights++];
    *sight = (struct stand_sight){.port = port, .control = control};
    if (control) {
        struct control seen;
        memcpy(&seen, record, sizeof(seen));
        sight->kind = seen.kind;
        sight->time_ps = seen.time_ps - STAND_LATENCY_PS;
    } else {
        memcpy(&sight->packet, record, sizeof(sight->packet));
        sight->time_ps =
            sight->packet.time_ps - STAND_LATENCY_PS - (uint64_t)sight->packet.size_bytes * STAND_PS_PER_BYTE;
    }
}

/* Where endpoints would be. Their number is found by the link that a record came in by. */
struct witness {
    struct stand *stand;
    uint32_t port;
};

static uint64_t see(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    const struct witness *witness = object;
    const uint32_t n = engine_gather(worker, witness->port, begin_ps, end_ps);
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        struct engine_record *record = engine_arrival(worker, i, &queue);
        record->stamp = engine_stamp_ps(record->stamp);
        note(witness->stand, witness->port, queue == ENGINE_CONTROL, record);
    }
    return TIME_NEVER;
}

/* With the first arrival the parameters are as they stay. */
static void prepare(struct stand *stand) {
    if (stand->engine) {
        return;
    }
    stand->engine = engine_create(stand->fabric, stand->parameters.seed, 0);
    stand->context = (struct context){
        .fabric = stand->fabric,
        .parameters = &stand->parameters,
        .rings = engine_rings_of(stand->engine),
        .links = memory_allocate_aligned(stand->fabric->n_links, sizeof(struct link_counters)),
        .path = path_policy_of(PATH_ECMP),
        .controller = congestion_controller_of(CONGESTION_NONE),
    };
    stand->device = switch_create(&stand->context, STAND_PORTS);
    engine_set_device(stand->engine, STAND_PORTS, run_switch, stand);
}

static uint32_t link_into(const struct stand *stand, uint32_t port) {
    return stand->fabric->devices[port].first_port; // endpoint p has one port, and port p of the switch is its
}

uint32_t stand_packet(struct stand *stand, uint64_t time_ps, uint32_t from, uint32_t to, enum packet_class class,
                      uint32_t size_bytes) {
    prepare(stand);
    const enum packet_kind kind = class == PACKET_CLASS_CONTROL ? PACKET_URGENT : PACKET_DATA;
    const struct packet packet = {.time_ps = time_ps,
                                  .source = from,
                                  .destination = to,
                                  .number = stand->n_packets,
                                  .size_bytes = (uint16_t)size_bytes,
                                  .kind_class = (uint8_t)(kind | class << 4)};
    engine_send(engine_first_worker(stand->engine), stand->context.rings, link_into(stand, from), ENGINE_PACKET,
                &packet);
    return stand->n_packets++;
}

void stand_control(struct stand *stand, uint64_t time_ps, uint32_t port, enum control_kind kind) {
    prepare(stand);
    const struct control control = {.time_ps = time_ps, .kind = kind};
    engine_send(engine_first_worker(stand->engine), stand->context.rings, link_into(stand, port), ENGINE_CONTROL,
                &control);
}

static int by_time(const void *a, const void *b) {
    const struct stand_sight *x = a, *y = b;
    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

void stand_run(struct stand *stand) {
    struct witness witnesses[STAND_PORTS];
    for (uint32_t p = 0; p < STAND_PORTS; p++) {
        witnesses[p] = (struct witness){.stand = stand, .port = p};
        engine_set_device(stand->engine, p, see, &witnesses[p]);
    }
    ck_assert_int_eq(engine_run(stand->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    switch_finish(stand->device, engine_first_worker(stand->engine), engine_now_ps(stand->engine));
    if (stand->n_sights == 0) {
        return;
    }
    qsort(stand->sights, stand->n_sights, sizeof(*stand->sights), by_time);
}

const struct link_counters *stand_counters(const struct stand *stand, uint32_t port) {
    return &stand->context.links[stand->fabric->links[link_into(stand, port)].reverse];
}

uint64_t stand_start_ps(const struct stand *stand, uint32_t number) {
    for (uint32_t i = 0; i < stand->n_sights; i++) {
        if (!stand->sights[i].control && stand->sights[i].packet.number == number) {
            return stand->sights[i].time_ps;
        }
    }
    return TIME_NEVER;
}

uint32_t stand_controls(const struct stand *stand, uint32_t port, enum control_kind kind, uint64_t *last_ps) {
    uint32_t n = 0;
    *last_ps = TIME_NEVER;
    for (uint32_t i = 0; i < stand->n_sights; i++) {
        const struct stand_sight *sight = &stand->sights[i];
        if (sight->control && sight->port == port && sight->kind == (uint32_t)kind) {
            *last_ps = sight->time_ps;
            n++;
        }
    }
    return n;
}
