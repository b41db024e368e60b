// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/pairs.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/rate.h"
#include "device/entropy.h"
#include "device/pieces.h"
#include "fabric/describe.h"
#include "fluid/timers.h"
#include "fluid/ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
/* Streams at which rates are looked at once in the resolution; with fewer more often, with many more less often: the work is the same. */
enum { FEW_STREAMS = 4096, MANY_STREAMS = 65536 };
/* Weight of all that a NIC offers. */
enum { OFFER = 1 << 20 };

struct pair {
    uint32_t source, destination;
    uint32_t head, tail; /* messages; NOBODY: none */
    uint32_t place;      /* among the active */
    uint32_t known_bytes;
    uint64_t known_ps; /* latency of a packet of so many bytes */
    uint64_t begun_ps; /* the head became the head */
    uint64_t since_ps; /* `sent` is of that time */
    double sent;       /* bytes of the head */
    double rate;       /* of all its streams, bytes a picosecond */
    uint64_t carried_bytes;
};

/* Queue pairs from one rank to another. */
struct peer {
    uint64_t key;        /* source and destination, plus 1; 0: nobody */
    uint32_t first_pair; /* NOBODY until used: all of the peer's follow */
    uint32_t number;     /* in the order in which the source first used it */
    uint64_t posted;     /* messages */
};

/* A port that serves urgent messages one after the other. */
struct urgent_port {
    uint64_t out_free_ps, in_free_ps;
};

struct pairs {
    const struct fabric *fabric;
    const struct fluid_parameters *given;
    struct ways *ways;
    struct share *share;
    uint32_t n_streams; /* of a pair */
    struct pair *pairs;
    struct share_stream *streams; /* [pair × n_streams] */
    double *stream_bytes;         /* [pair × n_streams] where a pair has several */
    uint32_t n_pairs, pairs_capacity;
    struct peer *peers; /* open addressing */
    uint32_t n_peers, peers_capacity;
    uint32_t *peers_of; /* [rank] how many it has used */
    uint32_t *busy_of;  /* [rank] active queue pairs */
    struct fluid_message *messages;
    uint32_t n_messages, messages_capacity;
    uint32_t *active, *active_streams;
    uint32_t n_active, n_active_streams, active_capacity;
    struct timers timers;
    struct urgent_port *urgent;
    bool changed;
    uint64_t solved_ps; /* last */
    uint64_t solutions;
};

/* ACK bytes for a byte of a full packet on the wire. */
static double acknowledge_share(const struct fluid_parameters *given) {
    const uint32_t every =
        given->acknowledge_bytes > given->payload_bytes ? given->acknowledge_bytes : given->payload_bytes;
    const double packets = (double)every / (double)given->payload_bytes;
    return (double)given->control_bytes / (packets * (double)(given->payload_bytes + given->header_bytes));
}

/* Each plane has a stream of its own where packets choose: a plane that can carry more gets more. */
static uint32_t streams_of_pair(const struct fabric *fabric, const struct fluid_parameters *given) {
    return given->plane_by_pair || given->planes_alike ? 1 : fabric->n_planes;
}

struct pairs *pairs_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                           const struct failure_plan *failures) {
    struct pairs *pairs = memory_allocate(1, sizeof(*pairs));
    pairs->fabric = fabric;
    pairs->given = parameters;
    pairs->ways = ways_create(&(struct ways_parameters){.fabric = fabric,
                                                        .path = &parameters->path,
                                                        .failures = failures,
                                                        .seed = parameters->seed,
                                                        .receive_ps_per_byte = parameters->receive_ps_per_byte,
                                                        .acknowledge = acknowledge_share(parameters)});
    uint32_t n_limits;
    const double *capacities = ways_capacities(pairs->ways, &n_limits);
    pairs->share = share_create(n_limits, capacities);
    pairs->n_streams = streams_of_pair(fabric, parameters);
    pairs->peers_of = memory_allocate(fabric->n_endpoints, sizeof(*pairs->peers_of));
    pairs->busy_of = memory_allocate(fabric->n_endpoints, sizeof(*pairs->busy_of));
    pairs->urgent = memory_allocate(fabric->n_endpoints, sizeof(*pairs->urgent));
    pairs->peers_capacity = 1024;
    pairs->peers = memory_allocate(pairs->peers_capacity, sizeof(*pairs->peers));
    return pairs;
}

void pairs_free(struct pairs *pairs) {
    if (pairs) {
        ways_free(pairs->ways);
        share_free(pairs->share);
        free(pairs->pairs);
        free(pairs->streams);
        free(pairs->stream_bytes);
        free(pairs->peers);
        free(pairs->peers_of);
        free(pairs->busy_of);
        free(pairs->messages);
        free(pairs->active);
        free(pairs->active_streams);
        free(pairs->urgent);
        timers_fini(&pairs->timers);
        free(pairs);
    }
}

/* ---- who sends to whom ---- */

static struct peer *look_up(struct pairs *pairs, uint64_t key) {
    uint32_t at = (uint32_t)hash_mix(key) & (pairs->peers_capacity - 1);
    while (pairs->peers[at].key != 0 && pairs->peers[at].key != key) {
        at = (at + 1) & (pairs->peers_capacity - 1);
    }
    return &pairs->peers[at];
}

static void grow_peers(struct pairs *pairs) {
    struct peer *old = pairs->peers;
    const uint32_t n = pairs->peers_capacity;
    pairs->peers_capacity = 2 * n;
    pairs->peers = memory_allocate(pairs->peers_capacity, sizeof(*pairs->peers));
    for (uint32_t i = 0; i < n; i++) {
        if (old[i].key != 0) {
            *look_up(pairs, old[i].key) = old[i];
        }
    }
    free(old);
}

static uint64_t latency_ps(const struct pairs *pairs, uint32_t source, uint32_t destination, uint64_t bytes) {
    struct describe_path path;
    return describe_path(pairs->fabric, source, destination, FABRIC_ETHERNET, bytes, &path) ? path.latency_ps : 0;
}

uint64_t pairs_control_ps(const struct pairs *pairs, uint32_t source, uint32_t destination) {
    return latency_ps(pairs, source, destination, pairs->given->control_bytes);
}

/* A window is sent once in a round trip. */
static double most_of(const struct pairs *pairs, uint32_t source, uint32_t destination) {
    const struct fluid_parameters *given = pairs->given;
    if (given->window_bytes == 0) {
        return INFINITY;
    }
    const uint32_t packet_bytes = given->payload_bytes + given->header_bytes;
    const uint64_t packets = (given->window_bytes + given->payload_bytes - 1) / given->payload_bytes;
    const uint64_t round_trip_ps =
        latency_ps(pairs, source, destination, packet_bytes) + pairs_control_ps(pairs, destination, source);
    return (double)(packets * packet_bytes) / (double)round_trip_ps / pairs->n_streams;
}

static void find_streams(struct pairs *pairs, uint32_t number, uint32_t pair_number, uint32_t index) {
    const struct pair *pair = &pairs->pairs[number];
    const struct fluid_parameters *given = pairs->given;
    const uint16_t entropy = entropy_of_pair(pair->destination, index);
    const double most = most_of(pairs, pair->source, pair->destination);
    for (uint32_t s = 0; s < pairs->n_streams; s++) {
        struct share_stream *stream = &pairs->streams[(uint64_t)number * pairs->n_streams + s];
        const uint32_t plane = pairs->fabric->n_planes == 1 ? 0
                               : given->plane_by_pair       ? pair_number % pairs->fabric->n_planes
                               : given->planes_alike        ? WAYS_ALL_PLANES
                                                            : s;
        const bool found = ways_find(pairs->ways, pair->source, pair->destination, entropy, plane, stream);
        stream->most = found ? most : 0;
    }
}

static void make_room(struct pairs *pairs, uint32_t n_pairs) {
    if (n_pairs <= pairs->pairs_capacity) {
        return;
    }
    pairs->pairs_capacity = n_pairs + n_pairs / 2 + 64;
    const size_t capacity = pairs->pairs_capacity, streams = capacity * pairs->n_streams;
    pairs->pairs = memory_resize(pairs->pairs, capacity, sizeof(*pairs->pairs));
    pairs->streams = memory_resize(pairs->streams, streams, sizeof(*pairs->streams));
    if (pairs->n_streams > 1) {
        pairs->stream_bytes = memory_resize(pairs->stream_bytes, streams, sizeof(*pairs->stream_bytes));
    }
}

static void add_pairs(struct pairs *pairs, struct peer *peer, uint32_t source, uint32_t destination) {
    const uint32_t n = pairs->given->queue_pairs;
    make_room(pairs, pairs->n_pairs + n);
    timers_grow(&pairs->timers, pairs->n_pairs + n);
    peer->first_pair = pairs->n_pairs;
    peer->number = pairs->peers_of[source]++;
    for (uint32_t index = 0; index < n; index++) {
        const uint32_t number = pairs->n_pairs++;
        pairs->pairs[number] = (struct pair){
            .source = source, .destination = destination, .head = NOBODY, .tail = NOBODY, .place = NOBODY};
        for (uint32_t s = 0; pairs->n_streams > 1 && s < pairs->n_streams; s++) {
            pairs->stream_bytes[(uint64_t)number * pairs->n_streams + s] = 0;
        }
        find_streams(pairs, number, peer->number * n + index, index);
    }
}

/* The queue pair that the next message takes. */
static uint32_t next_pair(struct pairs *pairs, uint32_t source, uint32_t destination) {
    const uint64_t key = ((uint64_t)source << 32 | destination) + 1;
    struct peer *peer = look_up(pairs, key);
    if (peer->key == 0) {
        if (2 * (pairs->n_peers + 1) > pairs->peers_capacity) {
            grow_peers(pairs);
            peer = look_up(pairs, key);
        }
        pairs->n_peers++;
        peer->key = key;
        add_pairs(pairs, peer, source, destination);
    }
    return peer->first_pair + (uint32_t)(peer->posted++ % pairs->given->queue_pairs);
}

/* ---- messages ---- */

static void activate(struct pairs *pairs, uint32_t number) {
    if (pairs->n_active == pairs->active_capacity) {
        pairs->active_capacity = pairs->active_capacity ? 2 * pairs->active_capacity : 1024;
        const size_t capacity = pairs->active_capacity;
        pairs->active = memory_resize(pairs->active, capacity, sizeof(*pairs->active));
        pairs->active_streams =
            memory_resize(pairs->active_streams, capacity * pairs->n_streams, sizeof(*pairs->active_streams));
    }
    pairs->pairs[number].place = pairs->n_active;
    pairs->active[pairs->n_active++] = number;
    pairs->changed = true;
}

static void retire(struct pairs *pairs, uint32_t number) {
    struct pair *pair = &pairs->pairs[number];
    const uint32_t last = pairs->active[--pairs->n_active];
    pairs->active[pair->place] = last;
    pairs->pairs[last].place = pair->place;
    pair->place = NOBODY;
    pair->rate = 0;
    timers_set(&pairs->timers, number, TIME_NEVER);
    pairs->changed = true;
}

static uint32_t add_message(struct pairs *pairs, uint32_t source, const struct traffic_message *message,
                            uint64_t now_ps) {
    if (pairs->n_messages == pairs->messages_capacity) {
        pairs->messages_capacity =
            pairs->messages_capacity ? pairs->messages_capacity + pairs->messages_capacity / 2 : 1024;
        pairs->messages = memory_resize(pairs->messages, pairs->messages_capacity, sizeof(*pairs->messages));
    }
    const struct pieces pieces = {
        .bytes = message->bytes, .unit_bytes = message->unit_bytes, .largest_bytes = pairs->given->payload_bytes};
    const uint64_t count = pieces_count(&pieces);
    pairs->messages[pairs->n_messages] =
        (struct fluid_message){.source = source,
                               .destination = message->destination,
                               .tag = message->tag,
                               .next = NOBODY,
                               .bytes = message->bytes,
                               .wire_bytes = message->bytes + count * pairs->given->header_bytes,
                               .posted_ps = now_ps,
                               .packet_bytes = pieces_size(&pieces, 0) + pairs->given->header_bytes};
    return pairs->n_messages++;
}

void pairs_post(struct pairs *pairs, uint32_t source, const struct traffic_message *message, uint64_t now_ps) {
    const uint32_t number = next_pair(pairs, source, message->destination);
    const uint32_t added = add_message(pairs, source, message, now_ps);
    struct pair *pair = &pairs->pairs[number];
    if (pair->head != NOBODY) {
        pairs->messages[pair->tail].next = added;
        pair->tail = added;
        return;
    }
    pair->head = pair->tail = added;
    pair->begun_ps = pair->since_ps = now_ps;
    pair->sent = 0;
    activate(pairs, number);
}

static uint64_t port_time_ps(const struct pairs *pairs, uint32_t rank, uint64_t bytes) {
    return rate_time_ps(pairs->fabric->links[pairs->fabric->devices[rank].first_port].ps_per_byte, bytes);
}

static uint64_t later(uint64_t left_ps, uint64_t right_ps) {
    return left_ps > right_ps ? left_ps : right_ps;
}

uint64_t pairs_urgent_ps(struct pairs *pairs, uint32_t source, const struct traffic_message *message, uint64_t now_ps) {
    const uint64_t bytes = message->bytes + pairs->given->header_bytes;
    struct urgent_port *out = &pairs->urgent[source], *in = &pairs->urgent[message->destination];
    const uint64_t start_ps = later(now_ps, out->out_free_ps);
    out->out_free_ps = start_ps + port_time_ps(pairs, source, bytes);
    const uint64_t whole_ps = start_ps + latency_ps(pairs, source, message->destination, bytes);
    in->in_free_ps = later(whole_ps, in->in_free_ps + port_time_ps(pairs, message->destination, bytes));
    return in->in_free_ps;
}

/* ---- time ---- */

uint64_t pairs_time_ps(const struct pairs *pairs) {
    return timers_time_ps(&pairs->timers);
}

/* When the head will have been sent at the rate of now. */
static uint64_t end_ps(const struct pairs *pairs, const struct pair *pair) {
    const double left = (double)pairs->messages[pair->head].wire_bytes - pair->sent;
    if (pair->rate <= 0) {
        return TIME_NEVER;
    }
    const double time = left > 0 ? ceil(left / pair->rate) : 0;
    return time < 0x1p62 ? pair->since_ps + (uint64_t)time : TIME_NEVER;
}

/* Latency of the largest packet, the first, for a smaller one behind it never overtakes it; its time on the first link is part of what has been sent already. */
static uint64_t delivery_ps(struct pairs *pairs, struct pair *pair, const struct fluid_message *message,
                            uint64_t now_ps) {
    if (pair->known_bytes != message->packet_bytes) {
        pair->known_bytes = message->packet_bytes;
        pair->known_ps = latency_ps(pairs, pair->source, pair->destination, message->packet_bytes);
    }
    const uint64_t on_link_ps = port_time_ps(pairs, pair->source, message->packet_bytes);
    const uint64_t after_ps = pair->known_ps > on_link_ps ? pair->known_ps - on_link_ps : 0;
    return later(now_ps + after_ps, pair->begun_ps + pair->known_ps);
}

uint32_t pairs_take(struct pairs *pairs, uint64_t now_ps, uint64_t *delivered_ps) {
    const uint32_t number = timers_first(&pairs->timers);
    struct pair *pair = &pairs->pairs[number];
    const uint32_t done = pair->head;
    const struct fluid_message *message = &pairs->messages[done];
    *delivered_ps = delivery_ps(pairs, pair, message, now_ps);
    pair->carried_bytes += message->wire_bytes;
    pair->head = message->next;
    for (uint32_t s = 0; pairs->n_streams > 1 && s < pairs->n_streams; s++) {
        const uint64_t stream = (uint64_t)number * pairs->n_streams + s;
        pairs->stream_bytes[stream] += pairs->streams[stream].rate * (double)(now_ps - pair->since_ps);
    }
    pair->sent = 0;
    pair->begun_ps = pair->since_ps = now_ps;
    if (pair->head == NOBODY) {
        retire(pairs, number);
    } else {
        timers_set(&pairs->timers, number, end_ps(pairs, pair));
    }
    return done;
}

/* ---- rates ---- */

static uint64_t gap_ps(const struct pairs *pairs) {
    const uint64_t streams = (uint64_t)pairs->n_active * pairs->n_streams;
    const uint64_t resolution_ps = pairs->given->resolution_ps;
    if (streams <= FEW_STREAMS) {
        return (uint64_t)((double)resolution_ps * (double)streams / FEW_STREAMS);
    }
    return streams <= MANY_STREAMS ? resolution_ps : (uint64_t)((double)resolution_ps * (double)streams / MANY_STREAMS);
}

uint64_t pairs_due_ps(const struct pairs *pairs, uint64_t now_ps) {
    if (!pairs->changed) {
        return TIME_NEVER;
    }
    return pairs->solutions == 0 ? now_ps : later(now_ps, pairs->solved_ps + gap_ps(pairs));
}

/* A NIC without congestion control offers each of its queue pairs the same part of its rate. */
static void weigh_streams(struct pairs *pairs) {
    memset(pairs->busy_of, 0, pairs->fabric->n_endpoints * sizeof(*pairs->busy_of));
    for (uint32_t i = 0; i < pairs->n_active; i++) {
        pairs->busy_of[pairs->pairs[pairs->active[i]].source]++;
    }
    for (uint32_t i = 0; i < pairs->n_active_streams; i++) {
        const struct pair *pair = &pairs->pairs[pairs->active_streams[i] / pairs->n_streams];
        const uint32_t part = OFFER / pairs->busy_of[pair->source];
        pairs->streams[pairs->active_streams[i]].weight = part > 0 ? part : 1;
    }
}

static void list_streams(struct pairs *pairs) {
    pairs->n_active_streams = 0;
    for (uint32_t i = 0; i < pairs->n_active; i++) {
        for (uint32_t s = 0; s < pairs->n_streams; s++) {
            pairs->active_streams[pairs->n_active_streams++] = pairs->active[i] * pairs->n_streams + s;
        }
    }
}

/* Moves on to now, at the rates that were. */
static void catch_up(struct pairs *pairs, uint32_t number, uint64_t now_ps) {
    struct pair *pair = &pairs->pairs[number];
    const double time = (double)(now_ps - pair->since_ps);
    pair->sent += pair->rate * time;
    for (uint32_t s = 0; pairs->n_streams > 1 && s < pairs->n_streams; s++) {
        const uint64_t stream = (uint64_t)number * pairs->n_streams + s;
        pairs->stream_bytes[stream] += pairs->streams[stream].rate * time;
    }
    pair->since_ps = now_ps;
}

static void take_rate(struct pairs *pairs, uint32_t number, uint64_t now_ps) {
    struct pair *pair = &pairs->pairs[number];
    double rate = 0;
    for (uint32_t s = 0; s < pairs->n_streams; s++) {
        rate += pairs->streams[(uint64_t)number * pairs->n_streams + s].rate;
    }
    if (rate == pair->rate) {
        return;
    }
    if (pairs->n_streams == 1) {
        catch_up(pairs, number, now_ps);
    }
    pair->rate = rate;
    timers_set(&pairs->timers, number, end_ps(pairs, pair));
}

void pairs_solve(struct pairs *pairs, uint64_t now_ps) {
    uint32_t n_bundles;
    const struct share_bundle *bundles = ways_bundles(pairs->ways, &n_bundles);
    list_streams(pairs);
    if (pairs->given->by_offer) {
        weigh_streams(pairs);
    }
    for (uint32_t i = 0; pairs->n_streams > 1 && i < pairs->n_active; i++) {
        catch_up(pairs, pairs->active[i], now_ps); // the rates of its streams are about to be replaced
    }
    share_solve(pairs->share, pairs->streams, pairs->active_streams, pairs->n_active_streams, bundles, n_bundles);
    for (uint32_t i = 0; i < pairs->n_active; i++) {
        take_rate(pairs, pairs->active[i], now_ps);
    }
    pairs->changed = false;
    pairs->solved_ps = now_ps;
    pairs->solutions++;
}

/* ---- afterwards ---- */

struct fluid_message *pairs_message(struct pairs *pairs, uint32_t number) {
    return &pairs->messages[number];
}

const struct fluid_message *pairs_messages(const struct pairs *pairs, uint64_t *count) {
    *count = pairs->n_messages;
    return pairs->messages;
}

uint64_t pairs_solutions(const struct pairs *pairs) {
    return pairs->solutions;
}

/* The part of a pair's bytes that a stream had. */
static double part_of(const struct pairs *pairs, uint64_t number, uint32_t s) {
    double all = 0;
    for (uint32_t other = 0; pairs->n_streams > 1 && other < pairs->n_streams; other++) {
        all += pairs->stream_bytes[number * pairs->n_streams + other];
    }
    return all > 0 ? pairs->stream_bytes[number * pairs->n_streams + s] / all : 1.0 / pairs->n_streams;
}

void pairs_forget_after(struct pairs *pairs, uint64_t end_ps) {
    for (uint32_t i = 0; i < pairs->n_messages; i++) {
        if (pairs->messages[i].delivered_ps > end_ps) {
            pairs->messages[i].delivered_ps = 0;
        }
    }
}

void pairs_close(struct pairs *pairs) {
    for (uint32_t number = 0; number < pairs->n_pairs; number++) {
        for (uint32_t s = 0; s < pairs->n_streams; s++) {
            ways_book(pairs->ways, &pairs->streams[(uint64_t)number * pairs->n_streams + s],
                      (double)pairs->pairs[number].carried_bytes * part_of(pairs, number, s));
        }
    }
    ways_close(pairs->ways);
}

uint64_t pairs_link_bytes(const struct pairs *pairs, uint32_t link) {
    return (uint64_t)(ways_link_bytes(pairs->ways, link) + 0.5);
}
