// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/recorder.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/rate.h"
#include "device/chip.h"
#include "device/context.h"
#include "device/endpoint.h"
#include "device/switch.h"
#include "fabric/failure_plan.h"

#include <stdlib.h>

enum { FIRST_INTERVALS = 64 };

/* What a link had counted when the interval began. */
struct before {
    uint64_t sent_bytes, paused_ps, marks, drops;
    uint64_t deepest_bytes; /* of all intervals until then: the link's counter begins anew in each */
};

struct recorder {
    const struct context *context;
    const struct recorder_wishes *wishes;
    struct recorder_devices devices;
    uint32_t n_intervals, capacity;
    bool begun; /* from_ps has come */
    uint64_t *values[RECORDER_QUANTITIES];
    uint64_t *pairs[RECORDER_PAIR_QUANTITIES];
    struct before *before;  /* [n_links] */
    uint64_t *sent_packets; /* [pair columns] when the interval began */
};

static uint32_t queue_pairs_of(const struct recorder *recorder) {
    return recorder->context->parameters->nic.queue_pairs;
}

uint32_t recorder_pair_columns(const struct recorder *recorder) {
    return recorder->wishes->n_pairs * queue_pairs_of(recorder);
}

struct recorder *recorder_create(const struct context *context, const struct recorder_wishes *wishes,
                                 const struct recorder_devices *devices) {
    REQUIRE(wishes->interval_ps > 0 && wishes->n_intervals > 0, "a series without intervals");
    struct recorder *recorder = memory_allocate(1, sizeof(*recorder));
    recorder->context = context;
    recorder->wishes = wishes;
    recorder->devices = *devices;
    recorder->begun = wishes->from_ps == 0;
    recorder->before = memory_allocate(wishes->n_links, sizeof(*recorder->before));
    recorder->sent_packets = memory_allocate(recorder_pair_columns(recorder), sizeof(*recorder->sent_packets));
    return recorder;
}

void recorder_free(struct recorder *recorder) {
    if (!recorder) {
        return;
    }
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        free(recorder->values[q]);
    }
    for (int q = 0; q < RECORDER_PAIR_QUANTITIES; q++) {
        free(recorder->pairs[q]);
    }
    free(recorder->before);
    free(recorder->sent_packets);
    free(recorder);
}

uint64_t recorder_next_ps(const struct recorder *recorder) {
    if (!recorder || recorder->n_intervals == recorder->wishes->n_intervals) {
        return TIME_NEVER;
    }
    const uint64_t intervals = (uint64_t)recorder->n_intervals + recorder->begun;
    return recorder->wishes->from_ps + intervals * recorder->wishes->interval_ps;
}

static bool is_ours(const struct recorder *recorder, uint32_t device) {
    const struct fabric_device *place = &recorder->context->fabric->devices[device];
    switch (place->kind) {
    case FABRIC_SWITCH:
        return recorder->devices.switches[place->ordinal] != NULL;
    case FABRIC_NVSWITCH:
        return recorder->devices.chips[place->ordinal] != NULL;
    default:
        return recorder->devices.endpoints[device] != NULL;
    }
}

static struct recorder_port port_of(const struct recorder *recorder, uint32_t link, uint64_t now_ps) {
    const struct fabric_link *place = &recorder->context->fabric->links[link];
    const struct fabric_device *device = &recorder->context->fabric->devices[place->tail_device];
    switch (device->kind) {
    case FABRIC_SWITCH:
        return switch_recorder_port(recorder->devices.switches[device->ordinal], place->tail_port, now_ps);
    case FABRIC_NVSWITCH:
        return chip_recorder_port(recorder->devices.chips[device->ordinal], place->tail_port);
    default:
        return endpoint_recorder_port(recorder->devices.endpoints[place->tail_device], place->tail_port);
    }
}

/* Bytes of what is being sent that are not on the wire yet, at the rate of the link as it is now. */
static uint64_t bytes_left(const struct recorder *recorder, uint32_t link, uint64_t free_ps, uint64_t now_ps) {
    if (free_ps <= now_ps) {
        return 0;
    }
    const struct context *context = recorder->context;
    const uint64_t ps_per_byte = context->failures != NULL
                                     ? failure_plan_state(context->failures, link, now_ps).ps_per_byte
                                     : context->fabric->links[link].ps_per_byte;
    return (uint64_t)(((rate_wide)(free_ps - now_ps) << RATE_FRACTION_BITS) / ps_per_byte);
}

/* Counts up to now_ps; the deepest queue of the interval counts as one of all of them, and the next one begins. */
static struct before look_at(const struct recorder *recorder, uint32_t index, uint64_t now_ps,
                             struct recorder_port *port) {
    const uint32_t link = recorder->wishes->links[index];
    const struct before *before = &recorder->before[index];
    struct link_counters *counters = &recorder->context->links[link];
    *port = port_of(recorder, link, now_ps);
    const uint64_t left = bytes_left(recorder, link, port->free_ps, now_ps);
    const uint64_t sent = left < counters->bytes ? counters->bytes - left : 0;
    return (struct before){
        .sent_bytes = number_larger(sent, before->sent_bytes),
        .paused_ps = counters->paused_ps + counters->credit_stalled_ps +
                     (port->paused_since_ps == TIME_NEVER ? 0 : now_ps - port->paused_since_ps),
        .marks = counters->marks,
        .drops = counters->lossless_drops + counters->lossy_drops + counters->watchdog_drops,
        .deepest_bytes = number_larger(before->deepest_bytes, counters->deepest_bytes),
    };
}

static void put(struct recorder *recorder, enum recorder_quantity quantity, uint32_t index, uint64_t value) {
    if (recorder->wishes->quantities & 1U << quantity) {
        recorder->values[quantity][(uint64_t)recorder->n_intervals * recorder->wishes->n_links + index] = value;
    }
}

static void take_link(struct recorder *recorder, uint32_t index, uint64_t now_ps, bool is_interval) {
    struct recorder_port port;
    const struct before before = recorder->before[index], now = look_at(recorder, index, now_ps, &port);
    struct link_counters *counters = &recorder->context->links[recorder->wishes->links[index]];
    if (is_interval) {
        put(recorder, RECORDER_QUEUE_BYTES, index, port.depth_bytes);
        put(recorder, RECORDER_DEEPEST_BYTES, index, counters->deepest_bytes);
        put(recorder, RECORDER_SENT_BYTES, index, now.sent_bytes - before.sent_bytes);
        put(recorder, RECORDER_PAUSED_PS, index, now.paused_ps - before.paused_ps);
        put(recorder, RECORDER_MARKS, index, now.marks - before.marks);
        put(recorder, RECORDER_DROPS, index, now.drops - before.drops);
    }
    recorder->before[index] = now;
    counters->deepest_bytes = port.depth_bytes;
}

static void take_queue_pair(struct recorder *recorder, uint32_t pair, uint32_t queue_pair, uint64_t now_ps,
                            bool is_interval) {
    const struct recorder_pair *wish = &recorder->wishes->pairs[pair];
    const uint32_t column = pair * queue_pairs_of(recorder) + queue_pair;
    const uint64_t cell = (uint64_t)recorder->n_intervals * recorder_pair_columns(recorder) + column;
    const struct recorder_pair_state state =
        endpoint_recorder_pair(recorder->devices.endpoints[wish->source], wish->destination, queue_pair, now_ps);
    if (is_interval) {
        const bool limited = state.window_packets != CONGESTION_UNLIMITED;
        recorder->pairs[RECORDER_PAIR_RATE_BITS_PER_S][cell] = state.rate_bits_per_s;
        recorder->pairs[RECORDER_PAIR_WINDOW_PACKETS][cell] = limited ? state.window_packets : 0;
        recorder->pairs[RECORDER_PAIR_SENT_PACKETS][cell] = state.sent_packets - recorder->sent_packets[column];
    }
    recorder->sent_packets[column] = state.sent_packets;
}

/* Looks at everything at now_ps. is_interval: an interval ends here, else the first one begins. */
static void take(struct recorder *recorder, uint64_t now_ps, bool is_interval) {
    const struct recorder_wishes *wishes = recorder->wishes;
    for (uint32_t i = 0; i < wishes->n_links; i++) {
        if (is_ours(recorder, recorder->context->fabric->links[wishes->links[i]].tail_device)) {
            take_link(recorder, i, now_ps, is_interval);
        }
    }
    for (uint32_t p = 0; p < wishes->n_pairs; p++) {
        for (uint32_t q = 0; q < queue_pairs_of(recorder) && is_ours(recorder, wishes->pairs[p].source); q++) {
            take_queue_pair(recorder, p, q, now_ps, is_interval);
        }
    }
}

/* New rows are zero: over several ranks each fills in its own columns, and the sum has all. */
static void grow_one(uint64_t **rows, uint32_t old, uint32_t capacity, uint64_t columns) {
    *rows = memory_resize(*rows, capacity * columns, sizeof(**rows));
    for (uint64_t i = old * columns; i < capacity * columns; i++) {
        (*rows)[i] = 0;
    }
}

static void reserve(struct recorder *recorder) {
    const uint32_t old = recorder->capacity, most = recorder->wishes->n_intervals;
    if (recorder->n_intervals < old) {
        return;
    }
    const uint32_t wanted = old > 0 ? old + old / 2 : FIRST_INTERVALS;
    recorder->capacity = wanted < most ? wanted : most;
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        if (recorder->wishes->quantities & 1U << q) {
            grow_one(&recorder->values[q], old, recorder->capacity, recorder->wishes->n_links);
        }
    }
    for (int q = 0; q < RECORDER_PAIR_QUANTITIES && recorder->wishes->n_pairs > 0; q++) {
        grow_one(&recorder->pairs[q], old, recorder->capacity, recorder_pair_columns(recorder));
    }
}

static void take_interval(struct recorder *recorder, uint64_t now_ps) {
    reserve(recorder);
    take(recorder, now_ps, true);
    recorder->n_intervals++;
}

void recorder_take(struct recorder *recorder) {
    const uint64_t now_ps = recorder_next_ps(recorder);
    if (recorder->begun) {
        take_interval(recorder, now_ps);
    } else {
        take(recorder, now_ps, false);
        recorder->begun = true;
    }
}

void recorder_finish(struct recorder *recorder, uint64_t now_ps, bool finished) {
    const struct recorder_wishes *wishes = recorder->wishes;
    const uint64_t begin_ps = wishes->from_ps + recorder->n_intervals * wishes->interval_ps;
    const bool has_room = recorder->n_intervals < wishes->n_intervals;
    if (recorder->begun && has_room && (finished || now_ps > begin_ps)) {
        take_interval(recorder, finished ? begin_ps + wishes->interval_ps : now_ps);
    }
    for (uint32_t i = 0; i < wishes->n_links; i++) {
        struct link_counters *counters = &recorder->context->links[wishes->links[i]];
        counters->deepest_bytes = number_larger(counters->deepest_bytes, recorder->before[i].deepest_bytes);
    }
}

void recorder_trim(struct recorder *recorder, uint64_t last_ps) {
    const struct recorder_wishes *wishes = recorder->wishes;
    const uint64_t length_ps = last_ps > wishes->from_ps ? last_ps - wishes->from_ps : 0;
    const uint64_t intervals = (length_ps + wishes->interval_ps - 1) / wishes->interval_ps;
    if (intervals < recorder->n_intervals) {
        recorder->n_intervals = (uint32_t)intervals;
    }
}

void recorder_gather(struct recorder *recorder, const struct exchange *exchange) {
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        if (recorder->values[q] != NULL) {
            exchange->sum(exchange->context, recorder->values[q],
                          (size_t)recorder->n_intervals * recorder->wishes->n_links);
        }
    }
    for (int q = 0; q < RECORDER_PAIR_QUANTITIES; q++) {
        if (recorder->pairs[q] != NULL) {
            exchange->sum(exchange->context, recorder->pairs[q],
                          (size_t)recorder->n_intervals * recorder_pair_columns(recorder));
        }
    }
}

uint32_t recorder_intervals(const struct recorder *recorder) {
    return recorder->n_intervals;
}

static uint64_t *give_away(uint64_t **rows) {
    uint64_t *given = *rows;
    *rows = NULL;
    return given;
}

uint64_t *recorder_release(struct recorder *recorder, enum recorder_quantity quantity) {
    return give_away(&recorder->values[quantity]);
}

uint64_t *recorder_release_pairs(struct recorder *recorder, enum recorder_pair_quantity quantity) {
    return give_away(&recorder->pairs[quantity]);
}

uint64_t recorder_most_bytes(const struct recorder_wishes *wishes, uint32_t queue_pairs) {
    const uint64_t columns = (uint64_t)__builtin_popcount(wishes->quantities) * wishes->n_links +
                             (uint64_t)RECORDER_PAIR_QUANTITIES * wishes->n_pairs * queue_pairs;
    return columns * wishes->n_intervals * sizeof(uint64_t);
}
