// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_case.h"

#include "base/memory.h"
#include "dice.h"
#include "random_fabric.h"
#include "random_failures.h"
#include "random_kernel.h"
#include "random_parameters.h"
#include "random_receive.h"
#include "random_record.h"
#include "random_series.h"
#include "random_wishes.h"

#include <stdlib.h>

#define US UINT64_C(1000000)

enum { PLENTY_BYTES = 1 << 26, ONE_FXP20 = 1 << 20, BYTE_PS = 20 };

enum topic { TOPIC_TRAFFIC = 300, TOPIC_MESSAGES, TOPIC_DEPENDENCIES, TOPIC_REFRESHES, TOPIC_BUSY, TOPIC_ALIGNED };

/** How the messages of one case are drawn. */
struct mood {
    uint32_t hot;            /**< destination of most messages */
    uint32_t hot_percent;    /**< of how many */
    uint32_t busy;           /**< source of most messages */
    uint32_t busy_percent;   /**< of how many */
    uint32_t most_packets;   /**< in a message */
    uint64_t common_ps;      /**< start of many */
    uint32_t jitter_percent; /**< start at a time of their own */
};

static struct mood draw_mood(struct dice *dice, const struct fabric *fabric) {
    static const uint64_t most[] = {4, 12, 40, 120};
    return (struct mood){.hot = dice_below(dice, fabric->n_endpoints),
                         .hot_percent = dice_chance(dice, 65) ? 80 : 0,
                         .most_packets = (uint32_t)dice_pick(dice, most, sizeof most / sizeof *most),
                         .common_ps = dice_chance(dice, 70) ? 0 : dice_between(dice, 1, 5 * US),
                         .jitter_percent = dice_chance(dice, 50) ? 0 : 60};
}

/** Sometimes one endpoint sends to all, over as many queue pairs. */
static void draw_busy(struct mood *mood, struct dice *dice, const struct fabric *fabric) {
    mood->busy = dice_below(dice, fabric->n_endpoints);
    if (dice_chance(dice, 12)) {
        mood->busy_percent = 85;
        mood->hot_percent = 0;
    }
}

/** More packets, and to one place. */
static void crowd(struct mood *mood) {
    mood->hot_percent = 80;
    mood->most_packets = mood->most_packets < 40 ? 40 : mood->most_packets;
}

static bool same_domain(const struct fabric *fabric, uint32_t a, uint32_t b) {
    return fabric->endpoints[a].domain != FABRIC_NONE && fabric->endpoints[a].domain == fabric->endpoints[b].domain;
}

static bool both_plugged(const struct fabric *fabric, uint32_t a, uint32_t b) {
    return fabric->endpoints[a].n_nics > 0 && fabric->endpoints[b].n_nics > 0;
}

/** Draws two ranks that can talk. Such a pair exists in every random fabric: the first two. */
static void draw_pair(struct dice *dice, const struct fabric *fabric, const struct mood *mood,
                      struct random_case_message *drawn) {
    for (int attempt = 0; attempt < 100; attempt++) {
        const uint32_t one = dice_below(dice, fabric->n_endpoints);
        const uint32_t source = mood->busy_percent > 0 && dice_chance(dice, mood->busy_percent) ? mood->busy : one;
        const uint32_t any = dice_below(dice, fabric->n_endpoints);
        const uint32_t destination = dice_chance(dice, mood->hot_percent) ? mood->hot : any;
        if (source != destination &&
            (same_domain(fabric, source, destination) || both_plugged(fabric, source, destination))) {
            drawn->source = source;
            drawn->message.destination = destination;
            return;
        }
    }
    drawn->source = 0;
    drawn->message.destination = 1;
}

static void draw_route(struct dice *dice, const struct fabric *fabric, struct random_case_message *drawn) {
    const bool inside = same_domain(fabric, drawn->source, drawn->message.destination);
    const bool across = both_plugged(fabric, drawn->source, drawn->message.destination);
    const bool nvlink = inside && (!across || dice_chance(dice, 50));
    drawn->message.route = nvlink ? TRAFFIC_NVLINK : TRAFFIC_FABRIC;
    drawn->message.channel = nvlink ? (uint8_t)dice_below(dice, TRAFFIC_CHANNELS) : 0;
    drawn->message.urgent = !nvlink && dice_chance(dice, 10);
}

static void draw_size(struct dice *dice, const struct nic_parameters *nic, const struct mood *mood,
                      struct random_case_message *drawn) {
    const uint64_t packets = 1 + dice_below(dice, mood->most_packets);
    const uint64_t less = dice_chance(dice, 50) ? 0 : dice_below(dice, nic->payload_bytes);
    const uint32_t unit = 1 + dice_below(dice, 3 * nic->payload_bytes);
    const bool units = dice_chance(dice, 25) && unit > 100;
    drawn->message.bytes = (drawn->message.urgent ? 1 : packets) * nic->payload_bytes - less;
    drawn->message.unit_bytes = units ? unit : 0;
}

static void draw_messages(struct random_case *random_case, struct dice *dice, const struct mood *mood) {
    random_case->n_messages = RANDOM_CASE_MESSAGES - dice_below(dice, RANDOM_CASE_MESSAGES) * dice_below(dice, 2);
    for (uint32_t i = 0; i < random_case->n_messages; i++) {
        struct random_case_message *drawn = &random_case->messages[i];
        draw_pair(dice, random_case->fabric, mood, drawn);
        draw_route(dice, random_case->fabric, drawn);
        draw_size(dice, &random_case->parameters.nic, mood, drawn);
        const uint64_t jitter_ps = dice_between(dice, 0, 20 * US);
        drawn->message.tag = i * RANDOM_SERIES_TAGS;
        drawn->message.start_ps = dice_chance(dice, mood->jitter_percent) ? jitter_ps : mood->common_ps;
        drawn->message.share = dice_chance(dice, 60) ? 1 + dice_below(dice, ONE_FXP20) : 0;
    }
}

/** Some messages start just when the retransmission clock of what started before them may run out. */
static void align_starts(struct random_case *random_case, const struct mood *mood) {
    struct dice dice = dice_of(random_case->recipe.number, TOPIC_ALIGNED);
    for (uint32_t i = 0; i < random_case->n_messages; i++) {
        if (dice_chance(&dice, 10)) {
            random_case->messages[i].message.start_ps =
                mood->common_ps + random_case->parameters.nic.retransmit_timeout_ps;
        }
    }
}

static void draw_dependencies(struct random_case *random_case, struct dice *dice) {
    if (dice_chance(dice, 50)) {
        return;
    }
    for (uint32_t i = 1; i < random_case->n_messages; i++) {
        struct random_case_message *later = &random_case->messages[i];
        for (uint32_t attempt = 0; attempt < 6 && later->n_awaited < RANDOM_CASE_AWAITED; attempt++) {
            const uint32_t j = dice_below(dice, i);
            if (random_case->messages[j].message.destination == later->source) {
                later->awaited[later->n_awaited++] = j;
            }
        }
    }
}

/** Picks a seed with which the refreshes of one switch fall on multiples of a byte's time at 400 Gb/s, where packets arrive. */
static void align_refreshes(struct random_case *random_case, struct dice *dice) {
    const struct fabric *fabric = random_case->fabric;
    struct network_parameters *parameters = &random_case->parameters;
    if (fabric->n_switches == 0 || dice_chance(dice, 50)) {
        return;
    }
    const uint32_t device = fabric->switch_devices[dice_below(dice, fabric->n_switches)];
    for (int attempt = 0; attempt < 200; attempt++) {
        if (path_refresh_offset_ps(&parameters->path, parameters->seed, device) % BYTE_PS == 0) {
            return;
        }
        parameters->seed += UINT64_C(1) << 32;
    }
}

/* ---- recipes ---- */

static void enlarge(struct switch_parameters *parameters) {
    parameters->lossless_pool_bytes = PLENTY_BYTES;
    parameters->lossy_pool_bytes = PLENTY_BYTES;
    parameters->headroom_bytes = PLENTY_BYTES;
    parameters->headroom_automatic = false;
    parameters->lossless_alpha_shift = 0;
    parameters->lossy_alpha_shift = 0;
}

static void simplify_parameters(struct network_parameters *parameters, uint32_t simpler) {
    if (simpler & RANDOM_CASE_ONE_QUEUE_PAIR) {
        parameters->nic.queue_pairs = 1;
    }
    if (simpler & RANDOM_CASE_NO_MARKS) {
        parameters->leaf.ecn = parameters->spine.ecn = false;
    }
    if (simpler & RANDOM_CASE_NO_CONTROLLER) {
        parameters->congestion.kind = CONGESTION_NONE;
    }
    if (simpler & RANDOM_CASE_ECMP) {
        parameters->path.kind = PATH_ECMP;
    }
    if (simpler & RANDOM_CASE_LARGE_BUFFERS) {
        enlarge(&parameters->leaf);
        enlarge(&parameters->spine);
        parameters->nvlink.buffer_bytes = 0;
    }
    if (simpler & RANDOM_CASE_NO_WINDOW) {
        parameters->nic.window_packets = 0;
    }
    if (simpler & RANDOM_CASE_EVERY_PACKET_ACKNOWLEDGED) {
        parameters->nic.acknowledge_bytes = 1;
    }
}

static void simplify_messages(struct random_case *random_case) {
    const uint32_t simpler = random_case->recipe.simpler;
    for (uint32_t i = 0; i < random_case->n_messages; i++) {
        struct random_case_message *drawn = &random_case->messages[i];
        if (simpler & RANDOM_CASE_NO_DEPENDENCIES) {
            drawn->n_awaited = 0;
        }
        if (simpler & RANDOM_CASE_START_AT_0) {
            drawn->message.start_ps = 0;
        }
        if (simpler & RANDOM_CASE_NO_UNITS) {
            drawn->message.unit_bytes = 0;
        }
        if (simpler & RANDOM_CASE_NO_SERIES) {
            drawn->copies = 1;
        }
    }
}

static bool is_left_out(const struct random_case *random_case, uint32_t message) {
    return random_case->recipe.left_out >> message & 1;
}

/** Adds a message with all its copies; each waits for the first copies of what the message awaits. */
static void list_message(struct random_case *random_case, const struct random_case_message *drawn) {
    for (uint32_t copy = 0; copy < drawn->copies; copy++) {
        const struct traffic_message message = random_series_copy(random_case, drawn, copy);
        const uint32_t number = traffic_list_add(random_case->list, drawn->source, &message);
        for (uint32_t k = 0; k < drawn->n_awaited; k++) {
            const struct random_case_message *awaited = &random_case->messages[drawn->awaited[k]];
            if (!is_left_out(random_case, drawn->awaited[k])) {
                traffic_list_after(random_case->list, number, awaited->source, awaited->message.tag);
            }
        }
    }
}

static void fill_list(struct random_case *random_case) {
    random_case->list = traffic_list_create(random_case->fabric->n_endpoints);
    for (uint32_t i = 0; i < random_case->n_messages; i++) {
        if (!is_left_out(random_case, i)) {
            list_message(random_case, &random_case->messages[i]);
        }
    }
    traffic_list_traffic(random_case->list);
    random_case->traffic = random_series_traffic(random_case);
}

struct random_case *random_case_create(const struct random_case_recipe *recipe) {
    struct random_case *created = memory_allocate(1, sizeof *created);
    struct dice traffic = dice_of(recipe->number, TOPIC_TRAFFIC), messages = dice_of(recipe->number, TOPIC_MESSAGES);
    struct dice dependencies = dice_of(recipe->number, TOPIC_DEPENDENCIES);
    struct dice refreshes = dice_of(recipe->number, TOPIC_REFRESHES), busy = dice_of(recipe->number, TOPIC_BUSY);
    created->recipe = *recipe;
    created->fabric = random_fabric_create(recipe->number, recipe->simpler & RANDOM_CASE_EQUAL_LINKS,
                                           recipe->simpler & RANDOM_CASE_STORE_AND_FORWARD);
    created->parameters = random_parameters_create(recipe->number);
    struct mood mood = draw_mood(&traffic, created->fabric);
    if (random_wishes_has(recipe->number)) {
        crowd(&mood);
    }
    draw_busy(&mood, &busy, created->fabric);
    draw_messages(created, &messages, &mood);
    align_starts(created, &mood);
    draw_dependencies(created, &dependencies);
    random_series_draw(created);
    random_kernel_draw(created);
    align_refreshes(created, &refreshes);
    created->failures = random_failures_create(recipe->number, created->fabric, &created->parameters);
    random_receive_draw(recipe->number, created->fabric, &created->parameters, &created->failures);
    created->failures.count = recipe->simpler & RANDOM_CASE_NO_FAILURES ? 0 : created->failures.count;
    created->parameters.failures = &created->failures;
    simplify_parameters(&created->parameters, recipe->simpler);
    simplify_messages(created);
    created->series = recipe->simpler & RANDOM_CASE_NO_RECORD ? NULL : random_record_create(created);
    created->parameters.series = created->series;
    fill_list(created);
    return created;
}

void random_case_free(struct random_case *random_case) {
    if (random_case != NULL) {
        traffic_list_free(random_case->list);
        fabric_free(random_case->fabric);
        free(random_case->failures.failures);
        random_record_free(random_case->series);
        free(random_case);
    }
}

/* ---- shrinking ---- */

static bool still_fails(const struct random_case_recipe *recipe, random_case_fails fails, void *context) {
    struct random_case *random_case = random_case_create(recipe);
    const bool failing = fails(random_case, context);
    random_case_free(random_case);
    return failing;
}

static struct random_case_recipe leave_out(struct random_case_recipe recipe, random_case_fails fails, void *context) {
    for (uint32_t size = RANDOM_CASE_MESSAGES / 2; size > 0; size /= 2) {
        for (uint32_t first = 0; first < RANDOM_CASE_MESSAGES; first += size) {
            struct random_case_recipe smaller = recipe;
            smaller.left_out |= ((UINT32_C(1) << size) - 1) << first;
            if (smaller.left_out != recipe.left_out && still_fails(&smaller, fails, context)) {
                recipe = smaller;
            }
        }
    }
    return recipe;
}

struct random_case_recipe random_case_shrink(const struct random_case_recipe *recipe, random_case_fails fails,
                                             void *context) {
    struct random_case_recipe smallest = leave_out(*recipe, fails, context);
    for (uint32_t bit = 1; bit < RANDOM_CASE_SIMPLER_END; bit <<= 1) {
        struct random_case_recipe simpler = smallest;
        simpler.simpler |= bit;
        if (still_fails(&simpler, fails, context)) {
            smallest = simpler;
        }
    }
    return leave_out(smallest, fails, context);
}
