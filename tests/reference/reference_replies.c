// SPDX-License-Identifier: GPL-3.0-or-later
/* The sending side of a naive NIC: what replies and the retransmission clock do to queue pairs. */
#include "reference_nic_internal.h"

#include "reference_failure.h"

#include "base/error.h"

/* ---- replies and the clock ---- */

static void complete(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    while (pair->completed < pair->n_messages && pair->messages[pair->completed].end <= pair->cumulative) {
        const uint32_t tag = pair->messages[pair->completed++].tag;
        if (reference_parts_done(&nic->completed, pair->destination, tag, &world->parameters->nic)) {
            trace_add_message(&world->result->trace, TRACE_COMPLETE, world->now_ps, nic->endpoint, PACKET_DATA,
                              nic->endpoint, pair->destination, tag, (uint16_t)pair->number);
        }
    }
}

/* before: packets acknowledged until now. */
static void note_progress(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                          uint32_t before) {
    complete(world, nic, pair);
    if (reference_pair_acknowledged(pair, &world->parameters->nic) > before) {
        pair->repeats = 0;
        reference_nic_set_clock(world, nic, pair);
    }
}

static void acknowledge(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                        uint32_t cumulative, uint32_t received, int64_t cause) {
    const uint32_t before = reference_pair_acknowledged(pair, &world->parameters->nic);
    world->result->endpoints[nic->endpoint].late_acknowledgements += cumulative > pair->next;
    reference_pair_acknowledge(pair, cumulative, received, cause);
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
    const bool known = pair->books && pair->cumulative < pair->sent;
    const uint32_t plane = known ? pair->went_by[pair->cumulative] : 0;
    nic->controller->lost(&world->parameters->congestion, &reference_pair_context(pair, plane)->congestion,
                          world->now_ps);
    reference_nic_ask_window(world, nic, pair, plane);
}

/* What the controller is told of an ACK. before, oldest: acknowledged packets and cumulative number until then. */
static void tell(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                 const struct packet *ack, uint32_t before, uint32_t oldest, uint8_t telemetry) {
    struct reference_endpoint_counts *counts = &world->result->endpoints[nic->endpoint];
    const uint32_t now = reference_pair_acknowledged(pair, &world->parameters->nic);
    struct reference_plane *context = reference_pair_context(pair, nic->arrival);
    struct congestion_acknowledgement told = {.round_trip_ps =
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
    if (pair->separate) {
        told.cumulative = reference_pair_count(pair, nic->arrival, REFERENCE_ARRIVED);
        told.packets = told.cumulative - context->told;
        told.in_flight = reference_pair_count(pair, nic->arrival, REFERENCE_IN_FLIGHT);
        told.next_number = told.cumulative + told.in_flight;
        context->told = told.cumulative;
    }
    nic->controller->acknowledged(&world->parameters->congestion, &context->congestion, &told, world->now_ps);
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
        acknowledge(world, nic, pair, ack.number, ack.number + ack.message % REFERENCE_PAIR_CAUSE_UNIT,
                    reference_pair_cause(&ack));
    }
    if (reference_nic_recycles(world)) {
        host_reps_acknowledged(&pair->planes[nic->arrival].recycled, ack.entropy,
                               (ack.flags_transmission & PACKET_FLAG_MARKED) != 0, world->now_ps);
    }
    if (nic->controller->wants_acknowledgements) {
        tell(world, nic, pair, &ack, before, oldest, telling ? (uint8_t)(arrived->number / REFERENCE_NUMBERS) : 0);
    }
    if (lost) {
        nic->controller->lost(&world->parameters->congestion, &reference_pair_context(pair, nic->arrival)->congestion,
                              world->now_ps);
    }
    reference_nic_ask_window(world, nic, pair, nic->arrival);
}

static void nack_arrived(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                         const struct packet *nack) {
    if (!world->parameters->nic.selective_repeat) {
        if (nack->number >= pair->cumulative) {
            acknowledge(world, nic, pair, nack->number, 0, -1);
            rewind_pair(world, nic, pair);
        }
        return;
    }
    if (reference_pair_trimmed(pair, nack->message, nack->flags_transmission >> 4)) {
        reference_pair_recount(pair);
        reference_nic_set_clock(world, nic, pair);
        nic->controller->trimmed(&world->parameters->congestion,
                                 &reference_pair_context(pair, nic->arrival)->congestion,
                                 pair->next - pair->received - pair->n_lost, world->now_ps);
        reference_nic_ask_window(world, nic, pair, nic->arrival);
    }
}

static void probe_replied(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                          uint32_t number) {
    struct reference_plane *context = reference_pair_context(pair, nic->arrival);
    if (!context->probe_outstanding || context->probe_number != number) {
        return;
    }
    context->probe_outstanding = false;
    nic->controller->probed(&world->parameters->congestion, &context->congestion,
                            world->now_ps - context->probe_sent_ps, world->now_ps);
    world->result->endpoints[nic->endpoint].probes_held += !reference_nic_may_probe(world, context);
    if (pair->cumulative < pair->n_packets && reference_nic_may_probe(world, context)) {
        reference_nic_join_probes(world, nic, pair, nic->arrival);
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
        nic->controller->notified(&world->parameters->congestion,
                                  &reference_pair_context(pair, nic->arrival)->congestion, world->now_ps);
        break;
    case PACKET_PULL:
        world->result->endpoints[nic->endpoint].pulls++;
        nic->controller->pulled(&world->parameters->congestion, &pair->planes[0].congestion, reply->number);
        reference_nic_ask_window(world, nic, pair, 0);
        break;
    case PACKET_PROBE_REPLY:
        probe_replied(world, nic, pair, reply->number);
        break;
    default:
        BUG("no reply has kind %d", (int)packet_kind(reply));
    }
    reference_nic_look_for_work(world, nic, pair);
}

/** Whether something of a queue pair may be on its way over planes that do not lead there any more, and were open before. */
static bool loses(const struct reference_world *world, const struct reference_nic *nic,
                  const struct reference_pair *pair, const bool *were_closed) {
    bool lost = false;
    for (uint16_t plane = 0; plane < nic->n_planes; plane++) {
        const bool left = pair->planes[plane].closed && !were_closed[plane] &&
                          reference_failure_left_out(world, nic->endpoint, pair->destination, plane);
        lost |= left && (pair->books ? reference_pair_count(pair, plane, REFERENCE_IN_FLIGHT) > 0
                                     : reference_pair_outstanding(pair));
    }
    return lost;
}

static void lose_all(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair) {
    reference_pair_lose_all(pair);
    reference_pair_recount(pair);
    for (uint32_t i = 0; i < (pair->separate ? nic->n_planes : 1); i++) {
        nic->controller->lost(&world->parameters->congestion, &pair->planes[i].congestion, world->now_ps);
        reference_nic_ask_window(world, nic, pair, i);
    }
}

void reference_nic_fail_over(struct reference_world *world, struct reference_nic *nic) {
    for (uint32_t number = 0; number < nic->n_pairs; number++) {
        struct reference_pair *pair = nic->pairs[number];
        bool were_closed[REFERENCE_PLANES], moved = false;
        if (pair == NULL) {
            continue;
        }
        for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
            were_closed[plane] = pair->planes[plane].closed;
        }
        reference_nic_open(world, nic, pair);
        for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
            moved |= were_closed[plane] != pair->planes[plane].closed;
        }
        if (loses(world, nic, pair, were_closed)) {
            if (world->parameters->nic.selective_repeat) {
                lose_all(world, nic, pair);
            } else {
                rewind_pair(world, nic, pair);
            }
        }
        if (moved) {
            reference_nic_look_for_work(world, nic, pair);
        }
    }
}

bool reference_nic_timeout(struct reference_world *world, struct reference_nic *nic, uint32_t queue_pair,
                           uint64_t setting) {
    struct reference_pair *pair = nic->pairs[queue_pair];
    if (setting != pair->clock_setting || !reference_nic_runs_out(world, pair)) {
        return false;
    }
    world->result->endpoints[nic->endpoint].timeouts++;
    if (reference_nic_recycles(world) && network_parameters_trim(world->parameters)) {
        for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
            host_reps_timed_out(&pair->planes[plane].recycled, world->now_ps);
        }
    }
    if (world->parameters->nic.selective_repeat) {
        lose_all(world, nic, pair);
    } else {
        rewind_pair(world, nic, pair);
    }
    pair->repeats++;
    reference_nic_set_clock(world, nic, pair);
    reference_nic_look_for_work(world, nic, pair);
    return true;
}
