// SPDX-License-Identifier: GPL-3.0-or-later
/* The transmitter of a NIC: control first, then probes, then queue pairs in turn, each at its controller's pace. */
#include "base/memory.h"
#include "device/endpoint_internal.h"
#include "device/wire.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>

void nic_init(struct endpoint *endpoint) {
    const struct context *context = endpoint->context;
    const struct fabric *fabric = context->fabric;
    struct nic *nic = &endpoint->nic;
    const uint32_t number = fabric->devices[endpoint->device].first_port;
    const struct fabric_link *link = &fabric->links[number];
    const struct fabric_device *head = &fabric->devices[link->head_device];
    nic->ps_per_byte = link->ps_per_byte;
    nic->latency_ps = link->latency_ps;
    nic->line_bits_per_s = link->rate_bits_per_s;
    nic->link = number;
    nic->arrival_mask = head->kind == FABRIC_SWITCH && head->cut_through ? 0 : UINT64_MAX;
    nic->out = &context->rings->writers[ENGINE_PACKET][number];
    nic->counters = &context->links[number];
    nic->data_class = (uint8_t)nic_parameters_class(&context->parameters->nic, endpoint->device);
    nic->holds_data = nic->data_class == PACKET_CLASS_LOSSLESS;
    nic->free_message = NO_MESSAGE;
    nic->changes =
        context->failures != NULL ? failure_plan_changes(context->failures, endpoint->device, &nic->n_changes) : NULL;
    nic->pulls = context->controller->wants_pulls ? pull_create() : NULL;
}

void nic_fini(struct nic *nic) {
    free(nic->ring);
    heap_fini(&nic->paced);
    heap_fini(&nic->timers);
    for (uint32_t i = 0; nic->echoes && i < nic->n_pairs; i++) {
        echo_fini(&nic->echoes[i]);
    }
    free(nic->echoes);
    for (uint32_t i = 0; nic->recoveries && i < nic->n_pairs; i++) {
        recovery_fini(&nic->recoveries[i].packets);
    }
    free(nic->recoveries);
    free(nic->recycled);
    pull_free(nic->pulls);
    free(nic->pairs);
    table_fini(&nic->peers);
    free(nic->peer_messages);
    free(nic->messages);
}

static void ring_push(struct nic *nic, uint16_t pair) {
    if (nic->ring_count == nic->ring_capacity) {
        const uint32_t old = nic->ring_capacity;
        uint16_t *ring = memory_allocate(old ? 2 * (size_t)old : 8, sizeof(*ring));
        for (uint32_t i = 0; i < old; i++) {
            ring[i] = nic->ring[(nic->ring_first + i) & (old - 1)];
        }
        free(nic->ring);
        nic->ring = ring;
        nic->ring_first = 0;
        nic->ring_capacity = old ? 2 * old : 8;
    }
    nic->ring[(nic->ring_first + nic->ring_count++) & (nic->ring_capacity - 1)] = pair;
}

static void ring_drop(struct nic *nic) {
    nic->ring_first = (nic->ring_first + 1) & (nic->ring_capacity - 1);
    nic->ring_count--;
}

/* Where a queue pair with work waits for its next packet. */
static void line_up(struct nic *nic, struct queue_pair *pair, bool now) {
    if (now) {
        pair->place = PAIR_IN_RING;
        ring_push(nic, pair->number);
    } else {
        pair->place = PAIR_IN_HEAP;
        heap_push(&nic->paced, pair->next_ps, pair->number, 0);
    }
}

void nic_line_up(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint64_t now_ps) {
    if (pair->place != PAIR_NOWHERE || !pair_has_work(endpoint, pair)) {
        return;
    }
    line_up(&endpoint->nic, pair, pair->next_ps <= now_ps);
    nic_kick(endpoint, worker, now_ps);
}

/* How long a packet takes that may get lost on its way. */
static uint64_t put_on_failing_link(struct endpoint *endpoint, struct engine_worker *worker,
                                    const struct packet *packet, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    struct nic *nic = &endpoint->nic;
    const struct wire_start begun = wire_start(context, nic->link, packet->size_bytes, &nic->carry, now_ps);
    const uint64_t arrival_ps = now_ps + nic->latency_ps + (begun.duration_ps & nic->arrival_mask);
    if (begun.lost) {
        wire_lose(context, nic->link, packet, now_ps);
    } else {
        engine_put(worker, nic->out, ENGINE_PACKET, arrival_ps, packet);
    }
    return begun.duration_ps;
}

/* Puts a packet on the link; the transmitter is free. Returns how long it takes. */
static inline uint64_t start(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                             uint64_t now_ps) {
    const struct context *context = endpoint->context;
    struct nic *nic = &endpoint->nic;
    uint64_t duration_ps;
    if (__builtin_expect(context->failures != NULL, 0)) {
        duration_ps = put_on_failing_link(endpoint, worker, packet, now_ps);
    } else {
        duration_ps = rate_next_ps(nic->ps_per_byte, packet->size_bytes, &nic->carry);
        const uint64_t arrival_ps = now_ps + nic->latency_ps + (duration_ps & nic->arrival_mask);
        engine_put(worker, nic->out, ENGINE_PACKET, arrival_ps, packet);
    }
    nic->free_ps = now_ps + duration_ps;
    counters_sent(nic->counters, packet);
    if (__builtin_expect(context->trace != NULL, 0)) {
        trace_add_packet(context->trace, TRACE_START, now_ps, endpoint->device, 0, packet, nic->free_ps);
    }
    return duration_ps;
}

/* Takes the pace of the controller into account: may the queue pair send again right after this packet? */
static bool is_unpaced(const struct endpoint *endpoint, struct queue_pair *pair, uint32_t size_bytes,
                       uint64_t duration_ps, uint64_t now_ps) {
    const struct context *context = endpoint->context;
    if (context->controller->counts_bytes) {
        context->controller->sent(&context->parameters->congestion, &pair->congestion, size_bytes, now_ps);
    }
    const uint64_t rate = context->controller->rate(&context->parameters->congestion, &pair->congestion, now_ps);
    if (rate >= endpoint->nic.line_bits_per_s) {
        return true;
    }
    const uint64_t gap_ps = size_bytes * UINT64_C(8000000000000) / rate;
    if (gap_ps <= duration_ps) {
        return true;
    }
    pair->next_ps = now_ps + gap_ps;
    return false;
}

/* Sends a packet of the queue pair at the head of the ring. */
static void send_data(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair,
                      uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    struct packet packet;
    pair_next_packet(endpoint, pair, &packet, now_ps);
    const uint64_t duration_ps = start(endpoint, worker, &packet, now_ps);
    const bool unpaced = is_unpaced(endpoint, pair, packet.size_bytes, duration_ps, now_ps);
    const bool works = pair_has_work(endpoint, pair);
    if (!works || !unpaced || nic->ring_count > 1) { // alone in the ring, its tail is where it is
        ring_drop(nic);
        pair->place = PAIR_NOWHERE;
        if (works) {
            line_up(nic, pair, unpaced);
        }
    }
    const struct context *context = endpoint->context;
    if (context->controller->wants_probes &&
        (!pair->probing || now_ps - pair->probe_ps > context->parameters->congestion.spectrum_x.probe_abort_ps)) {
        pair_probe(endpoint, worker, pair, now_ps);
    }
}

static inline void send_front(struct endpoint *endpoint, struct engine_worker *worker, struct queue *queue,
                              uint64_t now_ps) {
    start(endpoint, worker, queue_front(queue), now_ps);
    queue_pop(queue, &worker->pool);
}

static bool is_held(const struct nic *nic) {
    return nic->paused && nic->holds_data;
}

/* The transmitter is free at now_ps: it starts at most one packet. */
static void decide(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    if (!queue_is_empty(&nic->control)) {
        send_front(endpoint, worker, &nic->control, now_ps);
        return;
    }
    if (nic->pulls && pull_next_ps(nic->pulls) <= now_ps) {
        struct packet pull =
            pull_take(nic->pulls, endpoint->context->parameters, endpoint->device, nic->line_bits_per_s, now_ps);
        start(endpoint, worker, &pull, now_ps);
        return;
    }
    if (is_held(nic)) {
        return;
    }
    if (!queue_is_empty(&nic->probes)) {
        send_front(endpoint, worker, &nic->probes, now_ps);
        return;
    }
    while (heap_time_ps(&nic->paced) <= now_ps) {
        struct queue_pair *pair = &nic->pairs[heap_pop(&nic->paced).tie];
        pair->place = PAIR_IN_RING;
        ring_push(nic, pair->number);
    }
    while (nic->ring_count) {
        struct queue_pair *pair = &nic->pairs[nic->ring[nic->ring_first]];
        if (pair_has_work(endpoint, pair)) {
            send_data(endpoint, worker, pair, now_ps);
            return;
        }
        ring_drop(nic);
        pair->place = PAIR_NOWHERE;
    }
}

/* When something other than control packets may start, the transmitter apart. */
static uint64_t data_next_ps(const struct nic *nic) {
    if (is_held(nic)) {
        return TIME_NEVER;
    }
    return !queue_is_empty(&nic->probes) || nic->ring_count ? 0 : heap_time_ps(&nic->paced);
}

uint64_t nic_next_ps(const struct nic *nic) {
    if (!queue_is_empty(&nic->control)) {
        return nic->free_ps;
    }
    uint64_t next_ps = data_next_ps(nic);
    if (nic->pulls && pull_next_ps(nic->pulls) < next_ps) {
        next_ps = pull_next_ps(nic->pulls);
    }
    return next_ps > nic->free_ps ? next_ps : nic->free_ps;
}

void nic_catch_up(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    for (;;) {
        const uint64_t next_ps = nic_next_ps(&endpoint->nic);
        if (next_ps > now_ps) {
            return;
        }
        decide(endpoint, worker, next_ps);
    }
}

void nic_kick(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    if (endpoint->nic.free_ps <= now_ps) {
        decide(endpoint, worker, now_ps);
    }
}

void nic_send_control(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                      uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    if (nic->free_ps <= now_ps && queue_is_empty(&nic->control)) {
        start(endpoint, worker, packet, now_ps);
        return;
    }
    queue_push(&nic->control, &worker->pool, packet);
}

/* Pauses hold no longer. nic_drain up to now_ps, or to just before it, must have been called. */
static void resume(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    nic->paused = false;
    endpoint->context->links[nic->link].paused_ps += now_ps - nic->paused_since_ps;
    nic_kick(endpoint, worker, now_ps);
}

void nic_handle_control(struct endpoint *endpoint, struct engine_worker *worker, const struct control *control,
                        uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    nic_drain(endpoint, worker, now_ps);
    if (control->kind == CONTROL_PAUSE) {
        nic->paused = true;
        nic->paused_since_ps = now_ps;
        endpoint->context->links[nic->link].pauses++;
    } else if (control->kind == CONTROL_RESUME && nic->paused) {
        resume(endpoint, worker, now_ps);
    }
}

uint64_t nic_next_change_ps(const struct nic *nic) {
    return nic->n_changes_taken < nic->n_changes ? nic->changes[nic->n_changes_taken].time_ps : TIME_NEVER;
}

void nic_handle_change(struct endpoint *endpoint, struct engine_worker *worker) {
    struct nic *nic = &endpoint->nic;
    const struct failure_change *change = &nic->changes[nic->n_changes_taken++];
    if (change->down && nic->paused) {
        nic_drain(endpoint, worker, change->time_ps - 1);
        resume(endpoint, worker, change->time_ps);
    }
    if (!change->down && receive_buffer_is_pausing(endpoint->receive)) {
        receive_buffer_pause(endpoint, worker, change->time_ps); // the leaf has forgotten it
    }
}
