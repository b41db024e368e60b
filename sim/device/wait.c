// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/wait.h"

#include "base/memory.h"

#include <stdlib.h>

enum { UNSEEN, ON_PATH, DONE };

/* A depth-first search: the path from where it began, and how far each link on it has been followed. */
struct search {
    const struct fabric *fabric;
    struct switch_device *const *switches;
    unsigned char *state; /* [n_links] */
    uint32_t *path;       /* links */
    uint32_t *next_port;  /* [depth] port of the head of path[depth] to be looked at next */
    uint32_t depth;
};

static const struct switch_device *switch_of(const struct search *search, uint32_t device) {
    const struct fabric_device *place = &search->fabric->devices[device];
    return place->kind == FABRIC_SWITCH ? search->switches[place->ordinal] : NULL;
}

static bool is_waiting(const struct search *search, uint32_t link) {
    const struct fabric_link *place = &search->fabric->links[link];
    const struct switch_device *tail = switch_of(search, place->tail_device);
    return tail && switch_port_waits(tail, place->tail_port);
}

static void enter(struct search *search, uint32_t link) {
    search->state[link] = ON_PATH;
    search->path[search->depth] = link;
    search->next_port[search->depth] = 0;
    search->depth++;
}

/* The next link that the last one on the path waits for; FABRIC_NONE: there is no further one. */
static uint32_t next_waited_for(struct search *search) {
    const struct fabric_link *last = &search->fabric->links[search->path[search->depth - 1]];
    const struct switch_device *head = switch_of(search, last->head_device);
    const struct fabric_device *place = &search->fabric->devices[last->head_device];
    uint32_t *port = &search->next_port[search->depth - 1];
    while (head && *port < place->n_ports) {
        const uint32_t egress = (*port)++;
        if (switch_port_waits(head, egress) && switch_port_holds_from(head, egress, last->head_port)) {
            return place->first_port + egress;
        }
    }
    return FABRIC_NONE;
}

/* Follows what a link waits for. Returns where on the path a circle begins; FABRIC_NONE: it waits in no circle. */
static uint32_t follow(struct search *search, uint32_t link) {
    enter(search, link);
    while (search->depth > 0) {
        const uint32_t next = next_waited_for(search);
        if (next == FABRIC_NONE) {
            search->state[search->path[--search->depth]] = DONE;
        } else if (search->state[next] == UNSEEN) {
            enter(search, next);
        } else if (search->state[next] == ON_PATH) {
            uint32_t begin = 0;
            while (search->path[begin] != next) {
                begin++;
            }
            return begin;
        }
    }
    return FABRIC_NONE;
}

/* Writes a circle, turned so that it begins with its lowest link. */
static uint32_t write_circle(const struct search *search, uint32_t begin, uint32_t *links, uint32_t capacity) {
    const uint32_t length = search->depth - begin;
    uint32_t lowest = 0;
    for (uint32_t i = 1; i < length; i++) {
        lowest = search->path[begin + i] < search->path[begin + lowest] ? i : lowest;
    }
    for (uint32_t i = 0; i < length && i < capacity; i++) {
        links[i] = search->path[begin + (lowest + i) % length];
    }
    return length;
}

uint32_t wait_circle(const struct fabric *fabric, struct switch_device *const *switches, uint32_t *links,
                     uint32_t capacity) {
    struct search search = {.fabric = fabric,
                            .switches = switches,
                            .state = memory_allocate(fabric->n_links, sizeof(*search.state)),
                            .path = memory_allocate(fabric->n_links, sizeof(*search.path)),
                            .next_port = memory_allocate(fabric->n_links, sizeof(*search.next_port))};
    uint32_t length = 0;
    for (uint32_t link = 0; link < fabric->n_links && length == 0; link++) {
        if (search.state[link] == UNSEEN && is_waiting(&search, link)) {
            const uint32_t begin = follow(&search, link);
            length = begin == FABRIC_NONE ? 0 : write_circle(&search, begin, links, capacity);
        }
    }
    free(search.state);
    free(search.path);
    free(search.next_port);
    return length;
}

uint32_t wait_paused_links(const struct fabric *fabric, struct switch_device *const *switches) {
    const struct search search = {.fabric = fabric, .switches = switches};
    uint32_t count = 0;
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        count += is_waiting(&search, link);
    }
    return count;
}
