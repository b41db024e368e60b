// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_nic_internal.h"

#include "reference_failure.h"

#include "reference_credit.h"
#include "reference_list.h"
#include "reference_pair.h"
#include "reference_pulls.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "fabric/describe.h"

#include <stdlib.h>
#include <string.h>

static uint64_t line_of(const struct reference_world *world, const struct reference_nic *nic, uint16_t plane) {
    return world->fabric->links[reference_world_link(world, nic->endpoint, plane)].rate_bits_per_s;
}

struct reference_nic *reference_nic_create(struct reference_world *world, uint32_t endpoint) {
    if (world->fabric->endpoints[endpoint].n_nics == 0) {
        return NULL;
    }
    struct reference_nic *nic = memory_allocate(1, sizeof *nic);
    nic->endpoint = endpoint;
    nic->controller = congestion_controller_of(world->parameters->congestion.kind);
    nic->n_planes = world->fabric->endpoints[endpoint].n_nics;
    nic->by_pair = nic->n_planes > 1 && world->parameters->nic.plane_by_pair;
    const bool uncounted =
        world->parameters->nic.selective_repeat && nic->controller->wants_acknowledgements; /* in planes */
    nic->shared = nic->n_planes > 1 && !nic->by_pair && (uncounted || !world->parameters->nic.context_by_plane);
    for (uint16_t plane = 0; plane < nic->n_planes; plane++) {
        nic->line_bits_per_s += line_of(world, nic, plane);
    }
    reference_pulls_begin(&nic->pulls);
    return nic;
}

void reference_nic_free(struct reference_nic *nic) {
    if (nic == NULL) {
        return;
    }
    for (uint32_t i = 0; i < nic->n_pairs; i++) {
        reference_pair_free(nic->pairs[i]);
    }
    free(nic->pairs);
    free(nic->peers);
    free(nic->urgents);
    reference_parts_free(&nic->completed);
    reference_pulls_free(&nic->pulls);
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        free(nic->ports[plane].ring.numbers);
        free(nic->ports[plane].paced.numbers);
        reference_queue_free(&nic->ports[plane].control);
        reference_queue_free(&nic->ports[plane].probes);
    }
    free(nic);
}

uint64_t reference_nic_incomplete(const struct reference_nic *nic) {
    uint64_t incomplete = 0;
    for (uint32_t i = 0; nic != NULL && i < nic->n_pairs; i++) {
        incomplete += nic->pairs[i] ? nic->pairs[i]->n_messages - nic->pairs[i]->completed : 0;
    }
    return incomplete;
}

struct recorder_pair_state reference_nic_pair(const struct reference_world *world, const struct reference_nic *nic,
                                              uint32_t destination, uint32_t index, uint64_t now_ps) {
    const uint32_t per_peer = world->parameters->nic.queue_pairs;
    for (uint32_t number = index; nic != NULL && number < nic->n_pairs; number += per_peer) {
        if (nic->pairs[number] != NULL && nic->pairs[number]->destination == destination) {
            uint64_t lines[REFERENCE_PLANES];
            for (uint16_t i = 0; i < nic->n_planes; i++) {
                const uint16_t plane = (uint16_t)(nic->by_pair ? number % nic->n_planes : i);
                lines[i] = nic->shared ? nic->line_bits_per_s : line_of(world, nic, plane);
            }
            return reference_pair_state(nic->pairs[number], world->parameters, lines, now_ps);
        }
    }
    return (struct recorder_pair_state){0};
}

/* The first plane in turn that is not left out. */
uint16_t reference_nic_next_plane(const struct reference_world *world, const struct reference_nic *nic,
                                  uint32_t destination, uint16_t plane) {
    while (reference_failure_left_out(world, nic->endpoint, destination, plane)) {
        plane = (uint16_t)((plane + 1) % nic->n_planes);
    }
    return plane;
}

/* ---- ring and pacing ---- */

static void join_ring(struct reference_nic *nic, struct reference_pair *pair, uint16_t plane) {
    reference_list_append(&nic->ports[plane].ring, pair->number);
    pair->planes[plane].queued = true;
}

static void join_paced(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                       uint16_t plane) {
    const uint64_t due_ps = reference_pair_context(pair, plane)->next_ps;
    reference_list_append(&nic->ports[plane].paced, pair->number);
    pair->planes[plane].queued = true;
    pair->planes[plane].due_ps = due_ps;
    reference_world_wake(world, nic->endpoint, plane, due_ps);
}

/** Index in the list of paced queue pairs of a plane of the one that is due first; its count if none is due. */
static size_t first_due(const struct reference_nic *nic, uint16_t plane, uint64_t now_ps) {
    const struct reference_list *paced = &nic->ports[plane].paced;
    size_t found = paced->count;
    for (size_t i = 0; i < paced->count; i++) {
        const struct reference_pair *pair = nic->pairs[paced->numbers[i]];
        const struct reference_pair *best = found < paced->count ? nic->pairs[paced->numbers[found]] : NULL;
        const uint64_t due_ps = pair->planes[plane].due_ps;
        const bool sooner = best == NULL || due_ps < best->planes[plane].due_ps ||
                            (due_ps == best->planes[plane].due_ps && pair->number < best->number);
        if (due_ps <= now_ps && sooner) {
            found = i;
        }
    }
    return found;
}

static void move_due(struct reference_nic *nic, uint16_t plane, uint64_t now_ps) {
    struct reference_nic_port *port = &nic->ports[plane];
    for (size_t i = first_due(nic, plane, now_ps); i < port->paced.count; i = first_due(nic, plane, now_ps)) {
        reference_list_append(&port->ring, reference_list_take(&port->paced, i));
    }
}

void reference_nic_look_for_work(struct reference_world *world, struct reference_nic *nic,
                                 struct reference_pair *pair) {
    for (uint16_t plane = 0; plane < nic->n_planes; plane++) {
        if (pair->planes[plane].queued || !reference_pair_has_work(pair, plane, &world->parameters->nic)) {
            continue;
        }
        if (reference_pair_context(pair, plane)->next_ps <= world->now_ps) {
            join_ring(nic, pair, plane);
        } else {
            join_paced(world, nic, pair, plane);
        }
    }
    reference_nic_choose(world, nic);
}

/* ---- window and clock ---- */

void reference_nic_ask_window(const struct reference_world *world, const struct reference_nic *nic,
                              struct reference_pair *pair, uint32_t plane) {
    struct reference_plane *context = reference_pair_context(pair, plane);
    if (nic->controller->wants_acknowledgements) {
        const uint32_t acknowledged =
            pair->separate ? reference_pair_count(pair, plane, REFERENCE_ARRIVED)
                           : reference_pair_acknowledged(pair, &world->parameters->nic) + pair->n_trimmed;
        context->window = nic->controller->window(&world->parameters->congestion, &context->congestion, acknowledged);
    }
}

static uint64_t backed_off_ps(const struct reference_pair *pair, uint64_t timeout_ps) {
    return timeout_ps << (pair->repeats < REPEATS_MOST ? (int)pair->repeats : REPEATS_MOST);
}

static void alarm(struct reference_world *world, const struct reference_nic *nic, const struct reference_pair *pair,
                  uint64_t time_ps) {
    reference_heap_push(&world->heap, &(struct reference_step){.time_ps = time_ps,
                                                               .device = nic->endpoint,
                                                               .phase = PHASE_TIMER,
                                                               .tie = TIE_TIMER,
                                                               .place = pair->number,
                                                               .kind = REFERENCE_STEP_TIMEOUT,
                                                               .value = pair->clock_setting});
}

void reference_nic_set_clock(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    pair->clock_setting++;
    if (reference_pair_outstanding(pair)) {
        if (parameters->short_timeout_ps > 0) {
            alarm(world, nic, pair, world->now_ps + backed_off_ps(pair, parameters->short_timeout_ps));
        }
        alarm(world, nic, pair, world->now_ps + backed_off_ps(pair, parameters->retransmit_timeout_ps));
        pair->clock_ps = world->now_ps;
    }
}

/* Whether a clock that was set when it should have run out by now does: the short time is for few packets. */
bool reference_nic_runs_out(const struct reference_world *world, const struct reference_pair *pair) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const uint64_t waited_ps = world->now_ps - pair->clock_ps;
    const bool few = pair->sent - reference_pair_acknowledged(pair, parameters) <= parameters->short_timeout_packets;
    return parameters->short_timeout_ps > 0 && few
               ? waited_ps >= backed_off_ps(pair, parameters->short_timeout_ps)
               : waited_ps >= backed_off_ps(pair, parameters->retransmit_timeout_ps);
}

/* ---- what goes on the wire ---- */

static void start(struct reference_world *world, struct reference_nic *nic, uint16_t plane,
                  struct reference_queue *queue) {
    const struct reference_queued queued = reference_queue_pop(queue);
    reference_world_start(world, nic->endpoint, plane, &queued);
}

void reference_nic_join_probes(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                               uint16_t plane) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    struct reference_plane *context = reference_pair_context(pair, plane);
    uint16_t way = nic->shared ? (uint16_t)(context->probes % nic->n_planes) : plane;
    while (nic->shared && pair->planes[way].closed) {
        way = (uint16_t)((way + 1) % nic->n_planes);
    }
    const struct packet probe = {
        .source = nic->endpoint,
        .destination = pair->destination,
        .number = context->probes,
        .queue_pair = (uint16_t)pair->number,
        .size_bytes = (uint16_t)parameters->control_bytes,
        .entropy = pair->entropy,
        .kind_class = (uint8_t)(PACKET_PROBE | (int)nic_parameters_class(parameters, nic->endpoint) << 4),
        .flags_transmission = parameters->adaptive_marking ? PACKET_FLAG_ADAPTIVE : 0};
    world->result->endpoints[nic->endpoint].probes_given_up += context->probe_outstanding;
    world->result->endpoints[nic->endpoint].probes++;
    context->probe_outstanding = true;
    context->probe_number = context->probes++;
    context->probe_sent_ps = world->now_ps;
    context->data_bytes = 0;
    reference_queue_push(&nic->ports[way].probes, &(struct reference_queued){.packet = probe});
    reference_nic_choose(world, nic);
}

bool reference_nic_may_probe(const struct reference_world *world, const struct reference_plane *context) {
    return context->probes == 0 || context->data_bytes >= world->parameters->congestion.spectrum_x.probe_bytes;
}

static void pace(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair, uint16_t plane,
                 uint64_t size, uint64_t duration_ps) {
    struct reference_plane *context = reference_pair_context(pair, plane);
    if (nic->controller->counts_bytes) {
        nic->controller->sent(&world->parameters->congestion, &context->congestion, (uint32_t)size, world->now_ps);
    }
    const uint64_t rate = nic->controller->rate(&world->parameters->congestion, &context->congestion, world->now_ps);
    const uint64_t gap_ps = size * UINT64_C(8000000000000) / rate;
    const uint64_t line = nic->shared ? nic->line_bits_per_s : line_of(world, nic, plane);
    const bool at_line = rate >= line || (gap_ps <= duration_ps && !nic->shared);
    const bool work = reference_pair_has_work(pair, plane, &world->parameters->nic);
    struct reference_endpoint_counts *counts = &world->result->endpoints[nic->endpoint];
    counts->window_stalls += !work && (pair->next < pair->n_packets || pair->n_lost > 0);
    counts->paced_packets += !at_line;
    if (!at_line) {
        context->next_ps = world->now_ps + gap_ps;
    }
    if (work && at_line) {
        join_ring(nic, pair, plane);
    } else if (work) {
        join_paced(world, nic, pair, plane);
    }
}

bool reference_nic_recycles(const struct reference_world *world) {
    return path_policy_of(world->parameters->path.kind)->recycles && world->parameters->nic.adaptive_marking;
}

static void send_data(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                      uint16_t plane) {
    struct reference_plane *context = reference_pair_context(pair, plane);
    const bool outstanding = reference_pair_outstanding(pair);
    struct reference_queued queued = {.packet = reference_pair_packet(pair),
                                      .least_ps = world->parameters->nic.message_gap_ps * nic->n_planes};
    if (reference_nic_recycles(world)) {
        queued.packet.entropy = host_reps_next(&pair->planes[plane].recycled);
    }
    world->result->endpoints[nic->endpoint].retransmitted_packets += reference_pair_next(pair) < pair->sent;
    const uint64_t duration_ps = reference_world_start(world, nic->endpoint, plane, &queued);
    reference_pair_advance(pair, plane, world->now_ps);
    if (!outstanding) {
        reference_nic_set_clock(world, nic, pair);
    }
    pace(world, nic, pair, plane, queued.packet.size_bytes, duration_ps);
    const bool stale = world->now_ps - context->probe_sent_ps > world->parameters->congestion.spectrum_x.probe_abort_ps;
    context->data_bytes += queued.packet.size_bytes;
    if (nic->controller->wants_probes &&
        (context->probe_outstanding ? stale : reference_nic_may_probe(world, context))) {
        reference_nic_join_probes(world, nic, pair, plane);
    }
}

static void choose_pair(struct reference_world *world, struct reference_nic *nic, uint16_t plane) {
    struct reference_nic_port *port = &nic->ports[plane];
    move_due(nic, plane, world->now_ps);
    while (port->ring.count > 0) {
        struct reference_pair *pair = nic->pairs[reference_list_take(&port->ring, 0)];
        pair->planes[plane].queued = false;
        if (!reference_pair_has_work(pair, plane, &world->parameters->nic)) {
            continue;
        }
        if (reference_pair_context(pair, plane)->next_ps <= world->now_ps) {
            send_data(world, nic, pair, plane);
            return;
        }
        join_paced(world, nic, pair, plane);
    }
}

/* ---- pulls ---- */

/* A pull that has become due later than now will start then. */
static void wait_for_pull(struct reference_world *world, struct reference_nic *nic) {
    if (nic->pulls.turns.count > 0 && nic->pulls.next_ps > world->now_ps) {
        reference_world_wake(world, nic->endpoint, 0, nic->pulls.next_ps);
    }
}

void reference_nic_owe(struct reference_world *world, struct reference_nic *nic, const struct packet *packet,
                       bool new) {
    if (nic->controller->wants_pulls) {
        receiver_credit_arrived(&world->parameters->congestion.receiver_credit, &nic->pulls.pace,
                                (packet->flags_transmission & PACKET_FLAG_MARKED) != 0, world->now_ps);
        if (new) {
            reference_pulls_owe(&nic->pulls, packet, packet->size_bytes);
            wait_for_pull(world, nic);
        }
        reference_nic_choose(world, nic);
    }
}

void reference_nic_owe_trimmed(struct reference_world *world, struct reference_nic *nic, const struct packet *packet) {
    if (nic->controller->wants_pulls) {
        receiver_credit_trimmed(&world->parameters->congestion.receiver_credit, &nic->pulls.pace,
                                (packet->flags_transmission & PACKET_FLAG_LAST_HOP) != 0, world->now_ps);
        reference_pulls_owe(&nic->pulls, packet,
                            world->parameters->nic.payload_bytes + world->parameters->nic.header_bytes);
        wait_for_pull(world, nic);
        reference_nic_choose(world, nic);
    }
}

static void pull(struct reference_world *world, struct reference_nic *nic, uint16_t plane) {
    const struct reference_queued queued = {
        .packet =
            reference_pulls_take(&nic->pulls, world->parameters, nic->endpoint, nic->line_bits_per_s, world->now_ps)};
    wait_for_pull(world, nic);
    reference_world_start(world, nic->endpoint, plane, &queued);
}

/* InfiniBand: nothing has started. Whether something waits for credit; what is due joins the ring all the same. */
static void look_for_stall(struct reference_world *world, struct reference_nic *nic, uint16_t plane, bool held,
                           bool open) {
    struct reference_nic_port *port = &nic->ports[plane];
    move_due(nic, plane, world->now_ps);
    if ((!open && port->control.count > 0) || (held && (port->probes.count > 0 || port->ring.count > 0))) {
        reference_credit_wait(world, nic->endpoint, plane);
    } else {
        reference_credit_wait_no_more(world, nic->endpoint, plane);
    }
}

/* A port's transmitter, which is idle. */
static void choose_at(struct reference_world *world, struct reference_nic *nic, uint16_t plane) {
    const struct reference_transmitter *transmitter = reference_world_transmitter(world, nic->endpoint, plane);
    struct reference_nic_port *port = &nic->ports[plane];
    const enum packet_class class = nic_parameters_class(&world->parameters->nic, nic->endpoint);
    const bool held = (transmitter->paused && class == PACKET_CLASS_LOSSLESS) ||
                      !reference_credit_is_open(world, nic->endpoint, plane, class);
    const bool open = reference_credit_is_open(world, nic->endpoint, plane, PACKET_CLASS_CONTROL);
    if (port->control.count > 0 && open) {
        start(world, nic, plane, &port->control);
    } else if (nic->pulls.turns.count > 0 && nic->pulls.next_ps <= world->now_ps && open) {
        pull(world, nic, plane);
    } else if (!held && port->probes.count > 0) {
        start(world, nic, plane, &port->probes);
    } else if (!held) {
        choose_pair(world, nic, plane);
    }
    if (reference_credit_is_used(world) && !transmitter->busy) {
        look_for_stall(world, nic, plane, held, open);
    }
}

/* Since when a transmitter is free, or when it will be. */
uint64_t reference_nic_free_ps(struct reference_world *world, const struct reference_nic *nic, uint16_t plane) {
    return reference_world_transmitter(world, nic->endpoint, plane)->end_ps;
}

void reference_nic_choose(struct reference_world *world, struct reference_nic *nic) {
    bool asked[REFERENCE_PLANES] = {false};
    for (uint32_t round = 0; round < nic->n_planes; round++) {
        uint16_t next = REFERENCE_PLANES;
        for (uint16_t plane = 0; plane < nic->n_planes; plane++) {
            const bool idle = !reference_world_transmitter(world, nic->endpoint, plane)->busy && !asked[plane];
            if (idle && (next == REFERENCE_PLANES ||
                         reference_nic_free_ps(world, nic, plane) < reference_nic_free_ps(world, nic, next))) {
                next = plane;
            }
        }
        if (next < REFERENCE_PLANES) {
            asked[next] = true;
            choose_at(world, nic, next);
        }
    }
}

void reference_nic_sent(struct reference_world *world, struct reference_nic *nic, uint16_t port) {
    reference_world_sent(world, nic->endpoint, port);
    reference_nic_choose(world, nic);
}

void reference_nic_arrival(struct reference_nic *nic, uint16_t port) {
    nic->arrival = port;
}

uint32_t reference_nic_context(const struct reference_nic *nic) {
    return nic->n_planes > 1 && !nic->by_pair && !nic->shared ? nic->arrival : 0;
}

void reference_nic_send_control(struct reference_world *world, struct reference_nic *nic, uint16_t plane,
                                const struct packet *packet) {
    reference_queue_push(&nic->ports[plane].control, &(struct reference_queued){.packet = *packet});
    reference_nic_choose(world, nic);
}

void reference_nic_reply(struct reference_world *world, struct reference_nic *nic, const struct packet *reply) {
    reference_nic_send_control(world, nic, reference_nic_next_plane(world, nic, reply->destination, nic->arrival),
                               reply);
}

/* ---- posting ---- */

static size_t find_peer(struct reference_nic *nic, uint32_t destination) {
    size_t index = 0;
    while (index < nic->n_peers && nic->peers[index].destination != destination) {
        index++;
    }
    if (index == nic->n_peers) {
        nic->peers = memory_resize(nic->peers, ++nic->n_peers, sizeof *nic->peers);
        nic->peers[index] = (struct reference_peer){.destination = destination};
    }
    return index;
}

static struct reference_pair *find_pair(struct reference_nic *nic, uint32_t number) {
    if (number >= nic->n_pairs) {
        nic->pairs = memory_resize(nic->pairs, number + 1, sizeof *nic->pairs);
        memset(nic->pairs + nic->n_pairs, 0, (number + 1 - nic->n_pairs) * sizeof *nic->pairs);
        nic->n_pairs = number + 1;
    }
    return nic->pairs[number];
}

/* The way: it may limit what is in flight, and a controller that wants acknowledgements is told. */
static void place(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                  uint32_t number, uint32_t plane, uint64_t line_bits_per_s) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    struct describe_path there, back;
    struct congestion_way way = {.line_bits_per_s = line_bits_per_s,
                                 .packet_bytes = parameters->payload_bytes + parameters->header_bytes};
    if (describe_path_of_plane(world->fabric, nic->endpoint, pair->destination, plane, way.packet_bytes, &there) &&
        describe_path_of_plane(world->fabric, pair->destination, nic->endpoint, plane, parameters->control_bytes,
                               &back)) {
        way.base_round_trip_ps = there.latency_ps + back.latency_ps;
        way.switches = there.n_hops - 1;
    }
    if (nic->controller->wants_acknowledgements) {
        nic->controller->placed(&world->parameters->congestion, &pair->planes[number].congestion, &way);
    }
    way.line_bits_per_s =
        nic->by_pair ? line_bits_per_s : nic->line_bits_per_s; /* of all that the queue pair may use */
    if (parameters->window_products > 0 && number == 0) {
        pair->cap = nic_parameters_cap(parameters, &way);
    }
    reference_nic_ask_window(world, nic, pair, number);
}

void reference_nic_open(const struct reference_world *world, const struct reference_nic *nic,
                        struct reference_pair *pair) {
    const uint16_t own =
        reference_nic_next_plane(world, nic, pair->destination, (uint16_t)(pair->number % nic->n_planes));
    for (uint16_t plane = 0; plane < nic->n_planes; plane++) {
        pair->planes[plane].closed = reference_failure_left_out(world, nic->endpoint, pair->destination, plane) ||
                                     (nic->by_pair && plane != own);
    }
}

/* A new queue pair, with all its congestion contexts. */
static struct reference_pair *new_pair(struct reference_world *world, struct reference_nic *nic,
                                       const struct traffic_message *message, uint32_t number, uint32_t index) {
    struct reference_pair *pair = reference_pair_create(nic->endpoint, message->destination, number, index);
    pair->n_planes = nic->n_planes;
    pair->separate = nic->n_planes > 1 && !nic->by_pair && !nic->shared;
    pair->books = nic->n_planes > 1 && !nic->by_pair && !world->parameters->nic.selective_repeat;
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        pair->planes[plane].recycled.stream =
            host_reps_stream(world->parameters->seed, nic->endpoint, number * nic->n_planes + plane);
    }
    reference_nic_open(world, nic, pair);
    for (uint32_t i = 0; i < (pair->separate ? nic->n_planes : 1); i++) {
        const uint16_t plane = (uint16_t)(nic->by_pair ? number % nic->n_planes : i);
        const uint64_t line = nic->shared ? nic->line_bits_per_s : line_of(world, nic, plane);
        nic->controller->start(&world->parameters->congestion, &pair->planes[i].congestion, line, message->share,
                               world->now_ps);
        place(world, nic, pair, i, plane, line);
    }
    return pair;
}

static struct reference_pair *pair_of(struct reference_world *world, struct reference_nic *nic,
                                      const struct traffic_message *message, uint32_t index) {
    const struct congestion_parameters *congestion = &world->parameters->congestion;
    const uint32_t number = (uint32_t)find_peer(nic, message->destination) * world->parameters->nic.queue_pairs + index;
    struct reference_pair *pair = find_pair(nic, number);
    if (pair == NULL) {
        pair = nic->pairs[number] = new_pair(world, nic, message, number, index);
    } else if (message->share != 0) {
        for (uint32_t i = 0; i < (pair->separate ? nic->n_planes : 1); i++) {
            nic->controller->announced(congestion, &pair->planes[i].congestion, message->share, world->now_ps);
        }
    }
    return pair;
}

/* A message, or a part of it. */
static void post_on_pair(struct reference_world *world, struct reference_nic *nic,
                         const struct traffic_message *message, uint32_t index) {
    struct reference_pair *pair = pair_of(world, nic, message, index);
    reference_pair_add(pair, message, &world->parameters->nic);
    reference_nic_look_for_work(world, nic, pair);
}

void reference_nic_post(struct reference_world *world, struct reference_nic *nic,
                        const struct traffic_message *message) {
    REQUIRE(nic != NULL, "a fabric message from an endpoint without a NIC");
    if (message->urgent) {
        reference_urgent_post(world, nic, message);
        return;
    }
    const struct nic_parameters *parameters = &world->parameters->nic;
    const size_t peer = find_peer(nic, message->destination);
    const uint32_t turn = (uint32_t)(nic->peers[peer].messages++ % parameters->queue_pairs);
    world->result->endpoints[nic->endpoint].posted_sum_ps += world->now_ps;
    for (uint32_t index = 0; index < parameters->queue_pairs; index++) {
        const struct traffic_message part = reference_parts_of(message, index, parameters);
        if (parameters->split_messages || index == turn) {
            post_on_pair(world, nic, parameters->split_messages ? &part : message, index);
        }
    }
}
