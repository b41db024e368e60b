// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_receiver.h"

#include "base/memory.h"
#include "reference_pair.h"

#include <stdlib.h>
#include <string.h>

enum { TOLD_APART = 2048, TOLD_EARLY = 1 << 20, ECHOED = PACKET_FLAG_MARKED | 0xf0 };

/** A packet number of a queue pair, as received. */
struct noted {
    bool there;
    bool last;
    uint32_t tag;
};

/** One queue pair, at its receiver. */
struct flow {
    uint32_t source;
    uint16_t queue_pair;
    struct noted *noted; /* by number */
    uint32_t n_noted;
    uint32_t expected;
    uint32_t received;               /* new packets */
    uint32_t told;                   /* what switches told the packet that is looked at */
    uint64_t payload_bytes;          /* new, since the last ACK */
    bool notified[REFERENCE_PLANES]; /* by congestion context of the sender */
    uint64_t notified_ps[REFERENCE_PLANES];
    bool refused; /* a NACK was sent */
    uint32_t refused_number;
    uint64_t refused_ps;
};

struct reference_receiver {
    uint32_t endpoint;
    struct flow *flows;
    size_t n_flows;
};

struct reference_receiver *reference_receiver_create(uint32_t endpoint) {
    struct reference_receiver *receiver = memory_allocate(1, sizeof *receiver);
    receiver->endpoint = endpoint;
    return receiver;
}

void reference_receiver_free(struct reference_receiver *receiver) {
    if (receiver == NULL) {
        return;
    }
    for (size_t i = 0; i < receiver->n_flows; i++) {
        free(receiver->flows[i].noted);
    }
    free(receiver->flows);
    free(receiver);
}

static struct flow *find_flow(struct reference_receiver *receiver, const struct packet *packet) {
    for (size_t i = 0; i < receiver->n_flows; i++) {
        if (receiver->flows[i].source == packet->source && receiver->flows[i].queue_pair == packet->queue_pair) {
            return &receiver->flows[i];
        }
    }
    receiver->flows = memory_resize(receiver->flows, receiver->n_flows + 1, sizeof *receiver->flows);
    receiver->flows[receiver->n_flows] = (struct flow){.source = packet->source, .queue_pair = packet->queue_pair};
    return &receiver->flows[receiver->n_flows++];
}

/* ---- replies ---- */

static void reply(struct reference_world *world, struct reference_nic *nic, const struct packet *to,
                  enum packet_kind kind, uint32_t number, uint32_t message) {
    const bool echoes = kind == PACKET_ACK || kind == PACKET_SELECTIVE_ACK ||
                        (kind == PACKET_NACK && world->parameters->nic.selective_repeat);
    const struct packet packet = {.source = to->destination,
                                  .destination = to->source,
                                  .number = number,
                                  .message = message,
                                  .queue_pair = to->queue_pair,
                                  .size_bytes = (uint16_t)world->parameters->nic.control_bytes,
                                  .entropy = to->entropy,
                                  .kind_class = (uint8_t)((int)kind | PACKET_CLASS_CONTROL << 4),
                                  .flags_transmission = echoes ? to->flags_transmission & ECHOED : 0};
    reference_nic_reply(world, nic, &packet);
}

static void send_ack(struct reference_world *world, struct reference_nic *nic, struct flow *flow,
                     const struct packet *to) {
    const int64_t apart = (int64_t)to->number - (int64_t)flow->expected;
    const int64_t early = (int64_t)flow->received - (int64_t)flow->expected;
    const int64_t cause = apart >= -TOLD_APART && apart < TOLD_APART ? apart + TOLD_APART : 0;
    flow->payload_bytes = 0;
    if (world->parameters->nic.selective_repeat && apart >= 0) {
        reply(world, nic, to, PACKET_SELECTIVE_ACK, flow->expected + flow->told * REFERENCE_NUMBERS, to->number);
        return;
    }
    reply(world, nic, to, PACKET_ACK, flow->expected + flow->told * REFERENCE_NUMBERS,
          (uint32_t)((early < TOLD_EARLY - 1 ? early : TOLD_EARLY - 1) + cause * TOLD_EARLY));
}

static void send_nack(struct reference_world *world, struct reference_nic *nic, struct flow *flow,
                      const struct packet *to) {
    if (flow->refused && flow->refused_number == flow->expected &&
        world->now_ps - flow->refused_ps < world->parameters->nic.nack_interval_ps) {
        return;
    }
    world->result->endpoints[to->destination].nacks++;
    flow->refused = true;
    flow->refused_number = flow->expected;
    flow->refused_ps = world->now_ps;
    reply(world, nic, to, PACKET_NACK, flow->expected, 0);
}

static void notify(struct reference_world *world, struct reference_nic *nic, struct flow *flow,
                   const struct packet *to) {
    const struct congestion_parameters *congestion = &world->parameters->congestion;
    const uint32_t context = reference_nic_context(nic);
    if (!(to->flags_transmission & PACKET_FLAG_MARKED) ||
        !congestion_controller_of(congestion->kind)->wants_notifications ||
        (flow->notified[context] &&
         world->now_ps - flow->notified_ps[context] < congestion->notification_interval_ps)) {
        return;
    }
    flow->notified[context] = true;
    flow->notified_ps[context] = world->now_ps;
    world->result->endpoints[to->destination].notifications_sent++;
    reply(world, nic, to, PACKET_CONGESTION, to->number, 0);
}

void reference_receiver_probe(struct reference_world *world, struct reference_nic *nic, const struct packet *probe) {
    reply(world, nic, probe, PACKET_PROBE_REPLY, probe->number, 0);
}

/* ---- data ---- */

static void note(struct flow *flow, const struct packet *packet, uint32_t header_bytes) {
    if (packet->number >= flow->n_noted) {
        flow->noted = memory_resize(flow->noted, packet->number + 1, sizeof *flow->noted);
        memset(flow->noted + flow->n_noted, 0, (packet->number + 1 - flow->n_noted) * sizeof *flow->noted);
        flow->n_noted = packet->number + 1;
    }
    flow->noted[packet->number] = (struct noted){
        .there = true, .last = (packet->flags_transmission & PACKET_FLAG_LAST) != 0, .tag = packet->message};
    flow->received++;
    flow->payload_bytes += packet->size_bytes - header_bytes;
}

/** Moves the expected number over all that are there; messages that it passes are whole. */
static void advance(struct flow *flow, struct reference_receiver_whole *whole) {
    for (; flow->expected < flow->n_noted && flow->noted[flow->expected].there; flow->expected++) {
        if (flow->noted[flow->expected].last) {
            whole->tags = memory_resize(whole->tags, whole->count + 1, sizeof *whole->tags);
            whole->tags[whole->count++] = flow->noted[flow->expected].tag;
        }
    }
}

static void take(struct reference_world *world, struct reference_nic *nic, struct flow *flow,
                 const struct packet *packet, struct reference_receiver_whole *whole) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const bool asked = (packet->flags_transmission & PACKET_FLAG_MARKED) &&
                       congestion_controller_of(world->parameters->congestion.kind)->wants_acknowledgements;
    const bool gap_before = flow->received != flow->expected;
    note(flow, packet, parameters->header_bytes);
    advance(flow, whole);
    const bool gap = gap_before || flow->received != flow->expected;
    if (asked || (gap && parameters->selective_repeat) || flow->payload_bytes >= parameters->acknowledge_bytes ||
        (packet->flags_transmission & PACKET_FLAG_LAST) || whole->count > 0) {
        send_ack(world, nic, flow, packet);
    }
}

static void count(struct reference_endpoint_counts *counts, const struct flow *flow, const struct packet *packet,
                  bool duplicate) {
    const uint64_t beyond = packet->number > flow->expected ? packet->number - flow->expected : 0;
    counts->duplicate_packets += duplicate;
    counts->out_of_order_packets += packet->number > flow->expected;
    counts->reordering_packets = beyond > counts->reordering_packets ? beyond : counts->reordering_packets;
}

void reference_receiver_trimmed(struct reference_world *world, struct reference_receiver *receiver,
                                struct reference_nic *nic, const struct packet *arrived) {
    struct flow *flow = find_flow(receiver, arrived);
    struct packet packet = *arrived;
    if (congestion_controller_of(world->parameters->congestion.kind)->wants_telemetry) {
        flow->told = arrived->number / REFERENCE_NUMBERS;
        packet.number = arrived->number % REFERENCE_NUMBERS;
    }
    notify(world, nic, flow, &packet);
    if (packet.number < flow->n_noted && flow->noted[packet.number].there) {
        send_ack(world, nic, flow, &packet);
        return;
    }
    world->result->endpoints[receiver->endpoint].nacks++;
    reply(world, nic, &packet, PACKET_NACK, flow->expected, packet.number);
    reference_nic_owe_trimmed(world, nic, &packet);
}

void reference_receiver_data(struct reference_world *world, struct reference_receiver *receiver,
                             struct reference_nic *nic, const struct packet *arrived,
                             struct reference_receiver_whole *whole) {
    struct flow *flow = find_flow(receiver, arrived);
    struct packet copy = *arrived;
    const struct packet *packet = &copy;
    if (congestion_controller_of(world->parameters->congestion.kind)->wants_telemetry) {
        flow->told = arrived->number / REFERENCE_NUMBERS;
        copy.number = arrived->number % REFERENCE_NUMBERS;
    }
    const bool duplicate = packet->number < flow->n_noted && flow->noted[packet->number].there;
    count(&world->result->endpoints[receiver->endpoint], flow, packet, duplicate);
    notify(world, nic, flow, packet);
    const bool taken = !duplicate && (world->parameters->nic.out_of_order || packet->number == flow->expected);
    if (duplicate) {
        send_ack(world, nic, flow, packet);
    } else if (taken) {
        take(world, nic, flow, packet, whole);
    } else {
        send_nack(world, nic, flow, packet);
    }
    reference_nic_owe(world, nic, packet, taken);
}
