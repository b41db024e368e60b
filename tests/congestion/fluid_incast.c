// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid_incast.h"

#include "base/error.h"
#include "base/hash.h"

#include <string.h>

#define STEP_PS UINT64_C(50000)
#define LAG_STEPS_LIMIT 4096

static const double kmin_bytes = 150000, kmax_bytes = 1500000, packet_bytes = 4096;

struct sender {
    double unbooked_bytes;
    struct congestion_state state;
    uint64_t sent_ps;  /* the probe in flight */
    uint64_t reply_ps; /* 0 = it has not reached the queue yet */
    uint64_t last_notification_ps;
    uint64_t draws;
};

struct fluid {
    const struct fluid_incast *incast;
    const struct congestion_controller *controller;
    struct sender senders[FLUID_SENDERS_LIMIT];
    double queue_bytes;
    double port_bytes_per_ps;
    double offered_bytes_per_ps[LAG_STEPS_LIMIT]; /* ring of what was sent lately */
};

static double offered_now(struct fluid *fluid, uint64_t now_ps) {
    double sum = 0;
    for (unsigned i = 0; i < fluid->incast->senders; i++) {
        sum += (double)fluid->controller->rate(fluid->incast->parameters, &fluid->senders[i].state, now_ps);
    }
    return sum / 8e12;
}

/* A fluid sender uses its rate in full; whole bytes are booked, the rest is kept for later. */
static void sender_count(struct fluid *fluid, struct sender *sender, uint64_t now_ps) {
    const struct congestion_parameters *parameters = fluid->incast->parameters;
    const double rate = (double)fluid->controller->rate(parameters, &sender->state, now_ps);
    sender->unbooked_bytes += rate / 8e12 * (double)STEP_PS;
    const uint32_t whole = (uint32_t)sender->unbooked_bytes;
    sender->unbooked_bytes -= whole;
    fluid->controller->sent(parameters, &sender->state, whole, now_ps);
}

/* Probes pass through the queue like data; each reply brings a decision and the next probe. */
static void sender_probe(struct fluid *fluid, struct sender *sender, uint64_t now_ps) {
    const uint64_t half_ps = fluid->incast->base_round_trip_ps / 2;
    if (sender->reply_ps == 0 && sender->sent_ps + half_ps <= now_ps) {
        sender->reply_ps = now_ps + (uint64_t)(fluid->queue_bytes / fluid->port_bytes_per_ps) + half_ps;
    }
    if (sender->reply_ps != 0 && sender->reply_ps <= now_ps) {
        fluid->controller->probed(fluid->incast->parameters, &sender->state, now_ps - sender->sent_ps, now_ps);
        sender->sent_ps = now_ps;
        sender->reply_ps = 0;
    }
}

/* The chance that one of the sender's packets of this step is marked, and its notification (which arrives at once). */
static void sender_mark(struct fluid *fluid, struct sender *sender, unsigned number, uint64_t now_ps) {
    const struct congestion_parameters *parameters = fluid->incast->parameters;
    if (now_ps - sender->last_notification_ps < parameters->notification_interval_ps ||
        fluid->queue_bytes <= kmin_bytes) {
        return;
    }
    const double mark =
        fluid->queue_bytes > kmax_bytes ? 1 : (fluid->queue_bytes - kmin_bytes) / (kmax_bytes - kmin_bytes);
    const double rate = (double)fluid->controller->rate(parameters, &sender->state, now_ps);
    const double packets = rate / 8e12 * (double)STEP_PS / packet_bytes;
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, number, 0);
    if (hash_unit(hash_draw(stream, sender->draws++)) < mark * packets) {
        sender->last_notification_ps = now_ps;
        fluid->controller->notified(parameters, &sender->state, now_ps);
    }
}

static void fluid_start(struct fluid *fluid, const struct fluid_incast *incast) {
    REQUIRE(incast->senders <= FLUID_SENDERS_LIMIT, "%u senders", incast->senders);
    memset(fluid, 0, sizeof *fluid);
    fluid->incast = incast;
    fluid->controller = congestion_controller_of(incast->parameters->kind);
    fluid->port_bytes_per_ps = (double)incast->line_bits_per_s / 8e12;
    for (unsigned i = 0; i < incast->senders; i++) {
        fluid->controller->start(incast->parameters, &fluid->senders[i].state, incast->line_bits_per_s,
                                 incast->share_fxp20, 0);
    }
}

/* One step of the queue; returns the bytes that the port sent. */
static double queue_step(struct fluid *fluid, double arriving_bytes_per_ps) {
    const double before = fluid->queue_bytes + arriving_bytes_per_ps * (double)STEP_PS;
    const double room = fluid->port_bytes_per_ps * (double)STEP_PS;
    const double sent = before < room ? before : room;
    const double limit = (double)fluid->incast->queue_limit_bytes;
    fluid->queue_bytes = before - sent < limit ? before - sent : limit;
    return sent;
}

struct fluid_outcome fluid_incast_run(const struct fluid_incast *incast) {
    static _Thread_local struct fluid fluid; /* too large for some stacks */
    struct fluid_outcome outcome = {0};
    double sent_bytes = 0;
    const uint64_t lag = incast->base_round_trip_ps / 2 / STEP_PS;
    REQUIRE(lag < LAG_STEPS_LIMIT, "the round trip is too long for this model");
    fluid_start(&fluid, incast);
    for (uint64_t step = 0; step * STEP_PS < incast->end_ps; step++) {
        const uint64_t now_ps = step * STEP_PS;
        fluid.offered_bytes_per_ps[step % LAG_STEPS_LIMIT] = offered_now(&fluid, now_ps);
        sent_bytes += queue_step(&fluid, step < lag ? 0 : fluid.offered_bytes_per_ps[(step - lag) % LAG_STEPS_LIMIT]);
        if ((uint64_t)fluid.queue_bytes > outcome.peak_queue_bytes) {
            outcome.peak_queue_bytes = (uint64_t)fluid.queue_bytes;
        }
        for (unsigned i = 0; i < incast->senders; i++) {
            if (fluid.controller->counts_bytes) {
                sender_count(&fluid, &fluid.senders[i], now_ps);
            }
            if (fluid.controller->wants_probes) {
                sender_probe(&fluid, &fluid.senders[i], now_ps);
            }
            if (incast->marking && fluid.controller->wants_notifications) {
                sender_mark(&fluid, &fluid.senders[i], i, now_ps);
            }
        }
    }
    outcome.offered_bits_per_s = (uint64_t)(offered_now(&fluid, incast->end_ps) * 8e12);
    outcome.used_share =
        sent_bytes / (fluid.port_bytes_per_ps * (double)(incast->end_ps - incast->base_round_trip_ps / 2));
    return outcome;
}
