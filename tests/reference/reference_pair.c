// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_pair.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>

enum { TRANSMISSIONS = 16, CAUSE_ZERO = 2048 };

struct reference_pair *reference_pair_create(uint32_t source, uint32_t destination, uint32_t number, uint32_t index) {
    struct reference_pair *pair = memory_allocate(1, sizeof *pair);
    pair->source = source;
    pair->destination = destination;
    pair->number = number;
    pair->entropy = (uint16_t)hash_mix(hash_mix(destination) + index);
    pair->cap = CONGESTION_UNLIMITED;
    pair->n_planes = 1;
    for (uint32_t plane = 0; plane < REFERENCE_PLANES; plane++) {
        pair->planes[plane].window = CONGESTION_UNLIMITED;
    }
    return pair;
}

void reference_pair_free(struct reference_pair *pair) {
    if (pair != NULL) {
        free(pair->packets);
        free(pair->started_ps);
        free(pair->started_as);
        free(pair->known);
        free(pair->went_by);
        free(pair->whereabouts);
        free(pair->messages);
        free(pair);
    }
}

static void add_packet(struct reference_pair *pair, const struct packet *packet) {
    pair->packets = memory_resize(pair->packets, pair->n_packets + 1, sizeof *pair->packets);
    pair->started_ps = memory_resize(pair->started_ps, pair->n_packets + 1, sizeof *pair->started_ps);
    pair->started_as = memory_resize(pair->started_as, pair->n_packets + 1, sizeof *pair->started_as);
    pair->known = memory_resize(pair->known, pair->n_packets + 1, sizeof *pair->known);
    pair->known[pair->n_packets] = (struct reference_pair_packet){0};
    pair->went_by = memory_resize(pair->went_by, pair->n_packets + 1, sizeof *pair->went_by);
    pair->whereabouts = memory_resize(pair->whereabouts, pair->n_packets + 1, sizeof *pair->whereabouts);
    pair->whereabouts[pair->n_packets] = REFERENCE_GIVEN_UP;
    pair->packets[pair->n_packets++] = *packet;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void reference_pair_add(struct reference_pair *pair, const struct traffic_message *message,
                        const struct nic_parameters *parameters) {
    const uint64_t unit = message->unit_bytes ? message->unit_bytes : message->bytes + 1;
    bool last = false;
    for (uint64_t offset = 0, piece; !last; offset += piece) { // nothing at all is one packet, too
        piece = least(least(parameters->payload_bytes, unit - offset % unit), message->bytes - offset);
        last = offset + piece == message->bytes;
        add_packet(pair,
                   &(struct packet){
                       .source = pair->source,
                       .destination = pair->destination,
                       .number = pair->n_packets,
                       .message = message->tag,
                       .queue_pair = (uint16_t)pair->number,
                       .size_bytes = (uint16_t)(piece + parameters->header_bytes),
                       .entropy = pair->entropy,
                       .kind_class = (uint8_t)(PACKET_DATA | (int)nic_parameters_class(parameters, pair->source) << 4),
                       .flags_transmission = (uint8_t)((parameters->adaptive_marking ? PACKET_FLAG_ADAPTIVE : 0) |
                                                       (last ? PACKET_FLAG_LAST : 0))});
    }
    pair->messages = memory_resize(pair->messages, pair->n_messages + 1, sizeof *pair->messages);
    pair->messages[pair->n_messages++] = (struct reference_pair_message){.tag = message->tag, .end = pair->n_packets};
}

uint32_t reference_pair_acknowledged(const struct reference_pair *pair, const struct nic_parameters *parameters) {
    return parameters->out_of_order ? pair->received : pair->cumulative;
}

struct reference_plane *reference_pair_context(struct reference_pair *pair, uint32_t plane) {
    return &pair->planes[pair->separate ? plane : 0];
}

uint32_t reference_pair_count(const struct reference_pair *pair, uint32_t plane, enum reference_whereabouts where) {
    uint32_t count = 0;
    for (uint32_t number = 0; number < pair->sent; number++) {
        count += pair->went_by[number] == plane && pair->whereabouts[number] == where;
    }
    return count;
}

/** Whether the congestion context of a plane, which counts its own packets alone, lets one more go. */
static bool plane_allows(const struct reference_pair *pair, uint32_t plane) {
    const uint32_t window = pair->planes[plane].window;
    return !pair->separate || window == CONGESTION_UNLIMITED ||
           reference_pair_count(pair, plane, REFERENCE_IN_FLIGHT) < window;
}

bool reference_pair_has_work(const struct reference_pair *pair, uint32_t plane,
                             const struct nic_parameters *parameters) {
    const int64_t in_flight =
        (int64_t)pair->next - (int64_t)reference_pair_acknowledged(pair, parameters) - (int64_t)pair->n_lost;
    const uint32_t window = pair->separate ? CONGESTION_UNLIMITED : pair->planes[0].window;
    const bool window_open = (parameters->window_packets == 0 || in_flight < (int64_t)parameters->window_packets) &&
                             (window == CONGESTION_UNLIMITED || in_flight < (int64_t)window) &&
                             (pair->cap == CONGESTION_UNLIMITED || in_flight < (int64_t)pair->cap);
    return (pair->next < pair->n_packets || pair->n_lost > 0) && (window_open || pair->next < pair->sent) &&
           !pair->planes[plane].closed && plane_allows(pair, plane);
}

bool reference_pair_outstanding(const struct reference_pair *pair) {
    return pair->cumulative < pair->sent;
}

uint32_t reference_pair_next(const struct reference_pair *pair) {
    for (uint32_t number = 0; number < pair->sent; number++) {
        if (pair->known[number].lost) {
            return number;
        }
    }
    return pair->next;
}

struct packet reference_pair_packet(const struct reference_pair *pair) {
    const uint32_t number = reference_pair_next(pair);
    struct packet packet = pair->packets[number];
    const uint32_t again = pair->known[number].again + pair->known[number].lost;
    packet.flags_transmission |= (uint8_t)((pair->transmission + again) % TRANSMISSIONS << 4);
    return packet;
}

/** Where book is kept, what has arrived is not sent again. */
static void skip_arrived(struct reference_pair *pair) {
    while (pair->books && pair->next < pair->sent && pair->whereabouts[pair->next] == REFERENCE_ARRIVED) {
        pair->next++;
    }
}

void reference_pair_advance(struct reference_pair *pair, uint32_t plane, uint64_t now_ps) {
    const uint32_t number = reference_pair_next(pair);
    pair->started_ps[number] = now_ps;
    pair->started_as[number] = reference_pair_packet(pair).flags_transmission >> 4;
    pair->went_by[number] = (uint8_t)plane;
    pair->whereabouts[number] = REFERENCE_IN_FLIGHT;
    if (pair->known[number].lost) {
        pair->known[number].lost = false;
        pair->known[number].again++;
        pair->n_lost--;
        return;
    }
    pair->next++;
    pair->sent = pair->next > pair->sent ? pair->next : pair->sent;
    skip_arrived(pair);
}

void reference_pair_acknowledge(struct reference_pair *pair, uint32_t cumulative, uint32_t received, int64_t cause) {
    for (uint32_t number = pair->cumulative; number < cumulative; number++) {
        pair->whereabouts[number] = REFERENCE_ARRIVED;
    }
    if (cause >= (int64_t)pair->cumulative && cause < (int64_t)pair->sent) {
        pair->whereabouts[cause] = REFERENCE_ARRIVED;
    }
    pair->cumulative = cumulative > pair->cumulative ? cumulative : pair->cumulative;
    pair->received = received > pair->received ? received : pair->received;
    pair->next = pair->next > pair->cumulative ? pair->next : pair->cumulative;
    skip_arrived(pair);
}

void reference_pair_rewind(struct reference_pair *pair) {
    pair->next = pair->cumulative;
    pair->transmission = (uint8_t)((pair->transmission + 1) % TRANSMISSIONS);
    for (uint32_t number = pair->next; number < pair->sent; number++) {
        if (pair->whereabouts[number] == REFERENCE_IN_FLIGHT) {
            pair->whereabouts[number] = REFERENCE_GIVEN_UP;
        }
    }
    skip_arrived(pair);
}

static uint32_t smallest(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

struct recorder_pair_state reference_pair_state(const struct reference_pair *pair,
                                                const struct network_parameters *parameters,
                                                const uint64_t *lines_bits_per_s, uint64_t now_ps) {
    const struct congestion_controller *controller = congestion_controller_of(parameters->congestion.kind);
    const uint32_t given = parameters->nic.window_packets;
    uint64_t rates = 0, windows = 0;
    for (uint32_t i = 0; i < (pair->separate ? pair->n_planes : 1); i++) {
        struct congestion_state copy = pair->planes[i].congestion;
        const uint64_t rate = controller->rate(&parameters->congestion, &copy, now_ps);
        rates += rate < lines_bits_per_s[i] ? rate : lines_bits_per_s[i];
        windows += pair->planes[i].window;
    }
    const uint32_t window = (uint32_t)(windows < CONGESTION_UNLIMITED ? windows : CONGESTION_UNLIMITED);
    return (struct recorder_pair_state){
        .rate_bits_per_s = rates,
        .window_packets = smallest(given != 0 ? given : CONGESTION_UNLIMITED, window, pair->cap),
        .sent_packets = pair->sent,
    };
}

int64_t reference_pair_cause(const struct packet *ack) {
    const int64_t told = ack->message / REFERENCE_PAIR_CAUSE_UNIT;
    if (packet_kind(ack) == PACKET_SELECTIVE_ACK) {
        return ack->message;
    }
    return told > 0 ? (int64_t)ack->number + told - CAUSE_ZERO : -1;
}

uint64_t reference_pair_round_trip_ps(const struct reference_pair *pair, const struct packet *ack, uint32_t oldest,
                                      uint64_t now_ps) {
    const int64_t cause = reference_pair_cause(ack);
    const bool known = cause >= (int64_t)oldest && cause < (int64_t)pair->sent;
    return known && pair->started_as[cause] == ack->flags_transmission >> 4 ? now_ps - pair->started_ps[cause] : 0;
}

/* ---- selective repeat ---- */

void reference_pair_recount(struct reference_pair *pair) {
    pair->received = pair->cumulative;
    pair->n_lost = 0;
    for (uint32_t number = 0; number < pair->sent; number++) {
        struct reference_pair_packet *known = &pair->known[number];
        known->there = known->there || number < pair->cumulative;
        known->lost = known->lost && !known->there;
        pair->received += known->there && number >= pair->cumulative;
        pair->n_lost += known->lost;
    }
}

bool reference_pair_arrived(struct reference_pair *pair, uint32_t number, uint8_t transmission) {
    if (number < pair->cumulative || number >= pair->sent || pair->known[number].there) {
        return false;
    }
    pair->known[number].there = true;
    return pair->known[number].again % TRANSMISSIONS != transmission;
}

bool reference_pair_infer(struct reference_pair *pair, uint32_t distance) {
    uint32_t highest = pair->sent;
    bool found = false;
    while (highest > 0 && !pair->known[highest - 1].there) {
        highest--;
    }
    for (uint32_t number = pair->cumulative; distance > 0 && (uint64_t)number + distance < highest; number++) {
        struct reference_pair_packet *known = &pair->known[number];
        if (!known->there && !known->lost && known->again == 0) {
            known->lost = found = true;
        }
    }
    const bool begins = found && pair->cumulative >= pair->until;
    pair->until = begins ? pair->sent : pair->until;
    return begins;
}

bool reference_pair_trimmed(struct reference_pair *pair, uint32_t number, uint8_t transmission) {
    struct reference_pair_packet *known = &pair->known[number];
    if (known->there || known->lost || known->again % TRANSMISSIONS != transmission) {
        return false;
    }
    known->lost = true;
    pair->n_trimmed++;
    return true;
}

void reference_pair_lose_all(struct reference_pair *pair) {
    for (uint32_t number = pair->cumulative; number < pair->sent; number++) {
        pair->known[number].lost = !pair->known[number].there;
    }
    pair->until = pair->sent;
}
