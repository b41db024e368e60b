// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_recorder.h"

#include "reference_chip.h"
#include "reference_endpoint.h"
#include "reference_failure.h"
#include "reference_switch.h"

#include "base/memory.h"
#include "base/rate.h"

static uint64_t columns_of_pairs(const struct reference_world *world) {
    return (uint64_t)world->parameters->series->n_pairs * world->parameters->nic.queue_pairs;
}

void reference_recorder_begin(struct reference_world *world) {
    const struct recorder_wishes *wishes = world->parameters->series;
    struct reference *result = world->result;
    if (wishes == NULL) {
        return;
    }
    for (int q = 0; q < RECORDER_QUANTITIES; q++) {
        result->series[q] = memory_allocate((size_t)wishes->n_intervals * wishes->n_links, sizeof(uint64_t));
    }
    for (int q = 0; q < RECORDER_PAIR_QUANTITIES; q++) {
        result->series_of_pairs[q] = memory_allocate(wishes->n_intervals * columns_of_pairs(world), sizeof(uint64_t));
    }
    world->recorded = memory_allocate(world->fabric->n_links, sizeof *world->recorded);
    world->recorded_packets = memory_allocate(columns_of_pairs(world), sizeof *world->recorded_packets);
    world->records = wishes->from_ps == 0;
}

static uint64_t depth_of(const struct reference_world *world, uint32_t link) {
    const struct fabric_link *wire = &world->fabric->links[link];
    if (world->switches[wire->tail_device] != NULL) {
        return reference_switch_data_bytes(world->switches[wire->tail_device], (uint16_t)wire->tail_port);
    }
    if (world->chips[wire->tail_device] != NULL) {
        return reference_chip_bytes(world->chips[wire->tail_device], (uint16_t)wire->tail_port);
    }
    return 0;
}

static uint64_t sent_bytes(const struct reference_world *world, uint32_t link, uint64_t now_ps) {
    const struct reference_transmitter *transmitter = &world->transmitters[link];
    uint64_t left = 0;
    if (transmitter->busy && transmitter->end_ps > now_ps) {
        left = (uint64_t)(((rate_wide)(transmitter->end_ps - now_ps) << RATE_FRACTION_BITS) /
                          reference_failure_ps_per_byte(world, link, now_ps));
    }
    const uint64_t bytes = world->result->links[link].bytes;
    const uint64_t sent = left < bytes ? bytes - left : 0;
    return sent > world->recorded[link].sent_bytes ? sent : world->recorded[link].sent_bytes;
}

/** Everything that a link has counted by now. */
static struct reference_recorded counted(const struct reference_world *world, uint32_t link, uint64_t now_ps) {
    const struct reference_link_counts *counts = &world->result->links[link];
    const struct reference_transmitter *transmitter = &world->transmitters[link];
    return (struct reference_recorded){.sent_bytes = sent_bytes(world, link, now_ps),
                                       .paused_ps = counts->paused_ps + counts->lane_stalled_ps +
                                                    (transmitter->paused ? now_ps - transmitter->paused_since_ps : 0) +
                                                    (transmitter->stalled ? now_ps - transmitter->stalled_since_ps : 0),
                                       .marks = counts->marks,
                                       .drops = counts->drops_lossless + counts->drops_lossy + counts->watchdog_drops,
                                       .deepest_bytes = depth_of(world, link)};
}

static void take_link(struct reference_world *world, uint32_t index, uint64_t now_ps, bool store) {
    const struct recorder_wishes *wishes = world->parameters->series;
    const uint32_t link = wishes->links[index];
    const size_t cell = (size_t)world->n_recorded * wishes->n_links + index;
    const struct reference_recorded old = world->recorded[link], new = counted(world, link, now_ps);
    uint64_t *const *series = world->result->series;
    if (store) {
        series[RECORDER_QUEUE_BYTES][cell] = new.deepest_bytes;
        series[RECORDER_DEEPEST_BYTES][cell] = old.deepest_bytes;
        series[RECORDER_SENT_BYTES][cell] = new.sent_bytes - old.sent_bytes;
        series[RECORDER_PAUSED_PS][cell] = new.paused_ps - old.paused_ps;
        series[RECORDER_MARKS][cell] = new.marks - old.marks;
        series[RECORDER_DROPS][cell] = new.drops - old.drops;
    }
    world->recorded[link] = new;
}

static void take_queue_pair(struct reference_world *world, uint32_t pair, uint32_t index, uint64_t now_ps, bool store) {
    const struct recorder_pair *wish = &world->parameters->series->pairs[pair];
    const uint32_t column = pair * world->parameters->nic.queue_pairs + index;
    const size_t cell = (size_t)(world->n_recorded * columns_of_pairs(world) + column);
    const struct recorder_pair_state state =
        reference_endpoint_pair(world, world->endpoints[wish->source], wish->destination, index, now_ps);
    uint64_t *const *series = world->result->series_of_pairs;
    if (store) {
        series[RECORDER_PAIR_RATE_BITS_PER_S][cell] = state.rate_bits_per_s;
        series[RECORDER_PAIR_WINDOW_PACKETS][cell] =
            state.window_packets == CONGESTION_UNLIMITED ? 0 : state.window_packets;
        series[RECORDER_PAIR_SENT_PACKETS][cell] = state.sent_packets - world->recorded_packets[column];
    }
    world->recorded_packets[column] = state.sent_packets;
}

static void take(struct reference_world *world, uint64_t now_ps, bool store) {
    const struct recorder_wishes *wishes = world->parameters->series;
    for (uint32_t i = 0; i < wishes->n_links; i++) {
        take_link(world, i, now_ps, store);
    }
    for (uint32_t p = 0; p < wishes->n_pairs; p++) {
        for (uint32_t q = 0; q < world->parameters->nic.queue_pairs; q++) {
            take_queue_pair(world, p, q, now_ps, store);
        }
    }
    world->n_recorded += store;
}

void reference_recorder_pass(struct reference_world *world, uint64_t time_ps) {
    const struct recorder_wishes *wishes = world->parameters->series;
    if (wishes == NULL) {
        return;
    }
    if (!world->records && wishes->from_ps <= time_ps) {
        take(world, wishes->from_ps, false);
        world->records = true;
    }
    while (world->records && world->n_recorded < wishes->n_intervals) {
        const uint64_t end_ps = wishes->from_ps + (world->n_recorded + UINT64_C(1)) * wishes->interval_ps;
        if (end_ps > time_ps) {
            break;
        }
        take(world, end_ps, true);
    }
}
