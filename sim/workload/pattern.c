// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/pattern.h"

#include "base/error_id.h"
#include "base/hash.h"
#include "base/memory.h"
#include "config/gpu_list.h"
#include "workload/jitter.h"

#include <stdlib.h>

#define NOBODY UINT32_MAX

struct pattern {
    enum experiment_pattern kind;
    struct moe_placement placement;
    uint64_t bytes;
    uint64_t jitter_ps;
    uint64_t seed;
    struct kernel kernel;
    uint64_t
        *start_ps;    /* [n_ranks] first post of a rank, or to one that posts nothing; TIME_NEVER = it takes no part */
    uint64_t *end_ps; /* [n_ranks] last delivery; TIME_NEVER = none yet. Each is written by its own rank */
    uint32_t *peer;   /* [n_ranks] the one destination of a rank, or NOBODY; NULL for all_to_all */
    struct gpu_list members; /* who takes part in permutation and all_to_all */
    uint32_t *places;        /* [n_ranks] number of a rank among the members, or NOBODY */
};

static bool refuse(struct error *error, const char *text) {
    return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, "%s", text);
}

static bool check_ranks(const struct experiment_traffic *traffic, const struct moe_placement *placement,
                        struct error *error) {
    const uint32_t n_ranks = placement->n_ranks;
    if (traffic->bytes == 0) {
        return refuse(error, "a message of 0 bytes is no traffic");
    }
    if (n_ranks < 2) {
        return refuse(error, "traffic needs at least two GPUs");
    }
    if (traffic->pattern == EXPERIMENT_PATTERN_SINGLE &&
        (traffic->source >= n_ranks || traffic->source == traffic->destination)) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "source %u must be another GPU than the destination, and below %u", traffic->source, n_ranks);
    }
    if ((traffic->pattern == EXPERIMENT_PATTERN_SINGLE || traffic->pattern == EXPERIMENT_PATTERN_INCAST) &&
        traffic->destination >= n_ranks) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "destination %u is beyond the last GPU, %u", traffic->destination, n_ranks - 1);
    }
    return true;
}

/* Fisher-Yates, drawn again until nobody is left at home (probability 1/e each time): uniform over all derangements. */
static void draw_permutation(struct pattern *pattern) {
    const uint32_t n = pattern->members.n_gpus;
    uint32_t *drawn = memory_allocate(n, sizeof *drawn);
    bool fixed = true;
    for (uint64_t attempt = 0; fixed; attempt++) {
        const uint64_t stream =
            hash_stream(pattern->seed, HASH_PURPOSE_PATTERN, EXPERIMENT_PATTERN_PERMUTATION, attempt);
        for (uint32_t member = 0; member < n; member++) {
            const uint32_t other = hash_below(hash_draw(stream, member), member + 1);
            drawn[member] = drawn[other];
            drawn[other] = member;
        }
        fixed = false;
        for (uint32_t member = 0; member < n; member++) {
            fixed = fixed || drawn[member] == member;
        }
    }
    for (uint32_t member = 0; member < n; member++) {
        pattern->peer[pattern->members.gpus[member]] = pattern->members.gpus[drawn[member]];
    }
    free(drawn);
}

/* The senders, spread evenly over the candidates: those from the end of the destination's domain round to its beginning. */
static bool choose_senders(struct pattern *pattern, const struct experiment_traffic *traffic, struct error *error) {
    const uint32_t n_ranks = pattern->placement.n_ranks, size = pattern->placement.ranks_per_domain;
    const bool alone = size == n_ranks;
    const uint32_t first = alone ? traffic->destination + 1 : (traffic->destination / size + 1) * size;
    const uint32_t candidates = alone ? n_ranks - 1 : n_ranks - size;
    if (traffic->senders == 0 || traffic->senders > candidates) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "an incast on GPU %u can have 1 to %u senders%s, not %u", traffic->destination, candidates,
                         alone ? "" : " outside its NVLink domain", traffic->senders);
    }
    for (uint32_t i = 0; i < traffic->senders; i++) {
        const uint32_t step = (uint32_t)((uint64_t)i * candidates / traffic->senders);
        pattern->peer[(first + step) % n_ranks] = traffic->destination;
    }
    return true;
}

static bool choose_peers(struct pattern *pattern, const struct experiment_traffic *traffic, struct error *error) {
    const uint32_t n_ranks = pattern->placement.n_ranks;
    if (pattern->kind == EXPERIMENT_PATTERN_ALL_TO_ALL) {
        return true;
    }
    pattern->peer = memory_allocate(n_ranks, sizeof *pattern->peer);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        pattern->peer[rank] = NOBODY;
    }
    if (pattern->kind == EXPERIMENT_PATTERN_SINGLE) {
        pattern->peer[traffic->source] = traffic->destination;
        return true;
    }
    if (pattern->kind == EXPERIMENT_PATTERN_INCAST) {
        return choose_senders(pattern, traffic, error);
    }
    if (pattern->kind == EXPERIMENT_PATTERN_RING) {
        for (uint32_t member = 0; member < pattern->members.n_gpus; member++) {
            const uint32_t next = (member + 1) % pattern->members.n_gpus;
            pattern->peer[pattern->members.gpus[member]] = pattern->members.gpus[next];
        }
        return true;
    }
    draw_permutation(pattern);
    return true;
}

/* Who takes part: named, or all. */
static bool find_members(struct pattern *pattern, const struct experiment_traffic *traffic, struct error *error) {
    const uint32_t n_ranks = pattern->placement.n_ranks;
    char problem[ERROR_MESSAGE_SIZE];
    if (!gpu_list_read(&pattern->members, traffic->gpus[0] != '\0' ? traffic->gpus : "all", n_ranks, problem,
                       sizeof problem)) {
        return refuse(error, problem);
    }
    pattern->places = gpu_list_places(&pattern->members, n_ranks);
    return pattern->members.n_gpus >= 2 || refuse(error, "traffic needs at least two GPUs");
}

static void find_starts(struct pattern *pattern) {
    const uint32_t n_ranks = pattern->placement.n_ranks;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        const bool sends = pattern_messages(pattern, rank) > 0;
        pattern->start_ps[rank] = sends ? jitter_start_ps(pattern->seed, rank, pattern->jitter_ps) : TIME_NEVER;
        pattern->end_ps[rank] = TIME_NEVER;
    }
    for (uint32_t rank = 0; pattern->peer && rank < n_ranks; rank++) {
        const uint32_t peer = pattern->peer[rank];
        if (peer != NOBODY && pattern_messages(pattern, peer) == 0 &&
            pattern->start_ps[rank] < pattern->start_ps[peer]) {
            pattern->start_ps[peer] = pattern->start_ps[rank];
        }
    }
}

struct pattern *pattern_create(const struct experiment_traffic *traffic, const struct moe_placement *placement,
                               uint64_t seed, struct error *error) {
    REQUIRE(traffic->pattern != EXPERIMENT_PATTERN_MOE, "mixture-of-experts traffic is no fixed pattern");
    REQUIRE(placement->ranks_per_domain > 0 && placement->n_ranks % placement->ranks_per_domain == 0,
            "%u ranks in domains of %u", placement->n_ranks, placement->ranks_per_domain);
    if (!check_ranks(traffic, placement, error)) {
        return NULL;
    }
    struct pattern *pattern = memory_allocate(1, sizeof *pattern);
    *pattern = (struct pattern){.kind = traffic->pattern,
                                .placement = *placement,
                                .bytes = traffic->bytes,
                                .jitter_ps = traffic->jitter_ps,
                                .seed = traffic->seed + seed};
    pattern->end_ps = memory_allocate(placement->n_ranks, sizeof *pattern->end_ps);
    pattern->start_ps = memory_allocate(placement->n_ranks, sizeof *pattern->start_ps);
    if (!find_members(pattern, traffic, error) || !choose_peers(pattern, traffic, error)) {
        pattern_free(pattern);
        return NULL;
    }
    find_starts(pattern);
    return pattern;
}

void pattern_set_kernel(struct pattern *pattern, const struct kernel *kernel) {
    pattern->kernel = *kernel;
}

void pattern_free(struct pattern *pattern) {
    if (pattern) {
        free(pattern->start_ps);
        free(pattern->end_ps);
        free(pattern->peer);
        free(pattern->places);
        gpu_list_fini(&pattern->members);
        free(pattern);
    }
}

uint32_t pattern_participants(const struct pattern *pattern) {
    const bool chosen = pattern->kind != EXPERIMENT_PATTERN_SINGLE && pattern->kind != EXPERIMENT_PATTERN_INCAST;
    return chosen ? pattern->members.n_gpus : pattern->placement.n_ranks;
}

uint32_t pattern_messages(const struct pattern *pattern, uint32_t rank) {
    if (!pattern->peer) {
        return pattern->places[rank] == NOBODY ? 0 : pattern->members.n_gpus - 1;
    }
    return pattern->peer[rank] == NOBODY ? 0 : 1;
}

uint32_t pattern_destination(const struct pattern *pattern, uint32_t rank, uint32_t index) {
    return pattern->peer ? pattern->peer[rank]
                         : pattern->members.gpus[(pattern->places[rank] + 1 + index) % pattern->members.n_gpus];
}

static void begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    const struct pattern *pattern = plan;
    const uint32_t count = pattern_messages(pattern, rank);
    struct traffic_message message = {.bytes = pattern->bytes};
    uint64_t handed_ps = jitter_start_ps(pattern->seed, rank, pattern->jitter_ps) + kernel_before_ps(&pattern->kernel);
    for (uint32_t i = 0; i < count; i++) {
        message.destination = pattern_destination(pattern, rank, i);
        message.route = (uint8_t)moe_placement_route(&pattern->placement, rank, message.destination);
        handed_ps += message.route == TRAFFIC_FABRIC ? pattern->kernel.message_ps : 0;
        message.start_ps = handed_ps;
        traffic_outbox_add(outbox, &message);
    }
}

struct pattern_times pattern_times(const struct pattern *pattern, uint32_t rank) {
    struct pattern_times times = {.start_ps = pattern->start_ps[rank], .end_ps = pattern->end_ps[rank]};
    if (times.end_ps != TIME_NEVER && times.end_ps < times.start_ps) {
        times.end_ps = times.start_ps; // all was there before it began itself
    }
    if (times.end_ps != TIME_NEVER) {
        times.end_ps = kernel_end_ps(&pattern->kernel, times.start_ps, times.end_ps);
    }
    return times;
}

void pattern_take_end(struct pattern *pattern, uint32_t rank, uint64_t end_ps) {
    pattern->end_ps[rank] = end_ps;
}

static void delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                      struct traffic_outbox *outbox) {
    (void)source, (void)tag, (void)outbox;
    ((struct pattern *)plan)->end_ps[rank] = now_ps;
}

struct traffic pattern_traffic(struct pattern *pattern) {
    return (struct traffic){
        .plan = pattern, .n_ranks = pattern->placement.n_ranks, .begin = begin, .delivered = delivered};
}

uint64_t pattern_digest(const struct pattern *pattern) {
    uint64_t digest = hash_mix(hash_mix(pattern->bytes) + (uint64_t)pattern->kind);
    for (uint32_t rank = 0; rank < pattern->placement.n_ranks; rank++) {
        digest = hash_mix(digest + (pattern->peer ? pattern->peer[rank] : pattern->placement.n_ranks));
        digest = hash_mix(digest + jitter_start_ps(pattern->seed, rank, pattern->jitter_ps));
    }
    for (uint32_t i = 0; pattern->members.n_gpus < pattern->placement.n_ranks && i < pattern->members.n_gpus; i++) {
        digest = hash_mix(digest + pattern->members.gpus[i]);
    }
    return digest;
}
