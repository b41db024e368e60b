// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_nic.h"

#include "reference_list.h"
#include "reference_pair.h"
#include "reference_pulls.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "fabric/describe.h"

#include <stdlib.h>
#include <string.h>

enum { PHASE_TIMER = 5, TIE_TIMER = 2, REPEATS_MOST = 7, NIC_PORT = 0 };

/** Somebody this endpoint has queue pairs to. */
struct peer {
    uint32_t destination;
    uint64_t messages;
};

struct reference_nic {
    struct reference_pulls pulls; /* that it owes as a receiver */
    uint32_t endpoint;
    uint64_t line_bits_per_s;
    const struct congestion_controller *controller;
    struct reference_queue control, probes;
    struct peer *peers;
    size_t n_peers;
    struct reference_pair **pairs; /* NULL where not used yet */
    uint32_t n_pairs;
    struct reference_list ring, paced;
    uint32_t urgent; /* urgent packets posted */
};

struct reference_nic *reference_nic_create(struct reference_world *world, uint32_t endpoint) {
    if (world->fabric->endpoints[endpoint].n_nics == 0) {
        return NULL;
    }
    REQUIRE(world->fabric->endpoints[endpoint].n_nics == 1, "endpoint %u has several NICs", endpoint);
    struct reference_nic *nic = memory_allocate(1, sizeof *nic);
    nic->endpoint = endpoint;
    nic->line_bits_per_s = world->fabric->links[reference_world_link(world, endpoint, NIC_PORT)].rate_bits_per_s;
    nic->controller = congestion_controller_of(world->parameters->congestion.kind);
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
    free(nic->ring.numbers);
    free(nic->paced.numbers);
    reference_pulls_free(&nic->pulls);
    reference_queue_free(&nic->control);
    reference_queue_free(&nic->probes);
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
            return reference_pair_state(nic->pairs[number], world->parameters, nic->line_bits_per_s, now_ps);
        }
    }
    return (struct recorder_pair_state){0};
}

/* ---- ring and pacing ---- */

static void join_ring(struct reference_nic *nic, struct reference_pair *pair) {
    reference_list_append(&nic->ring, pair->number);
    pair->queued = true;
}

static void join_paced(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    reference_list_append(&nic->paced, pair->number);
    pair->queued = true;
    reference_world_wake(world, nic->endpoint, NIC_PORT, pair->next_ps);
}

/** Index in the list of paced queue pairs of the one that is due first; its count if none is due. */
static size_t first_due(const struct reference_nic *nic, uint64_t now_ps) {
    size_t found = nic->paced.count;
    for (size_t i = 0; i < nic->paced.count; i++) {
        const struct reference_pair *pair = nic->pairs[nic->paced.numbers[i]];
        const struct reference_pair *best = found < nic->paced.count ? nic->pairs[nic->paced.numbers[found]] : NULL;
        const bool sooner = best == NULL || pair->next_ps < best->next_ps ||
                            (pair->next_ps == best->next_ps && pair->number < best->number);
        if (pair->next_ps <= now_ps && sooner) {
            found = i;
        }
    }
    return found;
}

static void move_due(struct reference_nic *nic, uint64_t now_ps) {
    for (size_t i = first_due(nic, now_ps); i < nic->paced.count; i = first_due(nic, now_ps)) {
        reference_list_append(&nic->ring, reference_list_take(&nic->paced, i));
    }
}

static void look_for_work(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    if (!pair->queued && reference_pair_has_work(pair, &world->parameters->nic)) {
        if (pair->next_ps <= world->now_ps) {
            join_ring(nic, pair);
        } else {
            join_paced(world, nic, pair);
        }
    }
    reference_nic_choose(world, nic);
}

/* ---- window and clock ---- */

static void ask_window(const struct reference_world *world, const struct reference_nic *nic,
                       struct reference_pair *pair) {
    if (nic->controller->wants_acknowledgements) {
        pair->window =
            nic->controller->window(&world->parameters->congestion, &pair->congestion,
                                    reference_pair_acknowledged(pair, &world->parameters->nic) + pair->n_trimmed);
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

static void set_clock(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
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
static bool runs_out(const struct reference_world *world, const struct reference_pair *pair) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const uint64_t waited_ps = world->now_ps - pair->clock_ps;
    const bool few = pair->sent - reference_pair_acknowledged(pair, parameters) <= parameters->short_timeout_packets;
    return parameters->short_timeout_ps > 0 && few
               ? waited_ps >= backed_off_ps(pair, parameters->short_timeout_ps)
               : waited_ps >= backed_off_ps(pair, parameters->retransmit_timeout_ps);
}

/* ---- what goes on the wire ---- */

static void start(struct reference_world *world, struct reference_nic *nic, struct reference_queue *queue) {
    const struct reference_queued queued = reference_queue_pop(queue);
    reference_world_start(world, nic->endpoint, NIC_PORT, &queued);
}

static void join_probes(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const struct packet probe = {
        .source = nic->endpoint,
        .destination = pair->destination,
        .number = pair->probes,
        .queue_pair = (uint16_t)pair->number,
        .size_bytes = (uint16_t)parameters->control_bytes,
        .entropy = pair->entropy,
        .kind_class = (uint8_t)(PACKET_PROBE | (int)nic_parameters_class(parameters, nic->endpoint) << 4),
        .flags_transmission = parameters->adaptive_marking ? PACKET_FLAG_ADAPTIVE : 0};
    world->result->endpoints[nic->endpoint].probes_given_up += pair->probe_outstanding;
    world->result->endpoints[nic->endpoint].probes++;
    pair->probe_outstanding = true;
    pair->probe_number = pair->probes++;
    pair->probe_sent_ps = world->now_ps;
    reference_queue_push(&nic->probes, &(struct reference_queued){.packet = probe});
    reference_nic_choose(world, nic);
}

static void pace(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair, uint64_t size,
                 uint64_t duration_ps) {
    if (nic->controller->counts_bytes) {
        nic->controller->sent(&world->parameters->congestion, &pair->congestion, (uint32_t)size, world->now_ps);
    }
    const uint64_t rate = nic->controller->rate(&world->parameters->congestion, &pair->congestion, world->now_ps);
    const uint64_t gap_ps = size * UINT64_C(8000000000000) / rate;
    const bool at_line = rate >= nic->line_bits_per_s || gap_ps <= duration_ps;
    const bool work = reference_pair_has_work(pair, &world->parameters->nic);
    struct reference_endpoint_counts *counts = &world->result->endpoints[nic->endpoint];
    counts->window_stalls += !work && (pair->next < pair->n_packets || pair->n_lost > 0);
    counts->paced_packets += !at_line;
    if (!at_line) {
        pair->next_ps = world->now_ps + gap_ps;
    }
    if (work && at_line) {
        join_ring(nic, pair);
    } else if (work) {
        join_paced(world, nic, pair);
    }
}

static bool recycles(const struct reference_world *world) {
    return path_policy_of(world->parameters->path.kind)->recycles && world->parameters->nic.adaptive_marking;
}

static void send_data(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    const bool outstanding = reference_pair_outstanding(pair);
    struct reference_queued queued = {.packet = reference_pair_packet(pair)};
    if (recycles(world)) {
        queued.packet.entropy = host_reps_next(&pair->recycled);
    }
    world->result->endpoints[nic->endpoint].retransmitted_packets += reference_pair_next(pair) < pair->sent;
    const uint64_t duration_ps = reference_world_start(world, nic->endpoint, NIC_PORT, &queued);
    reference_pair_advance(pair, world->now_ps);
    if (!outstanding) {
        set_clock(world, nic, pair);
    }
    pace(world, nic, pair, queued.packet.size_bytes, duration_ps);
    const bool stale = world->now_ps - pair->probe_sent_ps > world->parameters->congestion.spectrum_x.probe_abort_ps;
    if (nic->controller->wants_probes && (!pair->probe_outstanding || stale)) {
        join_probes(world, nic, pair);
    }
}

static void choose_pair(struct reference_world *world, struct reference_nic *nic) {
    move_due(nic, world->now_ps);
    while (nic->ring.count > 0) {
        struct reference_pair *pair = nic->pairs[reference_list_take(&nic->ring, 0)];
        pair->queued = false;
        if (reference_pair_has_work(pair, &world->parameters->nic)) {
            send_data(world, nic, pair);
            return;
        }
    }
}

/* ---- pulls ---- */

/* A pull that has become due later than now will start then. */
static void wait_for_pull(struct reference_world *world, struct reference_nic *nic) {
    if (nic->pulls.turns.count > 0 && nic->pulls.next_ps > world->now_ps) {
        reference_world_wake(world, nic->endpoint, NIC_PORT, nic->pulls.next_ps);
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

static void pull(struct reference_world *world, struct reference_nic *nic) {
    const struct reference_queued queued = {
        .packet =
            reference_pulls_take(&nic->pulls, world->parameters, nic->endpoint, nic->line_bits_per_s, world->now_ps)};
    wait_for_pull(world, nic);
    reference_world_start(world, nic->endpoint, NIC_PORT, &queued);
}

void reference_nic_choose(struct reference_world *world, struct reference_nic *nic) {
    const struct reference_transmitter *transmitter = reference_world_transmitter(world, nic->endpoint, NIC_PORT);
    const bool held =
        transmitter->paused && nic_parameters_class(&world->parameters->nic, nic->endpoint) == PACKET_CLASS_LOSSLESS;
    if (transmitter->busy) {
        return;
    }
    if (nic->control.count > 0) {
        start(world, nic, &nic->control);
    } else if (nic->pulls.turns.count > 0 && nic->pulls.next_ps <= world->now_ps) {
        pull(world, nic);
    } else if (!held && nic->probes.count > 0) {
        start(world, nic, &nic->probes);
    } else if (!held) {
        choose_pair(world, nic);
    }
}

void reference_nic_sent(struct reference_world *world, struct reference_nic *nic) {
    reference_world_sent(world, nic->endpoint, NIC_PORT);
    reference_nic_choose(world, nic);
}

void reference_nic_reply(struct reference_world *world, struct reference_nic *nic, const struct packet *reply) {
    reference_queue_push(&nic->control, &(struct reference_queued){.packet = *reply});
    reference_nic_choose(world, nic);
}

/* ---- posting ---- */

static void post_urgent(struct reference_world *world, struct reference_nic *nic,
                        const struct traffic_message *message) {
    const struct packet packet = {.source = nic->endpoint,
                                  .destination = message->destination,
                                  .number = nic->urgent++,
                                  .message = message->tag,
                                  .size_bytes = (uint16_t)(message->bytes + world->parameters->nic.header_bytes),
                                  .entropy = (uint16_t)hash_mix(message->destination),
                                  .kind_class = PACKET_URGENT | PACKET_CLASS_CONTROL << 4,
                                  .flags_transmission = PACKET_FLAG_LAST};
    reference_nic_reply(world, nic, &packet);
}

static size_t find_peer(struct reference_nic *nic, uint32_t destination) {
    size_t index = 0;
    while (index < nic->n_peers && nic->peers[index].destination != destination) {
        index++;
    }
    if (index == nic->n_peers) {
        nic->peers = memory_resize(nic->peers, ++nic->n_peers, sizeof *nic->peers);
        nic->peers[index] = (struct peer){.destination = destination};
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
static void place(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    struct describe_path there, back;
    struct congestion_way way = {.line_bits_per_s = nic->line_bits_per_s,
                                 .packet_bytes = parameters->payload_bytes + parameters->header_bytes};
    if (describe_path(world->fabric, nic->endpoint, pair->destination, FABRIC_ETHERNET, way.packet_bytes, &there) &&
        describe_path(world->fabric, pair->destination, nic->endpoint, FABRIC_ETHERNET, parameters->control_bytes,
                      &back)) {
        way.base_round_trip_ps = there.latency_ps + back.latency_ps;
        way.switches = there.n_hops - 1;
    }
    if (parameters->window_products > 0) {
        pair->cap = nic_parameters_cap(parameters, &way);
    }
    if (nic->controller->wants_acknowledgements) {
        nic->controller->placed(&world->parameters->congestion, &pair->congestion, &way);
    }
    ask_window(world, nic, pair);
}

static struct reference_pair *pair_of(struct reference_world *world, struct reference_nic *nic,
                                      const struct traffic_message *message) {
    const struct congestion_parameters *congestion = &world->parameters->congestion;
    const uint32_t per_peer = world->parameters->nic.queue_pairs;
    const size_t peer = find_peer(nic, message->destination);
    const uint32_t index = (uint32_t)(nic->peers[peer].messages++ % per_peer);
    const uint32_t number = (uint32_t)peer * per_peer + index;
    struct reference_pair *pair = find_pair(nic, number);
    if (pair == NULL) {
        pair = nic->pairs[number] = reference_pair_create(nic->endpoint, message->destination, number, index);
        pair->recycled.stream = host_reps_stream(world->parameters->seed, nic->endpoint, number);
        nic->controller->start(congestion, &pair->congestion, nic->line_bits_per_s, message->share, world->now_ps);
        place(world, nic, pair);
    } else if (message->share != 0) {
        nic->controller->announced(congestion, &pair->congestion, message->share, world->now_ps);
    }
    return pair;
}

void reference_nic_post(struct reference_world *world, struct reference_nic *nic,
                        const struct traffic_message *message) {
    REQUIRE(nic != NULL, "a fabric message from an endpoint without a NIC");
    if (message->urgent) {
        post_urgent(world, nic, message);
        return;
    }
    struct reference_pair *pair = pair_of(world, nic, message);
    reference_pair_add(pair, message, &world->parameters->nic);
    world->result->endpoints[nic->endpoint].posted_sum_ps += world->now_ps;
    look_for_work(world, nic, pair);
}

/* ---- replies and the clock ---- */

static void complete(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    while (pair->completed < pair->n_messages && pair->messages[pair->completed].end <= pair->cumulative) {
        trace_add_message(&world->result->trace, TRACE_COMPLETE, world->now_ps, nic->endpoint, PACKET_DATA,
                          nic->endpoint, pair->destination, pair->messages[pair->completed].tag,
                          (uint16_t)pair->number);
        pair->completed++;
    }
}

/* before: packets acknowledged until now. */
static void note_progress(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                          uint32_t before) {
    complete(world, nic, pair);
    if (reference_pair_acknowledged(pair, &world->parameters->nic) > before) {
        pair->repeats = 0;
        set_clock(world, nic, pair);
    }
}

static void acknowledge(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                        uint32_t cumulative, uint32_t received) {
    const uint32_t before = reference_pair_acknowledged(pair, &world->parameters->nic);
    world->result->endpoints[nic->endpoint].late_acknowledgements += cumulative > pair->next;
    reference_pair_acknowledge(pair, cumulative, received);
    note_progress(world, nic, pair, before);
}

/* Selective repeat: the packet that caused an ACK is there, and all below the expected number. Returns whether a recovery begins. */
static bool acknowledge_selectively(struct reference_world *world, struct reference_nic *nic,
                                    struct reference_pair *pair, const struct packet *ack) {
    const uint32_t before = pair->received;
    const int64_t cause = reference_pair_cause(ack);
    if (cause >= 0 && reference_pair_arrived(pair, (uint32_t)cause, ack->flags_transmission >> 4)) {
        world->result->endpoints[nic->endpoint].spurious++;
    }
    pair->cumulative = ack->number > pair->cumulative ? ack->number : pair->cumulative;
    reference_pair_recount(pair);
    const bool begins = reference_pair_infer(pair, world->parameters->nic.loss_distance);
    reference_pair_recount(pair);
    world->result->endpoints[nic->endpoint].inferred += begins;
    note_progress(world, nic, pair, before);
    return begins;
}

static void rewind_pair(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    reference_pair_rewind(pair);
    nic->controller->lost(&world->parameters->congestion, &pair->congestion, world->now_ps);
    ask_window(world, nic, pair);
}

/* What the controller is told of an ACK. before, oldest: acknowledged packets and cumulative number until then. */
static void tell(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                 const struct packet *ack, uint32_t before, uint32_t oldest, uint8_t telemetry) {
    struct reference_endpoint_counts *counts = &world->result->endpoints[nic->endpoint];
    const uint32_t now = reference_pair_acknowledged(pair, &world->parameters->nic);
    const struct congestion_acknowledgement told = {.round_trip_ps =
                                                        reference_pair_round_trip_ps(pair, ack, oldest, world->now_ps),
                                                    .packets = now - before,
                                                    .in_flight = pair->next > now ? pair->next - now - pair->n_lost : 0,
                                                    .cumulative = pair->cumulative,
                                                    .next_number = pair->next,
                                                    .marked = (ack->flags_transmission & PACKET_FLAG_MARKED) != 0,
                                                    .telemetry = telemetry};
    counts->round_trips += told.round_trip_ps > 0;
    counts->untold_round_trips += told.round_trip_ps == 0;
    counts->telemetry += told.telemetry > 0;
    nic->controller->acknowledged(&world->parameters->congestion, &pair->congestion, &told, world->now_ps);
}

static void ack_arrived(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                        const struct packet *arrived) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const bool telling = nic->controller->wants_telemetry;
    struct packet ack = *arrived;
    bool lost = false;
    ack.number = telling ? arrived->number % REFERENCE_NUMBERS : arrived->number;
    const uint32_t oldest = pair->cumulative, before = reference_pair_acknowledged(pair, parameters);
    if (parameters->selective_repeat) {
        lost = acknowledge_selectively(world, nic, pair, &ack);
    } else {
        acknowledge(world, nic, pair, ack.number, ack.number + ack.message % REFERENCE_PAIR_CAUSE_UNIT);
    }
    if (recycles(world)) {
        host_reps_acknowledged(&pair->recycled, ack.entropy, (ack.flags_transmission & PACKET_FLAG_MARKED) != 0,
                               world->now_ps);
    }
    if (nic->controller->wants_acknowledgements) {
        tell(world, nic, pair, &ack, before, oldest, telling ? (uint8_t)(arrived->number / REFERENCE_NUMBERS) : 0);
    }
    if (lost) {
        nic->controller->lost(&world->parameters->congestion, &pair->congestion, world->now_ps);
    }
    ask_window(world, nic, pair);
}

static void nack_arrived(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                         const struct packet *nack) {
    if (!world->parameters->nic.selective_repeat) {
        if (nack->number >= pair->cumulative) {
            acknowledge(world, nic, pair, nack->number, 0);
            rewind_pair(world, nic, pair);
        }
        return;
    }
    if (reference_pair_trimmed(pair, nack->message, nack->flags_transmission >> 4)) {
        reference_pair_recount(pair);
        set_clock(world, nic, pair);
        nic->controller->trimmed(&world->parameters->congestion, &pair->congestion,
                                 pair->next - pair->received - pair->n_lost, world->now_ps);
        ask_window(world, nic, pair);
    }
}

static void probe_replied(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                          uint32_t number) {
    if (!pair->probe_outstanding || pair->probe_number != number) {
        return;
    }
    pair->probe_outstanding = false;
    nic->controller->probed(&world->parameters->congestion, &pair->congestion, world->now_ps - pair->probe_sent_ps,
                            world->now_ps);
    if (pair->cumulative < pair->n_packets) {
        join_probes(world, nic, pair);
    }
}

void reference_nic_replied(struct reference_world *world, struct reference_nic *nic, const struct packet *reply) {
    struct reference_pair *pair = nic->pairs[reply->queue_pair];
    switch (packet_kind(reply)) {
    case PACKET_ACK:
    case PACKET_SELECTIVE_ACK:
        ack_arrived(world, nic, pair, reply);
        break;
    case PACKET_NACK:
        nack_arrived(world, nic, pair, reply);
        break;
    case PACKET_CONGESTION:
        world->result->endpoints[nic->endpoint].notifications_received++;
        nic->controller->notified(&world->parameters->congestion, &pair->congestion, world->now_ps);
        break;
    case PACKET_PULL:
        world->result->endpoints[nic->endpoint].pulls++;
        nic->controller->pulled(&world->parameters->congestion, &pair->congestion, reply->number);
        ask_window(world, nic, pair);
        break;
    case PACKET_PROBE_REPLY:
        probe_replied(world, nic, pair, reply->number);
        break;
    default:
        BUG("no reply has kind %d", (int)packet_kind(reply));
    }
    look_for_work(world, nic, pair);
}

bool reference_nic_timeout(struct reference_world *world, struct reference_nic *nic, uint32_t queue_pair,
                           uint64_t setting) {
    struct reference_pair *pair = nic->pairs[queue_pair];
    if (setting != pair->clock_setting || !runs_out(world, pair)) {
        return false;
    }
    world->result->endpoints[nic->endpoint].timeouts++;
    if (recycles(world)) {
        host_reps_timed_out(&pair->recycled, world->now_ps);
    }
    if (world->parameters->nic.selective_repeat) {
        reference_pair_lose_all(pair);
        reference_pair_recount(pair);
        nic->controller->lost(&world->parameters->congestion, &pair->congestion, world->now_ps);
        ask_window(world, nic, pair);
    } else {
        rewind_pair(world, nic, pair);
    }
    pair->repeats++;
    set_clock(world, nic, pair);
    look_for_work(world, nic, pair);
    return true;
}
