// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_nic.h"

#include "reference_pair.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "congestion/receiver_credit.h"
#include "fabric/describe.h"

#include <stdlib.h>
#include <string.h>

enum { CAUSE_UNIT = 1 << 20, CAUSE_ZERO = 2048 }; /* of an ACK's message field */
enum { PHASE_TIMER = 5, TIE_TIMER = 2, REPEATS_MOST = 7, NIC_PORT = 0 };

/** Somebody this endpoint has queue pairs to. */
struct peer {
    uint32_t destination;
    uint64_t messages;
};

/** Numbers of queue pairs in order. */
struct pair_list {
    uint32_t *numbers;
    size_t count;
};

/** A queue pair that sends here, and what it is owed. */
struct owed {
    uint32_t source;
    uint16_t queue_pair, entropy;
    uint32_t owed, pulled;
    uint64_t bytes; /* of what is owed */
};

struct reference_nic {
    struct owed *owed; /* all that have ever sent */
    size_t n_owed;
    struct pair_list turns; /* those that are owed, by index */
    uint64_t pull_ps;       /* the next pull, not before */
    struct receiver_credit_pace pace;
    uint32_t endpoint;
    uint64_t line_bits_per_s;
    const struct congestion_controller *controller;
    struct reference_queue control, probes;
    struct peer *peers;
    size_t n_peers;
    struct reference_pair **pairs; /* NULL where not used yet */
    uint32_t n_pairs;
    struct pair_list ring, paced;
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
    receiver_credit_begin(&nic->pace);
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
    free(nic->owed);
    free(nic->turns.numbers);
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

static struct recorder_pair_state state_of(const struct reference_world *world, const struct reference_nic *nic,
                                           const struct reference_pair *pair, uint64_t now_ps) {
    struct congestion_state copy = pair->congestion;
    const uint32_t given = world->parameters->nic.window_packets;
    const uint64_t rate = nic->controller->rate(&world->parameters->congestion, &copy, now_ps);
    return (struct recorder_pair_state){
        .rate_bits_per_s = rate < nic->line_bits_per_s ? rate : nic->line_bits_per_s,
        .window_packets = given != 0 && given < pair->window ? given : pair->window,
        .sent_packets = pair->sent,
    };
}

struct recorder_pair_state reference_nic_pair(const struct reference_world *world, const struct reference_nic *nic,
                                              uint32_t destination, uint32_t index, uint64_t now_ps) {
    const uint32_t per_peer = world->parameters->nic.queue_pairs;
    for (uint32_t number = index; nic != NULL && number < nic->n_pairs; number += per_peer) {
        if (nic->pairs[number] != NULL && nic->pairs[number]->destination == destination) {
            return state_of(world, nic, nic->pairs[number], now_ps);
        }
    }
    return (struct recorder_pair_state){0};
}

/* ---- ring and pacing ---- */

static void list_append(struct pair_list *list, uint32_t number) {
    list->numbers = memory_resize(list->numbers, list->count + 1, sizeof *list->numbers);
    list->numbers[list->count++] = number;
}

static uint32_t list_take(struct pair_list *list, size_t index) {
    const uint32_t number = list->numbers[index];
    list->count--;
    memmove(list->numbers + index, list->numbers + index + 1, (list->count - index) * sizeof *list->numbers);
    return number;
}

static void join_ring(struct reference_nic *nic, struct reference_pair *pair) {
    list_append(&nic->ring, pair->number);
    pair->queued = true;
}

static void join_paced(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    list_append(&nic->paced, pair->number);
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
        list_append(&nic->ring, list_take(&nic->paced, i));
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

/* ---- the controller's window ---- */

static void ask_window(const struct reference_world *world, const struct reference_nic *nic,
                       struct reference_pair *pair) {
    if (nic->controller->wants_acknowledgements) {
        pair->window = nic->controller->window(&world->parameters->congestion, &pair->congestion,
                                               reference_pair_acknowledged(pair, &world->parameters->nic));
    }
}

/* ---- clock ---- */

static void set_clock(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    const int doublings = pair->repeats < REPEATS_MOST ? (int)pair->repeats : REPEATS_MOST;
    pair->clock_setting++;
    if (reference_pair_outstanding(pair)) {
        reference_heap_push(&world->heap,
                            &(struct reference_step){
                                .time_ps = world->now_ps + (world->parameters->nic.retransmit_timeout_ps << doublings),
                                .device = nic->endpoint,
                                .phase = PHASE_TIMER,
                                .tie = TIE_TIMER,
                                .place = pair->number,
                                .kind = REFERENCE_STEP_TIMEOUT,
                                .value = pair->clock_setting});
    }
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
    counts->window_stalls += !work && pair->next < pair->n_packets;
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
    if (pair->next < pair->sent) {
        world->result->endpoints[nic->endpoint].retransmitted_packets++;
    }
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
        struct reference_pair *pair = nic->pairs[list_take(&nic->ring, 0)];
        pair->queued = false;
        if (reference_pair_has_work(pair, &world->parameters->nic)) {
            send_data(world, nic, pair);
            return;
        }
    }
}

/* ---- pulls ---- */

static size_t find_owed(struct reference_nic *nic, const struct packet *packet) {
    size_t index = 0;
    while (index < nic->n_owed &&
           (nic->owed[index].source != packet->source || nic->owed[index].queue_pair != packet->queue_pair)) {
        index++;
    }
    if (index == nic->n_owed) {
        nic->owed = memory_resize(nic->owed, ++nic->n_owed, sizeof *nic->owed);
        nic->owed[index] =
            (struct owed){.source = packet->source, .queue_pair = packet->queue_pair, .entropy = packet->entropy};
    }
    return index;
}

void reference_nic_owe(struct reference_world *world, struct reference_nic *nic, const struct packet *packet,
                       bool new) {
    if (!nic->controller->wants_pulls) {
        return;
    }
    receiver_credit_arrived(&world->parameters->congestion.receiver_credit, &nic->pace,
                            (packet->flags_transmission & PACKET_FLAG_MARKED) != 0, world->now_ps);
    if (new) {
        const size_t index = find_owed(nic, packet);
        nic->owed[index].bytes += packet->size_bytes;
        nic->owed[index].entropy = packet->entropy;
        if (nic->owed[index].owed++ == 0) {
            list_append(&nic->turns, (uint32_t)index);
        }
        if (nic->pull_ps > world->now_ps) {
            reference_world_wake(world, nic->endpoint, NIC_PORT, nic->pull_ps);
        }
    }
    reference_nic_choose(world, nic);
}

static void pull(struct reference_world *world, struct reference_nic *nic) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const uint32_t most = world->parameters->congestion.receiver_credit.pull_packets;
    const uint32_t index = list_take(&nic->turns, 0);
    struct owed *owed = &nic->owed[index];
    const uint32_t packets = owed->owed < most ? owed->owed : most;
    const uint64_t bytes = owed->bytes * packets / owed->owed;
    owed->bytes -= bytes;
    owed->owed -= packets;
    owed->pulled += packets;
    if (owed->owed > 0) {
        list_append(&nic->turns, index);
    }
    nic->pull_ps = world->now_ps + receiver_credit_gap_ps(&nic->pace, bytes, nic->line_bits_per_s);
    if (nic->turns.count > 0) {
        reference_world_wake(world, nic->endpoint, NIC_PORT, nic->pull_ps);
    }
    const struct reference_queued queued = {.packet = {.source = nic->endpoint,
                                                       .destination = owed->source,
                                                       .number = owed->pulled,
                                                       .queue_pair = owed->queue_pair,
                                                       .size_bytes = (uint16_t)parameters->control_bytes,
                                                       .entropy = owed->entropy,
                                                       .kind_class = PACKET_PULL | PACKET_CLASS_CONTROL << 4}};
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
    } else if (nic->turns.count > 0 && nic->pull_ps <= world->now_ps) {
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

/* Tells a controller that wants acknowledgements of the way. */
static void place(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    struct describe_path there, back;
    if (!nic->controller->wants_acknowledgements) {
        return;
    }
    struct congestion_way way = {.line_bits_per_s = nic->line_bits_per_s,
                                 .packet_bytes = parameters->payload_bytes + parameters->header_bytes};
    if (describe_path(world->fabric, nic->endpoint, pair->destination, FABRIC_ETHERNET, way.packet_bytes, &there) &&
        describe_path(world->fabric, pair->destination, nic->endpoint, FABRIC_ETHERNET, parameters->control_bytes,
                      &back)) {
        way.base_round_trip_ps = there.latency_ps + back.latency_ps;
        way.switches = there.n_hops - 1;
    }
    nic->controller->placed(&world->parameters->congestion, &pair->congestion, &way);
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

static void acknowledge(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                        uint32_t cumulative, uint32_t received) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const uint32_t before = reference_pair_acknowledged(pair, parameters);
    world->result->endpoints[nic->endpoint].late_acknowledgements += cumulative > pair->next;
    reference_pair_acknowledge(pair, cumulative, received);
    while (pair->completed < pair->n_messages && pair->messages[pair->completed].end <= pair->cumulative) {
        trace_add_message(&world->result->trace, TRACE_COMPLETE, world->now_ps, nic->endpoint, PACKET_DATA,
                          nic->endpoint, pair->destination, pair->messages[pair->completed].tag,
                          (uint16_t)pair->number);
        pair->completed++;
    }
    if (reference_pair_acknowledged(pair, parameters) > before) {
        pair->repeats = 0;
        set_clock(world, nic, pair);
    }
}

static void rewind_pair(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    reference_pair_rewind(pair);
    nic->controller->lost(&world->parameters->congestion, &pair->congestion, world->now_ps);
    ask_window(world, nic, pair);
}

/* Time since the packet that caused an ACK started; 0 if that is not known. oldest: cumulative number before the ACK. */
static uint64_t round_trip_ps(const struct reference_world *world, const struct reference_pair *pair,
                              const struct packet *ack, uint32_t oldest) {
    const int64_t told = ack->message / CAUSE_UNIT;
    const int64_t cause = (int64_t)ack->number + told - CAUSE_ZERO;
    const bool known = told > 0 && cause >= (int64_t)oldest && cause < (int64_t)pair->sent;
    return known && pair->started_as[cause] == ack->flags_transmission >> 4 ? world->now_ps - pair->started_ps[cause]
                                                                            : 0;
}

static void ack_arrived(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                        const struct packet *arrived) {
    const struct nic_parameters *parameters = &world->parameters->nic;
    const bool telling = nic->controller->wants_telemetry;
    struct packet copy = *arrived;
    const struct packet *ack = &copy;
    copy.number = telling ? arrived->number % REFERENCE_NUMBERS : arrived->number;
    const uint32_t oldest = pair->cumulative, before = reference_pair_acknowledged(pair, parameters);
    acknowledge(world, nic, pair, ack->number, ack->number + ack->message % CAUSE_UNIT);
    if (recycles(world)) {
        host_reps_acknowledged(&pair->recycled, ack->entropy, (ack->flags_transmission & PACKET_FLAG_MARKED) != 0,
                               world->now_ps);
    }
    if (!nic->controller->wants_acknowledgements) {
        return;
    }
    const uint32_t now = reference_pair_acknowledged(pair, parameters);
    const struct congestion_acknowledgement told = {.round_trip_ps = round_trip_ps(world, pair, ack, oldest),
                                                    .packets = now - before,
                                                    .in_flight = pair->next > now ? pair->next - now : 0,
                                                    .cumulative = pair->cumulative,
                                                    .next_number = pair->next,
                                                    .marked = (ack->flags_transmission & PACKET_FLAG_MARKED) != 0,
                                                    .telemetry =
                                                        telling ? (uint8_t)(arrived->number / REFERENCE_NUMBERS) : 0};
    world->result->endpoints[nic->endpoint].round_trips += told.round_trip_ps > 0;
    world->result->endpoints[nic->endpoint].untold_round_trips += told.round_trip_ps == 0;
    world->result->endpoints[nic->endpoint].telemetry += told.telemetry > 0;
    nic->controller->acknowledged(&world->parameters->congestion, &pair->congestion, &told, world->now_ps);
    ask_window(world, nic, pair);
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
        ack_arrived(world, nic, pair, reply);
        break;
    case PACKET_NACK:
        if (reply->number >= pair->cumulative) {
            acknowledge(world, nic, pair, reply->number, 0);
            rewind_pair(world, nic, pair);
        }
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
    if (setting != pair->clock_setting) {
        return false;
    }
    world->result->endpoints[nic->endpoint].timeouts++;
    if (recycles(world)) {
        host_reps_timed_out(&pair->recycled, world->now_ps);
    }
    rewind_pair(world, nic, pair);
    pair->repeats++;
    set_clock(world, nic, pair);
    look_for_work(world, nic, pair);
    return true;
}
