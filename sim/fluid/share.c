// SPDX-License-Identifier: GPL-3.0-or-later
#include "fluid/share.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Members of a limit: places in the list of active streams, or bundles. */
#define IS_BUNDLE (UINT32_C(1) << 31)

struct limit {
    double capacity;
    double used;         /* by streams that have stopped */
    uint64_t slope;      /* sum over those that still rise of weight × weight of their use, exact */
    uint32_t first, end; /* its members */
    bool touched;
};

struct bundle {
    uint32_t first, count; /* its streams */
    uint32_t rising;       /* those that have not stopped */
    uint64_t weight;       /* of all its streams */
    uint64_t stopped;      /* weight of those that have, not yet told to its limits */
    double stopped_rate;   /* sum of their rates */
    bool touched;
};

/* The level at which a stream has its most. */
struct wish {
    double most;
    uint32_t place;
};

/* A limit, and the level at which it was full when it was last looked at. It can only be later. */
struct candidate {
    double level;
    uint32_t limit;
};

struct share {
    struct limit *limits;
    uint32_t n_limits;
    struct bundle *bundles;
    uint32_t bundles_capacity;
    uint32_t *touched_limits, *touched_bundles;
    uint32_t n_touched_limits, n_touched_bundles;
    uint32_t *members, *bundle_members;
    uint64_t members_capacity;
    uint32_t streams_capacity;
    bool *stopped;       /* [place] */
    struct wish *wishes; /* of streams that have a most, the smallest first */
    struct candidate *heap;
    uint32_t n_heap;
};

/* What one call works on. */
struct filling {
    struct share *share;
    struct share_stream *streams;
    const uint32_t *active;
    uint32_t n_active;
    const struct share_bundle *kinds;
    double level; /* that all streams which still rise have reached */
};

struct share *share_create(uint32_t n_limits, const double *capacities) {
    struct share *share = memory_allocate(1, sizeof(*share));
    share->n_limits = n_limits;
    share->limits = memory_allocate(n_limits, sizeof(*share->limits));
    share->touched_limits = memory_allocate(n_limits, sizeof(*share->touched_limits));
    share->heap = memory_allocate(n_limits, sizeof(*share->heap));
    for (uint32_t l = 0; l < n_limits; l++) {
        share->limits[l].capacity = capacities[l];
    }
    return share;
}

void share_free(struct share *share) {
    if (share) {
        free(share->limits);
        free(share->bundles);
        free(share->touched_limits);
        free(share->touched_bundles);
        free(share->members);
        free(share->bundle_members);
        free(share->stopped);
        free(share->wishes);
        free(share->heap);
        free(share);
    }
}

/* ---- who uses what ---- */

static void forget(struct share *share) {
    for (uint32_t i = 0; i < share->n_touched_limits; i++) {
        struct limit *limit = &share->limits[share->touched_limits[i]];
        *limit = (struct limit){.capacity = limit->capacity};
    }
    for (uint32_t i = 0; i < share->n_touched_bundles; i++) {
        share->bundles[share->touched_bundles[i]] = (struct bundle){0};
    }
    share->n_touched_limits = share->n_touched_bundles = 0;
}

static void make_room(struct share *share, uint32_t n_active, uint32_t n_bundles) {
    if (n_active > share->streams_capacity) {
        share->streams_capacity = n_active + n_active / 2;
        share->stopped = memory_resize(share->stopped, share->streams_capacity, sizeof(*share->stopped));
        share->wishes = memory_resize(share->wishes, share->streams_capacity, sizeof(*share->wishes));
        share->bundle_members =
            memory_resize(share->bundle_members, share->streams_capacity, sizeof(*share->bundle_members));
    }
    if (n_bundles > share->bundles_capacity) {
        const uint32_t before = share->bundles_capacity;
        share->bundles_capacity = n_bundles + n_bundles / 2;
        share->bundles = memory_resize(share->bundles, share->bundles_capacity, sizeof(*share->bundles));
        share->touched_bundles =
            memory_resize(share->touched_bundles, share->bundles_capacity, sizeof(*share->touched_bundles));
        memset(&share->bundles[before], 0, (share->bundles_capacity - before) * sizeof(*share->bundles));
    }
}

static void count_uses(struct share *share, const struct share_use *uses, uint32_t n_uses, uint64_t weight) {
    for (uint32_t u = 0; u < n_uses; u++) {
        REQUIRE(uses[u].limit < share->n_limits, "limit %u of %u", uses[u].limit, share->n_limits);
        struct limit *limit = &share->limits[uses[u].limit];
        if (!limit->touched) {
            limit->touched = true;
            share->touched_limits[share->n_touched_limits++] = uses[u].limit;
        }
        limit->slope += uses[u].weight_fxp24 * weight;
        limit->end += !uses[u].aside; // a count until the members are placed
    }
}

static void count_all(struct filling *filling) {
    struct share *share = filling->share;
    for (uint32_t place = 0; place < filling->n_active; place++) {
        const struct share_stream *stream = &filling->streams[filling->active[place]];
        count_uses(share, stream->uses, stream->n_uses, stream->weight);
        if (stream->bundle != SHARE_NONE) {
            struct bundle *bundle = &share->bundles[stream->bundle];
            if (!bundle->touched) {
                bundle->touched = true;
                share->touched_bundles[share->n_touched_bundles++] = stream->bundle;
            }
            bundle->count++;
            bundle->weight += stream->weight;
        }
    }
    for (uint32_t i = 0; i < share->n_touched_bundles; i++) {
        const uint32_t b = share->touched_bundles[i];
        count_uses(share, filling->kinds[b].uses, filling->kinds[b].n_uses, share->bundles[b].weight);
    }
}

/* Gives every limit and every bundle its part of the lists of members. */
static void lay_out(struct share *share) {
    uint64_t next = 0;
    for (uint32_t i = 0; i < share->n_touched_limits; i++) {
        struct limit *limit = &share->limits[share->touched_limits[i]];
        const uint32_t count = limit->end;
        limit->first = limit->end = (uint32_t)next;
        next += count;
    }
    REQUIRE(next < IS_BUNDLE, "%llu uses of limits at once", (unsigned long long)next);
    if (next > share->members_capacity) {
        share->members_capacity = next + next / 2;
        share->members = memory_resize(share->members, share->members_capacity, sizeof(*share->members));
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < share->n_touched_bundles; i++) {
        struct bundle *bundle = &share->bundles[share->touched_bundles[i]];
        const uint32_t count = bundle->count;
        bundle->first = first;
        bundle->count = 0;
        first += count;
    }
}

static void join(struct share *share, const struct share_use *uses, uint32_t n_uses, uint32_t member) {
    for (uint32_t u = 0; u < n_uses; u++) {
        if (!uses[u].aside) {
            share->members[share->limits[uses[u].limit].end++] = member;
        }
    }
}

static void join_all(struct filling *filling) {
    struct share *share = filling->share;
    for (uint32_t place = 0; place < filling->n_active; place++) {
        const struct share_stream *stream = &filling->streams[filling->active[place]];
        join(share, stream->uses, stream->n_uses, place);
        if (stream->bundle != SHARE_NONE) {
            struct bundle *bundle = &share->bundles[stream->bundle];
            share->bundle_members[bundle->first + bundle->count++] = place;
            bundle->rising++;
        }
    }
    for (uint32_t i = 0; i < share->n_touched_bundles; i++) {
        const uint32_t b = share->touched_bundles[i];
        join(share, filling->kinds[b].uses, filling->kinds[b].n_uses, b | IS_BUNDLE);
    }
}

/* ---- limits by the level at which they are full ---- */

static bool before(const struct candidate *left, const struct candidate *right) {
    return left->level != right->level ? left->level < right->level : left->limit < right->limit;
}

static void sink(struct share *share, uint32_t at) {
    struct candidate *heap = share->heap;
    const struct candidate moved = heap[at];
    for (uint32_t child = 2 * at + 1; child < share->n_heap; child = 2 * at + 1) {
        child += child + 1 < share->n_heap && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &moved)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void drop_first(struct share *share) {
    share->heap[0] = share->heap[--share->n_heap];
    if (share->n_heap > 0) {
        sink(share, 0);
    }
}

static double level_of(const struct limit *limit) {
    const double left = limit->capacity > limit->used ? limit->capacity - limit->used : 0;
    return left * (double)SHARE_ONE / (double)limit->slope;
}

static void make_heap(struct share *share) {
    share->n_heap = 0;
    for (uint32_t i = 0; i < share->n_touched_limits; i++) {
        const uint32_t limit = share->touched_limits[i];
        if (share->limits[limit].end > share->limits[limit].first) {
            share->heap[share->n_heap++] = (struct candidate){.level = level_of(&share->limits[limit]), .limit = limit};
        }
    }
    for (uint32_t i = share->n_heap / 2; i-- > 0;) {
        sink(share, i);
    }
}

/* The limit that is full next, SHARE_NONE if there is none, and at which level. It stays the first until it is dropped. */
static uint32_t next_full(struct share *share, double *level) {
    while (share->n_heap > 0) {
        const struct limit *limit = &share->limits[share->heap[0].limit];
        if (limit->slope == 0) {
            drop_first(share);
            continue;
        }
        const double now = level_of(limit);
        if (now <= share->heap[0].level) {
            *level = share->heap[0].level;
            return share->heap[0].limit;
        }
        share->heap[0].level = now;
        sink(share, 0);
    }
    return SHARE_NONE;
}

/* ---- filling ---- */

static void leave(struct share *share, const struct share_use *uses, uint32_t n_uses, uint64_t weight, double rates) {
    for (uint32_t u = 0; u < n_uses; u++) {
        struct limit *limit = &share->limits[uses[u].limit];
        limit->slope -= uses[u].weight_fxp24 * weight;
        limit->used += rates * ((double)uses[u].weight_fxp24 / (double)SHARE_ONE);
    }
}

static void stop(struct filling *filling, uint32_t place, double level) {
    struct share *share = filling->share;
    struct share_stream *stream = &filling->streams[filling->active[place]];
    if (share->stopped[place]) {
        return;
    }
    share->stopped[place] = true;
    stream->rate = level * stream->weight;
    leave(share, stream->uses, stream->n_uses, stream->weight, stream->rate);
    if (stream->bundle != SHARE_NONE) {
        share->bundles[stream->bundle].rising--;
        share->bundles[stream->bundle].stopped += stream->weight;
        share->bundles[stream->bundle].stopped_rate += stream->rate;
    }
}

/* Bundles are told of streams that have stopped once for all of them. */
static void tell_bundle(struct filling *filling, uint32_t b) {
    struct bundle *bundle = &filling->share->bundles[b];
    if (bundle->stopped > 0) {
        leave(filling->share, filling->kinds[b].uses, filling->kinds[b].n_uses, bundle->stopped, bundle->stopped_rate);
        bundle->stopped = 0;
        bundle->stopped_rate = 0;
    }
}

static void tell_bundle_of(struct filling *filling, uint32_t place) {
    const uint32_t b = filling->streams[filling->active[place]].bundle;
    if (b != SHARE_NONE) {
        tell_bundle(filling, b);
    }
}

static void stop_users(struct filling *filling, uint32_t number) {
    struct share *share = filling->share;
    const struct limit *limit = &share->limits[number];
    for (uint32_t m = limit->first; m < limit->end; m++) {
        const uint32_t member = share->members[m];
        if (member & IS_BUNDLE) {
            const struct bundle *bundle = &share->bundles[member & ~IS_BUNDLE];
            for (uint32_t i = 0; i < bundle->count && bundle->rising > 0; i++) {
                stop(filling, share->bundle_members[bundle->first + i], filling->level);
            }
            tell_bundle(filling, member & ~IS_BUNDLE);
        } else {
            stop(filling, member, filling->level);
        }
    }
    for (uint32_t m = limit->first; m < limit->end; m++) {
        if (!(share->members[m] & IS_BUNDLE)) {
            tell_bundle_of(filling, share->members[m]);
        }
    }
}

static int compare_wishes(const void *left_pointer, const void *right_pointer) {
    const struct wish *left = left_pointer, *right = right_pointer;
    return left->most != right->most ? (left->most < right->most ? -1 : 1)
                                     : (left->place > right->place) - (left->place < right->place);
}

static uint32_t sort_wishes(struct filling *filling) {
    struct wish *wishes = filling->share->wishes;
    uint32_t n = 0;
    for (uint32_t place = 0; place < filling->n_active; place++) {
        const struct share_stream *stream = &filling->streams[filling->active[place]];
        if (isfinite(stream->most)) {
            wishes[n++] = (struct wish){.most = stream->most / stream->weight, .place = place};
        }
    }
    if (n > 1) {
        qsort(wishes, n, sizeof(*wishes), compare_wishes);
    }
    return n;
}

static void fill(struct filling *filling) {
    struct share *share = filling->share;
    const uint32_t n_wishes = sort_wishes(filling);
    uint32_t at = 0;
    for (;;) {
        double level = INFINITY;
        const uint32_t full = next_full(share, &level);
        const double most = at < n_wishes ? share->wishes[at].most : INFINITY;
        if (full == SHARE_NONE && at == n_wishes) {
            return;
        }
        if (most <= level) {
            const uint32_t place = share->wishes[at++].place;
            stop(filling, place, most);
            tell_bundle_of(filling, place);
            continue;
        }
        filling->level = level > filling->level ? level : filling->level; // rounding takes nobody back
        drop_first(share);
        stop_users(filling, full);
    }
}

void share_solve(struct share *share, struct share_stream *streams, const uint32_t *active, uint32_t n_active,
                 const struct share_bundle *bundles, uint32_t n_bundles) {
    struct filling filling = {
        .share = share, .streams = streams, .active = active, .n_active = n_active, .kinds = bundles};
    forget(share);
    make_room(share, n_active, n_bundles);
    memset(share->stopped, 0, n_active * sizeof(*share->stopped));
    count_all(&filling);
    lay_out(share);
    join_all(&filling);
    make_heap(share);
    fill(&filling);
}
