// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/channels.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"
#include "fabric/describe.h"
#include "fluid/fifo.h"
#include "fluid/share.h"
#include "fluid/timers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define SETTLED_PS (UINT64_C(1) << 62)
enum {
    AHEAD = 256, /* messages of a series that are there in advance */
    MANY_CHANNELS = 32,
};

struct channel {
    struct fifo fifo;
    uint64_t queued_bytes; /* of messages that are not sent */
    uint64_t burst_bytes;  /* of those that end together: burst_count from the first one on */
    uint32_t burst_count;
    uint32_t place; /* among the active of its domain */
    uint64_t since_ps, begun_ps;
    double sent; /* bytes of the first message and those after it */
    double rate;
    uint64_t delivered_ps; /* of what was sent last: nothing overtakes it */
};

struct channels {
    const struct fabric *fabric;
    const struct fluid_parameters *given;
    const struct traffic *traffic;
    uint32_t first, n;    /* GPUs of the domain */
    struct channel *list; /* [GPU × TRAFFIC_CHANNELS] */
    double *queued;       /* [channel × n] bytes for each GPU, whole numbers */
    double *capacities;   /* [2 × n] of a GPU's NVLinks together, out and (from n on) in */
    double *loads;        /* [n] scratch */
    uint32_t *busy;       /* [n] scratch */
    struct share *share;
    uint32_t *active; /* channels */
    uint32_t n_active;
    struct timers ends; /* of bursts, by channel */
    uint64_t due_ps;    /* of rates; TIME_NEVER: nothing has changed */
    uint64_t solved_ps;
    uint64_t solutions;
    struct share_stream *streams;
    struct share_use *uses;
    uint32_t *all; /* 0, 1, 2, … */
    uint64_t *sent_bytes, *received_bytes;
    uint32_t known_bytes;
    uint64_t known_ps; /* latency of a record of so many bytes */
};

/* All NVLinks of a GPU carry the same: the slowest of them sets the pace of all. */
static double port_capacity(const struct channels *channels, const struct failure_plan *failures, uint32_t rank,
                            bool in) {
    const struct fabric *fabric = channels->fabric;
    const struct fabric_endpoint *endpoint = &fabric->endpoints[rank];
    const uint32_t first = fabric->devices[rank].first_port + endpoint->n_nics;
    uint64_t slowest = 0;
    for (uint32_t p = first; p < first + endpoint->n_nvlinks; p++) {
        const uint32_t link = in ? fabric->links[p].reverse : p;
        const uint64_t ps_per_byte =
            failures ? failure_plan_state(failures, link, SETTLED_PS).ps_per_byte : fabric->links[link].ps_per_byte;
        slowest = ps_per_byte > slowest ? ps_per_byte : slowest;
    }
    return slowest == 0 ? 0
                        : (double)endpoint->n_nvlinks * (double)(UINT64_C(1) << RATE_FRACTION_BITS) / (double)slowest;
}

static void find_capacities(struct channels *channels, const struct failure_plan *failures) {
    const uint32_t n = channels->n;
    channels->capacities = memory_allocate(2 * (size_t)n, sizeof(*channels->capacities));
    for (uint32_t i = 0; i < n; i++) {
        channels->capacities[i] = port_capacity(channels, failures, channels->first + i, false);
        channels->capacities[n + i] = port_capacity(channels, failures, channels->first + i, true);
    }
}

struct channels *channels_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                                 const struct failure_plan *failures, const struct traffic *traffic, uint32_t domain) {
    struct channels *channels = memory_allocate(1, sizeof(*channels));
    const size_t n = fabric->domains[domain].n_endpoints, all = n * TRAFFIC_CHANNELS;
    channels->fabric = fabric;
    channels->given = parameters;
    channels->traffic = traffic;
    channels->first = fabric->domains[domain].first_endpoint;
    channels->n = (uint32_t)n;
    channels->due_ps = TIME_NEVER;
    find_capacities(channels, failures);
    channels->share = share_create(2 * channels->n, channels->capacities);
    channels->loads = memory_allocate(n, sizeof(*channels->loads));
    channels->busy = memory_allocate(n, sizeof(*channels->busy));
    channels->list = memory_allocate(all, sizeof(*channels->list));
    channels->queued = memory_allocate(all * n, sizeof(*channels->queued));
    channels->active = memory_allocate(all, sizeof(*channels->active));
    channels->sent_bytes = memory_allocate(n, sizeof(*channels->sent_bytes));
    channels->received_bytes = memory_allocate(n, sizeof(*channels->received_bytes));
    channels->streams = memory_allocate(all, sizeof(*channels->streams));
    channels->uses = memory_allocate(all * (n + 1), sizeof(*channels->uses));
    channels->all = memory_allocate(all, sizeof(*channels->all));
    for (uint32_t i = 0; i < all; i++) {
        channels->all[i] = i;
    }
    timers_grow(&channels->ends, (uint32_t)all);
    return channels;
}

void channels_free(struct channels *channels) {
    if (channels == NULL) {
        return;
    }
    for (uint32_t c = 0; c < channels->n * TRAFFIC_CHANNELS; c++) {
        fifo_fini(&channels->list[c].fifo);
    }
    timers_fini(&channels->ends);
    share_free(channels->share);
    free(channels->list);
    free(channels->queued);
    free(channels->capacities);
    free(channels->loads);
    free(channels->busy);
    free(channels->active);
    free(channels->sent_bytes);
    free(channels->received_bytes);
    free(channels->streams);
    free(channels->uses);
    free(channels->all);
    free(channels);
}

/* ---- what is queued ---- */

static uint32_t rank_of(const struct channels *channels, uint32_t number) {
    return channels->first + number / TRAFFIC_CHANNELS;
}

/* A message joins those that may be sent. */
static void append(struct channels *channels, uint32_t number, const struct traffic_message *message) {
    struct channel *channel = &channels->list[number];
    const uint32_t to = message->destination - channels->first, record_bytes = channels->given->record_bytes;
    const uint32_t unit_bytes = message->unit_bytes == 0 ? record_bytes : message->unit_bytes;
    const uint32_t most_bytes = unit_bytes < record_bytes ? unit_bytes : record_bytes;
    REQUIRE(to < channels->n && message->bytes < UINT64_C(1) << 48, "a message over NVLink to %u",
            message->destination);
    *fifo_append(&channel->fifo) =
        (struct fifo_entry){.bytes = message->bytes & FIFO_BYTES_MASK,
                            .to = (uint16_t)to,
                            .tag = message->tag,
                            .record_bytes = message->bytes < most_bytes ? (uint32_t)message->bytes : most_bytes};
    channel->queued_bytes += message->bytes;
    channels->queued[(size_t)number * channels->n + to] += (double)message->bytes;
}

/* Generates what a series has next, as far as there is room ahead, then what waits behind it. */
static void refill(struct channels *channels, uint32_t number) {
    struct channel *channel = &channels->list[number];
    struct traffic_message messages[AHEAD];
    struct fifo_waiting *first;
    while (fifo_unsent(&channel->fifo) < AHEAD && (first = fifo_first_waiting(&channel->fifo)) != NULL) {
        if (!first->message.series) {
            const struct traffic_message message = first->message;
            fifo_drop_waiting(&channel->fifo);
            append(channels, number, &message);
            continue;
        }
        const uint32_t n = channels->traffic->series(channels->traffic->plan, rank_of(channels, number),
                                                     first->message.tag, &first->cursor, messages, AHEAD);
        for (uint32_t i = 0; i < n; i++) {
            append(channels, number, &messages[i]);
        }
        if (n < AHEAD) {
            fifo_drop_waiting(&channel->fifo);
        }
    }
}

static uint64_t later(uint64_t left_ps, uint64_t right_ps) {
    return left_ps > right_ps ? left_ps : right_ps;
}

/* The resolution where many channels are busy; less where few are: what waits for each other, step by step, must not wait for this. */
static uint64_t gap_ps(const struct channels *channels) {
    return channels->given->resolution_ps * channels->n_active / MANY_CHANNELS;
}

/* Rates are looked at at once, or when the gap has passed. */
static void change(struct channels *channels, uint64_t now_ps) {
    if (channels->due_ps == TIME_NEVER) {
        channels->due_ps = channels->solutions > 0 ? later(now_ps, channels->solved_ps + gap_ps(channels)) : now_ps;
    }
}

static void activate(struct channels *channels, uint32_t number, uint64_t now_ps) {
    struct channel *channel = &channels->list[number];
    channel->place = channels->n_active;
    channels->active[channels->n_active++] = number;
    channel->since_ps = channel->begun_ps = now_ps;
    channel->sent = channel->rate = 0;
    change(channels, now_ps);
}

static void retire(struct channels *channels, uint32_t number, uint64_t now_ps) {
    struct channel *channel = &channels->list[number];
    const uint32_t last = channels->active[--channels->n_active];
    channels->active[channel->place] = last;
    channels->list[last].place = channel->place;
    channel->rate = 0;
    timers_set(&channels->ends, number, TIME_NEVER);
    change(channels, now_ps);
}

void channels_post(struct channels *channels, uint32_t source, const struct traffic_message *message, uint64_t now_ps) {
    const uint32_t number = (source - channels->first) * TRAFFIC_CHANNELS + message->channel;
    struct channel *channel = &channels->list[number];
    const bool idle = fifo_unsent(&channel->fifo) == 0;
    if (message->series || fifo_first_waiting(&channel->fifo) != NULL) {
        fifo_wait(&channel->fifo, message);
        refill(channels, number);
    } else {
        append(channels, number, message);
    }
    if (idle && fifo_unsent(&channel->fifo) > 0) {
        activate(channels, number, now_ps);
    }
}

/* ---- time ---- */

uint64_t channels_time_ps(const struct channels *channels) {
    return timers_time_ps(&channels->ends);
}

/* As many messages as end within the resolution end together, at the end of the last of them; at least one. */
static void count_burst(const struct channels *channels, struct channel *channel) {
    const double until = channel->sent + channel->rate * (double)channels->given->resolution_ps;
    const uint32_t unsent = fifo_unsent(&channel->fifo);
    if ((double)channel->queued_bytes <= until) {
        channel->burst_count = unsent;
        channel->burst_bytes = channel->queued_bytes;
        return;
    }
    channel->burst_count = 1;
    channel->burst_bytes = fifo_unsent_entry(&channel->fifo, 0)->bytes;
    while (channel->burst_count < unsent) {
        const uint64_t more = channel->burst_bytes + fifo_unsent_entry(&channel->fifo, channel->burst_count)->bytes;
        if ((double)more > until) {
            break;
        }
        channel->burst_bytes = more;
        channel->burst_count++;
    }
}

static void plan_burst(struct channels *channels, uint32_t number) {
    struct channel *channel = &channels->list[number];
    if (channel->rate <= 0) {
        timers_set(&channels->ends, number, TIME_NEVER);
        return;
    }
    count_burst(channels, channel);
    const double left = (double)channel->burst_bytes - channel->sent;
    const double time = left > 0 ? ceil(left / channel->rate) : 0;
    timers_set(&channels->ends, number, time < 0x1p62 ? channel->since_ps + (uint64_t)time : TIME_NEVER);
}

/* A record's way through the chip, less what its bytes took at the rate of all NVLinks together. */
static uint64_t delivery_ps(struct channels *channels, uint32_t number, const struct fifo_entry *last,
                            uint64_t now_ps) {
    const struct channel *channel = &channels->list[number];
    const uint32_t source = rank_of(channels, number);
    const uint32_t bytes = last->record_bytes;
    if (channels->known_bytes != bytes) {
        struct describe_path path;
        channels->known_bytes = bytes;
        channels->known_ps =
            describe_path(channels->fabric, source, channels->first + last->to, FABRIC_NVLINK, bytes, &path)
                ? path.latency_ps
                : 0;
    }
    const struct fabric_endpoint *endpoint = &channels->fabric->endpoints[source];
    const uint32_t port = channels->fabric->devices[source].first_port + endpoint->n_nics;
    const uint64_t on_links_ps = rate_time_ps(channels->fabric->links[port].ps_per_byte, bytes) / endpoint->n_nvlinks;
    const uint64_t after_ps = channels->known_ps > on_links_ps ? channels->known_ps - on_links_ps : 0;
    return later(later(now_ps + after_ps, channel->begun_ps + channels->known_ps), channel->delivered_ps);
}

/* What the burst has sent is queued no longer. */
static void take_off(struct channels *channels, uint32_t number) {
    const struct channel *channel = &channels->list[number];
    if (channel->burst_count == fifo_unsent(&channel->fifo)) {
        memset(&channels->queued[(size_t)number * channels->n], 0, channels->n * sizeof(*channels->queued));
        return;
    }
    for (uint32_t i = 0; i < channel->burst_count; i++) {
        const struct fifo_entry *entry = fifo_unsent_entry(&channel->fifo, i);
        channels->queued[(size_t)number * channels->n + entry->to] -= (double)entry->bytes;
    }
}

uint32_t channels_take(struct channels *channels, uint64_t now_ps, uint32_t *count, uint64_t *delivered_ps) {
    const uint32_t number = timers_first(&channels->ends);
    struct channel *channel = &channels->list[number];
    take_off(channels, number);
    const struct fifo_entry *last = fifo_unsent_entry(&channel->fifo, channel->burst_count - 1);
    *count = channel->burst_count;
    *delivered_ps = channel->delivered_ps = delivery_ps(channels, number, last, now_ps);
    channels->sent_bytes[number / TRAFFIC_CHANNELS] += channel->burst_bytes;
    channel->queued_bytes -= channel->burst_bytes;
    channel->sent = 0;
    channel->since_ps = channel->begun_ps = now_ps;
    fifo_send(&channel->fifo, channel->burst_count);
    refill(channels, number);
    if (fifo_unsent(&channel->fifo) == 0) {
        retire(channels, number, now_ps);
    } else {
        plan_burst(channels, number);
        change(channels, now_ps); // it is no longer queued for the same GPUs
    }
    return number;
}

struct channels_arrival channels_arrive(struct channels *channels, uint32_t channel) {
    const struct fifo_entry entry = fifo_take(&channels->list[channel].fifo);
    channels->received_bytes[entry.to] += entry.bytes;
    return (struct channels_arrival){
        .source = rank_of(channels, channel), .destination = channels->first + entry.to, .tag = entry.tag};
}

/* ---- rates ---- */

uint64_t channels_due_ps(const struct channels *channels) {
    return channels->due_ps;
}

/* The stream of a channel: its GPU's ports out whole, those of others in as it has bytes for them. Returns where the next one's uses begin. */
static struct share_use *describe_stream(struct channels *channels, uint32_t number, struct share_stream *stream,
                                         struct share_use *uses) {
    const uint32_t n = channels->n;
    const double *queued = &channels->queued[(size_t)number * n];
    const double one = (double)SHARE_ONE / (double)channels->list[number].queued_bytes;
    struct share_use *next = uses;
    *next++ = (struct share_use){.limit = number / TRAFFIC_CHANNELS, .weight_fxp24 = SHARE_ONE};
    for (uint32_t i = 0; i < n; i++) {
        if (queued[i] > 0) {
            const uint32_t weight = (uint32_t)(queued[i] * one + 0.5);
            *next++ = (struct share_use){.limit = n + i, .weight_fxp24 = weight > 0 ? weight : 1};
        }
    }
    *stream = (struct share_stream){
        .uses = uses, .n_uses = (uint32_t)(next - uses), .bundle = SHARE_NONE, .weight = 1, .most = INFINITY};
    return next;
}

/* Where every GPU's channels share what it can send, and nobody gets more than it can take, these are the rates. */
static bool solve_by_senders(struct channels *channels) {
    const uint32_t n = channels->n;
    memset(channels->loads, 0, n * sizeof(*channels->loads));
    memset(channels->busy, 0, n * sizeof(*channels->busy));
    for (uint32_t i = 0; i < channels->n_active; i++) {
        channels->busy[channels->active[i] / TRAFFIC_CHANNELS]++;
    }
    for (uint32_t i = 0; i < channels->n_active; i++) {
        const uint32_t number = channels->active[i], own = number / TRAFFIC_CHANNELS;
        const double *queued = &channels->queued[(size_t)number * n];
        const double rate = channels->capacities[own] / channels->busy[own];
        const double part = rate / (double)channels->list[number].queued_bytes;
        channels->streams[i].rate = rate;
        for (uint32_t to = 0; to < n; to++) {
            channels->loads[to] += queued[to] * part;
        }
    }
    for (uint32_t to = 0; to < n; to++) {
        if (channels->loads[to] > channels->capacities[n + to]) {
            return false;
        }
    }
    return true;
}

static void solve_all(struct channels *channels) {
    struct share_use *uses = channels->uses;
    for (uint32_t i = 0; i < channels->n_active; i++) {
        uses = describe_stream(channels, channels->active[i], &channels->streams[i], uses);
    }
    share_solve(channels->share, channels->streams, channels->all, channels->n_active, NULL, 0);
}

void channels_solve(struct channels *channels, uint64_t now_ps) {
    if (channels->n_active > 0 && !solve_by_senders(channels)) {
        solve_all(channels);
    }
    for (uint32_t i = 0; i < channels->n_active; i++) {
        struct channel *channel = &channels->list[channels->active[i]];
        if (channel->rate != channels->streams[i].rate) {
            channel->sent += channel->rate * (double)(now_ps - channel->since_ps);
            channel->since_ps = now_ps;
            channel->rate = channels->streams[i].rate;
            plan_burst(channels, channels->active[i]);
        }
    }
    channels->due_ps = TIME_NEVER;
    channels->solved_ps = now_ps;
    channels->solutions++;
}

bool channels_busy(const struct channels *channels) {
    return channels->n_active > 0;
}

uint64_t channels_solutions(const struct channels *channels) {
    return channels->solutions;
}

uint64_t channels_sent(const struct channels *channels, uint32_t rank) {
    return channels->sent_bytes[rank - channels->first];
}

uint64_t channels_received(const struct channels *channels, uint32_t rank) {
    return channels->received_bytes[rank - channels->first];
}
