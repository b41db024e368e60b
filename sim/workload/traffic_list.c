// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/traffic_list.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

struct listed {
    struct traffic_message message;
    uint32_t source;
    uint32_t awaited; /* deliveries that it waits for, as listed */
    uint32_t missing; /* of them, not yet there */
    bool arrived;     /* delivered to its destination; written by that rank only */
};

struct dependency {
    uint32_t rank;        /* where the delivery is awaited */
    uint32_t source, tag; /* of the delivery */
    uint32_t message;     /* released by it */
};

struct traffic_list {
    uint32_t n_ranks;
    struct listed *listed;
    uint32_t n_listed, listed_capacity;
    struct dependency *dependencies;
    uint32_t n_dependencies, dependencies_capacity;
    uint32_t *by_source;       /* message numbers by (source, order of adding) */
    uint32_t *by_delivery;     /* message numbers by (destination, source, tag) */
    uint32_t *first_of_source; /* [n_ranks + 1] into by_source */
    uint32_t *delivered;       /* [n_ranks] */
    bool closed;
};

struct traffic_list *traffic_list_create(uint32_t n_ranks) {
    REQUIRE(n_ranks > 0, "a traffic list needs at least one rank");
    struct traffic_list *list = memory_allocate(1, sizeof *list);
    list->n_ranks = n_ranks;
    list->first_of_source = memory_allocate((size_t)n_ranks + 1, sizeof *list->first_of_source);
    list->delivered = memory_allocate(n_ranks, sizeof *list->delivered);
    return list;
}

void traffic_list_free(struct traffic_list *list) {
    if (!list) {
        return;
    }
    free(list->listed);
    free(list->dependencies);
    free(list->by_source);
    free(list->by_delivery);
    free(list->first_of_source);
    free(list->delivered);
    free(list);
}

uint32_t traffic_list_add(struct traffic_list *list, uint32_t source, const struct traffic_message *message) {
    REQUIRE(!list->closed, "message added to a closed traffic list");
    REQUIRE(source < list->n_ranks && message->destination < list->n_ranks, "message from %u to %u among %u ranks",
            source, message->destination, list->n_ranks);
    REQUIRE(source != message->destination && message->bytes > 0, "message from %u to itself or without bytes", source);
    if (list->n_listed == list->listed_capacity) {
        list->listed_capacity = list->listed_capacity ? 2 * list->listed_capacity : 64;
        list->listed = memory_resize(list->listed, list->listed_capacity, sizeof *list->listed);
    }
    list->listed[list->n_listed] = (struct listed){.message = *message, .source = source};
    return list->n_listed++;
}

void traffic_list_after(struct traffic_list *list, uint32_t message, uint32_t source, uint32_t tag) {
    REQUIRE(!list->closed && message < list->n_listed, "dependency of message %u of %u", message, list->n_listed);
    if (list->n_dependencies == list->dependencies_capacity) {
        list->dependencies_capacity = list->dependencies_capacity ? 2 * list->dependencies_capacity : 64;
        list->dependencies = memory_resize(list->dependencies, list->dependencies_capacity, sizeof *list->dependencies);
    }
    list->dependencies[list->n_dependencies++] =
        (struct dependency){.rank = list->listed[message].source, .source = source, .tag = tag, .message = message};
    list->listed[message].awaited++;
}

static int order(uint32_t left, uint32_t right) {
    return (left > right) - (left < right);
}

static int compare_dependencies(const void *left_pointer, const void *right_pointer) {
    const struct dependency *left = left_pointer, *right = right_pointer;
    int by = order(left->rank, right->rank);
    by = by ? by : order(left->source, right->source);
    by = by ? by : order(left->tag, right->tag);
    return by ? by : order(left->message, right->message);
}

static int compare_delivery(const struct listed *message, uint32_t rank, uint32_t source, uint32_t tag) {
    int by = order(message->message.destination, rank);
    by = by ? by : order(message->source, source);
    return by ? by : order(message->message.tag, tag);
}

/* qsort has no context in C11, and the numbers need the list: a merge sort of our own is shorter than a global. */
static void sort_by_delivery(const struct traffic_list *list, uint32_t *numbers, uint32_t *scratch, uint32_t count) {
    if (count < 2) {
        return;
    }
    const uint32_t half = count / 2;
    sort_by_delivery(list, numbers, scratch, half);
    sort_by_delivery(list, numbers + half, scratch, count - half);
    for (uint32_t i = 0, left = 0, right = half; i < count; i++) {
        bool take_left = right == count;
        if (left < half && right < count) {
            const struct listed *other = &list->listed[numbers[right]];
            take_left = compare_delivery(&list->listed[numbers[left]], other->message.destination, other->source,
                                         other->message.tag) <= 0;
        }
        scratch[i] = take_left ? numbers[left++] : numbers[right++];
    }
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = scratch[i];
    }
}

static struct listed *find_delivery(const struct traffic_list *list, uint32_t rank, uint32_t source, uint32_t tag) {
    uint32_t low = 0, high = list->n_listed;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        struct listed *candidate = &list->listed[list->by_delivery[middle]];
        const int by = compare_delivery(candidate, rank, source, tag);
        if (by == 0) {
            return candidate;
        }
        if (by < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static void index_sources(struct traffic_list *list) {
    list->by_source = memory_allocate((size_t)list->n_listed + 1, sizeof *list->by_source);
    for (uint32_t i = 0; i < list->n_listed; i++) {
        list->first_of_source[list->listed[i].source + 1]++;
    }
    for (uint32_t rank = 0; rank < list->n_ranks; rank++) {
        list->first_of_source[rank + 1] += list->first_of_source[rank];
    }
    uint32_t *next = memory_allocate(list->n_ranks, sizeof *next);
    for (uint32_t i = 0; i < list->n_listed; i++) {
        const uint32_t source = list->listed[i].source;
        list->by_source[list->first_of_source[source] + next[source]++] = i;
    }
    free(next);
}

static void index_deliveries(struct traffic_list *list) {
    list->by_delivery = memory_allocate((size_t)list->n_listed + 1, sizeof *list->by_delivery);
    uint32_t *scratch = memory_allocate((size_t)list->n_listed + 1, sizeof *scratch);
    for (uint32_t i = 0; i < list->n_listed; i++) {
        list->by_delivery[i] = i;
    }
    sort_by_delivery(list, list->by_delivery, scratch, list->n_listed);
    free(scratch);
    for (uint32_t i = 1; i < list->n_listed; i++) {
        const struct listed *before = &list->listed[list->by_delivery[i - 1]];
        const struct listed *here = &list->listed[list->by_delivery[i]];
        REQUIRE(compare_delivery(before, here->message.destination, here->source, here->message.tag) != 0,
                "two messages from %u to %u with tag %u", here->source, here->message.destination, here->message.tag);
    }
}

static void index_dependencies(struct traffic_list *list) {
    if (list->n_dependencies > 0) {
        qsort(list->dependencies, list->n_dependencies, sizeof *list->dependencies, compare_dependencies);
    }
    for (uint32_t i = 0; i < list->n_dependencies; i++) {
        const struct dependency *dependency = &list->dependencies[i];
        REQUIRE(find_delivery(list, dependency->rank, dependency->source, dependency->tag),
                "message %u waits for tag %u from %u to %u, which nobody sends", dependency->message, dependency->tag,
                dependency->source, dependency->rank);
    }
}

/* First dependency at or after (rank, source, tag). */
static uint32_t first_dependency(const struct traffic_list *list, uint32_t rank, uint32_t source, uint32_t tag) {
    const struct dependency wanted = {.rank = rank, .source = source, .tag = tag, .message = 0};
    uint32_t low = 0, high = list->n_dependencies;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare_dependencies(&list->dependencies[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A destination clears the marks of what it will receive: first message to that rank in by_delivery order. */
static uint32_t first_delivery(const struct traffic_list *list, uint32_t rank) {
    uint32_t low = 0, high = list->n_listed;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->listed[list->by_delivery[middle]].message.destination < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void list_begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    struct traffic_list *list = plan;
    list->delivered[rank] = 0;
    for (uint32_t i = first_delivery(list, rank); i < list->n_listed; i++) {
        struct listed *incoming = &list->listed[list->by_delivery[i]];
        if (incoming->message.destination != rank) {
            break;
        }
        incoming->arrived = false;
    }
    for (uint32_t i = list->first_of_source[rank]; i < list->first_of_source[rank + 1]; i++) {
        struct listed *own = &list->listed[list->by_source[i]];
        own->missing = own->awaited;
        if (own->missing == 0) {
            traffic_outbox_add(outbox, &own->message);
        }
    }
}

static void list_delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                           struct traffic_outbox *outbox) {
    (void)now_ps;
    struct traffic_list *list = plan;
    struct listed *incoming = find_delivery(list, rank, source, tag);
    REQUIRE(incoming && !incoming->arrived, "tag %u from %u delivered to %u: unknown or twice", tag, source, rank);
    incoming->arrived = true;
    list->delivered[rank]++;
    for (uint32_t i = first_dependency(list, rank, source, tag); i < list->n_dependencies; i++) {
        const struct dependency *dependency = &list->dependencies[i];
        if (dependency->rank != rank || dependency->source != source || dependency->tag != tag) {
            break;
        }
        struct listed *own = &list->listed[dependency->message];
        if (--own->missing == 0) {
            traffic_outbox_add(outbox, &own->message);
        }
    }
}

struct traffic traffic_list_traffic(struct traffic_list *list) {
    if (!list->closed) {
        index_sources(list);
        index_deliveries(list);
        index_dependencies(list);
        list->closed = true;
    }
    return (struct traffic){.plan = list, .n_ranks = list->n_ranks, .begin = list_begin, .delivered = list_delivered};
}

uint32_t traffic_list_count(const struct traffic_list *list) {
    return list->n_listed;
}

uint32_t traffic_list_delivered(const struct traffic_list *list, uint32_t rank) {
    return list->delivered[rank];
}

bool traffic_list_finished(const struct traffic_list *list) {
    uint64_t delivered = 0;
    for (uint32_t rank = 0; rank < list->n_ranks; rank++) {
        delivered += list->delivered[rank];
    }
    return delivered == list->n_listed;
}
