// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/fluid.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"
#include "fabric/failure_plan.h"
#include "fluid/events.h"
#include "fluid/island.h"
#include "fluid/pairs.h"

#include <stdlib.h>

enum { RANKS_WITHOUT_NVLINK = 64 /* of an island */ };

struct fluid {
    const struct fabric *fabric;
    struct fluid_parameters given;
    const struct traffic *traffic;
    struct failure_plan *failures;
    struct pairs *pairs;
    struct island **islands;
    uint32_t *island_of; /* [rank] */
    uint32_t n_islands;
    struct island_posts posts;
    struct events order; /* posts of a window by time; a: number */
    uint64_t window_ps;  /* nothing crosses the fabric in less */
    uint64_t end_ps;
};

const char *fluid_refuses(const struct failure_list *failures) {
    for (uint32_t i = 0; failures && i < failures->count; i++) {
        const struct failure *failure = &failures->failures[i];
        if (failure->kind == FAILURE_LOSSY) {
            return "it knows no packets, so none can be lost";
        }
        if (failure->kind == FAILURE_SEND) {
            return "it knows no GPU that stops sending (stop_send)";
        }
        if (failure->kind != FAILURE_DOWN && failure->kind != FAILURE_SLOW && failure->kind != FAILURE_RECEIVE) {
            return "it knows links that are down or slow and hosts that receive slowly, and this failure is none of "
                   "them";
        }
        if (failure->from_ps > 0) {
            return "links and hosts must be as they are from time 0, and one fails later";
        }
        if (failure->until_ps != TIME_NEVER) {
            return "links and hosts must be as they are to the end, and one comes back";
        }
    }
    return NULL;
}

/* From a NIC to a switch and from there to a NIC is the shortest way. */
static uint64_t shortest_ps(const struct fabric *fabric) {
    uint64_t shortest = TIME_NEVER / 4;
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const struct fabric_link *link = &fabric->links[l];
        if (link->kind == FABRIC_ETHERNET && link->latency_ps < shortest) {
            shortest = link->latency_ps;
        }
    }
    return 2 * shortest;
}

static void make_islands(struct fluid *fluid) {
    const struct fabric *fabric = fluid->fabric;
    const uint32_t n = fluid->traffic->n_ranks;
    fluid->islands = memory_allocate(n, sizeof(struct island *));
    fluid->island_of = memory_allocate(n, sizeof(*fluid->island_of));
    for (uint32_t first = 0, count; first < n; first += count) {
        const uint32_t domain = fabric->endpoints[first].domain;
        const bool alone = domain == FABRIC_NONE || fabric->domains[domain].n_endpoints == 1;
        for (count = 0; first + count < n; count++) {
            const uint32_t next = fabric->endpoints[first + count].domain;
            const bool next_alone = next == FABRIC_NONE || fabric->domains[next].n_endpoints == 1;
            if (alone ? !next_alone || count == RANKS_WITHOUT_NVLINK : next != domain) {
                break;
            }
            fluid->island_of[first + count] = fluid->n_islands;
        }
        fluid->islands[fluid->n_islands++] =
            island_create(fabric, &fluid->given, fluid->failures, fluid->traffic, first, count);
    }
}

struct fluid *fluid_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                           const struct traffic *traffic) {
    struct fluid *fluid = memory_allocate(1, sizeof(*fluid));
    const struct failure_list *failures = parameters->failures;
    REQUIRE(fluid_refuses(failures) == NULL, "failures that the model does not know");
    fluid->fabric = fabric;
    fluid->given = *parameters;
    fluid->traffic = traffic;
    fluid->window_ps = shortest_ps(fabric);
    fluid->failures = failures && failures->count > 0 ? failure_plan_create(fabric, failures) : NULL;
    fluid->pairs = pairs_create(fabric, &fluid->given, fluid->failures);
    make_islands(fluid);
    return fluid;
}

void fluid_free(struct fluid *fluid) {
    if (fluid == NULL) {
        return;
    }
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        island_free(fluid->islands[i]);
    }
    free(fluid->islands);
    free(fluid->island_of);
    free(fluid->posts.posts);
    pairs_free(fluid->pairs);
    failure_plan_free(fluid->failures);
    events_fini(&fluid->order);
    free(fluid);
}

static uint64_t earlier(uint64_t left_ps, uint64_t right_ps) {
    return left_ps < right_ps ? left_ps : right_ps;
}

/* ---- the fabric ---- */

static void arrive(struct fluid *fluid, uint32_t source, uint32_t destination, uint32_t tag, uint64_t time_ps) {
    island_arrive(fluid->islands[fluid->island_of[destination]], source, destination, tag, time_ps);
}

static void take_post(struct fluid *fluid, uint64_t now_ps) {
    const struct event event = events_take(&fluid->order);
    const struct island_post *post = &fluid->posts.posts[event.a];
    if (post->message.urgent) {
        arrive(fluid, post->source, post->message.destination, post->message.tag,
               pairs_urgent_ps(fluid->pairs, post->source, &post->message, now_ps));
    } else {
        pairs_post(fluid->pairs, post->source, &post->message, now_ps);
    }
}

static uint64_t fabric_time_ps(const struct fluid *fluid, uint64_t now_ps) {
    return earlier(events_time_ps(&fluid->order),
                   earlier(pairs_time_ps(fluid->pairs), pairs_due_ps(fluid->pairs, now_ps)));
}

/* Carries what was posted and is under way, up to the end of the window. Rates follow when everything else of a time has happened. */
static void run_fabric(struct fluid *fluid, uint64_t now_ps, uint64_t until_ps) {
    for (uint32_t i = 0; i < fluid->posts.count; i++) {
        events_add(&fluid->order, fluid->posts.posts[i].time_ps, 0, i, 0, 0);
    }
    for (uint64_t next_ps; (next_ps = fabric_time_ps(fluid, now_ps)) < until_ps;) {
        now_ps = next_ps;
        if (events_time_ps(&fluid->order) == now_ps) {
            take_post(fluid, now_ps);
        } else if (pairs_time_ps(fluid->pairs) == now_ps) {
            uint64_t delivered_ps;
            const uint32_t number = pairs_take(fluid->pairs, now_ps, &delivered_ps);
            struct fluid_message *message = pairs_message(fluid->pairs, number);
            message->delivered_ps = delivered_ps;
            REQUIRE(delivered_ps >= until_ps, "a message crosses the fabric within a window");
            arrive(fluid, message->source, message->destination, message->tag, delivered_ps);
        } else {
            pairs_solve(fluid->pairs, now_ps);
        }
    }
    fluid->posts.count = 0;
}

/* ---- windows ---- */

static uint64_t next_ps(const struct fluid *fluid, uint64_t now_ps) {
    uint64_t next = fluid->posts.count > 0 ? now_ps : fabric_time_ps(fluid, now_ps); // posted at the beginning
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        next = earlier(next, island_time_ps(fluid->islands[i]));
    }
    return next;
}

static void run_window(struct fluid *fluid, uint64_t from_ps, uint64_t until_ps) {
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        island_run(fluid->islands[i], until_ps, &fluid->posts);
    }
    run_fabric(fluid, from_ps, until_ps);
}

static bool is_finished(const struct fluid *fluid) {
    bool busy = fluid_stuck(fluid) != NULL;
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        busy = busy || island_busy(fluid->islands[i]);
    }
    return !busy;
}

static uint64_t deliveries(const struct fluid *fluid) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        all += island_deliveries(fluid->islands[i]);
    }
    return all;
}

static enum fluid_status run_windows(struct fluid *fluid, fluid_observer *observer, void *context, uint64_t *now_ps) {
    for (;;) {
        const uint64_t next = next_ps(fluid, *now_ps);
        if (next == TIME_NEVER) {
            return is_finished(fluid) ? FLUID_FINISHED : FLUID_STALLED;
        }
        REQUIRE(next >= *now_ps, "time runs back from %llu to %llu ps", (unsigned long long)*now_ps,
                (unsigned long long)next);
        *now_ps = next;
        if (next >= fluid->given.limit_ps) {
            *now_ps = fluid->given.limit_ps;
            return FLUID_LIMIT;
        }
        if (observer != NULL && !observer(context, next, deliveries(fluid))) {
            return FLUID_INTERRUPTED;
        }
        run_window(fluid, next, earlier(next + fluid->window_ps, fluid->given.limit_ps));
    }
}

enum fluid_status fluid_run(struct fluid *fluid, fluid_observer *observer, void *context) {
    uint64_t now_ps = 0;
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        island_begin(fluid->islands[i], &fluid->posts);
    }
    const enum fluid_status status = run_windows(fluid, observer, context, &now_ps);
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        const uint64_t end_ps = island_end_ps(fluid->islands[i]);
        fluid->end_ps = end_ps > fluid->end_ps ? end_ps : fluid->end_ps;
    }
    if (status != FLUID_FINISHED) {
        fluid->end_ps = now_ps;
        pairs_forget_after(fluid->pairs, now_ps);
    }
    pairs_close(fluid->pairs);
    return status;
}

/* ---- afterwards ---- */

uint64_t fluid_end_ps(const struct fluid *fluid) {
    return fluid->end_ps;
}

const struct fluid_message *fluid_messages(const struct fluid *fluid, uint64_t *count) {
    return pairs_messages(fluid->pairs, count);
}

uint64_t fluid_acknowledged_ps(const struct fluid *fluid, const struct fluid_message *message) {
    return message->delivered_ps + pairs_control_ps(fluid->pairs, message->destination, message->source);
}

uint64_t fluid_nvlink_sent(const struct fluid *fluid, uint32_t rank) {
    return island_sent(fluid->islands[fluid->island_of[rank]], rank);
}

uint64_t fluid_nvlink_received(const struct fluid *fluid, uint32_t rank) {
    return island_received(fluid->islands[fluid->island_of[rank]], rank);
}

/* The same part of what a GPU sends and receives is on each of its NVLinks. */
static uint64_t nvlink_bytes(const struct fluid *fluid, const struct fabric_link *link) {
    const bool out = link->tail_device < fluid->fabric->n_endpoints;
    const uint32_t rank = out ? link->tail_device : link->head_device;
    const uint64_t bytes = out ? fluid_nvlink_sent(fluid, rank) : fluid_nvlink_received(fluid, rank);
    return bytes / fluid->fabric->endpoints[rank].n_nvlinks;
}

uint64_t fluid_link_bytes(const struct fluid *fluid, uint32_t link) {
    const struct fabric_link *of = &fluid->fabric->links[link];
    return of->kind == FABRIC_NVLINK ? nvlink_bytes(fluid, of) : pairs_link_bytes(fluid->pairs, link);
}

uint64_t fluid_solutions(const struct fluid *fluid) {
    uint64_t all = pairs_solutions(fluid->pairs);
    for (uint32_t i = 0; i < fluid->n_islands; i++) {
        all += island_solutions(fluid->islands[i]);
    }
    return all;
}

const struct fluid_message *fluid_stuck(const struct fluid *fluid) {
    uint64_t n;
    const struct fluid_message *messages = pairs_messages(fluid->pairs, &n);
    for (uint64_t i = 0; i < n; i++) {
        if (messages[i].delivered_ps == 0) {
            return &messages[i];
        }
    }
    return NULL;
}
