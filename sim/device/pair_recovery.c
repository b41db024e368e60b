// SPDX-License-Identifier: GPL-3.0-or-later
/* Queue pairs, the sender's side under selective repeat: what replies and the clock say of single packets. */
#include "device/endpoint_internal.h"

/* The numbers of the queue pair that follow from what is known of its packets. */
static void follow(struct queue_pair *pair, const struct recovery *recovery) {
    pair->cumulative = recovery->cumulative;
    pair->received = recovery_received(recovery);
    pair->n_lost = recovery->n_lost;
}

bool pair_recovery_acknowledge(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *ack,
                               uint64_t now_ps) {
    struct recovery *recovery = &endpoint->nic.recoveries[pair->number].packets;
    const uint32_t before = pair->received;
    uint32_t cause;
    if (packet_ack_cause(ack, &cause) && recovery_arrived(recovery, cause, ack->flags_transmission >> 4)) {
        endpoint->counters.spurious++;
    }
    const bool moved = recovery_acknowledge(recovery, ack->number);
    const bool begins = recovery_infer(recovery, endpoint->context->parameters->nic.loss_distance);
    follow(pair, recovery);
    if (moved) {
        pair_complete_messages(endpoint, pair, now_ps);
    }
    if (pair->received > before) {
        pair->repeats = 0;
        pair->clock_ps = now_ps;
        pair_arm_timer(endpoint, pair);
    }
    return begins;
}

void pair_recovery_trimmed(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *nack,
                           uint64_t now_ps) {
    const struct context *context = endpoint->context;
    struct recovery *recovery = &endpoint->nic.recoveries[pair->number].packets;
    if (!recovery_trimmed(recovery, nack->message, nack->flags_transmission >> 4)) {
        return; // it is there, or was sent again since
    }
    follow(pair, recovery);
    pair->clock_ps = now_ps;
    pair_arm_timer(endpoint, pair);
    context->controller->trimmed(&context->parameters->congestion,
                                 &pair_context(&endpoint->nic, pair, endpoint->nic.reply_plane)->congestion,
                                 pair->next_number - pair->received - pair->n_lost, now_ps);
    pair_ask_window(endpoint, pair, endpoint->nic.reply_plane);
}

void pair_recovery_time_out(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    struct recovery *recovery = &endpoint->nic.recoveries[pair->number].packets;
    recovery_time_out(recovery);
    follow(pair, recovery);
    for (uint32_t plane = 0; plane < (endpoint->nic.separate ? endpoint->nic.n_planes : 1); plane++) {
        context->controller->lost(&context->parameters->congestion,
                                  &pair_plane(&endpoint->nic, pair, plane)->congestion, now_ps);
        pair_ask_window(endpoint, pair, plane);
    }
}
