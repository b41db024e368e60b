// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/way.h"

#include "base/error.h"
#include "base/memory.h"
#include "command/setup.h"
#include "device/entropy.h"
#include "path/ecmp.h"

#include <stdlib.h>

enum { LONGEST_WAY = 16 };

/* A device that packets have come to, and how many of them. */
struct place {
    uint32_t device;
    double share;
};

struct places {
    struct place *places; /* [capacity] */
    uint32_t count, capacity;
};

struct way_finder {
    const struct simulation *simulation;
    const struct path_policy *policy;
    struct path_parameters hash, parameters;
    struct path_state **states; /* [n_devices] of d_mod_k, made when asked */
    struct places here, next;
    uint32_t *place_of; /* [n_devices] place in next + 1; 0: none */
    struct way_link *links;
    uint32_t n_links, capacity;
    bool exact; /* every choice is a hash or a table, all the time */
};

static enum path_kind kind_of(const struct simulation *simulation) {
    enum path_kind kind = PATH_ECMP;
    struct error error;
    REQUIRE(setup_find_path(simulation->policy->path, &kind, &error), "a run under an unknown path policy %s",
            simulation->policy->path);
    return kind;
}

struct way_finder *way_finder_create(const struct simulation *simulation) {
    const enum path_kind kind = kind_of(simulation);
    const uint32_t n_devices = simulation->fabric->n_devices;
    struct way_finder *finder = memory_allocate(1, sizeof *finder);
    *finder = (struct way_finder){
        .simulation = simulation,
        .policy = path_policy_of(kind),
        .hash = setup_path(simulation->experiment, simulation->policy, PATH_ECMP),
        .parameters = setup_path(simulation->experiment, simulation->policy, kind),
        .states = memory_allocate(n_devices, sizeof *finder->states),
        .place_of = memory_allocate(n_devices, sizeof *finder->place_of),
        .exact = (path_policy_of(kind)->hashes || kind == PATH_D_MOD_K) && simulation->experiment->n_failures == 0,
    };
    return finder;
}

void way_finder_free(struct way_finder *finder) {
    if (finder == NULL) {
        return;
    }
    for (uint32_t i = 0; i < finder->simulation->fabric->n_devices; i++) {
        path_state_free(finder->states[i]);
    }
    free(finder->states);
    free(finder->place_of);
    free(finder->here.places);
    free(finder->next.places);
    free(finder->links);
    free(finder);
}

/* Packets come to a device: with those that have come to it by other links. */
static void arrive(struct way_finder *finder, uint32_t device, double share) {
    struct places *next = &finder->next;
    if (finder->place_of[device] != 0) {
        next->places[finder->place_of[device] - 1].share += share;
        return;
    }
    if (next->count == next->capacity) {
        next->capacity = next->capacity ? 2 * next->capacity : 64;
        next->places = memory_resize(next->places, next->capacity, sizeof *next->places);
    }
    next->places[next->count++] = (struct place){.device = device, .share = share};
    finder->place_of[device] = next->count;
}

static void add_link(struct way_finder *finder, uint32_t link, double share) {
    if (finder->n_links == finder->capacity) {
        finder->capacity = finder->capacity ? 2 * finder->capacity : 64;
        finder->links = memory_resize(finder->links, finder->capacity, sizeof *finder->links);
    }
    finder->links[finder->n_links++] = (struct way_link){.link = link, .share = share};
}

/* The one port that all packets take. */
static uint16_t port_of(struct way_finder *finder, uint32_t device, const struct path_request *request) {
    const struct simulation *simulation = finder->simulation;
    if (finder->policy->hashes) {
        const struct ecmp_rule rule = ecmp_rule_of(&finder->hash, simulation->seed, device);
        return ecmp_rule_port(&rule, request);
    }
    if (finder->states[device] == NULL) {
        finder->states[device] =
            path_state_create(finder->policy, &finder->parameters, simulation->seed, simulation->fabric, device);
    }
    return finder->policy->choose(finder->states[device], request);
}

/* Sends what has come to a device on by its ports. */
static void pass_on(struct way_finder *finder, const struct place *place, const struct way_pair *pair, bool ends_only) {
    const struct fabric *fabric = finder->simulation->fabric;
    const struct fabric_route route = fabric_route_to(fabric, place->device, pair->destination);
    const uint32_t first = fabric->devices[place->device].first_port;
    if (route.count == 0) {
        return;
    }
    if (route.count == 1 || finder->exact) {
        const struct path_request request = {
            .source = pair->source,
            .destination = pair->destination,
            .entropy = entropy_of_pair(pair->destination, pair->index),
            .first_port = route.first_port,
            .count = route.count,
        };
        const uint32_t link = first + (route.count == 1 ? route.first_port : port_of(finder, place->device, &request));
        add_link(finder, link, place->share);
        arrive(finder, fabric->links[link].head_device, place->share);
        return;
    }
    for (uint32_t port = route.first_port; port < (uint32_t)route.first_port + route.count; port++) {
        const double share = place->share / route.count;
        if (!ends_only) {
            add_link(finder, first + port, share);
            arrive(finder, fabric->links[first + port].head_device, share);
        }
    }
}

/* The last link of each plane by which packets left. */
static void add_ends(struct way_finder *finder, const struct way_pair *pair, uint32_t from_plane, uint32_t n_planes) {
    const struct fabric *fabric = finder->simulation->fabric;
    for (uint32_t plane = from_plane; plane < from_plane + n_planes; plane++) {
        const uint32_t in = fabric->devices[pair->destination].first_port + plane;
        const uint32_t link = fabric->links[in].reverse;
        bool known = false;
        for (uint32_t i = 0; i < finder->n_links; i++) {
            known = known || finder->links[i].link == link;
        }
        if (!known) {
            add_link(finder, link, 1.0 / n_planes);
        }
    }
}

/* All that has come to the devices of one level goes on to those of the next. */
static bool step(struct way_finder *finder, const struct way_pair *pair, bool ends_only) {
    const struct places here = finder->next;
    finder->next = finder->here;
    finder->here = here;
    finder->next.count = 0;
    for (uint32_t i = 0; i < here.count; i++) {
        finder->place_of[here.places[i].device] = 0;
    }
    for (uint32_t i = 0; i < here.count; i++) {
        if (here.places[i].device != pair->destination) {
            pass_on(finder, &here.places[i], pair, ends_only);
        }
    }
    return finder->next.count > 0;
}

const struct way_link *way_find(struct way_finder *finder, const struct way_pair *pair, bool ends_only,
                                uint32_t *count) {
    const struct simulation *simulation = finder->simulation;
    const struct fabric *fabric = simulation->fabric;
    const bool by_pair = simulation->experiment->topology.nic.plane_choice == TOPOLOGY_PLANE_QUEUE_PAIR;
    const uint32_t n_planes = by_pair ? 1 : fabric->endpoints[pair->source].n_nics;
    const uint32_t from = by_pair ? pair->number % fabric->endpoints[pair->source].n_nics : 0;
    finder->n_links = 0;
    for (uint32_t plane = from; plane < from + n_planes; plane++) {
        const uint32_t link = fabric->devices[pair->source].first_port + plane;
        add_link(finder, link, 1.0 / n_planes);
        arrive(finder, fabric->links[link].head_device, 1.0 / n_planes);
    }
    for (int level = 0; level < LONGEST_WAY && step(finder, pair, ends_only); level++) {
    }
    for (uint32_t i = 0; i < finder->next.count;
         i++) { /* a way that is longer than any: nothing may be left for the next one */
        finder->place_of[finder->next.places[i].device] = 0;
    }
    finder->next.count = 0;
    if (ends_only) {
        add_ends(finder, pair, from, n_planes);
    }
    *count = finder->n_links;
    return finder->links;
}
