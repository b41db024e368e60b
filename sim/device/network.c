// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/network.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/chip.h"
#include "device/context.h"
#include "device/link_credit.h"
#include "device/recorder.h"
#include "device/switch.h"
#include "device/switch_credit.h"
#include "device/wait.h"
#include "engine/exchange.h"
#include "engine/split.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOWS_PER_LOOK = 64 };

struct network {
    struct context context;
    struct failure_plan *failures; /* NULL: nothing fails */
    struct engine *engine;
    struct endpoint **endpoints;     /* [n_endpoints] */
    struct switch_device **switches; /* [n_switches] */
    struct chip **chips;             /* [n_chips] */
    struct recorder *recorder;       /* NULL: nothing is recorded */
    bool *is_ours;                   /* [n_devices] this rank runs it; the others are NULL here */
    network_observer *observer;
    void *observer_context;
    uint64_t looks;
    uint64_t progress; /* of all endpoints here, as of the last time that it was asked */
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
        engine_set_device(network->engine, number,
                          network->context.parameters->infiniband.links ? switch_credit_advance : switch_advance,
                          network->switches[place->ordinal]);
        break;
    case FABRIC_NVSWITCH:
        network->chips[place->ordinal] = chip_create(&network->context, number);
        engine_set_device(network->engine, number, chip_advance, network->chips[place->ordinal]);
        break;
    }
}

static uint32_t threads_of(const struct network_parameters *parameters) {
    return parameters->threads > 1 ? parameters->threads : 1;
}

/*
 * Windows in which a NIC may start packets one after the other and look at its timers afterwards: no time-out may end in
 * the window in which it begins. Those shorter than every link are of no use, but are allowed.
 */
static uint64_t window_of(const struct fabric *fabric, const struct network_parameters *parameters) {
    const struct nic_parameters *nic = &parameters->nic;
    const uint64_t timeouts_ps[] = {nic->retransmit_timeout_ps, nic->short_timeout_ps};
    uint64_t window_ps = parameters->window_ps ? parameters->window_ps : fabric->smallest_latency_ps;
    for (int i = 0; i < 2; i++) {
        window_ps = timeouts_ps[i] > 0 && timeouts_ps[i] < window_ps ? timeouts_ps[i] : window_ps;
    }
    return window_ps;
}

/* Splits the devices over ranks × threads; notes which are ours. */
static void create_engine(struct network *network, const struct fabric *fabric,
                          const struct network_parameters *parameters) {
    const struct exchange *exchange = parameters->exchange;
    const uint32_t threads = threads_of(parameters);
    const uint32_t n_ranks = exchange ? exchange->n_ranks : 1;
    const uint32_t rank = exchange ? exchange->rank : 0;
    uint32_t *worker_of = memory_allocate(fabric->n_devices, sizeof(*worker_of));
    uint32_t *rank_of = memory_allocate(fabric->n_devices, sizeof(*rank_of));
    network->is_ours = memory_allocate(fabric->n_devices, sizeof(*network->is_ours));
    split_devices(fabric, n_ranks * threads, worker_of);
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        rank_of[d] = worker_of[d] / threads;
        network->is_ours[d] = rank_of[d] == rank;
        worker_of[d] = network->is_ours[d] ? worker_of[d] % threads : ENGINE_ELSEWHERE;
    }
    network->engine = engine_create_split(fabric, parameters->seed, window_of(fabric, parameters), threads, worker_of);
    if (exchange) {
        engine_join(network->engine, exchange, rank_of);
    }
    free(worker_of);
    free(rank_of);
}

struct network *network_create(const struct fabric *fabric, const struct network_parameters *parameters,
                               const struct traffic *traffic, struct trace *trace) {
    REQUIRE(traffic->n_ranks <= fabric->n_endpoints, "%u ranks on %u endpoints", traffic->n_ranks, fabric->n_endpoints);
    struct network *network = memory_allocate(1, sizeof(*network));
    create_engine(network, fabric, parameters);
    if (parameters->failures != NULL && parameters->failures->count > 0) {
        network->failures = failure_plan_create(fabric, parameters->failures);
        if (path_policy_of(parameters->path.kind)->weighs && parameters->path.remote_weights) {
            failure_plan_weigh(network->failures);
        }
    }
    network->context = (struct context){
        .fabric = fabric,
        .parameters = parameters,
        .traffic = traffic,
        .rings = engine_rings_of(network->engine),
        .trace = trace,
        .links = memory_allocate_aligned(fabric->n_links, sizeof(struct link_counters)),
        .outboxes = memory_allocate_aligned(threads_of(parameters), sizeof(struct context_outbox)),
        .path = path_policy_of(parameters->path.kind),
        .controller = congestion_controller_of(parameters->congestion.kind),
        .failures = network->failures,
    };
    network->endpoints = memory_allocate(fabric->n_endpoints, sizeof(*network->endpoints));
    network->switches = memory_allocate(fabric->n_switches, sizeof(*network->switches));
    network->chips = memory_allocate(fabric->n_chips, sizeof(*network->chips));
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        if (network->is_ours[d]) {
            create_device(network, d);
        }
    }
    if (parameters->series != NULL) {
        const struct recorder_devices devices = {network->endpoints, network->switches, network->chips};
        network->recorder = recorder_create(&network->context, parameters->series, &devices);
    }
    return network;
}

static void free_switches(struct network *network) {
    for (uint32_t i = 0; i < network->context.fabric->n_switches; i++) {
        switch_free(network->switches[i]);
        network->switches[i] = NULL;
    }
    for (uint32_t i = 0; i < network->context.fabric->n_chips; i++) {
        chip_free(network->chips[i]);
        network->chips[i] = NULL;
    }
}

void network_release(struct network *network) {
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        if (network->endpoints[i]) {
            endpoint_release(network->endpoints[i]);
        }
    }
    free_switches(network);
    engine_free(network->engine);
    network->engine = NULL;
    memory_return();
}

void network_free(struct network *network) {
    if (!network) {
        return;
    }
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        endpoint_free(network->endpoints[i]);
    }
    free_switches(network);
    free(network->endpoints);
    free(network->switches);
    free(network->chips);
    free(network->is_ours);
    for (uint32_t i = 0; i < threads_of(network->context.parameters); i++) {
        traffic_outbox_free(&network->context.outboxes[i].outbox);
    }
    free(network->context.outboxes);
    free(network->context.links);
    failure_plan_free(network->failures);
    recorder_free(network->recorder);
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
        if (network->switches[i]) {
            switch_finish(network->switches[i], worker, now_ps);
        }
    }
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        if (network->endpoints[i]) {
            endpoint_finish(network->endpoints[i], now_ps);
        }
    }
}

/* Whether a receiver holds its leaf for good: what waits there, twice sent or a probe, is never sent. */
static bool is_held_up(const struct network *network) {
    for (uint32_t e = 0; e < network->context.fabric->n_endpoints; e++) {
        if (network->is_ours[e] && endpoint_is_pausing(network->endpoints[e])) {
            return true;
        }
    }
    return false;
}

/* Collective: rank 0 gets where all credit of InfiniBand links is; NULL if there are none. */
static uint64_t *gather_credit(const struct network *network) {
    const struct exchange *exchange = network->context.parameters->exchange;
    if (!network->context.parameters->infiniband.links) {
        return NULL;
    }
    uint64_t *books = link_credit_books(&network->context, network->endpoints, network->switches);
    if (exchange) {
        exchange->sum(exchange->context, books, (size_t)network->context.fabric->n_links * PACKET_CLASSES);
    }
    return books;
}

/* Nothing may be lost on a link or left in a buffer when all is delivered. */
static void check_conservation(const struct network *network, bool held_up, const uint64_t *credit) {
    const struct fabric *fabric = network->context.fabric;
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const uint64_t sent = network->context.links[l].bytes;
        const uint64_t arrived = network->context.links[fabric->links[l].reverse].arrived_bytes;
        const uint64_t lost = network->context.links[l].lost_bytes;
        REQUIRE(sent == arrived + lost, "link %u carried %llu bytes, delivered %llu and lost %llu", l,
                (unsigned long long)sent, (unsigned long long)arrived, (unsigned long long)lost);
    }
    for (uint32_t i = 0; i < fabric->n_switches && !held_up; i++) {
        REQUIRE(!network->switches[i] || switch_buffered_bytes(network->switches[i]) == 0,
                "switch %u still holds %llu bytes", i, (unsigned long long)switch_buffered_bytes(network->switches[i]));
    }
    if (credit) {
        link_credit_check(&network->context, credit);
    }
    for (uint32_t i = 0; i < fabric->n_chips; i++) {
        REQUIRE(!network->chips[i] || chip_buffered_bytes(network->chips[i]) == 0,
                "NVSwitch chip %u still holds %llu bytes", i,
                (unsigned long long)chip_buffered_bytes(network->chips[i]));
    }
}

/* The endpoints of this rank as one block. */
static unsigned char *pack_endpoints(const struct network *network, size_t *size) {
    unsigned char *block = memory_allocate(1, 1);
    *size = 0;
    for (uint32_t e = 0; e < network->context.fabric->n_endpoints; e++) {
        if (network->is_ours[e]) {
            size_t added;
            unsigned char *packed = endpoint_pack(network->endpoints[e], &added);
            block = memory_resize(block, *size + added, 1);
            memcpy(block + *size, packed, added);
            *size += added;
            free(packed);
        }
    }
    return block;
}

/* Collective: rank 0 gets what all ranks counted, and stands for all of them from then on. */
static void gather_counts(struct network *network, const struct exchange *exchange) {
    const struct fabric *fabric = network->context.fabric;
    exchange->sum(exchange->context, (uint64_t *)network->context.links,
                  (size_t)fabric->n_links * (sizeof(struct link_counters) / sizeof(uint64_t)));
    size_t size, total = 0;
    size_t *sizes = memory_allocate(exchange->n_ranks, sizeof(*sizes));
    unsigned char *block = pack_endpoints(network, &size);
    unsigned char *all;
    exchange->gather(exchange->context, block, size, &all, sizes);
    free(block);
    for (uint32_t r = 0; all && r < exchange->n_ranks; r++) {
        total += sizes[r];
    }
    for (size_t at = all ? sizes[0] : 0; at < total;) { // rank 0's own come first, and are here already
        size_t read;
        struct endpoint *endpoint = endpoint_unpack(all + at, &read);
        network->endpoints[endpoint_device(endpoint)] = endpoint;
        at += read;
    }
    free(all);
    free(sizes);
}

/* Whether this is said by any rank; the same answer everywhere. */
static bool any_rank(const struct exchange *exchange, bool here) {
    if (!exchange) {
        return here;
    }
    struct exchange_verdict verdict = {.next_ps = TIME_NEVER, .stop = here};
    struct exchange_buffer *nothing = memory_allocate(2 * (size_t)exchange->n_ranks, sizeof(*nothing));
    exchange->end_window(exchange->context, nothing, nothing + exchange->n_ranks, &verdict);
    free(nothing);
    return verdict.stop;
}

/* Whether anything was accepted anywhere since this was asked last. */
static bool has_progressed(struct network *network) {
    uint64_t progress = 0;
    for (uint32_t e = 0; e < network->context.fabric->n_endpoints; e++) {
        progress += network->endpoints[e] ? endpoint_progress(network->endpoints[e]) : 0;
    }
    const bool progressed = progress != network->progress;
    network->progress = progress;
    return any_rank(network->context.parameters->exchange, progressed);
}

/* Whether some message is on its way. A rank may receive what another has posted: only the sums say it. */
static bool has_work(const struct network *network) {
    const struct exchange *exchange = network->context.parameters->exchange;
    uint64_t counts[2] = {network_posted_messages(network), network_delivered_messages(network)};
    if (exchange) {
        exchange->sum(exchange->context, counts, 2);
    }
    return any_rank(exchange, (!exchange || exchange->rank == 0) && counts[0] != counts[1]);
}

/* Runs to end_ps, stopping where intervals of the series end. */
static enum engine_status run_until(struct network *network, uint64_t end_ps) {
    for (;;) {
        const uint64_t next_ps = recorder_next_ps(network->recorder);
        const uint64_t stop_ps = next_ps < end_ps ? next_ps : end_ps;
        const enum engine_status status = engine_run(network->engine, stop_ps, look, network);
        if (status == ENGINE_LIMIT && stop_ps == next_ps) {
            recorder_take(network->recorder);
        }
        if (status != ENGINE_LIMIT || stop_ps == end_ps) {
            return status;
        }
    }
}

/* All ranks together: the series is closed, before devices book what they have not booked yet. */
static void finish_recorder(struct network *network, bool finished) {
    if (network->recorder != NULL) {
        recorder_finish(network->recorder, engine_now_ps(network->engine), finished);
        if (network->context.parameters->exchange) {
            recorder_gather(network->recorder, network->context.parameters->exchange);
        }
    }
}

/*
 * Runs to the end, stopping every stall_ps to see whether anything has been accepted since: what a window is cut at changes
 * no result, so neither does this.
 */
static enum network_status run_engine(struct network *network) {
    const struct network_parameters *parameters = network->context.parameters;
    const uint64_t stall_ps = parameters->stall_ps != 0 ? parameters->stall_ps : parameters->limit_ps;
    uint64_t end_ps = 0;
    for (;;) {
        end_ps = parameters->limit_ps - end_ps > stall_ps ? end_ps + stall_ps : parameters->limit_ps;
        const enum engine_status status = run_until(network, end_ps);
        if (status == ENGINE_STOPPED) {
            return NETWORK_INTERRUPTED;
        }
        if (status == ENGINE_IDLE) {
            return NETWORK_FINISHED;
        }
        if (end_ps == parameters->limit_ps) {
            return NETWORK_LIMIT;
        }
        if (!has_progressed(network) && has_work(network)) {
            return NETWORK_STALLED;
        }
    }
}

/* Collective: what all ranks counted comes together, and is checked. */
static enum network_status conclude(struct network *network, enum network_status status) {
    const struct exchange *exchange = network->context.parameters->exchange;
    const bool held_up = any_rank(exchange, is_held_up(network));
    uint64_t *credit = gather_credit(network);
    if (exchange) {
        gather_counts(network, exchange);
    }
    if (network->recorder != NULL && status == NETWORK_FINISHED) {
        recorder_trim(network->recorder, network_end_ps(network));
    }
    if (status == NETWORK_FINISHED && network_posted_messages(network) != network_delivered_messages(network)) {
        status = NETWORK_STALLED;
    }
    if (status == NETWORK_FINISHED && (!exchange || exchange->rank == 0)) {
        check_conservation(network, held_up, credit);
    }
    free(credit);
    return status;
}

/* Links of InfiniBand that come up are told credit by idle devices too. */
static void wake_all(struct network *network) {
    for (uint32_t d = 0; d < network->context.fabric->n_devices; d++) {
        if (network->is_ours[d]) {
            engine_wake(network->engine, d, 0);
        }
    }
}

enum network_status network_run(struct network *network, network_observer *observer, void *context) {
    struct engine_worker *worker = engine_first_worker(network->engine);
    network->observer = observer;
    network->observer_context = context;
    for (uint32_t rank = 0; rank < network->context.traffic->n_ranks; rank++) {
        if (network->is_ours[rank]) {
            endpoint_begin(network->endpoints[rank], worker);
            engine_wake(network->engine, rank, 0);
        }
    }
    if (network->context.parameters->infiniband.links && network->failures != NULL) {
        wake_all(network);
    }
    const enum network_status status = run_engine(network);
    finish_recorder(network, status == NETWORK_FINISHED);
    finish(network);
    return conclude(network, status);
}

const struct link_counters *network_link(const struct network *network, uint32_t link) {
    return &network->context.links[link];
}

struct recorder *network_recorder(const struct network *network) {
    return network->recorder;
}

const struct endpoint *network_endpoint(const struct network *network, uint32_t rank) {
    return network->endpoints[rank];
}

uint64_t network_end_ps(const struct network *network) {
    uint64_t end_ps = 0;
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        const uint64_t last_ps = network->endpoints[i] ? endpoint_last_ps(network->endpoints[i]) : 0;
        end_ps = last_ps > end_ps ? last_ps : end_ps;
    }
    return end_ps;
}

uint64_t network_now_ps(const struct network *network) {
    return engine_now_ps(network->engine);
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
        n += network->endpoints[i] ? endpoint_counters_of(network->endpoints[i])->posted_messages : 0;
    }
    return n;
}

uint64_t network_delivered_messages(const struct network *network) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < network->context.fabric->n_endpoints; i++) {
        n += network->endpoints[i] ? endpoint_counters_of(network->endpoints[i])->delivered_messages : 0;
    }
    return n;
}

uint64_t network_windows(const struct network *network) {
    return engine_windows(network->engine);
}

size_t network_bytes(const struct network *network) {
    const struct fabric *fabric = network->context.fabric;
    size_t bytes = engine_bytes(network->engine) + fabric->n_links * sizeof(struct link_counters);
    bytes += network->failures != NULL ? failure_plan_bytes(network->failures) : 0;
    for (uint32_t i = 0; i < fabric->n_endpoints; i++) {
        bytes += network->endpoints[i] ? endpoint_bytes(network->endpoints[i]) : 0;
    }
    for (uint32_t i = 0; i < fabric->n_switches; i++) {
        bytes += network->switches[i] ? switch_bytes(network->switches[i]) : 0;
    }
    for (uint32_t i = 0; i < fabric->n_chips; i++) {
        bytes += network->chips[i] ? chip_bytes(network->chips[i]) : 0;
    }
    return bytes;
}

uint32_t network_circle(const struct network *network, uint32_t *links, uint32_t capacity) {
    return wait_circle(network->context.fabric, network->switches, links, capacity);
}

uint32_t network_paused_links(const struct network *network) {
    return wait_paused_links(network->context.fabric, network->switches);
}

bool network_stuck_pair(const struct network *network, struct endpoint_stuck *stuck) {
    for (uint32_t e = 0; e < network->context.fabric->n_endpoints; e++) {
        if (network->is_ours[e] && endpoint_stuck_pair(network->endpoints[e], stuck)) {
            return true;
        }
    }
    return false;
}
