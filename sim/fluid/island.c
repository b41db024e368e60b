// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/island.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"
#include "fluid/channels.h"
#include "fluid/events.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of events, in the order of those at one time. */
enum {
    START,    /* a: group of messages that may start */
    DELIVERY, /* a: source, b: destination, c: tag */
    ARRIVAL,  /* a: channel, b: so many messages over NVLink */
};

/* Messages that may start at one time. */
struct group {
    uint32_t source, count;
    struct traffic_message *messages; /* NULL: this place is free */
};

struct island {
    const struct traffic *traffic;
    uint32_t first, count;
    struct channels *channels; /* NULL: there is no NVLink */
    struct events events;
    struct traffic_outbox outbox;
    struct group *groups;
    uint32_t *free_groups;
    uint32_t n_groups, n_free_groups, groups_capacity;
    uint64_t deliveries, end_ps;
};

struct island *island_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                             const struct failure_plan *failures, const struct traffic *traffic, uint32_t first,
                             uint32_t count) {
    struct island *island = memory_allocate(1, sizeof(*island));
    const uint32_t domain = fabric->endpoints[first].domain;
    island->traffic = traffic;
    island->first = first;
    island->count = count;
    if (domain != FABRIC_NONE && fabric->endpoints[first].n_nvlinks > 0) {
        island->channels = channels_create(fabric, parameters, failures, traffic, domain);
    }
    island->outbox.takes_series = traffic->series != NULL;
    return island;
}

void island_free(struct island *island) {
    if (island == NULL) {
        return;
    }
    for (uint32_t g = 0; g < island->n_groups; g++) {
        free(island->groups[g].messages);
    }
    free(island->groups);
    free(island->free_groups);
    channels_free(island->channels);
    events_fini(&island->events);
    traffic_outbox_free(&island->outbox);
    free(island);
}

/* ---- posting ---- */

static void add_post(struct island_posts *posts, uint32_t source, const struct traffic_message *message,
                     uint64_t now_ps) {
    if (posts->count == posts->capacity) {
        posts->capacity = posts->capacity ? 2 * posts->capacity : 1024;
        posts->posts = memory_resize(posts->posts, posts->capacity, sizeof(*posts->posts));
    }
    posts->posts[posts->count++] = (struct island_post){.time_ps = now_ps, .source = source, .message = *message};
}

static void post(struct island *island, uint32_t source, const struct traffic_message *message, uint64_t now_ps,
                 struct island_posts *posts) {
    if (message->route == TRAFFIC_NVLINK) {
        REQUIRE(island->channels != NULL, "rank %u has no NVLink", source);
        channels_post(island->channels, source, message, now_ps);
    } else {
        add_post(posts, source, message, now_ps);
    }
}

static uint32_t free_group(struct island *island) {
    if (island->n_free_groups > 0) {
        return island->free_groups[--island->n_free_groups];
    }
    if (island->n_groups == island->groups_capacity) {
        island->groups_capacity = island->groups_capacity ? 2 * island->groups_capacity : 64;
        const size_t capacity = island->groups_capacity;
        island->groups = memory_resize(island->groups, capacity, sizeof(*island->groups));
        island->free_groups = memory_resize(island->free_groups, capacity, sizeof(*island->free_groups));
    }
    return island->n_groups++;
}

/* Keeps messages that start later, all at one time. */
static void hold(struct island *island, uint32_t source, const struct traffic_message *messages, uint32_t count) {
    const uint32_t number = free_group(island);
    struct group *group = &island->groups[number];
    *group =
        (struct group){.source = source, .count = count, .messages = memory_allocate(count, sizeof(*group->messages))};
    memcpy(group->messages, messages, count * sizeof(*messages));
    events_add(&island->events, messages[0].start_ps, START, number, 0, 0);
}

/* Takes what a rank has answered, in its order. */
static void take_outbox(struct island *island, uint32_t source, uint64_t now_ps, struct island_posts *posts) {
    const struct traffic_message *messages = island->outbox.messages;
    for (uint32_t i = 0; i < island->outbox.count;) {
        uint32_t n = 1;
        if (messages[i].start_ps <= now_ps) {
            post(island, source, &messages[i], now_ps, posts);
        } else {
            while (i + n < island->outbox.count && messages[i + n].start_ps == messages[i].start_ps) {
                n++;
            }
            hold(island, source, &messages[i], n);
        }
        i += n;
    }
    island->outbox.count = 0;
}

static void start(struct island *island, uint32_t number, uint64_t now_ps, struct island_posts *posts) {
    const struct group group = island->groups[number];
    for (uint32_t i = 0; i < group.count; i++) {
        post(island, group.source, &group.messages[i], now_ps, posts);
    }
    free(group.messages);
    island->groups[number].messages = NULL;
    island->free_groups[island->n_free_groups++] = number;
}

void island_begin(struct island *island, struct island_posts *posts) {
    for (uint32_t rank = island->first; rank < island->first + island->count; rank++) {
        island->traffic->begin(island->traffic->plan, rank, &island->outbox);
        take_outbox(island, rank, 0, posts);
    }
}

/* ---- what happens ---- */

void island_arrive(struct island *island, uint32_t source, uint32_t destination, uint32_t tag, uint64_t time_ps) {
    events_add(&island->events, time_ps, DELIVERY, source, destination, tag);
}

static void deliver(struct island *island, uint32_t source, uint32_t destination, uint32_t tag, uint64_t now_ps,
                    struct island_posts *posts) {
    island->deliveries++;
    island->end_ps = now_ps;
    island->traffic->delivered(island->traffic->plan, destination, source, tag, now_ps, &island->outbox);
    if (island->outbox.count > 0) {
        take_outbox(island, destination, now_ps, posts);
    }
}

static void handle(struct island *island, const struct event *event, struct island_posts *posts) {
    const uint64_t now_ps = event->time_ps;
    switch (events_kind(event)) {
    case START:
        start(island, event->a, now_ps, posts);
        return;
    case DELIVERY:
        deliver(island, event->a, event->b, event->c, now_ps, posts);
        return;
    default:
        for (uint32_t i = 0; i < event->b; i++) {
            const struct channels_arrival arrival = channels_arrive(island->channels, event->a);
            deliver(island, arrival.source, arrival.destination, arrival.tag, now_ps, posts);
        }
    }
}

static uint64_t earlier(uint64_t left_ps, uint64_t right_ps) {
    return left_ps < right_ps ? left_ps : right_ps;
}

uint64_t island_time_ps(const struct island *island) {
    const uint64_t event_ps = events_time_ps(&island->events);
    return island->channels
               ? earlier(event_ps, earlier(channels_time_ps(island->channels), channels_due_ps(island->channels)))
               : event_ps;
}

void island_run(struct island *island, uint64_t until_ps, struct island_posts *posts) {
    for (uint64_t now_ps; (now_ps = island_time_ps(island)) < until_ps;) {
        if (events_time_ps(&island->events) == now_ps) {
            const struct event event = events_take(&island->events);
            handle(island, &event, posts);
        } else if (channels_time_ps(island->channels) == now_ps) {
            uint32_t count;
            uint64_t delivered_ps;
            const uint32_t channel = channels_take(island->channels, now_ps, &count, &delivered_ps);
            events_add(&island->events, delivered_ps, ARRIVAL, channel, count, 0);
        } else {
            channels_solve(island->channels, now_ps); // when everything else of this time has happened
        }
    }
}

/* ---- afterwards ---- */

bool island_busy(const struct island *island) {
    return island->channels != NULL && channels_busy(island->channels);
}

uint64_t island_end_ps(const struct island *island) {
    return island->end_ps;
}

uint64_t island_deliveries(const struct island *island) {
    return island->deliveries;
}

uint64_t island_solutions(const struct island *island) {
    return island->channels != NULL ? channels_solutions(island->channels) : 0;
}

uint64_t island_sent(const struct island *island, uint32_t rank) {
    return island->channels != NULL ? channels_sent(island->channels, rank) : 0;
}

uint64_t island_received(const struct island *island, uint32_t rank) {
    return island->channels != NULL ? channels_received(island->channels, rank) : 0;
}
