// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_traffic.h"

#include "base/error.h"
#include "base/memory.h"
#include "workload/placement_near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double even_weight = 0.05;

/* Copies at one rank in one micro-batch. */
struct port_counts {
    struct ports {
        int64_t nic_sent, nic_received, nvlink_sent, nvlink_received;
    } out, back; /* back: pxn only; others go back the way that they came */
    int64_t pairs;
};

struct placement_traffic {
    struct placement_shape shape;
    const struct placement_tokens *tokens;
    struct placement_costs costs;
    const struct placement_layout *layout;
    enum experiment_algorithm algorithm;
    bool two_hop, even;
    struct placement *placement; /* own copy; NULL before the first */
    struct port_counts *counts;  /* [batches × ranks] */
    uint32_t *first_pick;        /* [experts + 1] of picked */
    uint32_t *picked;            /* numbers of picks (token × top_k + i), expert by expert, tokens ascending */
    uint32_t *goes_to;           /* [picks] rank of each pick */
    uint32_t *near;              /* [most replicas of an expert] ranks that one source's tokens may go to */
    uint32_t *touched;           /* [tokens of all] stamp of the last change that concerned it */
    uint32_t touch;
    uint32_t *rank_stamp, *domain_stamp; /* [ranks], [domains] of the token being counted */
    uint32_t stamp;
};

static uint32_t all_tokens(const struct placement_tokens *tokens) {
    return tokens->batches * tokens->sources * tokens->tokens;
}

struct placement_tokens *placement_tokens_create(const struct placement_tokens_draw *draw) {
    struct placement_tokens *tokens = memory_allocate(1, sizeof *tokens);
    *tokens = (struct placement_tokens){.batches = draw->batches,
                                        .sources = draw->sources,
                                        .tokens = draw->tokens,
                                        .top_k = draw->top_k,
                                        .experts = draw->experts};
    const uint32_t count = all_tokens(tokens);
    tokens->picks = memory_allocate((size_t)count * draw->top_k, sizeof *tokens->picks);
    tokens->replica_stream = memory_allocate(count, sizeof *tokens->replica_stream);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t token = i % draw->tokens, source = draw->global_rank[i / draw->tokens % draw->sources];
        const uint64_t seed = draw->seed[i / draw->tokens / draw->sources];
        const struct gate_token drawn = {.stream = draw->history
                                                       ? hash_stream(seed, HASH_PURPOSE_HISTORY, source, token)
                                                       : gate_token_stream(seed, source, token),
                                         .source = source,
                                         .token = token};
        gate_draw_token(draw->gate, &drawn, tokens->picks + (size_t)i * draw->top_k);
        tokens->replica_stream[i] = placement_near_stream(seed, source, token);
    }
    return tokens;
}

void placement_tokens_free(struct placement_tokens *tokens) {
    if (tokens) {
        free(tokens->picks);
        free(tokens->replica_stream);
        free(tokens);
    }
}

/* Which picks are of an expert, for all experts. */
static void index_picks(struct placement_traffic *traffic) {
    const struct placement_tokens *tokens = traffic->tokens;
    const uint32_t picks = all_tokens(tokens) * tokens->top_k;
    traffic->first_pick = memory_allocate((size_t)tokens->experts + 1, sizeof *traffic->first_pick);
    traffic->picked = memory_allocate(picks, sizeof *traffic->picked);
    for (uint32_t i = 0; i < picks; i++) {
        traffic->first_pick[tokens->picks[i] + 1]++;
    }
    for (uint32_t expert = 0; expert < tokens->experts; expert++) {
        traffic->first_pick[expert + 1] += traffic->first_pick[expert];
    }
    uint32_t *next = memory_allocate(tokens->experts, sizeof *next);
    memcpy(next, traffic->first_pick, tokens->experts * sizeof *next);
    for (uint32_t i = 0; i < picks; i++) {
        traffic->picked[next[tokens->picks[i]]++] = i;
    }
    free(next);
}

struct placement_traffic *placement_traffic_create(const struct placement_shape *shape,
                                                   const struct placement_layout *layout,
                                                   const struct placement_tokens *tokens,
                                                   const struct placement_costs *costs,
                                                   enum experiment_algorithm algorithm, bool even) {
    struct placement_traffic *traffic = memory_allocate(1, sizeof *traffic);
    *traffic = (struct placement_traffic){.shape = *shape,
                                          .tokens = tokens,
                                          .costs = *costs,
                                          .layout = layout,
                                          .algorithm = algorithm,
                                          .two_hop = experiment_algorithm_by_domain(algorithm),
                                          .even = even};
    REQUIRE(tokens->sources == shape->ranks && tokens->experts == shape->experts, "tokens of %u ranks on %u",
            tokens->sources, shape->ranks);
    traffic->counts = memory_allocate((size_t)tokens->batches * shape->ranks, sizeof *traffic->counts);
    traffic->goes_to = memory_allocate((size_t)all_tokens(tokens) * tokens->top_k, sizeof *traffic->goes_to);
    traffic->near = memory_allocate(shape->replicas, sizeof *traffic->near);
    traffic->touched = memory_allocate(all_tokens(tokens), sizeof *traffic->touched);
    traffic->rank_stamp = memory_allocate(shape->ranks, sizeof *traffic->rank_stamp);
    traffic->domain_stamp = memory_allocate(layout->domains, sizeof *traffic->domain_stamp);
    index_picks(traffic);
    return traffic;
}

void placement_traffic_free(struct placement_traffic *traffic) {
    if (traffic) {
        placement_free(traffic->placement);
        free(traffic->counts);
        free(traffic->first_pick);
        free(traffic->picked);
        free(traffic->goes_to);
        free(traffic->near);
        free(traffic->touched);
        free(traffic->rank_stamp);
        free(traffic->domain_stamp);
        free(traffic);
    }
}

/* Sends all picks of an expert to where the placement has it now. */
static void direct_picks(struct placement_traffic *traffic, uint32_t expert) {
    const struct placement_tokens *tokens = traffic->tokens;
    uint32_t end = 0, count = 0; /* picks below `end` are of the source that near holds for */
    for (uint32_t i = traffic->first_pick[expert]; i < traffic->first_pick[expert + 1]; i++) {
        const uint32_t pick = traffic->picked[i], token = pick / tokens->top_k;
        if (pick >= end) {
            const uint32_t run = token / tokens->tokens; /* tokens of one source and micro-batch */
            count = placement_near_of(traffic->placement, expert, run % tokens->sources, traffic->layout->domain,
                                      traffic->even, traffic->near);
            end = (run + 1) * tokens->tokens * tokens->top_k;
        }
        traffic->goes_to[pick] = traffic->near[placement_near_choose(tokens->replica_stream[token], expert, count)];
    }
}

static void move_nvlink(struct port_counts *counts, uint32_t from, uint32_t to, int sign) {
    if (from != to) {
        counts[from].out.nvlink_sent += sign;
        counts[to].out.nvlink_received += sign;
    }
}

static void move_nic(struct port_counts *counts, uint32_t from, uint32_t to, int sign) {
    counts[from].out.nic_sent += sign;
    counts[to].out.nic_received += sign;
}

/* direct, nccl_p2p, pairwise: every copy by itself. */
static void count_copy(const struct placement_traffic *traffic, struct port_counts *counts, uint32_t source,
                       uint32_t rank, int sign) {
    if (traffic->layout->domain[rank] == traffic->layout->domain[source]) {
        move_nvlink(counts, source, rank, sign);
    } else {
        move_nic(counts, source, rank, sign);
    }
}

/* pxn: whose NIC sends what a rank has for one of another domain (workload/moe_pxn.c). */
static uint32_t sender_of(const struct placement_layout *layout, uint32_t from, uint32_t to) {
    const uint32_t sender = layout->rank_at[layout->domain[from] * layout->places + layout->place[to]];
    return sender == UINT32_MAX ? from : sender;
}

static void count_back(struct port_counts *counts, uint32_t rank, uint32_t sender, uint32_t source, int sign) {
    counts[sender].back.nic_sent += sign;
    counts[source].back.nic_received += sign;
    if (rank != sender) {
        counts[rank].back.nvlink_sent += sign;
        counts[sender].back.nvlink_received += sign;
    }
}

/* pxn: over NVLink to the NIC of the other one's place, then over the fabric; back likewise, by another NIC. */
static void count_rail(const struct placement_traffic *traffic, struct port_counts *counts, uint32_t source,
                       uint32_t rank, int sign) {
    const struct placement_layout *layout = traffic->layout;
    if (layout->domain[rank] == layout->domain[source]) {
        move_nvlink(counts, source, rank, sign);
        if (rank != source) {
            counts[rank].back.nvlink_sent += sign;
            counts[source].back.nvlink_received += sign;
        }
        return;
    }
    const uint32_t sender = sender_of(layout, source, rank);
    move_nvlink(counts, source, sender, sign);
    move_nic(counts, sender, rank, sign);
    count_back(counts, rank, sender_of(layout, rank, source), source, sign);
}

/* two_hop: a token once to each domain, there once to each rank. */
static void count_hops(struct placement_traffic *traffic, struct port_counts *counts, uint32_t source, uint32_t rank,
                       int sign) {
    const uint32_t size = traffic->shape.domain_ranks;
    const uint32_t domain = traffic->layout->domain[rank], own = traffic->layout->domain[source];
    const uint32_t forwarder = source + (domain - own) * size; /* the same position there */
    if (traffic->rank_stamp[rank] == traffic->stamp) {
        return;
    }
    traffic->rank_stamp[rank] = traffic->stamp;
    if (domain != own && traffic->domain_stamp[domain] != traffic->stamp) {
        traffic->domain_stamp[domain] = traffic->stamp;
        move_nic(counts, source, forwarder, sign);
    }
    move_nvlink(counts, forwarder, rank, sign);
}

/* Adds (or takes away) a token. */
static void count_token(struct placement_traffic *traffic, uint32_t token, int sign) {
    const struct placement_tokens *tokens = traffic->tokens;
    const uint32_t source = token / tokens->tokens % tokens->sources;
    const uint32_t batch = token / tokens->tokens / tokens->sources;
    struct port_counts *counts = traffic->counts + (size_t)batch * traffic->shape.ranks;
    const uint32_t *goes_to = traffic->goes_to + (size_t)token * tokens->top_k;
    traffic->stamp++;
    for (uint32_t i = 0; i < tokens->top_k; i++) {
        const uint32_t rank = goes_to[i];
        counts[rank].pairs += sign;
        if (traffic->two_hop) {
            count_hops(traffic, counts, source, rank, sign);
        } else if (traffic->algorithm == EXPERIMENT_ALGORITHM_PXN) {
            count_rail(traffic, counts, source, rank, sign);
        } else {
            count_copy(traffic, counts, source, rank, sign);
        }
    }
}

static void place_all(struct placement_traffic *traffic, const struct placement *placement) {
    const uint32_t count = all_tokens(traffic->tokens);
    traffic->placement = placement_copy(placement);
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        direct_picks(traffic, expert);
    }
    for (uint32_t token = 0; token < count; token++) {
        count_token(traffic, token, 1);
    }
}

static bool has_moved(const struct placement *before, const struct placement *after, uint32_t expert) {
    const uint32_t count = placement_replicas_of(before, expert);
    return count != placement_replicas_of(after, expert) ||
           memcmp(before->rank + before->first[expert], after->rank + after->first[expert],
                  count * sizeof *before->rank) != 0;
}

/* Counts every token that picks an expert which has moved; the first time with sign -1, then with 1. */
static void count_moved(struct placement_traffic *traffic, const uint32_t *moved, uint32_t n_moved, int sign) {
    traffic->touch++;
    for (uint32_t m = 0; m < n_moved; m++) {
        for (uint32_t i = traffic->first_pick[moved[m]]; i < traffic->first_pick[moved[m] + 1]; i++) {
            const uint32_t token = traffic->picked[i] / traffic->tokens->top_k;
            if (traffic->touched[token] != traffic->touch) {
                traffic->touched[token] = traffic->touch;
                count_token(traffic, token, sign);
            }
        }
    }
}

void placement_traffic_place(struct placement_traffic *traffic, const struct placement *placement) {
    if (!traffic->placement) {
        place_all(traffic, placement);
        return;
    }
    uint32_t *moved = memory_allocate(placement->experts, sizeof *moved), n_moved = 0;
    for (uint32_t expert = 0; expert < placement->experts; expert++) {
        if (has_moved(traffic->placement, placement, expert)) {
            moved[n_moved++] = expert;
        }
    }
    count_moved(traffic, moved, n_moved, -1);
    placement_free(traffic->placement);
    traffic->placement = placement_copy(placement);
    for (uint32_t m = 0; m < n_moved; m++) {
        direct_picks(traffic, moved[m]);
    }
    count_moved(traffic, moved, n_moved, 1);
    free(moved);
}

/* What a rank takes; dispatch and combine are mirror images but under pxn, so the fuller direction is the same in both. */
struct rank_times {
    double nic_dispatch, nic_combine, nvlink_dispatch, nvlink_combine, expert;
};

static double fuller(int64_t sent, int64_t received) {
    return (double)(sent > received ? sent : received);
}

static struct rank_times times_of(const struct placement_traffic *traffic, const struct port_counts *counts) {
    const struct placement_costs *costs = &traffic->costs;
    const struct ports *out = &counts->out;
    const struct ports *back = traffic->algorithm == EXPERIMENT_ALGORITHM_PXN ? &counts->back : out;
    return (struct rank_times){fuller(out->nic_sent, out->nic_received) * costs->nic_dispatch_ps,
                               fuller(back->nic_sent, back->nic_received) * costs->nic_combine_ps,
                               fuller(out->nvlink_sent, out->nvlink_received) * costs->nvlink_dispatch_ps,
                               fuller(back->nvlink_sent, back->nvlink_received) * costs->nvlink_combine_ps,
                               (double)counts->pairs * costs->expert_ps};
}

struct placement_figures placement_traffic_figures(const struct placement_traffic *traffic, uint32_t batch) {
    const uint32_t ranks = traffic->shape.ranks;
    const struct port_counts *counts = traffic->counts + (size_t)batch * ranks;
    struct placement_figures figures = {0};
    double dispatch = 0, combine = 0, pairs = 0, fullest = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct rank_times times = times_of(traffic, &counts[rank]);
        figures.nic_ps = fmax(figures.nic_ps, times.nic_dispatch + times.nic_combine);
        figures.nvlink_ps = fmax(figures.nvlink_ps, times.nvlink_dispatch + times.nvlink_combine);
        figures.expert_ps = fmax(figures.expert_ps, times.expert);
        figures.fabric_copies += (double)counts[rank].out.nic_sent / ranks;
        dispatch = fmax(dispatch, fmax(times.nic_dispatch, times.nvlink_dispatch));
        combine = fmax(combine, fmax(times.nic_combine, times.nvlink_combine));
        fullest = fmax(fullest, (double)counts[rank].pairs);
        pairs += (double)counts[rank].pairs;
    }
    figures.imbalance = pairs > 0 ? fullest * ranks / pairs : 1;
    figures.time_ps = dispatch + figures.expert_ps + combine;
    return figures;
}

struct placement_figures placement_traffic_means(const struct placement_traffic *traffic) {
    const uint32_t batches = traffic->tokens->batches;
    struct placement_figures means = {0};
    for (uint32_t batch = 0; batch < batches; batch++) {
        const struct placement_figures figures = placement_traffic_figures(traffic, batch);
        means.imbalance += figures.imbalance / batches;
        means.nic_ps += figures.nic_ps / batches;
        means.nvlink_ps += figures.nvlink_ps / batches;
        means.expert_ps += figures.expert_ps / batches;
        means.fabric_copies += figures.fabric_copies / batches;
        means.time_ps += figures.time_ps / batches;
    }
    return means;
}

/* Root mean square over ranks of the time that each would make the phases take. */
static double square_mean(const struct placement_traffic *traffic, uint32_t batch) {
    const uint32_t ranks = traffic->shape.ranks;
    double sum = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct rank_times times = times_of(traffic, &traffic->counts[(size_t)batch * ranks + rank]);
        const double time = fmax(times.nic_dispatch, times.nvlink_dispatch) + times.expert +
                            fmax(times.nic_combine, times.nvlink_combine);
        sum += time * time;
    }
    return sqrt(sum / ranks);
}

double placement_traffic_energy(const struct placement_traffic *traffic) {
    const uint32_t batches = traffic->tokens->batches;
    double energy = 0;
    for (uint32_t batch = 0; batch < batches; batch++) {
        energy += placement_traffic_figures(traffic, batch).time_ps + even_weight * square_mean(traffic, batch);
    }
    return energy / batches;
}
