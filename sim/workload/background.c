// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/background.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/rate.h"
#include "workload/background_item.h"
#include "workload/moe_tag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(MOE_TAG_KINDS <= 7, "kind 7 of a tag is the background's");
static_assert(EXPERIMENT_BACKGROUNDS <= 8 && EXPERIMENT_BACKGROUND_MESSAGES <= 1 << 26, "both fit a tag");

/* What a rank knows of an item. Written by that rank only. */
struct progress {
    uint64_t end_ps; /* last delivery; TIME_NEVER = none yet */
    uint32_t delivered;
    uint32_t round;       /* all_to_all without a clock: the round that it is in */
    uint32_t received[2]; /* of it: messages of this round and of the next, by parity: a peer is never further ahead */
};

struct background {
    struct traffic measured;
    struct moe_placement placement;
    uint32_t n_items;
    struct background_item items[EXPERIMENT_BACKGROUNDS];
    struct progress *progress[EXPERIMENT_BACKGROUNDS]; /* each [n_ranks] */
};

struct background *background_create(const struct experiment *experiment, const struct moe_placement *placement,
                                     struct error *error) {
    struct background *background = memory_allocate(1, sizeof *background);
    background->placement = *placement;
    for (uint32_t i = 0; i < experiment->n_backgrounds; i++) {
        if (!background_item_init(&background->items[i], &experiment->backgrounds[i], placement->n_ranks, error)) {
            background_free(background);
            return NULL;
        }
        background->progress[i] = memory_allocate(placement->n_ranks, sizeof(struct progress));
        background->n_items++;
        for (uint32_t rank = 0; rank < placement->n_ranks; rank++) {
            background->progress[i][rank].end_ps = TIME_NEVER;
        }
    }
    return background;
}

void background_free(struct background *background) {
    if (background) {
        for (uint32_t i = 0; i < background->n_items; i++) {
            background_item_fini(&background->items[i]);
            free(background->progress[i]);
        }
        free(background);
    }
}

/* Message `number` of a member to each of its peers. */
static void post(const struct background *background, uint32_t i, uint32_t member, uint32_t number, uint64_t start_ps,
                 struct traffic_outbox *outbox) {
    const struct background_item *item = &background->items[i];
    const uint32_t rank = item->members.gpus[member], peers = background_item_peers(item, member);
    struct traffic_message message = {
        .tag = UINT32_C(7) << 29 | i << 26 | number, .bytes = item->bytes, .start_ps = start_ps};
    for (uint32_t index = 0; index < peers; index++) {
        message.destination = background_item_peer(item, member, index);
        message.route = (uint8_t)moe_placement_route(&background->placement, rank, message.destination);
        traffic_outbox_add(outbox, &message);
    }
}

/* Rounds that nothing has to arrive for: all of them where they begin by the clock, else the first. */
static void begin_item(const struct background *background, uint32_t i, uint32_t member,
                       struct traffic_outbox *outbox) {
    const struct background_item *item = &background->items[i];
    const bool waits = item->given->every_ps == 0 && item->given->pattern != EXPERIMENT_BACKGROUND_PIPELINE;
    const uint32_t rounds = waits ? 1 : item->given->rounds;
    for (uint32_t round = 0; background_item_is_first(item, member) && round < rounds; round++) {
        post(background, i, member, round * item->steps, item->given->start_ps + round * item->given->every_ps, outbox);
    }
}

static void begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    struct background *background = plan;
    background->measured.begin(background->measured.plan, rank, outbox);
    for (uint32_t i = 0; i < background->n_items; i++) {
        const uint32_t member = background->items[i].places[rank];
        background->progress[i][rank] = (struct progress){.end_ps = TIME_NEVER};
        if (member != UINT32_MAX) {
            begin_item(background, i, member, outbox);
        }
    }
}

/* A member goes on to its next round as soon as it has all of this one. */
static void answer_all_to_all(const struct background *background, uint32_t i, uint32_t member, uint32_t number,
                              struct progress *progress, struct traffic_outbox *outbox) {
    const struct background_item *item = &background->items[i];
    REQUIRE(number - progress->round < 2, "round %u arrives in round %u", number, progress->round);
    progress->received[number % 2]++;
    while (progress->received[progress->round % 2] == item->group - 1) {
        progress->received[progress->round % 2] = 0;
        if (++progress->round < item->given->rounds) {
            post(background, i, member, progress->round, 0, outbox);
        }
    }
}

/* In a ring what arrives is passed on; without a clock the last step of a round begins the next. */
static void answer_ring(const struct background *background, uint32_t i, uint32_t member, uint32_t number,
                        struct traffic_outbox *outbox) {
    const struct background_item *item = &background->items[i];
    const uint32_t next = number + 1;
    const bool by_clock = next % item->steps == 0 && item->given->every_ps > 0;
    if (!by_clock && next < item->steps * item->given->rounds) {
        post(background, i, member, next, 0, outbox);
    }
}

static void answer(const struct background *background, uint32_t i, uint32_t member, uint32_t number,
                   struct progress *progress, struct traffic_outbox *outbox) {
    const struct background_item *item = &background->items[i];
    switch (item->given->pattern) {
    case EXPERIMENT_BACKGROUND_ALL_TO_ALL:
        if (item->given->every_ps == 0) {
            answer_all_to_all(background, i, member, number, progress, outbox);
        }
        break;
    case EXPERIMENT_BACKGROUND_RING:
        answer_ring(background, i, member, number, outbox);
        break;
    case EXPERIMENT_BACKGROUND_PIPELINE:
        post(background, i, member, number, 0, outbox);
        break;
    case EXPERIMENT_BACKGROUND_WRITES:
        break;
    }
}

static void delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                      struct traffic_outbox *outbox) {
    struct background *background = plan;
    if (!background_owns(tag)) {
        background->measured.delivered(background->measured.plan, rank, source, tag, now_ps, outbox);
        return;
    }
    const uint32_t i = background_item(tag), member = background->items[i].places[rank];
    struct progress *progress = &background->progress[i][rank];
    progress->end_ps = now_ps;
    progress->delivered++;
    if (member != UINT32_MAX) {
        answer(background, i, member, tag & (EXPERIMENT_BACKGROUND_MESSAGES - 1), progress, outbox);
    }
}

/* Only the measured traffic has series. */
static uint32_t series(const void *plan, uint32_t rank, uint32_t tag, uint64_t *cursor,
                       struct traffic_message *messages, uint32_t capacity) {
    const struct background *background = plan;
    return background->measured.series(background->measured.plan, rank, tag, cursor, messages, capacity);
}

struct traffic background_traffic(struct background *background, const struct traffic *measured) {
    REQUIRE(measured->n_ranks == background->placement.n_ranks, "%u ranks beside %u", background->placement.n_ranks,
            measured->n_ranks);
    background->measured = *measured;
    return (struct traffic){.plan = background,
                            .n_ranks = measured->n_ranks,
                            .begin = begin,
                            .delivered = delivered,
                            .series = measured->series ? series : NULL};
}

static bool is_target(const struct background_item *item, uint32_t rank) {
    for (uint32_t t = 0; t < item->targets.n_gpus; t++) {
        if (item->targets.gpus[t] == rank) {
            return true;
        }
    }
    return false;
}

uint32_t background_participants(const struct background *background, uint32_t item) {
    return background->items[item].members.n_gpus + background->items[item].targets.n_gpus;
}

struct background_times background_times(const struct background *background, uint32_t item, uint32_t rank) {
    const struct background_item *of = &background->items[item];
    const bool takes_part = of->places[rank] != UINT32_MAX || is_target(of, rank);
    return (struct background_times){.start_ps = takes_part ? of->given->start_ps : TIME_NEVER,
                                     .end_ps = background->progress[item][rank].end_ps};
}

void background_take_end(struct background *background, uint32_t item, uint32_t rank, uint64_t end_ps) {
    background->progress[item][rank].end_ps = end_ps;
}

struct background_volume background_volume(const struct background *background, uint32_t item) {
    const struct background_item *of = &background->items[item];
    const uint64_t messages = (uint64_t)of->steps * of->given->rounds;
    struct background_volume volume = {0};
    for (uint32_t member = 0; member < of->members.n_gpus; member++) {
        const uint32_t peers = background_item_peers(of, member);
        for (uint32_t index = 0; index < peers; index++) {
            const uint32_t peer = background_item_peer(of, member, index);
            const bool nvlink =
                moe_placement_route(&background->placement, of->members.gpus[member], peer) == TRAFFIC_NVLINK;
            volume.nvlink_messages += nvlink ? messages : 0;
            volume.fabric_messages += nvlink ? 0 : messages;
        }
    }
    volume.fabric_bytes = volume.fabric_messages * of->bytes;
    volume.nvlink_bytes = volume.nvlink_messages * of->bytes;
    return volume;
}

uint64_t background_delivered(const struct background *background) {
    uint64_t messages = 0;
    for (uint32_t i = 0; i < background->n_items; i++) {
        for (uint32_t rank = 0; rank < background->placement.n_ranks; rank++) {
            messages += background->progress[i][rank].delivered;
        }
    }
    return messages;
}

static uint64_t mix(uint64_t digest, uint64_t value) {
    return hash_mix(digest ^ hash_mix(value));
}

uint64_t background_digest(const struct background *background, uint64_t digest) {
    for (uint32_t i = 0; i < background->n_items; i++) {
        const struct background_item *item = &background->items[i];
        const struct experiment_background *given = item->given;
        digest = mix(mix(mix(digest, given->pattern), item->bytes), item->group);
        digest = mix(mix(mix(digest, given->start_ps), given->every_ps), given->rounds);
        digest = mix(digest, given->group_placement);
        for (uint32_t member = 0; member < item->members.n_gpus; member++) {
            digest = mix(digest, item->members.gpus[member]);
        }
        for (uint32_t target = 0; target < item->targets.n_gpus; target++) {
            digest = mix(digest, item->targets.gpus[target]);
        }
    }
    return digest;
}
