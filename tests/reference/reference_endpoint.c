// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_endpoint.h"

#include "base/error.h"
#include "base/memory.h"
#include "reference_credit.h"
#include "reference_failure.h"
#include "reference_intake.h"
#include "reference_nic.h"
#include "reference_nvlink.h"
#include "reference_parts.h"
#include "reference_receiver.h"

#include <stdlib.h>

enum { PHASE_START = 5, TIE_START = 1 };

struct reference_endpoint {
    uint32_t device;
    uint16_t n_nics;
    struct traffic_outbox outbox;
    struct traffic_message *armed; /* all that ever were, in order of arming */
    uint64_t n_armed;
    struct reference_nic *nic;
    struct reference_nvlink *nvlink;
    struct reference_receiver *receiver;
    struct reference_intake *intake;
    struct packet *urgent; /* urgent messages that have arrived */
    size_t n_urgent;
    struct reference_parts parts; /* of split messages, that have arrived */
};

struct reference_endpoint *reference_endpoint_create(struct reference_world *world, uint32_t device) {
    struct reference_endpoint *endpoint = memory_allocate(1, sizeof *endpoint);
    endpoint->device = device;
    endpoint->n_nics = (uint16_t)world->fabric->endpoints[device].n_nics;
    endpoint->nic = reference_nic_create(world, device);
    endpoint->nvlink = reference_nvlink_create(world, device);
    endpoint->receiver = reference_receiver_create(device);
    endpoint->intake = reference_intake_create(device);
    return endpoint;
}

void reference_endpoint_free(struct reference_endpoint *endpoint) {
    if (endpoint == NULL) {
        return;
    }
    reference_nic_free(endpoint->nic);
    reference_nvlink_free(endpoint->nvlink);
    reference_receiver_free(endpoint->receiver);
    reference_intake_free(endpoint->intake);
    reference_parts_free(&endpoint->parts);
    free(endpoint->urgent);
    traffic_outbox_free(&endpoint->outbox);
    free(endpoint->armed);
    free(endpoint);
}

uint64_t reference_endpoint_incomplete(const struct reference_endpoint *endpoint) {
    return reference_nic_incomplete(endpoint->nic);
}

/* ---- sending ---- */

static void post(struct reference_world *world, struct reference_endpoint *endpoint,
                 const struct traffic_message *message) {
    REQUIRE(message->destination != endpoint->device, "endpoint %u sends a message to itself", endpoint->device);
    if (message->route == TRAFFIC_NVLINK) {
        reference_nvlink_post(world, endpoint->nvlink, message);
    } else {
        reference_nic_post(world, endpoint->nic, message);
    }
}

static void arm(struct reference_world *world, struct reference_endpoint *endpoint,
                const struct traffic_message *message, uint64_t start_ps) {
    const uint64_t number = endpoint->n_armed++;
    endpoint->armed = memory_resize(endpoint->armed, endpoint->n_armed, sizeof *endpoint->armed);
    endpoint->armed[number] = *message;
    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = start_ps,
                                                               .device = endpoint->device,
                                                               .phase = PHASE_START,
                                                               .tie = TIE_START,
                                                               .place = number,
                                                               .kind = REFERENCE_STEP_START,
                                                               .value = number});
}

static void take_outbox(struct reference_world *world, struct reference_endpoint *endpoint) {
    for (uint32_t i = 0; i < endpoint->outbox.count; i++) {
        const struct traffic_message *message = &endpoint->outbox.messages[i];
        struct reference_endpoint_counts *counts = &world->result->endpoints[endpoint->device];
        const uint64_t wanted_ps = message->start_ps > world->now_ps ? message->start_ps : world->now_ps;
        const uint64_t start_ps = reference_failure_release_ps(world, endpoint->device, wanted_ps);
        counts->messages_posted++;
        counts->messages_held += start_ps != wanted_ps;
        if (start_ps <= world->now_ps) {
            post(world, endpoint, message);
        } else {
            arm(world, endpoint, message, start_ps);
        }
    }
}

void reference_endpoint_begin(struct reference_world *world, struct reference_endpoint *endpoint) {
    endpoint->outbox.count = 0;
    world->traffic->begin(world->traffic->plan, endpoint->device, &endpoint->outbox);
    take_outbox(world, endpoint);
}

/* ---- receiving ---- */

static void deliver(struct reference_world *world, struct reference_endpoint *endpoint, const struct packet *packet,
                    uint32_t tag, uint16_t queue_pair) {
    world->result->endpoints[endpoint->device].messages_delivered++;
    trace_add_message(&world->result->trace, TRACE_DELIVER, world->now_ps, endpoint->device, packet_kind(packet),
                      packet->source, endpoint->device, tag, queue_pair);
    endpoint->outbox.count = 0;
    world->traffic->delivered(world->traffic->plan, endpoint->device, packet->source, tag, world->now_ps,
                              &endpoint->outbox);
    take_outbox(world, endpoint);
}

static void receive_data(struct reference_world *world, struct reference_endpoint *endpoint,
                         const struct packet *packet) {
    struct reference_receiver_whole whole = {0};
    reference_receiver_data(world, endpoint->receiver, endpoint->nic, packet, &whole);
    for (size_t i = 0; i < whole.count; i++) {
        if (reference_parts_done(&endpoint->parts, packet->source, whole.tags[i], &world->parameters->nic)) {
            deliver(world, endpoint, packet, whole.tags[i], packet->queue_pair);
        }
    }
    free(whole.tags);
}

/** Whether an urgent message is new; it is noted. */
static bool is_new(struct reference_endpoint *endpoint, const struct packet *packet) {
    for (size_t i = 0; i < endpoint->n_urgent; i++) {
        if (endpoint->urgent[i].source == packet->source && endpoint->urgent[i].number == packet->number) {
            return false;
        }
    }
    endpoint->urgent = memory_resize(endpoint->urgent, endpoint->n_urgent + 1, sizeof *endpoint->urgent);
    endpoint->urgent[endpoint->n_urgent++] = *packet;
    return true;
}

static void receive_urgent(struct reference_world *world, struct reference_endpoint *endpoint,
                           const struct packet *packet) {
    const struct packet ack = {.source = endpoint->device,
                               .destination = packet->source,
                               .number = packet->number,
                               .size_bytes = (uint16_t)world->parameters->nic.control_bytes,
                               .entropy = packet->entropy,
                               .kind_class = PACKET_URGENT_ACK | PACKET_CLASS_CONTROL << 4};
    if (world->parameters->nic.urgent_timeout_ps > 0) {
        reference_nic_reply(world, endpoint->nic, &ack);
    }
    if (is_new(endpoint, packet)) {
        deliver(world, endpoint, packet, packet->message, 0);
    } else {
        world->result->endpoints[endpoint->device].duplicate_packets++;
    }
}

static void receive(struct reference_world *world, struct reference_endpoint *endpoint, uint16_t port,
                    const struct packet *packet) {
    if (port < endpoint->n_nics) {
        reference_nic_arrival(endpoint->nic, port);
        reference_credit_free(world, endpoint->device, port, packet);
    }
    switch (packet_kind(packet)) {
    case PACKET_DATA:
        receive_data(world, endpoint, packet);
        break;
    case PACKET_URGENT:
        receive_urgent(world, endpoint, packet);
        break;
    case PACKET_URGENT_ACK:
        reference_urgent_acknowledged(endpoint->nic, packet->number);
        break;
    case PACKET_TRIMMED:
        reference_receiver_trimmed(world, endpoint->receiver, endpoint->nic, packet);
        break;
    case PACKET_PROBE:
        reference_receiver_probe(world, endpoint->nic, packet);
        break;
    case PACKET_RECORD:
        if (reference_nvlink_receive(world, endpoint->nvlink, port, packet)) {
            deliver(world, endpoint, packet, packet->message, 0);
        }
        break;
    default:
        reference_nic_replied(world, endpoint->nic, packet);
    }
}

/* ---- steps ---- */

static void choose(struct reference_world *world, struct reference_endpoint *endpoint, uint16_t port) {
    if (port < endpoint->n_nics) {
        reference_nic_choose(world, endpoint->nic);
    } else {
        reference_nvlink_choose(world, endpoint->nvlink, port);
    }
}

static void sent(struct reference_world *world, struct reference_endpoint *endpoint, uint16_t port) {
    if (port < endpoint->n_nics) {
        reference_nic_sent(world, endpoint->nic, port);
    } else {
        reference_nvlink_sent(world, endpoint->nvlink, port);
    }
}

/** A pause, a resume, a credit: then the transmitter may choose. */
static void control(struct reference_world *world, struct reference_endpoint *endpoint,
                    const struct reference_step *step) {
    if (step->kind == REFERENCE_STEP_CREDIT && step->port < endpoint->n_nics) {
        reference_credit_arrived(world, step);
    } else if (step->kind == REFERENCE_STEP_CREDIT) {
        reference_world_transmitter(world, endpoint->device, step->port)->credit_bytes += step->value;
    } else {
        reference_world_paused(world, endpoint->device, step->port, step->kind == REFERENCE_STEP_PAUSE);
    }
    choose(world, endpoint, step->port);
}

bool reference_endpoint_step(struct reference_world *world, struct reference_endpoint *endpoint,
                             const struct reference_step *step) {
    switch (step->kind) {
    case REFERENCE_STEP_DOWN:
        reference_world_forget_pause(world, endpoint->device, step->port);
        choose(world, endpoint, step->port);
        return true;
    case REFERENCE_STEP_UP:
        reference_credit_come_up(world, endpoint->device, step->port);
        reference_intake_come_up(world, endpoint->intake, step->port);
        return true;
    case REFERENCE_STEP_FAILOVER:
        reference_nic_fail_over(world, endpoint->nic);
        return true;
    case REFERENCE_STEP_SENT:
        sent(world, endpoint, step->port);
        return true;
    case REFERENCE_STEP_WAKE:
        choose(world, endpoint, step->port);
        return true;
    case REFERENCE_STEP_PAUSE:
    case REFERENCE_STEP_RESUME:
    case REFERENCE_STEP_CREDIT:
        control(world, endpoint, step);
        return true;
    case REFERENCE_STEP_PACKET:
        if (step->port >= endpoint->n_nics ||
            !reference_intake_keeps(world, endpoint->intake, step->port, &step->packet)) {
            receive(world, endpoint, step->port, &step->packet);
        }
        return true;
    case REFERENCE_STEP_TAKEN: {
        uint16_t port;
        const struct packet packet = reference_intake_taken(world, endpoint->intake, &port);
        receive(world, endpoint, port, &packet);
        return true;
    }
    case REFERENCE_STEP_COPIED:
        reference_nvlink_copied(world, endpoint->nvlink, step);
        return true;
    case REFERENCE_STEP_START:
        post(world, endpoint, &endpoint->armed[step->value]);
        return true;
    case REFERENCE_STEP_TIMEOUT:
        if (step->place >= REFERENCE_URGENT_PLACE) {
            return reference_urgent_timeout(world, endpoint->nic, (uint32_t)step->place - REFERENCE_URGENT_PLACE);
        }
        return reference_nic_timeout(world, endpoint->nic, (uint32_t)step->place, step->value);
    default:
        BUG("an endpoint has no step of kind %d", (int)step->kind);
    }
}

struct recorder_pair_state reference_endpoint_pair(const struct reference_world *world,
                                                   const struct reference_endpoint *endpoint, uint32_t destination,
                                                   uint32_t index, uint64_t now_ps) {
    return reference_nic_pair(world, endpoint->nic, destination, index, now_ps);
}
