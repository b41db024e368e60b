// SPDX-License-Identifier: GPL-3.0-or-later
#include "rig.h"

#include "base/memory.h"
#include "device/pieces.h"
#include "fabric/irregular.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define PLENTY_BYTES (UINT64_C(1) << 30)
#define BIT_PS_PER_S UINT64_C(8000000000000)

struct network_parameters rig_parameters(void) {
    const struct switch_parameters plenty = {.pfc = true,
                                             .lossless_pool_bytes = PLENTY_BYTES,
                                             .lossy_pool_bytes = PLENTY_BYTES,
                                             .headroom_bytes = PLENTY_BYTES,
                                             .class_weight = {0, 1, 1}};
    return (struct network_parameters){.seed = 1,
                                       .leaf = plenty,
                                       .spine = plenty,
                                       .nic = {.payload_bytes = RIG_PAYLOAD_BYTES,
                                               .header_bytes = RIG_HEADER_BYTES,
                                               .control_bytes = RIG_CONTROL_BYTES,
                                               .acknowledge_bytes = PLENTY_BYTES,
                                               .queue_pairs = 1,
                                               .out_of_order = true,
                                               .data_class = PACKET_CLASS_LOSSLESS,
                                               .retransmit_timeout_ps = UINT64_C(1000000000000)},
                                       .nvlink = {.record_bytes = RIG_RECORD_BYTES, .credit_grain_bytes = 1},
                                       .path = {.kind = PATH_ECMP,
                                                .refresh_period_ps = 1000000,
                                                .grade_bounds_bytes = {11024, 22048, 44096},
                                                .flowlet_gap_ps = 100000000,
                                                .flowlet_entries = 4096},
                                       .congestion = {.kind = CONGESTION_NONE},
                                       .limit_ps = UINT64_C(1000000000000)};
}

static struct irregular_cable cable_of(uint64_t up_ps, uint64_t down_ps, uint64_t latency_ps) {
    return (struct irregular_cable){
        .up = {.rate_bits_per_s = up_ps ? BIT_PS_PER_S / up_ps : BIT_PS_PER_S, .latency_ps = latency_ps},
        .down = {.rate_bits_per_s = down_ps ? BIT_PS_PER_S / down_ps : BIT_PS_PER_S, .latency_ps = latency_ps}};
}

static uint32_t *filled(uint32_t n, uint32_t value) {
    uint32_t *values = memory_allocate(n + 1u, sizeof(*values));
    for (uint32_t i = 0; i < n; i++) {
        values[i] = value;
    }
    return values;
}

struct fabric *rig_fabric(const struct rig_shape *shape) {
    const uint32_t n_endpoints = shape->leaves ? shape->leaves * shape->hosts_per_leaf : shape->hosts_per_leaf;
    const uint32_t domain_gpus = shape->domain_gpus ? shape->domain_gpus : 1;
    const uint64_t latency_ps = shape->latency_ps ? shape->latency_ps : RIG_LATENCY_PS;
    const uint64_t uplink_ps = shape->uplink_ps ? shape->uplink_ps : shape->up_ps;
    uint32_t *gpus = filled(n_endpoints / domain_gpus, domain_gpus);
    uint32_t *leaf_of = filled(n_endpoints, FABRIC_NONE);
    uint32_t *parallel = filled(shape->leaves * shape->spines, shape->parallel ? shape->parallel : 1);
    uint32_t *links = filled(shape->chips, shape->links_per_chip);
    for (uint32_t i = 0; shape->leaves && i < n_endpoints; i++) {
        leaf_of[i] = i / shape->hosts_per_leaf;
    }
    const struct irregular_description description = {
        .n_domains = n_endpoints / domain_gpus,
        .domain_gpus = gpus,
        .n_chips = shape->chips,
        .links_per_chip = links,
        .n_leaves = shape->leaves,
        .endpoint_leaf = leaf_of,
        .n_spines = shape->spines,
        .parallel_links = parallel,
        .leaf_cut_through = shape->cut_through,
        .spine_cut_through = shape->cut_through,
        .nvlink = cable_of(shape->nvlink_ps, shape->nvlink_ps, latency_ps),
        .host = cable_of(shape->up_ps, shape->down_ps ? shape->down_ps : shape->up_ps, latency_ps),
        .uplink = cable_of(uplink_ps, uplink_ps, latency_ps),
    };
    struct fabric *fabric = irregular_build(&description);
    free(gpus);
    free(leaf_of);
    free(parallel);
    free(links);
    return fabric;
}

struct rig *rig_create(const struct rig_shape *shape) {
    struct rig *rig = memory_allocate(1, sizeof(*rig));
    rig->fabric = rig_fabric(shape);
    rig->parameters = rig_parameters();
    rig->list = traffic_list_create(rig->fabric->n_endpoints);
    return rig;
}

struct rig *rig_create_round(uint32_t leaves) {
    const struct rig_shape ring = {.leaves = leaves, .hosts_per_leaf = 1, .spines = leaves, .up_ps = 20};
    struct rig *rig = rig_create(&ring);
    const struct fabric *fabric = rig->fabric;
    for (uint32_t to = 0; to < leaves; to++) {
        for (uint32_t i = 0; i < leaves; i++) {
            const struct fabric_route up = {.first_port = (uint16_t)(1 + i), .count = 1}; /* behind the host's */
            const struct fabric_route down = {.first_port = (uint16_t)((i + 1) % leaves), .count = 1};
            fabric->routes[i * fabric->plane_leaves + to] = up;
            fabric->routes[(leaves + i) * fabric->plane_leaves + to] = down;
        }
    }
    return rig;
}

void rig_free(struct rig *rig) {
    network_free(rig->network);
    traffic_list_free(rig->list);
    fabric_free(rig->fabric);
    trace_free(&rig->trace);
    free(rig->messages);
    free(rig);
}

uint32_t rig_add(struct rig *rig, uint32_t source, const struct traffic_message *message) {
    if (rig->n_messages == rig->capacity) {
        rig->capacity = rig->capacity ? 2 * rig->capacity : 64;
        rig->messages = memory_resize(rig->messages, rig->capacity, sizeof(*rig->messages));
    }
    struct rig_message *added = &rig->messages[rig->n_messages];
    *added = (struct rig_message){
        .source = source, .message = *message, .delivered_ps = TIME_NEVER, .completed_ps = TIME_NEVER};
    added->message.tag = rig->n_messages;
    traffic_list_add(rig->list, source, &added->message);
    return rig->n_messages++;
}

uint32_t rig_send(struct rig *rig, uint32_t source, uint32_t destination, uint64_t bytes) {
    const struct traffic_message message = {.destination = destination, .bytes = bytes, .route = TRAFFIC_FABRIC};
    return rig_add(rig, source, &message);
}

/* Takes the fates of messages from the trace. */
static void note_fates(struct rig *rig) {
    for (size_t i = 0; i < rig->trace.count; i++) {
        const struct trace_record *record = &rig->trace.records[i];
        if (record->event != TRACE_DELIVER && record->event != TRACE_COMPLETE) {
            continue;
        }
        struct rig_message *message = &rig->messages[record->message];
        uint64_t *time_ps = record->event == TRACE_DELIVER ? &message->delivered_ps : &message->completed_ps;
        if (*time_ps != TIME_NEVER || record->source != message->source ||
            record->destination != message->message.destination) {
            ck_abort_msg("message %u was delivered or completed twice, or to the wrong rank", record->message);
        }
        *time_ps = record->time_ps;
    }
}

/* Without a trace: takes the fates of messages from what endpoints list. */
static void note_listed_fates(struct rig *rig) {
    for (uint32_t rank = 0; rank < rig->fabric->n_endpoints; rank++) {
        uint32_t n;
        const struct endpoint_received *received = endpoint_received_messages(network_endpoint(rig->network, rank), &n);
        for (uint32_t i = 0; i < n; i++) {
            rig->messages[received[i].tag].delivered_ps = received[i].delivered_ps;
        }
        const struct endpoint_sent *sent = endpoint_sent_messages(network_endpoint(rig->network, rank), &n);
        for (uint32_t i = 0; i < n; i++) {
            rig->messages[sent[i].tag].completed_ps = sent[i].acknowledged_ps;
        }
    }
}

/* What the endpoints list of messages through queue pairs must be what the trace says. */
static void check_lists(const struct rig *rig) {
    for (uint32_t rank = 0; rank < rig->fabric->n_endpoints; rank++) {
        uint32_t n;
        const struct endpoint_received *received = endpoint_received_messages(network_endpoint(rig->network, rank), &n);
        for (uint32_t i = 0; i < n; i++) {
            if (rig->messages[received[i].tag].delivered_ps != received[i].delivered_ps) {
                ck_abort_msg("rank %u lists another time of delivery than the trace", rank);
            }
        }
        const struct endpoint_sent *sent = endpoint_sent_messages(network_endpoint(rig->network, rank), &n);
        for (uint32_t i = 0; i < n; i++) {
            if (rig->messages[sent[i].tag].completed_ps != sent[i].acknowledged_ps ||
                rig->messages[sent[i].tag].message.bytes != sent[i].bytes) {
                ck_abort_msg("rank %u lists another acknowledgement than the trace", rank);
            }
        }
    }
}

/* What went into a link came out of it; what came into a switch left it or was dropped. */
static void check_conservation(const struct rig *rig) {
    for (uint32_t d = 0; d < rig->fabric->n_devices; d++) {
        const struct fabric_device *device = &rig->fabric->devices[d];
        uint64_t in_bytes = 0, out_bytes = 0;
        for (uint32_t p = 0; p < device->n_ports; p++) {
            const uint32_t link = device->first_port + p;
            const struct link_counters *counters = network_link(rig->network, link);
            const struct link_counters *in = network_link(rig->network, rig->fabric->links[link].reverse);
            if (counters->arrived_bytes != in->bytes - in->lost_bytes) {
                ck_abort_msg("bytes were lost on the link into port %u of device %u", p, d);
            }
            in_bytes += counters->arrived_bytes;
            out_bytes += counters->bytes + counters->dropped_bytes + counters->trimmed_bytes + counters->unrouted_bytes;
        }
        if (device->kind != FABRIC_ENDPOINT && in_bytes != out_bytes) {
            ck_abort_msg("device %u took %llu bytes and gave %llu", d, (unsigned long long)in_bytes,
                         (unsigned long long)out_bytes);
        }
    }
}

static void run(struct rig *rig, struct trace *trace) {
    rig->traffic = traffic_list_traffic(rig->list);
    rig->network = network_create(rig->fabric, &rig->parameters, &rig->traffic, trace);
    rig->status = network_run(rig->network, NULL, NULL);
    if (rig->status == NETWORK_FINISHED) {
        ck_assert_uint_eq(network_posted_messages(rig->network), network_delivered_messages(rig->network));
        check_conservation(rig);
    }
}

enum network_status rig_run(struct rig *rig) {
    run(rig, &rig->trace);
    note_fates(rig);
    check_lists(rig);
    return rig->status;
}

enum network_status rig_run_on(struct rig *rig, uint32_t threads) {
    rig->parameters.threads = threads;
    run(rig, NULL);
    note_listed_fates(rig);
    return rig->status;
}

uint64_t rig_finish(struct rig *rig) {
    ck_assert_int_eq(rig_run(rig), NETWORK_FINISHED);
    ck_assert(traffic_list_finished(rig->list));
    uint64_t last_ps = 0;
    for (uint32_t i = 0; i < rig->n_messages; i++) {
        const struct rig_message *message = &rig->messages[i];
        ck_assert_uint_ne(message->delivered_ps, TIME_NEVER);
        const bool acknowledged = message->message.route == TRAFFIC_FABRIC && !message->message.urgent;
        ck_assert_int_eq(acknowledged, message->completed_ps != TIME_NEVER);
        last_ps = message->delivered_ps > last_ps ? message->delivered_ps : last_ps;
    }
    return last_ps;
}

uint64_t rig_delivered_ps(const struct rig *rig, uint32_t tag) {
    return rig->messages[tag].delivered_ps;
}

uint64_t rig_completed_ps(const struct rig *rig, uint32_t tag) {
    return rig->messages[tag].completed_ps;
}

uint64_t rig_wire_bytes(const struct rig *rig, uint64_t bytes) {
    const uint64_t payload = rig->parameters.nic.payload_bytes;
    return bytes + (bytes + payload - 1) / payload * rig->parameters.nic.header_bytes;
}

uint32_t rig_up(const struct rig *rig, uint32_t endpoint) {
    return rig->fabric->devices[endpoint].first_port;
}

uint32_t rig_down(const struct rig *rig, uint32_t endpoint) {
    return rig->fabric->links[rig_up(rig, endpoint)].reverse;
}

struct link_counters rig_links(const struct rig *rig) {
    struct link_counters sum = {0};
    for (uint32_t l = 0; l < rig->fabric->n_links; l++) {
        const struct link_counters *link = network_link(rig->network, l);
        sum.bytes += link->bytes;
        sum.packets += link->packets;
        sum.control_packets += link->control_packets;
        sum.arrived_bytes += link->arrived_bytes;
        sum.marks += link->marks;
        sum.lossless_drops += link->lossless_drops;
        sum.lossy_drops += link->lossy_drops;
        sum.dropped_bytes += link->dropped_bytes;
        sum.trims += link->trims;
        sum.trimmed_bytes += link->trimmed_bytes;
        sum.lost_packets += link->lost_packets;
        sum.lost_bytes += link->lost_bytes;
        sum.unrouted_packets += link->unrouted_packets;
        sum.unrouted_bytes += link->unrouted_bytes;
        sum.watchdog_drops += link->watchdog_drops;
        sum.watchdog_storms += link->watchdog_storms;
        sum.pauses += link->pauses;
        sum.paused_ps += link->paused_ps;
        sum.credit_stalls += link->credit_stalls;
        sum.credit_stalled_ps += link->credit_stalled_ps;
        sum.deepest_bytes = link->deepest_bytes > sum.deepest_bytes ? link->deepest_bytes : sum.deepest_bytes;
    }
    return sum;
}

struct endpoint_counters rig_endpoints(const struct rig *rig) {
    struct endpoint_counters sum = {0};
    for (uint32_t e = 0; e < rig->fabric->n_endpoints; e++) {
        const struct endpoint_counters *one = endpoint_counters_of(network_endpoint(rig->network, e));
        sum.retransmitted_packets += one->retransmitted_packets;
        sum.timeouts += one->timeouts;
        sum.duplicates += one->duplicates;
        sum.out_of_order += one->out_of_order;
        sum.reordering_depth =
            one->reordering_depth > sum.reordering_depth ? one->reordering_depth : sum.reordering_depth;
        sum.notifications_sent += one->notifications_sent;
        sum.notifications_received += one->notifications_received;
        sum.receive_discards += one->receive_discards;
        sum.receive_pauses += one->receive_pauses;
        if (one->receive_deepest_bytes > sum.receive_deepest_bytes) {
            sum.receive_deepest_bytes = one->receive_deepest_bytes;
        }
        sum.probes += one->probes;
        sum.nacks += one->nacks;
        sum.nvlink_bytes_sent += one->nvlink_bytes_sent;
        sum.nvlink_bytes_received += one->nvlink_bytes_received;
        sum.posted_messages += one->posted_messages;
        sum.delivered_messages += one->delivered_messages;
    }
    return sum;
}

static void assert_same_counters(const struct rig *a, const struct rig *b) {
    for (uint32_t l = 0; l < a->fabric->n_links; l++) {
        if (memcmp(network_link(a->network, l), network_link(b->network, l), sizeof(struct link_counters)) != 0) {
            ck_abort_msg("counters of link %u differ", l);
        }
    }
    for (uint32_t e = 0; e < a->fabric->n_endpoints; e++) {
        if (memcmp(endpoint_counters_of(network_endpoint(a->network, e)),
                   endpoint_counters_of(network_endpoint(b->network, e)), sizeof(struct endpoint_counters)) != 0) {
            ck_abort_msg("counters of endpoint %u differ", e);
        }
    }
}

/* Of messages through queue pairs, what both know. */
static void assert_same_fates(const struct rig *a, const struct rig *b) {
    for (uint32_t i = 0; i < a->n_messages; i++) {
        const struct rig_message *first = &a->messages[i], *second = &b->messages[i];
        const bool listed = first->message.route == TRAFFIC_FABRIC && !first->message.urgent;
        if (first->completed_ps != second->completed_ps || (listed && first->delivered_ps != second->delivered_ps)) {
            ck_abort_msg("the fates of message %u differ", i);
        }
    }
}

void rig_assert_equal(struct rig *a, struct rig *b) {
    ck_assert_int_eq(a->status, b->status);
    assert_same_counters(a, b);
    assert_same_fates(a, b);
    ck_assert_uint_eq(network_end_ps(a->network), network_end_ps(b->network));
    ck_assert_uint_eq(network_hops(a->network), network_hops(b->network));
    ck_assert_uint_eq(network_data_hops(a->network), network_data_hops(b->network));
    if (a->trace.count == 0 || b->trace.count == 0) {
        return; // one ran on several threads
    }
    trace_sort(&a->trace);
    trace_sort(&b->trace);
    ck_assert(trace_compare(stderr, "first", &a->trace, "second", &b->trace));
}
