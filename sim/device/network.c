// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/network.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/chip.h"
#include "device/context.h"
#include "device/switch.h"
#include "engine/split.h"

#include <stdlib.h>

enum { WINDOWS_PER_LOOK = 64 };

struct network {
    struct context context;
    struct engine *engine;
    struct endpoint **endpoints;     /* [n_endpoints] */
    struct switch_device **switches; /* [n_switches] */
    struct chip **chips;             /* [n_chips] */
    network_observer *observer;
    void *observer_context;
    uint64_t looks;
};

static void create_device(struct network *network, uint32_t number) {
    const struct fabric_device *place = &network->context.fabric->devices[number];
    switch (place->kind) {
    case FABRIC_ENDPOINT:
        network->endpoints[number] = endpoint_create(&network->context, number);
        engine_set_device(network->engine, number, endpoint_advance, network->endpoints[number]);
        break;
    case FABRIC_SWITCH:
        network->switches[place->ordinal] = switch_create(&network->context, number);
        engine_set_device(network->engine, number, switch_advance, network->switches[place->ordinal]);
        break;
    case FABRIC_NVSWITCH:
        network->chips[place->ordinal] = chip_create(&network->context, number);
        engine_set_device(network->engine, number, chip_advance, network->chips[place->ordinal]);
        break;
    }
}

static struct engine *create_engine(const struct fabric *fabric, const struct network_parameters *parameters) {
    const uint32_t threads = parameters->threads > 1 ? parameters->threads : 1;
    uint32_t *worker_of = memory_allocate(fabric->n_devices, sizeof(*worker_of));
    split_devices(fabric, threads, worker_of);
    struct engine *engine = engine_create_split(fabric, parameters->seed, parameters->window_ps, threads, worker_of);
    free(worker_of);
    return engine;
}

struct network *network_create(const struct fabric *fabric, const struct network_parameters *parameters,
                               const struct traffic *traffic, struct trace *trace) {
    REQUIRE(traffic->n_ranks <= fabric->n_endpoints, "%u ranks on %u endpoints", traffic->n_ranks, fabric->n_endpoints);
    struct network *network = memory_allocate(1, sizeof(*network));
    network->engine = create_engine(fabric, parameters);
    network->context = (struct context){
        .fabric = fabric,
        .parameters = parameters,
        .traffic = traffic,
        .rings = engine_rings_of(network->engine),
        .trace = trace,
        .links = memory_allocate_aligned(fabric->n_links, sizeof(struct link_counters)),
        .path = path_policy_of(parameters->path.kind),
        .controller = congestion_controller_of(parameters->congestion.kind),
    };
    network->endpoints = memory_allocate(fabric->n_endpoints, sizeof(*network->endpoints));
    network->switches = memory_allocate(fabric->n_switches, sizeof(*network->switches));
    network->chips = memory_allocate(fabric->n_chips, sizeof(*network->chips));
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        create_device(network, d);
    }
    return network;
}

void network_free(struct network *network) {
    if (!network) {
        return;
    }
    const struct fabric *fabric = network->context.fabric;
    for (uint32_t i = 0; i < fabric->n_endpoints; i++) {
        endpoint_free(network->endpoints[i]);
    }
    for (uint32_t i = 0; i < fabric->n_switches; i++) {
        switch_free(network->switches[i]);
    }
    for (uint32_t i = 0; i < fabric->n_chips; i++) {
        chip_free(network->chips[i]);
    }
    free(network->endpoints);
    free(network->switches);
    free(network->chips);
    free(network->context.links);
    engine_free(network->engine);
    free(network);
}

static bool look(void *object, uint64_t now_ps) {
    struct network *network = object;
    if (!network->observer || network->looks++ % WINDOWS_PER_LOOK != 0) {
        return true;
    }
    return network->observer(network->observer_context, now_ps, engine_packets(network->engine));
}

static void finish(struct network *network) {
    const uint64_t now_ps = engine_now_ps(network->engine);
    struct engine_worker *worker = engine_first_worker(network->engine);
    for (uint32_t i = 0; i < network->context.fabric->n_switches; i++) {
        switch_finish(network->switches[i], worker, now_ps);
    }
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        endpoint_finish(network->endpoints[i], now_ps);
    }
}

/* Nothing may be lost on a link or left in a buffer when all is delivered. */
static void check_conservation(const struct network *network) {
    const struct fabric *fabric = network->context.fabric;
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const uint64_t sent = network->context.links[l].bytes;
        const uint64_t arrived = network->context.links[fabric->links[l].reverse].arrived_bytes;
        REQUIRE(sent == arrived, "link %u carried %llu bytes and delivered %llu", l, (unsigned long long)sent,
                (unsigned long long)arrived);
    }
    for (uint32_t i = 0; i < fabric->n_switches; i++) {
        REQUIRE(switch_buffered_bytes(network->switches[i]) == 0, "switch %u still holds %llu bytes", i,
                (unsigned long long)switch_buffered_bytes(network->switches[i]));
    }
    for (uint32_t i = 0; i < fabric->n_chips; i++) {
        REQUIRE(chip_buffered_bytes(network->chips[i]) == 0, "NVSwitch chip %u still holds %llu bytes", i,
                (unsigned long long)chip_buffered_bytes(network->chips[i]));
    }
}

enum network_status network_run(struct network *network, network_observer *observer, void *context) {
    struct engine_worker *worker = engine_first_worker(network->engine);
    network->observer = observer;
    network->observer_context = context;
    for (uint32_t rank = 0; rank < network->context.traffic->n_ranks; rank++) {
        endpoint_begin(network->endpoints[rank], worker);
        engine_wake(network->engine, rank, 0);
    }
    const enum engine_status status = engine_run(network->engine, network->context.parameters->limit_ps, look, network);
    finish(network);
    if (status != ENGINE_IDLE) {
        return status == ENGINE_STOPPED ? NETWORK_INTERRUPTED : NETWORK_LIMIT;
    }
    if (network_posted_messages(network) != network_delivered_messages(network)) {
        return NETWORK_STALLED;
    }
    check_conservation(network);
    return NETWORK_FINISHED;
}

const struct link_counters *network_link(const struct network *network, uint32_t link) {
    return &network->context.links[link];
}

const struct endpoint *network_endpoint(const struct network *network, uint32_t rank) {
    return network->endpoints[rank];
}

uint64_t network_end_ps(const struct network *network) {
    uint64_t end_ps = 0;
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        const uint64_t last_ps = endpoint_last_ps(network->endpoints[i]);
        end_ps = last_ps > end_ps ? last_ps : end_ps;
    }
    return end_ps;
}

uint64_t network_data_hops(const struct network *network) {
    uint64_t hops = 0;
    for (uint32_t l = 0; l < network->context.fabric->n_links; l++) {
        hops += network->context.links[l].packets;
    }
    return hops;
}

uint64_t network_hops(const struct network *network) {
    uint64_t hops = network_data_hops(network);
    for (uint32_t l = 0; l < network->context.fabric->n_links; l++) {
        hops += network->context.links[l].control_packets;
    }
    return hops;
}

uint64_t network_posted_messages(const struct network *network) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        n += endpoint_counters_of(network->endpoints[i])->posted_messages;
    }
    return n;
}

uint64_t network_delivered_messages(const struct network *network) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        n += endpoint_counters_of(network->endpoints[i])->delivered_messages;
    }
    return n;
}

uint64_t network_windows(const struct network *network) {
    return engine_windows(network->engine);
}

size_t network_bytes(const struct network *network) {
    const struct fabric *fabric = network->context.fabric;
    size_t bytes = engine_bytes(network->engine) + fabric->n_links * sizeof(struct link_counters);
    for (uint32_t i = 0; i < fabric->n_endpoints; i++) {
        bytes += endpoint_bytes(network->endpoints[i]);
    }
    for (uint32_t i = 0; i < fabric->n_switches; i++) {
        bytes += switch_bytes(network->switches[i]);
    }
    for (uint32_t i = 0; i < fabric->n_chips; i++) {
        bytes += chip_bytes(network->chips[i]);
    }
    return bytes;
}
