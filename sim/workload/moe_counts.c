// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_counts.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "workload/gate_source.h"
#include "workload/placement_near.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_SMALL_PART = UINT8_MAX };

/* What is known of one source while its tokens are drawn. Stamps say which token touched a rank or domain last, so nothing needs clearing between tokens. */
struct drawing {
    uint32_t source, own_domain;
    uint32_t place;          /* number of the source among those that take part */
    uint32_t *domain_number; /* [domains of the run] within the group; valid where domain_seen is the source + 1 */
    uint32_t *domain_seen;
    uint32_t *rank_of_expert;   /* local; used if every expert has one replica */
    struct placement_near near; /* else this; near.placement NULL: not used */
    uint32_t *domain_of_rank;   /* within the group */
    uint32_t *position_of_rank; /* within the domain */
    uint32_t *global_rank;      /* of a local one */
    uint32_t *rank_stamp;       /* [group_ranks] */
    uint32_t *domain_stamp;     /* [domains] */
    uint32_t domains;           /* length of the above: domains that a group touches */
    uint32_t *filled;           /* two_hop [group_domains] tokens in the chunk being filled */
    uint16_t *part_of_chunk;    /* two_hop [group_domains × largest_chunks × domain_ranks] */
    uint16_t **chunk;           /* two_hop [group_domains] the chunk being filled, in the above */
    uint32_t largest_chunks;    /* chunks of a domain if all tokens go there */
    uint64_t parts_capacity;    /* chunks that the parts have room for */
};

static struct moe_counts *allocate_counts(const struct moe_counts_shape *shape) {
    struct moe_counts *counts = memory_allocate(1, sizeof *counts);
    const uint32_t n_ranks = shape->placement.n_ranks;
    counts->shape = *shape;
    counts->n_groups = moe_counts_participants(counts) / shape->group_ranks;
    counts->experts_per_rank =
        shape->placement.experts ? shape->placement.experts->largest_slots : shape->experts / shape->group_ranks;
    counts->domain_ranks = (uint32_t)number_smaller(shape->placement.ranks_per_domain, shape->group_ranks);
    if (shape->groups) {
        counts->domain_ranks = shape->groups->domain_gpus ? shape->groups->domain_gpus : shape->group_ranks;
    }
    counts->row = shape->two_hop ? counts->domain_ranks : shape->group_ranks;
    counts->copies = memory_allocate((size_t)n_ranks * counts->row, sizeof *counts->copies);
    counts->expert_tokens = memory_allocate((size_t)counts->n_groups * shape->experts, sizeof *counts->expert_tokens);
    counts->domains_sent = memory_allocate(n_ranks, sizeof *counts->domains_sent);
    counts->ranks_received = memory_allocate(n_ranks, sizeof *counts->ranks_received);
    counts->rank_tokens = memory_allocate(n_ranks, sizeof *counts->rank_tokens);
    counts->dropped = memory_allocate(n_ranks, sizeof *counts->dropped);
    counts->expert_rank = memory_allocate(shape->experts, sizeof *counts->expert_rank);
    if (shape->two_hop) {
        counts->group_domains = shape->group_ranks / counts->domain_ranks;
        const size_t pairs = (size_t)n_ranks * counts->group_domains;
        counts->crossing = memory_allocate(pairs, sizeof *counts->crossing);
        counts->first_chunk = memory_allocate(pairs, sizeof *counts->first_chunk);
    }
    return counts;
}

/* Where experts sit, as far as it is the same for every source. */
static void drawing_place(struct drawing *drawing, const struct moe_counts_shape *shape) {
    const struct placement *experts = shape->placement.experts;
    for (uint32_t expert = 0; expert < shape->experts; expert++) {
        drawing->rank_of_expert[expert] =
            experts ? experts->rank[experts->first[expert]] : expert / (shape->experts / shape->group_ranks);
    }
    if (experts && experts->replicas > experts->experts) {
        placement_near_init(&drawing->near, experts);
    }
}

static void drawing_open(struct drawing *drawing, const struct moe_counts *counts) {
    const struct moe_counts_shape *shape = &counts->shape;
    *drawing = (struct drawing){.domains = shape->group_ranks};
    drawing->rank_of_expert = memory_allocate(shape->experts, sizeof *drawing->rank_of_expert);
    drawing->domain_of_rank = memory_allocate(shape->group_ranks, sizeof *drawing->domain_of_rank);
    drawing->position_of_rank = memory_allocate(shape->group_ranks, sizeof *drawing->position_of_rank);
    drawing->global_rank = memory_allocate(shape->group_ranks, sizeof *drawing->global_rank);
    drawing->rank_stamp = memory_allocate(shape->group_ranks, sizeof *drawing->rank_stamp);
    drawing->domain_stamp = memory_allocate(drawing->domains, sizeof *drawing->domain_stamp);
    const uint32_t all_domains = shape->placement.n_ranks / shape->placement.ranks_per_domain;
    drawing->domain_number = memory_allocate(all_domains, sizeof *drawing->domain_number);
    drawing->domain_seen = memory_allocate(all_domains, sizeof *drawing->domain_seen);
    drawing_place(drawing, shape);
    memcpy(counts->expert_rank, drawing->rank_of_expert, shape->experts * sizeof *counts->expert_rank);
    if (shape->two_hop) {
        const uint32_t domains = counts->group_domains;
        drawing->largest_chunks = (shape->tokens + shape->chunk_tokens - 1) / shape->chunk_tokens;
        drawing->filled = memory_allocate(domains, sizeof *drawing->filled);
        drawing->chunk = memory_allocate(domains, sizeof *drawing->chunk);
        drawing->part_of_chunk = memory_allocate((size_t)domains * drawing->largest_chunks * counts->domain_ranks,
                                                 sizeof *drawing->part_of_chunk);
    }
}

static void drawing_close(struct drawing *drawing) {
    free(drawing->domain_number);
    free(drawing->domain_seen);
    free(drawing->rank_of_expert);
    placement_near_fini(&drawing->near);
    free(drawing->domain_of_rank);
    free(drawing->position_of_rank);
    free(drawing->global_rank);
    free(drawing->rank_stamp);
    free(drawing->domain_stamp);
    free(drawing->filled);
    free(drawing->chunk);
    free(drawing->part_of_chunk);
}

static uint16_t *first_chunk_of(const struct moe_counts *counts, const struct drawing *drawing, uint32_t domain) {
    return drawing->part_of_chunk + (size_t)domain * drawing->largest_chunks * counts->domain_ranks;
}

/* A group may begin in the middle of a domain (direct only), and its domains need not be neighbours: they are numbered anew for each group. */
static void open_source(const struct moe_counts *counts, struct drawing *drawing, uint32_t source) {
    const struct moe_placement *placement = &counts->shape.placement;
    const uint32_t group = moe_counts_group(counts, source);
    uint32_t domains = 0;
    for (uint32_t local = 0; local < counts->shape.group_ranks; local++) {
        const uint32_t rank = moe_counts_rank(counts, group, local), whole = moe_placement_domain(placement, rank);
        if (drawing->domain_seen[whole] != source + 1) {
            drawing->domain_seen[whole] = source + 1;
            drawing->domain_number[whole] = domains++;
        }
        drawing->global_rank[local] = rank;
        drawing->domain_of_rank[local] = drawing->domain_number[whole];
        drawing->position_of_rank[local] = local % counts->domain_ranks;
        drawing->rank_stamp[local] = 0;
    }
    memset(drawing->domain_stamp, 0, drawing->domains * sizeof *drawing->domain_stamp);
    drawing->source = source;
    drawing->place = counts->shape.groups ? counts->shape.groups->place[source] : source;
    drawing->own_domain = drawing->domain_of_rank[moe_counts_local(counts, source)];
    if (drawing->near.placement) {
        placement_near_find(&drawing->near, moe_counts_local(counts, source), drawing->domain_of_rank,
                            placement->even_replicas);
    }
    for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
        drawing->filled[domain] = 0;
        drawing->chunk[domain] = first_chunk_of(counts, drawing, domain);
    }
}

/* A token's first expert in a remote domain: it takes a place in the chunk being filled, or opens the next. */
static void enter_domain(struct moe_counts *counts, struct drawing *drawing, uint32_t domain) {
    if (drawing->filled[domain] == counts->shape.chunk_tokens) {
        drawing->filled[domain] = 0;
        drawing->chunk[domain] += counts->domain_ranks;
    }
    drawing->filled[domain]++;
    counts->crossing[(uint64_t)drawing->source * counts->group_domains + domain]++;
}

static void count_token(struct moe_counts *counts, struct drawing *drawing, const uint32_t *picks, uint32_t n_picks,
                        uint32_t stamp) {
    const bool two_hop = counts->shape.two_hop;
    uint32_t *row = counts->copies + (uint64_t)drawing->source * counts->row;
    const uint32_t group = moe_counts_group(counts, drawing->source);
    uint64_t *load = counts->expert_tokens + (uint64_t)group * counts->shape.experts;
    const uint64_t replica_stream =
        drawing->near.placement ? placement_near_stream(counts->shape.seed, drawing->place, stamp - 1) : 0;
    for (uint32_t i = 0; i < n_picks; i++) {
        const uint32_t rank = drawing->near.placement ? placement_near_rank(&drawing->near, replica_stream, picks[i])
                                                      : drawing->rank_of_expert[picks[i]];
        const uint32_t domain = drawing->domain_of_rank[rank];
        load[picks[i]]++;
        counts->rank_tokens[drawing->global_rank[rank]]++;
        if (!two_hop) {
            row[rank]++;
        }
        if (drawing->rank_stamp[rank] == stamp) {
            continue;
        }
        drawing->rank_stamp[rank] = stamp;
        counts->ranks_received[drawing->global_rank[rank]]++;
        const bool entered = drawing->domain_stamp[domain] != stamp;
        drawing->domain_stamp[domain] = stamp;
        counts->domains_sent[drawing->source] += entered;
        if (two_hop && domain == drawing->own_domain) {
            row[drawing->position_of_rank[rank]]++;
        } else if (two_hop) {
            if (entered) {
                enter_domain(counts, drawing, domain);
            }
            drawing->chunk[domain][drawing->position_of_rank[rank]]++;
        }
    }
}

static void reserve_parts(struct moe_counts *counts, struct drawing *drawing, uint64_t chunks) {
    REQUIRE(chunks <= UINT32_MAX, "%llu chunks are more than numbers", (unsigned long long)chunks);
    if (chunks <= drawing->parts_capacity) {
        return;
    }
    drawing->parts_capacity = chunks + chunks / 4;
    const size_t parts = drawing->parts_capacity * counts->domain_ranks;
    if (counts->shape.chunk_tokens <= LARGEST_SMALL_PART) {
        counts->small_parts = memory_resize(counts->small_parts, parts, sizeof *counts->small_parts);
    } else {
        counts->large_parts = memory_resize(counts->large_parts, parts, sizeof *counts->large_parts);
    }
}

static void store_chunks(struct moe_counts *counts, const uint16_t *from, uint32_t chunks) {
    const uint64_t to = (uint64_t)counts->n_chunks * counts->domain_ranks;
    const uint64_t parts = (uint64_t)chunks * counts->domain_ranks;
    for (uint64_t i = 0; i < parts; i++) {
        if (counts->small_parts) {
            counts->small_parts[to + i] = (uint8_t)from[i];
        } else {
            counts->large_parts[to + i] = from[i];
        }
    }
    counts->n_chunks += chunks;
}

/* Moves a source's chunks from the working space to where they stay, and clears what was used of it. */
static void close_source(struct moe_counts *counts, struct drawing *drawing) {
    for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
        const uint32_t chunks = moe_counts_chunks(counts, drawing->source, domain);
        uint16_t *from = first_chunk_of(counts, drawing, domain);
        reserve_parts(counts, drawing, (uint64_t)counts->n_chunks + chunks);
        counts->first_chunk[(uint64_t)drawing->source * counts->group_domains + domain] = counts->n_chunks;
        store_chunks(counts, from, chunks);
        memset(from, 0, (size_t)chunks * counts->domain_ranks * sizeof *from);
    }
}

struct moe_counts *moe_counts_create(const struct moe_counts_shape *shape, const struct gate *gate) {
    struct moe_counts *counts = allocate_counts(shape);
    struct drawing drawing;
    struct gate_source walk = {0};
    uint32_t picks[GATE_LARGEST_TOP_K];
    drawing_open(&drawing, counts);
    for (uint32_t source = 0; source < shape->placement.n_ranks; source++) {
        if (!moe_counts_takes_part(counts, source)) {
            continue;
        }
        open_source(counts, &drawing, source);
        gate_source_open(&walk, gate, shape->seed, drawing.place);
        for (uint32_t token = 0; token < shape->tokens; token++) {
            const uint32_t n_picks = gate_source_draw(&walk, token, picks);
            count_token(counts, &drawing, picks, n_picks, token + 1);
        }
        counts->dropped[source] = walk.dropped;
        close_source(counts, &drawing);
    }
    gate_source_close(&walk);
    drawing_close(&drawing);
    return counts;
}

void moe_counts_free(struct moe_counts *counts) {
    if (!counts) {
        return;
    }
    free(counts->copies);
    free(counts->rank_tokens);
    free(counts->expert_rank);
    gpu_groups_free(counts->shape.groups);
    free(counts->crossing);
    free(counts->first_chunk);
    free(counts->small_parts);
    free(counts->large_parts);
    free(counts->expert_tokens);
    free(counts->domains_sent);
    free(counts->ranks_received);
    free(counts->dropped);
    free(counts);
}

uint64_t moe_counts_digest(const struct moe_counts *counts) {
    const uint64_t n_ranks = counts->shape.placement.n_ranks;
    uint64_t digest = hash_mix(n_ranks + counts->shape.two_hop);
    digest = counts->shape.strided ? hash_mix(digest + 1) : digest;
    for (uint64_t i = 0; counts->shape.groups && i < counts->shape.groups->n_members; i++) {
        digest = hash_mix(digest + counts->shape.groups->gpu[i]);
    }
    for (uint64_t i = 0; i < n_ranks * counts->row; i++) {
        digest = hash_mix(digest + counts->copies[i]);
    }
    for (uint64_t i = 0; i < n_ranks * counts->group_domains; i++) {
        digest = hash_mix(digest + counts->crossing[i]);
    }
    for (uint32_t chunk = 0; chunk < counts->n_chunks; chunk++) {
        for (uint32_t position = 0; position < counts->domain_ranks; position++) {
            digest = hash_mix(digest + moe_counts_part(counts, chunk, position));
        }
    }
    return digest;
}
