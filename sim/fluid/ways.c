// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/ways.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"
#include "fluid/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_USES = 1 << 14, NIC_USES = 4 };
#define UNKNOWN 0
#define NO_WAY UINT32_MAX
/* Failures of the fluid model do not change: any time after the tables have followed them is as good as another. */
#define SETTLED_PS (UINT64_C(1) << 62)

struct block {
    struct block *next;
    uint32_t used;
    struct share_use uses[BLOCK_USES];
};

struct ways {
    struct ways_parameters given;
    const struct path_policy *policy;
    struct path_state **states; /* [n_switches] of policies that keep to one path; made when first asked */
    struct split *split;        /* of the others */
    double *capacities;
    double *booked; /* [limit] bytes */
    uint32_t n_limits;
    uint32_t acknowledge_fxp24;
    struct block *blocks;
    struct share_bundle *bundles;
    double *bundle_booked;
    uint32_t n_bundles, bundles_capacity;
    struct share_use *scratch;
    uint32_t scratch_capacity;
    uint32_t *bundle_of; /* [plane × leaves × leaves] number + 1, UNKNOWN or NO_WAY */
};

/* Room for n uses that stays where it is; what is not needed is given back by finish_uses. */
static struct share_use *begin_uses(struct ways *ways, uint32_t n) {
    REQUIRE(n <= BLOCK_USES, "a list of %u limits", n);
    if (ways->blocks == NULL || ways->blocks->used + n > BLOCK_USES) {
        struct block *block = memory_allocate(1, sizeof(*block));
        block->next = ways->blocks;
        ways->blocks = block;
    }
    return &ways->blocks->uses[ways->blocks->used];
}

static uint32_t weight_of(double share) {
    const double scaled = share * (double)SHARE_ONE + 0.5;
    return scaled < 1 ? 1 : (uint32_t)scaled;
}

static double link_capacity(const struct ways_parameters *given, uint32_t link) {
    if (given->failures) {
        const struct failure_state state = failure_plan_state(given->failures, link, SETTLED_PS);
        return state.down ? 0 : (double)(UINT64_C(1) << RATE_FRACTION_BITS) / (double)state.ps_per_byte;
    }
    return (double)(UINT64_C(1) << RATE_FRACTION_BITS) / (double)given->fabric->links[link].ps_per_byte;
}

/* A host takes data no faster than it can. */
static double receive_capacity(const struct ways_parameters *given, uint32_t link) {
    const struct fabric_endpoint *endpoint = &given->fabric->endpoints[given->fabric->links[link].head_device];
    uint64_t ps_per_byte = given->receive_ps_per_byte * endpoint->n_nics;
    if (given->failures) {
        const uint64_t failed = failure_plan_state(given->failures, link, SETTLED_PS).receive_ps_per_byte;
        ps_per_byte = failed > ps_per_byte ? failed : ps_per_byte;
    }
    return ps_per_byte == 0            ? INFINITY
           : ps_per_byte == TIME_NEVER ? 0
                                       : (double)(UINT64_C(1) << RATE_FRACTION_BITS) / (double)ps_per_byte;
}

static void find_capacities(struct ways *ways) {
    const struct fabric *fabric = ways->given.fabric;
    ways->n_limits = fabric->n_links;
    ways->capacities = memory_allocate(fabric->n_links, sizeof(*ways->capacities));
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        if (fabric->links[l].kind == FABRIC_ETHERNET) {
            ways->capacities[l] = link_capacity(&ways->given, l);
            if (fabric->links[l].head_device < fabric->n_endpoints) {
                ways->capacities[l] = fmin(ways->capacities[l], receive_capacity(&ways->given, l));
            }
        }
    }
    if (ways->policy->reorders) {
        ways->split = split_create(fabric, ways->given.failures, ways->given.path->kind, ways->capacities);
        ways->capacities = split_add_limits(ways->split, ways->capacities, &ways->n_limits);
    }
}

struct ways *ways_create(const struct ways_parameters *parameters) {
    const struct fabric *fabric = parameters->fabric;
    struct ways *ways = memory_allocate(1, sizeof(*ways));
    ways->given = *parameters;
    ways->policy = path_policy_of(parameters->path->kind);
    find_capacities(ways);
    ways->booked = memory_allocate(ways->n_limits, sizeof(*ways->booked));
    ways->acknowledge_fxp24 = parameters->acknowledge > 0 ? weight_of(parameters->acknowledge) : 0;
    if (ways->policy->reorders) {
        const size_t leaves = fabric->plane_leaves;
        ways->bundle_of = memory_allocate(fabric->n_planes * leaves * leaves, sizeof(*ways->bundle_of));
    } else {
        ways->states = memory_allocate(fabric->n_switches, sizeof(struct path_state *));
    }
    return ways;
}

void ways_free(struct ways *ways) {
    if (ways == NULL) {
        return;
    }
    for (uint32_t s = 0; ways->states && s < ways->given.fabric->n_switches; s++) {
        path_state_free(ways->states[s]);
    }
    for (struct block *block = ways->blocks; block != NULL;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(ways->states);
    split_free(ways->split);
    free(ways->capacities);
    free(ways->booked);
    free(ways->bundles);
    free(ways->bundle_booked);
    free(ways->bundle_of);
    free(ways->scratch);
    free(ways);
}

const double *ways_capacities(const struct ways *ways, uint32_t *count) {
    *count = ways->n_limits;
    return ways->capacities;
}

const struct share_bundle *ways_bundles(const struct ways *ways, uint32_t *count) {
    *count = ways->n_bundles;
    return ways->bundles;
}

/* ---- one path ---- */

static uint16_t choose(struct ways *ways, uint32_t device, const struct failure_ports *ports, uint32_t source,
                       uint32_t destination, uint16_t entropy) {
    const struct fabric *fabric = ways->given.fabric;
    struct path_state **state = &ways->states[fabric->devices[device].ordinal];
    if (*state == NULL) {
        *state = path_state_create(ways->policy, ways->given.path, ways->given.seed, fabric, device);
    }
    const struct path_request request = {.now_ps = SETTLED_PS, /* flowlets: the first one draws a path, and stays */
                                         .source = source,
                                         .destination = destination,
                                         .entropy = entropy,
                                         .first_port = ports->first_port,
                                         .count = ports->count,
                                         .ports = ports->ports};
    return ways->policy->choose(*state, &request);
}

/* Adds the links between switches on the path that a queue pair's packets keep. False if there is none. */
static bool follow(struct ways *ways, uint32_t source, uint32_t destination, uint16_t entropy, uint32_t plane,
                   uint32_t weight, bool aside, struct share_use **next) {
    const struct fabric *fabric = ways->given.fabric;
    const uint32_t to = fabric->endpoints[destination].leaf;
    uint32_t device = fabric->links[fabric->devices[source].first_port + plane].head_device;
    while (fabric_own_leaf(fabric, device) != to) {
        const struct failure_ports ports = split_ports(fabric, ways->given.failures, device, to);
        if (ports.count == 0) {
            return false;
        }
        const uint16_t only = ports.ports ? ports.ports[0] : ports.first_port;
        const uint16_t port = ports.count == 1 ? only : choose(ways, device, &ports, source, destination, entropy);
        const uint32_t link = fabric->devices[device].first_port + port;
        *(*next)++ = (struct share_use){.limit = link, .weight_fxp24 = weight, .aside = aside};
        device = fabric->links[link].head_device;
    }
    return true;
}

/* ---- splits ---- */

static uint32_t add_bundle(struct ways *ways, const struct share_use *uses, uint32_t n_uses) {
    if (ways->n_bundles == ways->bundles_capacity) {
        ways->bundles_capacity = ways->bundles_capacity ? 2 * ways->bundles_capacity : 64;
        ways->bundles = memory_resize(ways->bundles, ways->bundles_capacity, sizeof(*ways->bundles));
        ways->bundle_booked = memory_resize(ways->bundle_booked, ways->bundles_capacity, sizeof(double));
    }
    ways->bundle_booked[ways->n_bundles] = 0;
    ways->bundles[ways->n_bundles] = (struct share_bundle){.uses = uses, .n_uses = n_uses};
    return ways->n_bundles++;
}

/* Appends the parts of the last split, scaled, to a growing list. */
static void add_parts(struct ways *ways, double scale, bool aside, uint32_t *n_uses) {
    uint32_t n;
    const struct split_part *parts = split_parts(ways->split, &n);
    if (*n_uses + n > ways->scratch_capacity) {
        ways->scratch_capacity = 2 * (*n_uses + n);
        ways->scratch = memory_resize(ways->scratch, ways->scratch_capacity, sizeof(*ways->scratch));
    }
    for (uint32_t i = 0; i < n; i++) {
        ways->scratch[(*n_uses)++] = (struct share_use){
            .limit = parts[i].limit, .weight_fxp24 = weight_of(parts[i].share * scale), .aside = aside};
    }
}

/* What is common to all queue pairs from one leaf to another: the split there, and that of the ACKs on their way back. */
static uint32_t make_bundle(struct ways *ways, uint32_t plane, uint32_t from, uint32_t to) {
    uint32_t n = 0;
    if (!split_find(ways->split, plane, from, to)) {
        return NO_WAY;
    }
    add_parts(ways, 1, false, &n);
    if (ways->acknowledge_fxp24 > 0 && split_find(ways->split, plane, to, from)) {
        add_parts(ways, ways->given.acknowledge, true, &n);
    }
    struct share_use *uses = begin_uses(ways, n);
    memcpy(uses, ways->scratch, n * sizeof(*uses));
    ways->blocks->used += n;
    return add_bundle(ways, uses, n) + 1;
}

static uint32_t bundle_of(struct ways *ways, uint32_t plane, uint32_t from, uint32_t to) {
    const size_t leaves = ways->given.fabric->plane_leaves;
    uint32_t *known = &ways->bundle_of[(plane * leaves + from) * leaves + to];
    if (*known == UNKNOWN) {
        *known = make_bundle(ways, plane, from, to);
    }
    return *known;
}

/* ---- a stream ---- */

static void add_nics(const struct ways *ways, uint32_t source, uint32_t destination, uint32_t plane, double scale,
                     struct share_use **next) {
    const struct fabric *fabric = ways->given.fabric;
    const uint32_t out = fabric->devices[source].first_port + plane;
    const uint32_t back = fabric->devices[destination].first_port + plane;
    const uint32_t weight = weight_of(scale);
    *(*next)++ = (struct share_use){.limit = out, .weight_fxp24 = weight};
    *(*next)++ = (struct share_use){.limit = fabric->links[back].reverse, .weight_fxp24 = weight};
    if (ways->acknowledge_fxp24 > 0) {
        const uint32_t acknowledge = weight_of(scale * ways->given.acknowledge);
        *(*next)++ = (struct share_use){.limit = back, .weight_fxp24 = acknowledge, .aside = true};
        *(*next)++ =
            (struct share_use){.limit = fabric->links[out].reverse, .weight_fxp24 = acknowledge, .aside = true};
    }
}

/* All planes alike, whatever they can carry: lists of their bundles, scaled, are the stream's own. */
static bool find_all_planes(struct ways *ways, uint32_t source, uint32_t destination, struct share_stream *stream) {
    const struct fabric *fabric = ways->given.fabric;
    const uint32_t from = fabric->endpoints[source].leaf, to = fabric->endpoints[destination].leaf;
    uint32_t n = 0;
    for (uint32_t plane = 0; plane < fabric->n_planes; plane++) {
        const uint32_t bundle = from == to ? UNKNOWN : bundle_of(ways, plane, from, to);
        if (bundle == NO_WAY) {
            return false;
        }
        n += NIC_USES + (bundle == UNKNOWN ? 0 : ways->bundles[bundle - 1].n_uses);
    }
    struct share_use *uses = begin_uses(ways, n), *next = uses;
    const double scale = 1.0 / fabric->n_planes;
    for (uint32_t plane = 0; plane < fabric->n_planes; plane++) {
        const uint32_t bundle = from == to ? UNKNOWN : bundle_of(ways, plane, from, to);
        add_nics(ways, source, destination, plane, scale, &next);
        for (uint32_t u = 0; bundle != UNKNOWN && u < ways->bundles[bundle - 1].n_uses; u++) {
            const struct share_use *use = &ways->bundles[bundle - 1].uses[u];
            const double share = (double)use->weight_fxp24 / (double)SHARE_ONE;
            *next++ =
                (struct share_use){.limit = use->limit, .weight_fxp24 = weight_of(share * scale), .aside = use->aside};
        }
    }
    ways->blocks->used += (uint32_t)(next - uses);
    stream->uses = uses;
    stream->n_uses = (uint32_t)(next - uses);
    return true;
}

static bool find_path(struct ways *ways, uint32_t source, uint32_t destination, uint16_t entropy, uint32_t plane,
                      struct share_use **next) {
    if (!follow(ways, source, destination, entropy, plane, SHARE_ONE, false, next)) {
        return false;
    }
    return ways->acknowledge_fxp24 == 0 ||
           follow(ways, destination, source, entropy, plane, ways->acknowledge_fxp24, true, next);
}

bool ways_find(struct ways *ways, uint32_t source, uint32_t destination, uint16_t entropy, uint32_t plane,
               struct share_stream *stream) {
    const struct fabric *fabric = ways->given.fabric;
    const uint32_t from = fabric->endpoints[source].leaf, to = fabric->endpoints[destination].leaf;
    *stream = (struct share_stream){.bundle = SHARE_NONE, .weight = 1, .most = INFINITY};
    if (plane == WAYS_ALL_PLANES) {
        return find_all_planes(ways, source, destination, stream);
    }
    enum { MOST = NIC_USES + 2 * 6 };
    struct share_use *uses = begin_uses(ways, MOST), *next = uses;
    add_nics(ways, source, destination, plane, 1, &next);
    bool found = true;
    if (!ways->policy->reorders) {
        found = find_path(ways, source, destination, entropy, plane, &next);
    }
    stream->uses = uses;
    stream->n_uses = (uint32_t)(next - uses);
    REQUIRE(stream->n_uses <= MOST, "a path of %u links", stream->n_uses);
    ways->blocks->used += stream->n_uses;
    if (ways->policy->reorders && from != to) {
        const uint32_t bundle = bundle_of(ways, plane, from, to);
        found = bundle != NO_WAY;
        stream->bundle = found ? bundle - 1 : SHARE_NONE;
    }
    return found;
}

/* ---- what was carried ---- */

void ways_book(struct ways *ways, const struct share_stream *stream, double bytes) {
    for (uint32_t u = 0; u < stream->n_uses; u++) {
        ways->booked[stream->uses[u].limit] += bytes * (double)stream->uses[u].weight_fxp24 / (double)SHARE_ONE;
    }
    if (stream->bundle != SHARE_NONE) {
        ways->bundle_booked[stream->bundle] += bytes;
    }
}

void ways_close(struct ways *ways) {
    for (uint32_t b = 0; b < ways->n_bundles; b++) {
        for (uint32_t u = 0; u < ways->bundles[b].n_uses; u++) {
            const struct share_use *use = &ways->bundles[b].uses[u];
            ways->booked[use->limit] += ways->bundle_booked[b] * (double)use->weight_fxp24 / (double)SHARE_ONE;
        }
        ways->bundle_booked[b] = 0;
    }
}

double ways_link_bytes(const struct ways *ways, uint32_t link) {
    const uint32_t limit = ways->split ? split_limit(ways->split, link) : link;
    return limit == link ? ways->booked[link]
                         : ways->booked[limit] * (ways->capacities[link] / ways->capacities[limit]);
}
