// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_nvlink.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"

#include <stdlib.h>

enum { PHASE_COPIED = 5, TIE_COPIED = 0 };

struct nvlink_port {
    struct reference_queue channels[TRAFFIC_CHANNELS];
    int next_channel; /* that is looked at first */
};

struct incoming {
    uint32_t source, tag;
    uint32_t records; /* that have come */
};

struct reference_nvlink {
    uint32_t endpoint;
    uint16_t first_port; /* within the device */
    uint16_t n_ports;
    struct nvlink_port *ports;
    uint64_t records;   /* posted */
    uint64_t copied_ps; /* all that is posted is copied out by then */
    struct incoming *incoming;
    size_t n_incoming;
};

struct reference_nvlink *reference_nvlink_create(struct reference_world *world, uint32_t endpoint) {
    const struct fabric_endpoint *description = &world->fabric->endpoints[endpoint];
    if (description->n_nvlinks == 0) {
        return NULL;
    }
    struct reference_nvlink *nvlink = memory_allocate(1, sizeof *nvlink);
    nvlink->endpoint = endpoint;
    nvlink->first_port = (uint16_t)description->n_nics;
    nvlink->n_ports = (uint16_t)description->n_nvlinks;
    nvlink->ports = memory_allocate(nvlink->n_ports, sizeof *nvlink->ports);
    return nvlink;
}

void reference_nvlink_free(struct reference_nvlink *nvlink) {
    if (nvlink == NULL) {
        return;
    }
    for (uint16_t port = 0; port < nvlink->n_ports; port++) {
        for (int channel = 0; channel < TRAFFIC_CHANNELS; channel++) {
            reference_queue_free(&nvlink->ports[port].channels[channel]);
        }
    }
    free(nvlink->ports);
    free(nvlink->incoming);
    free(nvlink);
}

/** Size of the piece of a message that begins at offset. */
static uint64_t piece_bytes(const struct traffic_message *message, uint64_t offset, uint64_t largest) {
    uint64_t piece = message->bytes - offset < largest ? message->bytes - offset : largest;
    if (message->unit_bytes > 0 && message->unit_bytes - offset % message->unit_bytes < piece) {
        piece = message->unit_bytes - offset % message->unit_bytes;
    }
    return piece;
}

static uint32_t count_records(const struct traffic_message *message, uint64_t largest) {
    uint32_t count = 0;
    for (uint64_t offset = 0; offset < message->bytes; offset += piece_bytes(message, offset, largest)) {
        count++;
    }
    return count;
}

static void join(struct reference_world *world, struct reference_nvlink *nvlink, uint16_t port, uint64_t channel,
                 const struct packet *record) {
    reference_queue_push(&nvlink->ports[port].channels[channel], &(struct reference_queued){.packet = *record});
    reference_nvlink_choose(world, nvlink, (uint16_t)(nvlink->first_port + port));
}

void reference_nvlink_copied(struct reference_world *world, struct reference_nvlink *nvlink,
                             const struct reference_step *step) {
    world->result->endpoints[nvlink->endpoint].copied_records++;
    join(world, nvlink, step->port, step->value, &step->packet);
}

/** When the copying of so many bytes that begins then ends: at least a picosecond later. */
static uint64_t copy_end_ps(const struct reference_world *world, uint64_t begin_ps, uint64_t bytes) {
    const rate_wide fractions = (rate_wide)world->parameters->nvlink.copy_ps_per_byte * bytes;
    const rate_wide whole = (rate_wide)1 << RATE_FRACTION_BITS;
    const uint64_t time_ps = (uint64_t)((fractions + whole - 1) / whole);
    return begin_ps + (time_ps > 0 ? time_ps : 1);
}

/** When the copying of a message begins: after what was posted before it, and what stays at home. */
static uint64_t copy_begin_ps(const struct reference_world *world, const struct reference_nvlink *nvlink,
                              const struct traffic_message *message) {
    const uint64_t free_ps = nvlink->copied_ps > world->now_ps ? nvlink->copied_ps : world->now_ps;
    const uint64_t local = (uint64_t)message->local_units * message->unit_bytes;
    return local > 0 ? copy_end_ps(world, free_ps, local) : free_ps;
}

void reference_nvlink_post(struct reference_world *world, struct reference_nvlink *nvlink,
                           const struct traffic_message *message) {
    REQUIRE(nvlink != NULL, "an NVLink message from an endpoint without NVLink");
    const uint32_t largest = world->parameters->nvlink.record_bytes;
    const uint32_t total = count_records(message, largest);
    const bool copies = world->parameters->nvlink.copy_ps_per_byte > 0;
    const uint64_t begin_ps = copies ? copy_begin_ps(world, nvlink, message) : 0;
    world->result->endpoints[nvlink->endpoint].nvlink_bytes_posted += message->bytes;
    for (uint64_t offset = 0, piece; offset < message->bytes; offset += piece) {
        piece = piece_bytes(message, offset, largest);
        const uint64_t n = nvlink->records++;
        const uint16_t port = (uint16_t)((n + nvlink->endpoint) % nvlink->n_ports);
        const struct packet record = {.source = nvlink->endpoint,
                                      .destination = message->destination,
                                      .number = (uint32_t)n,
                                      .message = message->tag,
                                      .queue_pair = (uint16_t)(total >> 16),
                                      .entropy = (uint16_t)total,
                                      .size_bytes = (uint16_t)piece,
                                      .kind_class = PACKET_RECORD | PACKET_CLASS_LOSSLESS << 4};
        if (!copies) {
            join(world, nvlink, port, message->channel, &record);
            continue;
        }
        nvlink->copied_ps = copy_end_ps(world, begin_ps, offset + piece);
        reference_heap_push(&world->heap, &(struct reference_step){.time_ps = nvlink->copied_ps,
                                                                   .device = nvlink->endpoint,
                                                                   .phase = PHASE_COPIED,
                                                                   .tie = TIE_COPIED,
                                                                   .kind = REFERENCE_STEP_COPIED,
                                                                   .port = port,
                                                                   .value = message->channel,
                                                                   .packet = record});
    }
}

/** The channel that sends next, or TRAFFIC_CHANNELS. */
static int next_channel(const struct nvlink_port *port) {
    for (int i = 0; i < TRAFFIC_CHANNELS; i++) {
        const int channel = (port->next_channel + i) % TRAFFIC_CHANNELS;
        if (port->channels[channel].count > 0) {
            return channel;
        }
    }
    return TRAFFIC_CHANNELS;
}

void reference_nvlink_choose(struct reference_world *world, struct reference_nvlink *nvlink, uint16_t port) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, nvlink->endpoint, port);
    struct nvlink_port *from = &nvlink->ports[port - nvlink->first_port];
    const int channel = next_channel(from);
    if (transmitter->busy || channel == TRAFFIC_CHANNELS ||
        !reference_world_has_credit(world, nvlink->endpoint, port)) {
        return;
    }
    from->next_channel = (channel + 1) % TRAFFIC_CHANNELS;
    const struct reference_queued queued = reference_queue_pop(&from->channels[channel]);
    transmitter->credit_bytes -= queued.packet.size_bytes;
    reference_world_start(world, nvlink->endpoint, port, &queued);
}

void reference_nvlink_sent(struct reference_world *world, struct reference_nvlink *nvlink, uint16_t port) {
    reference_world_sent(world, nvlink->endpoint, port);
    reference_nvlink_choose(world, nvlink, port);
}

static struct incoming *find_incoming(struct reference_nvlink *nvlink, uint32_t source, uint32_t tag) {
    for (size_t i = 0; i < nvlink->n_incoming; i++) {
        if (nvlink->incoming[i].source == source && nvlink->incoming[i].tag == tag) {
            return &nvlink->incoming[i];
        }
    }
    nvlink->incoming = memory_resize(nvlink->incoming, nvlink->n_incoming + 1, sizeof *nvlink->incoming);
    nvlink->incoming[nvlink->n_incoming] = (struct incoming){.source = source, .tag = tag};
    return &nvlink->incoming[nvlink->n_incoming++];
}

bool reference_nvlink_receive(struct reference_world *world, struct reference_nvlink *nvlink, uint16_t port,
                              const struct packet *record) {
    const uint32_t total = (uint32_t)record->queue_pair << 16 | record->entropy;
    world->result->endpoints[nvlink->endpoint].nvlink_bytes_received += record->size_bytes;
    reference_world_return_credit(world, nvlink->endpoint, port, record->size_bytes);
    return ++find_incoming(nvlink, record->source, record->message)->records == total;
}
