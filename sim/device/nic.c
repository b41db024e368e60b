// SPDX-License-Identifier: GPL-3.0-or-later
/* The transmitters of a NIC, one a plane: control first, then probes, then queue pairs in turn, each at its controller's pace. */
#include "base/memory.h"
#include "device/endpoint_internal.h"
#include "device/wire.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>

static void init_port(struct endpoint *endpoint, uint32_t plane) {
    const struct context *context = endpoint->context;
    const struct fabric *fabric = context->fabric;
    const uint32_t number = fabric->devices[endpoint->device].first_port + plane;
    const struct fabric_link *link = &fabric->links[number];
    const struct fabric_device *head = &fabric->devices[link->head_device];
    struct nic_port *port = &endpoint->ports[plane];
    port->number = (uint16_t)plane;
    port->ps_per_byte = link->ps_per_byte;
    port->latency_ps = link->latency_ps;
    port->line_bits_per_s = link->rate_bits_per_s;
    port->link = number;
    port->arrival_mask = head->kind == FABRIC_SWITCH && head->cut_through ? 0 : UINT64_MAX;
    port->out = &context->rings->writers[ENGINE_PACKET][number];
    port->counters = &context->links[number];
    port->message_gap_ps = context->parameters->nic.message_gap_ps * endpoint->nic.n_planes;
    port->watched = context->failures != NULL || context->trace != NULL || context->parameters->infiniband.links ||
                    port->message_gap_ps > 0;
}

/* What each packet asks for, from parameters and policies that are far away. */
static void init_shortcuts(struct endpoint *endpoint) {
    const struct context *context = endpoint->context;
    const struct nic_parameters *parameters = &context->parameters->nic;
    const uint64_t short_ps = parameters->short_timeout_ps, long_ps = parameters->retransmit_timeout_ps;
    struct nic *nic = &endpoint->nic;
    nic->out_of_order = parameters->out_of_order;
    nic->window_packets = parameters->window_packets > 0 ? parameters->window_packets : CONGESTION_UNLIMITED;
    nic->selective = parameters->selective_repeat;
    nic->plain = nic->n_planes == 1 && !nic->selective && !pair_recycles(endpoint) &&
                 !context->controller->wants_acknowledgements && !context->controller->wants_telemetry;
    nic->least_timeout_ps = short_ps > 0 && short_ps < long_ps ? short_ps : long_ps;
}

void nic_init(struct endpoint *endpoint) {
    const struct context *context = endpoint->context;
    const struct nic_parameters *parameters = &context->parameters->nic;
    struct nic *nic = &endpoint->nic;
    nic->n_planes = endpoint->n_nics;
    nic->by_pair = parameters->plane_by_pair && nic->n_planes > 1;
    // windows of planes are counted by what the ledger knows, which selective repeat does not keep
    nic->separate = parameters->context_by_plane && nic->n_planes > 1 && !nic->by_pair &&
                    !(parameters->selective_repeat && context->controller->wants_acknowledgements);
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        init_port(endpoint, plane);
        nic->line_bits_per_s += endpoint->ports[plane].line_bits_per_s;
    }
    nic->data_class = (uint8_t)nic_parameters_class(parameters, endpoint->device);
    nic->holds_data = nic->data_class == PACKET_CLASS_LOSSLESS;
    nic->free_message = NO_MESSAGE;
    nic->n_parts = nic_parameters_parts(parameters);
    nic->changes =
        context->failures != NULL ? failure_plan_changes(context->failures, endpoint->device, &nic->n_changes) : NULL;
    nic->failover_ps = failover_happens(context) ? failover_step_ps(context, 0) : TIME_NEVER;
    nic->pulls = context->controller->wants_pulls ? pull_create() : NULL;
    nic_credit_init(endpoint);
    init_shortcuts(endpoint);
}

void nic_fini(struct endpoint *endpoint) {
    struct nic *nic = &endpoint->nic;
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        free(endpoint->ports[plane].ring);
        free(endpoint->ports[plane].credit);
        heap_fini(&endpoint->ports[plane].paced);
    }
    heap_fini(&nic->timers);
    for (uint32_t i = 0; nic->echoes && i < nic->n_pairs; i++) {
        echo_fini(&nic->echoes[i]);
    }
    for (uint32_t i = 0; nic->ledgers && i < nic->n_pairs; i++) {
        plane_ledger_fini(&nic->ledgers[i]);
    }
    for (uint32_t i = 0; nic->recoveries && i < nic->n_pairs; i++) {
        recovery_fini(&nic->recoveries[i].packets);
    }
    free(nic->echoes);
    free(nic->ledgers);
    free(nic->recoveries);
    free(nic->more_planes);
    free(nic->recycled);
    pull_free(nic->pulls);
    free(nic->pairs);
    table_fini(&nic->peers);
    table_fini(&nic->parts_sent);
    free(nic->peer_messages);
    free(nic->messages);
    free(nic->urgents);
}

static void ring_push(struct nic_port *port, uint16_t pair) {
    if (port->ring_count == port->ring_capacity) {
        const uint32_t old = port->ring_capacity;
        uint16_t *ring = memory_allocate(old ? 2 * (size_t)old : 8, sizeof(*ring));
        for (uint32_t i = 0; i < old; i++) {
            ring[i] = port->ring[(port->ring_first + i) & (old - 1)];
        }
        free(port->ring);
        port->ring = ring;
        port->ring_first = 0;
        port->ring_capacity = old ? 2 * old : 8;
    }
    port->ring[(port->ring_first + port->ring_count++) & (port->ring_capacity - 1)] = pair;
}

static void ring_drop(struct nic_port *port) {
    port->ring_first = (port->ring_first + 1) & (port->ring_capacity - 1);
    port->ring_count--;
}

/*
 * Most NICs have one port, and it sends every packet of a run: what follows is compiled once for them (several: false) and once
 * for NICs of several planes.
 */
#define FOR_ONE_OR_SEVERAL static inline __attribute__((always_inline))

/* What a queue pair has in the plane of a port. */
FOR_ONE_OR_SEVERAL struct pair_plane *plane_of(const struct nic *nic, struct queue_pair *pair,
                                               const struct nic_port *port, bool several) {
    return several ? pair_plane(nic, pair, port->number) : &pair->plane;
}

FOR_ONE_OR_SEVERAL struct pair_plane *context_of(const struct nic *nic, struct queue_pair *pair,
                                                 const struct nic_port *port, bool several) {
    return several ? pair_context(nic, pair, port->number) : &pair->plane;
}

FOR_ONE_OR_SEVERAL bool has_work(const struct endpoint *endpoint, struct queue_pair *pair, const struct nic_port *port,
                                 bool several) {
    return several ? pair_has_work(endpoint, pair, port->number) : pair_has_packet(endpoint, pair);
}

/* Where a queue pair with work waits for its next packet. */
FOR_ONE_OR_SEVERAL void line_up(const struct nic *nic, struct nic_port *port, struct queue_pair *pair, bool now,
                                bool several) {
    struct pair_plane *in = plane_of(nic, pair, port, several);
    if (now) {
        in->place = PAIR_IN_RING;
        ring_push(port, pair->number);
    } else {
        in->place = PAIR_IN_HEAP;
        heap_push(&port->paced, context_of(nic, pair, port, several)->next_ps, pair->number, 0);
    }
}

/* Puts a packet on a link that works. Returns how long it takes. */
static inline uint64_t put_on_link(struct engine_worker *worker, struct nic_port *port, const struct packet *packet,
                                   uint64_t now_ps) {
    const uint64_t duration_ps = rate_next_ps(port->ps_per_byte, packet->size_bytes, &port->carry);
    const uint64_t arrival_ps = now_ps + port->latency_ps + (duration_ps & port->arrival_mask);
    engine_put(worker, port->out, ENGINE_PACKET, arrival_ps, packet);
    return duration_ps;
}

/* The same on a link that may lose it; *lost says whether it does. */
static uint64_t put_on_failing_link(const struct context *context, struct engine_worker *worker, struct nic_port *port,
                                    const struct packet *packet, uint64_t now_ps, bool *lost) {
    const struct wire_start begun = wire_start(context, port->link, packet->size_bytes, &port->carry, now_ps);
    const uint64_t arrival_ps = now_ps + port->latency_ps + (begun.duration_ps & port->arrival_mask);
    *lost = begun.lost;
    if (begun.lost) {
        wire_lose(context, port->link, packet, now_ps);
    } else {
        engine_put(worker, port->out, ENGINE_PACKET, arrival_ps, packet);
    }
    return begun.duration_ps;
}

/* The same at a port that is watched, with all that belongs to it. */
static __attribute__((noinline)) uint64_t put_watched(struct endpoint *endpoint, struct engine_worker *worker,
                                                      struct nic_port *port, const struct packet *packet,
                                                      uint64_t now_ps) {
    const struct context *context = endpoint->context;
    bool lost = false;
    uint64_t duration_ps = context->failures != NULL ? put_on_failing_link(context, worker, port, packet, now_ps, &lost)
                                                     : put_on_link(worker, port, packet, now_ps);
    if (duration_ps < port->message_gap_ps && packet_kind(packet) == PACKET_DATA) {
        duration_ps = port->message_gap_ps;
    }
    if (port->credit != NULL) {
        nic_credit_spend(&endpoint->nic, port, packet, lost, now_ps);
    }
    if (context->trace != NULL) {
        trace_add_packet(context->trace, TRACE_START, now_ps, endpoint->device, port->number, packet,
                         now_ps + duration_ps);
    }
    return duration_ps;
}

uint32_t nic_first_free(const struct endpoint *endpoint) {
    uint32_t first = 0;
    for (uint32_t plane = 1; plane < endpoint->nic.n_planes; plane++) {
        first = endpoint->ports[plane].free_ps < endpoint->ports[first].free_ps ? plane : first;
    }
    return first;
}

/* Puts a packet on the link; the transmitter is free. Returns how long it takes. */
FOR_ONE_OR_SEVERAL uint64_t start(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                                  const struct packet *packet, uint64_t now_ps, bool several) {
    const uint64_t duration_ps = __builtin_expect(port->watched, 0)
                                     ? put_watched(endpoint, worker, port, packet, now_ps)
                                     : put_on_link(worker, port, packet, now_ps);
    endpoint->nic.free_ps = port->free_ps = now_ps + duration_ps;
    if (several) {
        endpoint->nic.free_ps = endpoint->ports[nic_first_free(endpoint)].free_ps;
    }
    counters_sent(port->counters, packet);
    return duration_ps;
}

/* Takes the pace of the controller into account: may the queue pair send again right after this packet? */
FOR_ONE_OR_SEVERAL bool is_unpaced(const struct endpoint *endpoint, const struct nic_port *port,
                                   struct queue_pair *pair, uint32_t size_bytes, uint64_t duration_ps, uint64_t now_ps,
                                   bool several) {
    const struct context *context = endpoint->context;
    const struct nic *nic = &endpoint->nic;
    struct pair_plane *in = context_of(nic, pair, port, several);
    if (context->controller->counts_bytes) {
        context->controller->sent(&context->parameters->congestion, &in->congestion, size_bytes, now_ps);
    }
    const bool shared = several && !nic->separate && !nic->by_pair; /* one context for all ports */
    const uint64_t line_bits_per_s = shared ? nic->line_bits_per_s : port->line_bits_per_s;
    const uint64_t rate = context->controller->rate(&context->parameters->congestion, &in->congestion, now_ps);
    if (rate >= line_bits_per_s) {
        return true;
    }
    const uint64_t gap_ps = size_bytes * UINT64_C(8000000000000) / rate;
    if (gap_ps <= duration_ps && !shared) {
        return true;
    }
    in->next_ps = now_ps + gap_ps;
    return false;
}

/* Sends a packet of the queue pair at the head of the ring. */
FOR_ONE_OR_SEVERAL void send_data(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                                  struct queue_pair *pair, uint64_t now_ps, bool several) {
    struct nic *nic = &endpoint->nic;
    struct packet packet;
    pair_next_packet(endpoint, pair, several ? port->number : 0, &packet, now_ps);
    const uint64_t duration_ps = start(endpoint, worker, port, &packet, now_ps, several);
    const bool unpaced = is_unpaced(endpoint, port, pair, packet.size_bytes, duration_ps, now_ps, several);
    const bool works = has_work(endpoint, pair, port, several);
    if (!works || !unpaced || port->ring_count > 1) { // alone in the ring, its tail is where it is
        ring_drop(port);
        plane_of(nic, pair, port, several)->place = PAIR_NOWHERE;
        if (works) {
            line_up(nic, port, pair, unpaced, several);
        }
    }
    const struct context *context = endpoint->context;
    if (context->controller->wants_probes) {
        struct pair_plane *in = context_of(nic, pair, port, several);
        in->unprobed_bytes += packet.size_bytes;
        if (in->probing ? now_ps - in->probe_ps > context->parameters->congestion.spectrum_x.probe_abort_ps
                        : pair_probe_is_due(endpoint, in)) {
            pair_probe(endpoint, worker, pair, port->number, now_ps);
            if (several) {
                nic_kick(endpoint, worker, now_ps); // it may go by another plane
            }
        }
    }
}

FOR_ONE_OR_SEVERAL void send_front(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                                   struct queue *queue, uint64_t now_ps, bool several) {
    start(endpoint, worker, port, queue_front(queue), now_ps, several);
    queue_pop(queue, &worker->pool);
}

static bool is_held(const struct nic *nic, const struct nic_port *port) {
    return port->paused && nic->holds_data;
}

/* Queue pairs whose time has come join the ring. */
FOR_ONE_OR_SEVERAL void move_due(struct nic *nic, struct nic_port *port, uint64_t now_ps, bool several) {
    while (heap_time_ps(&port->paced) <= now_ps) {
        struct queue_pair *pair = &nic->pairs[heap_pop(&port->paced).tie];
        plane_of(nic, pair, port, several)->place = PAIR_IN_RING;
        ring_push(port, pair->number);
    }
}

/* InfiniBand: nothing could start. If something waits, it is for credit. */
static __attribute__((noinline)) void note_stall(struct nic *nic, struct nic_port *port, uint64_t now_ps) {
    if (is_held(nic, port)) {
        move_due(nic, port, now_ps, nic->n_planes > 1);
    }
    const bool data = !queue_is_empty(&port->probes) || port->ring_count > 0;
    if ((port->control_held && !queue_is_empty(&port->control)) || (is_held(nic, port) && data)) {
        nic_credit_begin_stall(port, now_ps);
    } else {
        nic_credit_end_stall(port, now_ps);
    }
}

/* The ring of a port: the first queue pair that may send does. Returns false if none may. */
FOR_ONE_OR_SEVERAL bool send_from_ring(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                                       uint64_t now_ps, bool several) {
    struct nic *nic = &endpoint->nic;
    while (port->ring_count) {
        struct queue_pair *pair = &nic->pairs[port->ring[port->ring_first]];
        const bool works = has_work(endpoint, pair, port, several);
        // where planes share a context, another one may have sent of it since it joined the ring
        if (works && (!several || pair_context(nic, pair, port->number)->next_ps <= now_ps)) {
            send_data(endpoint, worker, port, pair, now_ps, several);
            return true;
        }
        ring_drop(port);
        plane_of(nic, pair, port, several)->place = PAIR_NOWHERE;
        if (works) {
            line_up(nic, port, pair, false, several);
        }
    }
    return false;
}

/* Probes and queue pairs of a port, which are not held. Returns false if nothing starts. */
FOR_ONE_OR_SEVERAL bool decide_data(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                                    uint64_t now_ps, bool several) {
    if (!queue_is_empty(&port->probes)) {
        send_front(endpoint, worker, port, &port->probes, now_ps, several);
        return true;
    }
    move_due(&endpoint->nic, port, now_ps, several);
    return send_from_ring(endpoint, worker, port, now_ps, several);
}

/* The transmitter of a port is free at now_ps: it starts at most one packet. */
FOR_ONE_OR_SEVERAL void decide(struct endpoint *endpoint, struct engine_worker *worker, struct nic_port *port,
                               uint64_t now_ps, bool several) {
    struct nic *nic = &endpoint->nic;
    if (!queue_is_empty(&port->control) && !port->control_held) {
        send_front(endpoint, worker, port, &port->control, now_ps, several);
        return;
    }
    if (nic->pulls && pull_next_ps(nic->pulls) <= now_ps && !port->control_held) {
        struct packet pull =
            pull_take(nic->pulls, endpoint->context->parameters, endpoint->device, nic->line_bits_per_s, now_ps);
        start(endpoint, worker, port, &pull, now_ps, several);
        return;
    }
    const bool started = !is_held(nic, port) && decide_data(endpoint, worker, port, now_ps, several);
    if (__builtin_expect(port->credit != NULL, 0) && !started) {
        note_stall(nic, port, now_ps);
    }
}

static __attribute__((noinline)) void start_several(struct endpoint *endpoint, struct engine_worker *worker,
                                                    struct nic_port *port, const struct packet *packet,
                                                    uint64_t now_ps) {
    start(endpoint, worker, port, packet, now_ps, true);
}

static void decide_one(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    decide(endpoint, worker, &endpoint->ports[0], now_ps, false);
}

static __attribute__((noinline)) void decide_several(struct endpoint *endpoint, struct engine_worker *worker,
                                                     struct nic_port *port, uint64_t now_ps) {
    decide(endpoint, worker, port, now_ps, true);
}

/* When something other than control packets may start, the transmitter apart. */
static uint64_t data_next_ps(const struct nic *nic, const struct nic_port *port) {
    if (is_held(nic, port) && (port->credit == NULL || port->credit->stalled)) {
        return port->credit == NULL ? TIME_NEVER : heap_time_ps(&port->paced); // those that are due join the ring
    }
    return !queue_is_empty(&port->probes) || port->ring_count ? 0 : heap_time_ps(&port->paced);
}

static inline __attribute__((always_inline)) uint64_t port_next_ps(const struct nic *nic, const struct nic_port *port) {
    // control packets that have no credit are to be seen waiting
    if (!queue_is_empty(&port->control) && (!port->control_held || !port->credit->stalled)) {
        return port->free_ps;
    }
    uint64_t next_ps = data_next_ps(nic, port);
    if (nic->pulls && pull_next_ps(nic->pulls) < next_ps && !port->control_held) {
        next_ps = pull_next_ps(nic->pulls);
    }
    return next_ps > port->free_ps ? next_ps : port->free_ps;
}

/* The port that starts something first; of several the one that has been free for longest, then the first. */
static struct nic_port *first_to_start(struct endpoint *endpoint, uint64_t *next_ps) {
    struct nic_port *first = &endpoint->ports[0];
    *next_ps = port_next_ps(&endpoint->nic, first);
    for (uint32_t plane = 1; plane < endpoint->nic.n_planes; plane++) {
        struct nic_port *port = &endpoint->ports[plane];
        const uint64_t port_ps = port_next_ps(&endpoint->nic, port);
        if (port_ps < *next_ps || (port_ps == *next_ps && port->free_ps < first->free_ps)) {
            first = port;
            *next_ps = port_ps;
        }
    }
    return first;
}

static __attribute__((noinline)) uint64_t next_of_several(const struct endpoint *endpoint) {
    uint64_t next_ps = TIME_NEVER;
    for (uint32_t plane = 0; plane < endpoint->nic.n_planes; plane++) {
        const uint64_t port_ps = port_next_ps(&endpoint->nic, &endpoint->ports[plane]);
        next_ps = port_ps < next_ps ? port_ps : next_ps;
    }
    return next_ps;
}

uint64_t nic_next_ps(const struct endpoint *endpoint) {
    return __builtin_expect(endpoint->nic.n_planes == 1, 1) ? port_next_ps(&endpoint->nic, &endpoint->ports[0])
                                                            : next_of_several(endpoint);
}

/* Something starts at next_ps, not after now_ps. Apart, since most calls of nic_catch_up find nothing. */
static __attribute__((noinline)) void catch_up_one(struct endpoint *endpoint, struct engine_worker *worker,
                                                   uint64_t next_ps, uint64_t now_ps) {
    do {
        decide_one(endpoint, worker, next_ps);
        next_ps = port_next_ps(&endpoint->nic, &endpoint->ports[0]);
    } while (next_ps <= now_ps);
}

static __attribute__((noinline)) void catch_up_several(struct endpoint *endpoint, struct engine_worker *worker,
                                                       uint64_t now_ps) {
    for (;;) {
        uint64_t next_ps;
        struct nic_port *port = first_to_start(endpoint, &next_ps);
        if (next_ps > now_ps) {
            return;
        }
        decide_several(endpoint, worker, port, next_ps);
    }
}

void nic_catch_up(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    if (__builtin_expect(endpoint->nic.n_planes == 1, 1)) {
        const uint64_t next_ps = port_next_ps(&endpoint->nic, &endpoint->ports[0]);
        if (next_ps <= now_ps) {
            catch_up_one(endpoint, worker, next_ps, now_ps);
        }
    } else if (endpoint->nic.n_planes > 1) {
        catch_up_several(endpoint, worker, now_ps);
    }
}

/* Idle ports look for work, the one that has been free for longest first. */
static void kick_ports(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    for (uint32_t tried = 0;;) {
        struct nic_port *next = NULL;
        for (uint32_t plane = 0; plane < endpoint->nic.n_planes; plane++) {
            struct nic_port *port = &endpoint->ports[plane];
            if (port->free_ps <= now_ps && !(tried >> plane & 1) && (!next || port->free_ps < next->free_ps)) {
                next = port;
            }
        }
        if (!next) {
            return;
        }
        tried |= 1u << next->number;
        decide_several(endpoint, worker, next, now_ps);
    }
}

void nic_kick(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    if (endpoint->nic.free_ps > now_ps) {
        return;
    }
    if (endpoint->nic.n_planes == 1) {
        decide_one(endpoint, worker, now_ps);
    } else {
        kick_ports(endpoint, worker, now_ps);
    }
}

/* Lines a queue pair up at all ports that may send of it. */
static void line_up_at_all(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair,
                           uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    bool joined = false;
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        if (pair_plane(nic, pair, plane)->place == PAIR_NOWHERE && pair_has_work(endpoint, pair, plane)) {
            line_up(nic, &endpoint->ports[plane], pair, pair_context(nic, pair, plane)->next_ps <= now_ps, true);
            joined = true;
        }
    }
    if (joined) {
        nic_kick(endpoint, worker, now_ps);
    }
}

void nic_join(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint64_t now_ps) {
    if (endpoint->nic.n_planes > 1) {
        line_up_at_all(endpoint, worker, pair, now_ps);
        return;
    }
    line_up(&endpoint->nic, &endpoint->ports[0], pair, pair->plane.next_ps <= now_ps, false);
    if (endpoint->ports[0].free_ps <= now_ps) {
        decide_one(endpoint, worker, now_ps);
    }
}

void nic_send_control(struct endpoint *endpoint, struct engine_worker *worker, uint32_t plane,
                      const struct packet *packet, uint64_t now_ps) {
    struct nic_port *port = &endpoint->ports[plane];
    if (port->free_ps > now_ps || !queue_is_empty(&port->control) || port->control_held) {
        queue_push(&port->control, &worker->pool, packet);
        if (port->control_held) {
            nic_kick(endpoint, worker, now_ps);
        }
    } else if (endpoint->nic.n_planes == 1) {
        start(endpoint, worker, &endpoint->ports[0], packet, now_ps, false);
    } else {
        start_several(endpoint, worker, port, packet, now_ps);
    }
}
