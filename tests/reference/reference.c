// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"
#include "reference_chip.h"
#include "reference_credit.h"
#include "reference_endpoint.h"
#include "reference_failure.h"
#include "reference_recorder.h"
#include "reference_switch.h"
#include "reference_world.h"

#include <stdlib.h>

/* ---- building ---- */

static uint64_t first_credit(const struct reference_world *world, const struct fabric_link *link) {
    const struct nvlink_parameters *nvlink = &world->parameters->nvlink;
    const struct fabric_link *back = &world->fabric->links[link->reverse];
    const uint64_t slower = link->ps_per_byte > back->ps_per_byte ? link->ps_per_byte : back->ps_per_byte;
    const uint64_t least = (uint64_t)nvlink->record_bytes + nvlink->credit_grain_bytes;
    const uint64_t around_ps = link->latency_ps + back->latency_ps + 2 * rate_time_ps(slower, nvlink->record_bytes);
    uint64_t credit = nvlink->buffer_bytes;
    if (credit == 0) {
        credit = (uint64_t)((rate_wide)2 * around_ps * link->rate_bits_per_s / UINT64_C(8000000000000));
    }
    return credit > least ? credit : least;
}

static void create_devices(struct reference_world *world) {
    const struct fabric *fabric = world->fabric;
    for (uint32_t device = 0; device < fabric->n_devices; device++) {
        switch (fabric->devices[device].kind) {
        case FABRIC_ENDPOINT:
            world->endpoints[device] = reference_endpoint_create(world, device);
            break;
        case FABRIC_SWITCH:
            world->switches[device] = reference_switch_create(world, device);
            break;
        case FABRIC_NVSWITCH:
            world->chips[device] = reference_chip_create(world, device);
            break;
        }
    }
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        if (fabric->links[link].kind == FABRIC_NVLINK) {
            world->transmitters[link].credit_bytes = first_credit(world, &fabric->links[link]);
        }
    }
    if (reference_credit_is_used(world)) {
        reference_credit_begin(world);
    }
}

static struct reference *create_result(const struct fabric *fabric) {
    struct reference *result = memory_allocate(1, sizeof *result);
    result->n_links = fabric->n_links;
    result->n_endpoints = fabric->n_endpoints;
    result->links = memory_allocate(fabric->n_links, sizeof *result->links);
    result->endpoints = memory_allocate(fabric->n_endpoints, sizeof *result->endpoints);
    return result;
}

static struct reference_world *create_world(const struct fabric *fabric, const struct network_parameters *parameters,
                                            const struct traffic *traffic) {
    struct reference_world *world = memory_allocate(1, sizeof *world);
    world->fabric = fabric;
    world->parameters = parameters;
    world->traffic = traffic;
    world->result = create_result(fabric);
    world->transmitters = memory_allocate(fabric->n_links, sizeof *world->transmitters);
    world->switches = memory_allocate(fabric->n_devices, sizeof(struct reference_switch *));
    world->chips = memory_allocate(fabric->n_devices, sizeof(struct reference_chip *));
    world->endpoints = memory_allocate(fabric->n_devices, sizeof(struct reference_endpoint *));
    create_devices(world);
    return world;
}

static void free_world(struct reference_world *world) {
    for (uint32_t device = 0; device < world->fabric->n_devices; device++) {
        reference_endpoint_free(world->endpoints[device]);
        reference_switch_free(world->switches[device]);
        reference_chip_free(world->chips[device]);
    }
    reference_heap_free(&world->heap);
    free(world->transmitters);
    free(world->recorded);
    free(world->recorded_packets);
    free(world->switches);
    free(world->chips);
    free(world->endpoints);
    free(world);
}

/* ---- running ---- */

static void count_arrival(struct reference_world *world, const struct reference_step *step) {
    const uint32_t out = reference_world_link(world, step->device, step->port);
    struct reference_link_counts *counts = &world->result->links[world->fabric->links[out].reverse];
    counts->arrived_bytes += step->packet.size_bytes;
    if (reference_credit_is_used(world) && world->fabric->links[out].kind == FABRIC_ETHERNET) {
        reference_credit_fill(world, step->device, step->port, &step->packet);
    }
    counts->ties += world->arrived_ps == step->time_ps && world->arrived_device == step->device;
    world->arrived_ps = step->time_ps;
    world->arrived_device = step->device;
}

/** Hands a step to its device. False if it was a timer that had been set again. */
static bool handle(struct reference_world *world, const struct reference_step *step) {
    if (step->kind == REFERENCE_STEP_PACKET) {
        count_arrival(world, step);
    }
    switch (world->fabric->devices[step->device].kind) {
    case FABRIC_SWITCH:
        reference_switch_step(world, world->switches[step->device], step);
        return true;
    case FABRIC_NVSWITCH:
        reference_chip_step(world, world->chips[step->device], step);
        return true;
    case FABRIC_ENDPOINT:
        break;
    }
    return reference_endpoint_step(world, world->endpoints[step->device], step);
}

/** Steps of time alone: they are no sign that something goes on. */
static bool is_clockwork(enum reference_step_kind kind) {
    return kind == REFERENCE_STEP_REFRESH || kind == REFERENCE_STEP_DOWN || kind == REFERENCE_STEP_UP ||
           kind == REFERENCE_STEP_WATCHDOG;
}

static bool only_refreshes(const struct reference_heap *heap) {
    for (size_t i = 0; i < heap->count; i++) {
        if (heap->steps[i].kind != REFERENCE_STEP_REFRESH) {
            return false;
        }
    }
    return true;
}

static void run(struct reference_world *world) {
    struct reference_step step;
    while (!only_refreshes(&world->heap) && reference_heap_pop(&world->heap, &step) &&
           step.time_ps < world->parameters->limit_ps) {
        REQUIRE(step.time_ps >= world->now_ps, "time runs backwards");
        reference_recorder_pass(world, step.time_ps);
        world->now_ps = step.time_ps;
        if (handle(world, &step) && !is_clockwork(step.kind)) {
            world->result->last_ps = step.time_ps;
        }
    }
    reference_recorder_pass(world, TIME_NEVER);
}

static void finish(struct reference_world *world) {
    struct reference *result = world->result;
    uint64_t posted = 0, delivered = 0, incomplete = 0;
    for (uint32_t i = 0; i < world->fabric->n_endpoints; i++) {
        struct reference_endpoint_counts *counts = &result->endpoints[i];
        counts->messages_awaiting_acknowledgement = reference_endpoint_incomplete(world->endpoints[i]);
        posted += counts->messages_posted;
        delivered += counts->messages_delivered;
        incomplete += counts->messages_awaiting_acknowledgement;
    }
    result->finished = posted == delivered && incomplete == 0;
    trace_sort(&result->trace);
}

struct reference *reference_run(const struct fabric *fabric, const struct network_parameters *parameters,
                                const struct traffic *traffic) {
    struct reference_world *world = create_world(fabric, parameters, traffic);
    reference_recorder_begin(world);
    for (uint32_t rank = 0; rank < traffic->n_ranks; rank++) {
        reference_endpoint_begin(world, world->endpoints[rank]);
    }
    reference_failure_schedule(world);
    run(world);
    finish(world);
    struct reference *result = world->result;
    free_world(world);
    return result;
}

void reference_free(struct reference *reference) {
    if (reference != NULL) {
        trace_free(&reference->trace);
        for (int q = 0; q < RECORDER_QUANTITIES; q++) {
            free(reference->series[q]);
        }
        for (int q = 0; q < RECORDER_PAIR_QUANTITIES; q++) {
            free(reference->series_of_pairs[q]);
        }
        free(reference->links);
        free(reference->endpoints);
        free(reference);
    }
}
