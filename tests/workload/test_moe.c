// SPDX-License-Identifier: GPL-3.0-or-later
/* The plan run to its end without devices: what is sent is what was counted, in an order that the phases allow. */
#include "base/memory.h"
#include "base/rate.h"
#include "instant.h"
#include "moe_setups.h"
#include "run_suite.h"
#include "workload/model.h"
#include "workload/moe_summary.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SETUPS = sizeof setups / sizeof setups[0], MEMBERS = 16 };

static struct moe *make(const struct setup *setup, uint64_t seed) {
    struct error error;
    struct moe *moe = moe_create(&setup->model, &setup->traffic, &setup->placement, setup->early_pacing, seed, &error);
    ck_assert_msg(moe != NULL, "%s: %s", setup->name, error.message);
    return moe;
}

static struct instant_run run(struct moe *moe, uint64_t seed) {
    const struct traffic traffic = moe_traffic(moe);
    return instant_run(&traffic, 1000, 30000, seed);
}

static enum moe_summary_phase phase_of(uint32_t tag) {
    switch (moe_describe_tag(tag).kind) {
    case MOE_TAG_COUNTS:
    case MOE_TAG_GRANT:
    case MOE_TAG_ACKNOWLEDGE:
        return MOE_SUMMARY_COUNTS;
    case MOE_TAG_DISPATCH:
    case MOE_TAG_DISPATCH_FORWARD:
        return moe_describe_tag(tag).backward ? MOE_SUMMARY_COMBINE_BACKWARD : MOE_SUMMARY_DISPATCH;
    default:
        return moe_describe_tag(tag).backward ? MOE_SUMMARY_DISPATCH_BACKWARD : MOE_SUMMARY_COMBINE;
    }
}

static int compare_names(const void *left_pointer, const void *right_pointer) {
    return memcmp(left_pointer, right_pointer, 3 * sizeof(uint32_t));
}

static void expect_unique_tags(const struct instant_run *done, const char *name) {
    uint32_t(*names)[3] = memory_allocate(done->count + 1, sizeof *names);
    for (uint32_t i = 0; i < done->count; i++) {
        names[i][0] = done->messages[i].source;
        names[i][1] = done->messages[i].message.destination;
        names[i][2] = done->messages[i].message.tag;
    }
    qsort(names, done->count, sizeof *names, compare_names);
    for (uint32_t i = 1; i < done->count; i++) {
        ck_assert_msg(memcmp(names[i - 1], names[i], sizeof *names) != 0, "%s: tag %#x from %u to %u twice", name,
                      names[i][2], names[i][0], names[i][1]);
    }
    free(names);
}

static void add_message(struct moe_summary_volume *volumes, const struct instant_message *sent) {
    struct moe_summary_volume *from = &volumes[sent->source], *to = &volumes[sent->message.destination];
    const bool fabric = sent->message.route == TRAFFIC_FABRIC;
    struct moe_summary_side *out = fabric ? &from->fabric_sent : &from->nvlink_sent;
    struct moe_summary_side *in = fabric ? &to->fabric_received : &to->nvlink_received;
    out->bytes += sent->message.bytes;
    out->messages++;
    in->bytes += sent->message.bytes;
    in->messages++;
}

/* What was sent, rank by rank, is what the summary said beforehand. */
static void expect_volumes(const struct moe *moe, const struct instant_run *done, const struct setup *setup) {
    const uint32_t n_ranks = setup->placement.n_ranks;
    for (enum moe_summary_phase phase = 0; phase < MOE_SUMMARY_PHASES; phase++) {
        struct moe_summary_volume *volumes = memory_allocate(n_ranks, sizeof *volumes);
        for (uint32_t i = 0; i < done->count; i++) {
            if (phase_of(done->messages[i].message.tag) == phase) {
                add_message(volumes, &done->messages[i]);
            }
        }
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            const struct moe_summary_volume told = moe_summary_volume(moe, rank, phase);
            ck_assert_msg(memcmp(&told, &volumes[rank], sizeof told) == 0, "%s: volume of rank %u in phase %d",
                          setup->name, rank, (int)phase);
        }
        free(volumes);
    }
}

/* What was sent, pair by pair, is the traffic matrix. */
static void expect_matrix(const struct moe *moe, const struct instant_run *done, const struct setup *setup) {
    const uint32_t n_ranks = setup->placement.n_ranks;
    for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase < MOE_SUMMARY_PHASES; phase++) {
        uint64_t *sent = memory_allocate((size_t)n_ranks * n_ranks, sizeof *sent);
        uint64_t *told = memory_allocate((size_t)n_ranks * n_ranks, sizeof *told);
        for (uint32_t i = 0; i < done->count; i++) {
            const struct instant_message *message = &done->messages[i];
            if (phase_of(message->message.tag) == phase) {
                sent[message->source * n_ranks + message->message.destination] += message->message.bytes;
            }
        }
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            moe_summary_matrix_row(moe, phase, rank, told + (size_t)rank * n_ranks);
        }
        ck_assert_msg(memcmp(sent, told, sizeof *sent * n_ranks * n_ranks) == 0, "%s: matrix of phase %d", setup->name,
                      (int)phase);
        free(sent);
        free(told);
    }
}

START_TEST(every_phase_ends_and_sends_what_was_counted) {
    const struct setup *setup = &setups[_i];
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct moe *moe = make(setup, seed);
        struct instant_run done = run(moe, seed);
        ck_assert_msg(moe_finished(moe), "%s does not end", setup->name);
        expect_unique_tags(&done, setup->name);
        expect_volumes(moe, &done, setup);
        expect_matrix(moe, &done, setup);
        instant_free(&done);
        moe_free(moe);
    }
}
END_TEST

START_TEST(messages_fit_their_route_and_unit) {
    const struct setup *setup = &setups[_i];
    struct moe *moe = make(setup, 1);
    struct instant_run done = run(moe, 1);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < done.count; i++) {
        const struct traffic_message *message = &done.messages[i].message;
        const enum moe_summary_phase phase = phase_of(message->tag);
        const uint32_t size = setup->placement.ranks_per_domain;
        const bool near = done.messages[i].source / size == message->destination / size;
        wrong += message->route != (near ? TRAFFIC_NVLINK : TRAFFIC_FABRIC);
        const bool map = setup->traffic.algorithm == EXPERIMENT_ALGORITHM_HYBRID_EP;
        wrong += message->urgent != (phase == MOE_SUMMARY_COUNTS && !near && !map);
        wrong += phase == MOE_SUMMARY_COUNTS ? message->unit_bytes != 0
                                             : message->unit_bytes != moe_summary_packet_unit_bytes(moe, phase) ||
                                                   message->bytes % moe_summary_unit_bytes(moe, phase) != 0;
        const bool announced = setup->early_pacing && phase == MOE_SUMMARY_DISPATCH && !near;
        wrong += announced ? message->share == 0 || message->share > 1 << 20 : message->share != 0;
    }
    ck_assert_msg(wrong == 0, "%s: %u wrong messages", setup->name, wrong);
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* GPUs of the set-ups' jobs on some of the GPUs, group by group, worked out by hand; NULL: the job has all. */
static const uint32_t *members_of(const struct setup *setup) {
    static const uint32_t in_order[] = {0, 1, 2, 3, 4, 6, 7, 12, 13, 14, 15, 16, 17, 18, 20, 21};
    static const uint32_t packed[] = {12, 13, 14, 15, 16, 17, 6, 7, 0, 1, 2, 3, 4, 18, 20, 21};
    static const uint32_t equal[] = {0, 1, 2, 3, 7, 8, 9, 10, 12, 13, 14, 15, 20, 21, 22, 23};
    if (setup->traffic.gpus[0] == '\0') {
        return NULL;
    }
    return setup->traffic.gpus[2] == '3'                                         ? equal
           : setup->traffic.group_placement == EXPERIMENT_GROUP_PLACEMENT_PACKED ? packed
                                                                                 : in_order;
}

/* Number of a GPU in that list; MEMBERS: it is none of the job's. */
static uint32_t member_of(const struct setup *setup, uint32_t rank) {
    const uint32_t *members = members_of(setup);
    uint32_t member = 0;
    while (member < MEMBERS && members[member] != rank) {
        member++;
    }
    return member;
}

static bool takes_part(const struct setup *setup, uint32_t rank) {
    return !members_of(setup) || member_of(setup, rank) < MEMBERS;
}

/* May a message leave before its sender's own phase? Forwarders forward in dispatch from their start on, and PXN's NICs send for others at any time. */
static bool is_handed_on(const struct moe_tag *tag, const struct setup *setup, const struct instant_message *sent) {
    if (setup->traffic.algorithm == EXPERIMENT_ALGORITHM_PXN) {
        return sent->message.route == TRAFFIC_FABRIC && tag->domain != sent->source % setup->placement.ranks_per_domain;
    }
    return tag->kind == MOE_TAG_DISPATCH_FORWARD && !tag->backward;
}

/* Nothing leaves before what it needs: dispatch after all counts (and the grant), combine after dispatch and expert time. */
START_TEST(phases_keep_their_order) {
    const struct setup *setup = &setups[_i];
    struct moe *moe = make(setup, 2);
    struct instant_run done = run(moe, 2);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < done.count; i++) {
        const struct instant_message *sent = &done.messages[i];
        const struct moe_phase_times source = moe_phase_times(moe, sent->source);
        const uint64_t left_ps = sent->posted_ps > sent->message.start_ps ? sent->posted_ps : sent->message.start_ps;
        const enum moe_summary_phase phase = phase_of(sent->message.tag);
        const struct moe_tag tag = moe_describe_tag(sent->message.tag);
        const struct moe_phase_times at = moe_phase_times(moe, sent->message.destination);
        wrong += left_ps < source.start_ps;
        wrong += tag.kind == MOE_TAG_COUNTS && at.counts_done_ps < sent->delivered_ps;
        if (phase != MOE_SUMMARY_COUNTS) {
            const enum moe_phase number = moe_tag_phase(&tag);
            wrong += !is_handed_on(&tag, setup, sent) && left_ps < source.begin_ps[number];
            wrong += at.end_ps[number] < sent->delivered_ps;
        }
    }
    for (uint32_t rank = 0; rank < setup->placement.n_ranks; rank++) {
        const struct moe_phase_times at = moe_phase_times(moe, rank);
        if (!takes_part(setup, rank)) {
            wrong += at.start_ps != TIME_NEVER;
            continue;
        }
        const struct moe_summary_volume in = moe_summary_volume(moe, rank, MOE_SUMMARY_DISPATCH);
        const bool computes = in.fabric_received.bytes + in.nvlink_received.bytes > 0;
        if (setup->traffic.combine_backward && setup->traffic.combine) {
            wrong +=
                at.begin_ps[MOE_PHASE_COMBINE_BACKWARD] != at.end_ps[MOE_PHASE_COMBINE] + setup->traffic.turn_time_ps;
        }
        if (setup->traffic.dispatch && setup->traffic.combine) {
            wrong += at.begin_ps[MOE_PHASE_COMBINE] !=
                     at.end_ps[MOE_PHASE_DISPATCH] + (computes ? setup->traffic.expert_time_ps : 0);
        }
        wrong += setup->traffic.exchange_counts && at.begin_ps[MOE_PHASE_DISPATCH] != at.counts_done_ps;
    }
    ck_assert_msg(wrong == 0, "%s: %u out of order", setup->name, wrong);
    instant_free(&done);
    moe_free(moe);
}
END_TEST

START_TEST(paced_data_waits_for_its_grant) {
    const struct setup *setup = &setups[_i];
    struct moe *moe = make(setup, 3);
    struct instant_run done = run(moe, 3);
    const uint32_t n_ranks = setup->placement.n_ranks;
    uint64_t *granted = memory_allocate((size_t)n_ranks * n_ranks, sizeof *granted);
    for (uint32_t i = 0; i < done.count; i++) {
        const struct instant_message *sent = &done.messages[i];
        if (moe_describe_tag(sent->message.tag).kind == MOE_TAG_GRANT) {
            granted[sent->source * n_ranks + sent->message.destination] = sent->delivered_ps;
        }
    }
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < done.count; i++) {
        const struct instant_message *sent = &done.messages[i];
        if (moe_describe_tag(sent->message.tag).kind == MOE_TAG_DISPATCH && sent->message.route == TRAFFIC_FABRIC) {
            const uint64_t at_ps = granted[sent->message.destination * n_ranks + sent->source];
            wrong += setup->early_pacing ? at_ps == 0 || sent->posted_ps < at_ps : at_ps != 0;
        }
    }
    ck_assert_msg(wrong == 0, "%s: %u messages without grant", setup->name, wrong);
    free(granted);
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* Shares of all senders to one port make up the whole, but for rounding down. */
START_TEST(shares_of_a_port_add_up_to_one) {
    const struct setup *setup = &setups[_i];
    if (!setup->early_pacing) {
        return;
    }
    struct moe *moe = make(setup, 4);
    struct instant_run done = run(moe, 4);
    for (uint32_t rank = 0; rank < setup->placement.n_ranks; rank++) {
        uint64_t sum = 0, senders = 0;
        for (uint32_t i = 0; i < done.count; i++) {
            const struct traffic_message *message = &done.messages[i].message;
            const bool first_of_sender = moe_describe_tag(message->tag).chunk == 0;
            if (message->destination == rank && message->share > 0 && first_of_sender) {
                sum += message->share;
                senders++;
            }
        }
        if (senders > 0) {
            ck_assert_uint_le(sum, 1 << 20);
            ck_assert_uint_gt(sum + senders, 1 << 20);
        }
    }
    instant_free(&done);
    moe_free(moe);
}
END_TEST

/* ---- counts against a straightforward recount, token by token ---- */

enum { RECOUNT_SEED = 5 };

/* Of groups drawn at random: who has a place in the order that the seed draws. */
static uint32_t drawn(uint32_t n_ranks, uint32_t wanted, bool place_wanted) {
    uint32_t order[64] = {0};
    const uint64_t stream = hash_stream(RECOUNT_SEED, HASH_PURPOSE_SCATTER, 0, 0);
    for (uint32_t i = 0; i < n_ranks; i++) { /* a newcomer changes places with anybody, or with nobody */
        const uint32_t at = hash_below(hash_draw(stream, i), i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; place_wanted && i < n_ranks; i++) {
        if (order[i] == wanted) {
            return i;
        }
    }
    return order[wanted];
}

/* Tokens are drawn by the number of a GPU among those of the job, lists of which go upwards here. */
static uint32_t number_in_job(const struct setup *setup, uint32_t rank) {
    uint32_t number = 0;
    for (uint32_t other = 0; other < rank; other++) {
        number += takes_part(setup, other);
    }
    return number;
}

/* Rank that holds an expert for a source: experts are spread over the source's group in order. */
static uint32_t holder(const struct setup *setup, uint32_t source, uint32_t expert) {
    const uint32_t n_ranks = setup->placement.n_ranks, size = setup->placement.ranks_per_domain;
    const uint32_t group = setup->traffic.expert_parallelism ? setup->traffic.expert_parallelism : n_ranks;
    const uint32_t local = expert / (setup->model.experts / group);
    if (members_of(setup)) {
        return members_of(setup)[member_of(setup, source) / group * group + local];
    }
    if (setup->traffic.group_placement == EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE) {
        return source / group * group + local;
    }
    if (setup->traffic.group_placement == EXPERIMENT_GROUP_PLACEMENT_RANDOM) {
        return drawn(n_ranks, drawn(n_ranks, source, true) / group * group + local, false);
    }
    /* domains whose numbers are equal modulo the number of groups belong together */
    const uint32_t n_groups = n_ranks / group;
    uint32_t domain = source / size % n_groups;
    for (uint32_t left = local / size; left > 0; left--) {
        domain += n_groups;
    }
    return domain * size + local % size;
}

/* Destinations of a token, from the same gate; `copies` is direct's (token, expert) pairs, `tokens` one a rank. */
struct recount {
    uint32_t *copies, *tokens; /* [n_ranks × n_ranks] source, destination */
    uint32_t *crossing;        /* [n_ranks × domains of the run] distinct remote domains */
};

static struct recount recount(const struct setup *setup, uint64_t seed) {
    const uint32_t n_ranks = setup->placement.n_ranks, size = setup->placement.ranks_per_domain;
    struct recount counts = {memory_allocate((size_t)n_ranks * n_ranks, sizeof(uint32_t)),
                             memory_allocate((size_t)n_ranks * n_ranks, sizeof(uint32_t)),
                             memory_allocate((size_t)n_ranks * n_ranks, sizeof(uint32_t))};
    const struct gate_parameters parameters = {.kind = setup->traffic.gate,
                                               .experts = setup->model.experts,
                                               .top_k = setup->model.top_k,
                                               .zipf_exponent = setup->traffic.zipf_exponent,
                                               .hot_expert_factor = setup->traffic.hot_expert_factor,
                                               .seed = seed};
    struct gate *gate = gate_create(&parameters, NULL);
    for (uint32_t source = 0; source < n_ranks; source++) {
        for (uint32_t token = 0; takes_part(setup, source) && token < setup->traffic.tokens_per_gpu; token++) {
            uint32_t picks[GATE_LARGEST_TOP_K];
            bool at[64] = {false}, in[64] = {false};
            gate_draw(gate, gate_token_stream(seed, number_in_job(setup, source), token), picks);
            for (uint32_t i = 0; i < setup->model.top_k; i++) {
                const uint32_t rank = holder(setup, source, picks[i]);
                counts.copies[source * n_ranks + rank]++;
                counts.tokens[source * n_ranks + rank] += !at[rank];
                counts.crossing[source * n_ranks + rank / size] += !in[rank / size] && rank / size != source / size;
                at[rank] = in[rank / size] = true;
            }
        }
    }
    gate_free(gate);
    return counts;
}

static void recount_free(struct recount *counts) {
    free(counts->copies);
    free(counts->tokens);
    free(counts->crossing);
}

/* All tokens of source with an expert at destination, however they get there. */
static uint32_t planned_tokens(const struct moe_counts *counts, uint32_t source, uint32_t destination) {
    if (!moe_counts_takes_part(counts, source) || !moe_counts_takes_part(counts, destination) ||
        moe_counts_group(counts, source) != moe_counts_group(counts, destination)) {
        return 0;
    }
    if (!counts->shape.two_hop || moe_counts_domain(counts, source) == moe_counts_domain(counts, destination)) {
        return counts->copies[source * counts->row + moe_counts_index(counts, destination)];
    }
    const uint32_t domain = moe_counts_domain(counts, destination);
    uint32_t tokens = 0;
    for (uint32_t chunk = 0; chunk < moe_counts_chunks(counts, source, domain); chunk++) {
        tokens += moe_counts_part(counts, moe_counts_chunk_number(counts, source, domain, chunk),
                                  moe_counts_position(counts, destination));
    }
    return tokens;
}

START_TEST(counts_equal_a_recount_token_by_token) {
    const struct setup *setup = &setups[_i];
    struct moe *moe = make(setup, RECOUNT_SEED);
    struct recount counts = recount(setup, RECOUNT_SEED);
    const struct moe_counts *planned = moe_plan_counts(moe);
    const bool two_hop = experiment_algorithm_by_domain(setup->traffic.algorithm);
    const uint32_t n_ranks = setup->placement.n_ranks, size = setup->placement.ranks_per_domain;
    uint32_t wrong = 0;
    for (uint32_t source = 0; source < n_ranks; source++) {
        uint64_t crossing = 0, domains = 0;
        for (uint32_t destination = 0; destination < n_ranks; destination++) {
            const uint32_t *expected = two_hop ? counts.tokens : counts.copies;
            wrong += planned_tokens(planned, source, destination) != expected[source * n_ranks + destination];
            domains += counts.crossing[source * n_ranks + destination];
        }
        for (uint32_t domain = 0; takes_part(setup, source) && domain < planned->group_domains; domain++) {
            const uint32_t rank = moe_counts_mate(planned, source, domain);
            crossing += planned->crossing[source * planned->group_domains + domain];
            wrong += planned->crossing[source * planned->group_domains + domain] !=
                     counts.crossing[source * n_ranks + rank / size];
        }
        wrong += two_hop && crossing != domains;
    }
    ck_assert_msg(wrong == 0, "%s: %u wrong counts", setup->name, wrong);
    recount_free(&counts);
    moe_free(moe);
}
END_TEST

START_TEST(chunks_are_full_and_hold_each_token_at_least_once) {
    const struct setup *setup = &setups[_i];
    struct moe *moe = make(setup, 6);
    const struct moe_counts *counts = moe_plan_counts(moe);
    uint32_t wrong = 0, chunks_seen = 0;
    for (uint32_t source = 0; source < setup->placement.n_ranks; source++) {
        for (uint32_t domain = 0; domain < counts->group_domains; domain++) {
            const uint32_t chunks = moe_counts_chunks(counts, source, domain);
            chunks_seen += chunks;
            for (uint32_t chunk = 0; chunk < chunks; chunk++) {
                const uint32_t tokens = moe_counts_chunk_tokens(counts, source, domain, chunk);
                uint32_t parts = 0;
                for (uint32_t position = 0; position < counts->domain_ranks; position++) {
                    const uint32_t part =
                        moe_counts_part(counts, moe_counts_chunk_number(counts, source, domain, chunk), position);
                    wrong += part > tokens;
                    parts += part;
                }
                wrong += tokens == 0 || (chunk + 1 < chunks && tokens != setup->traffic.chunk_tokens);
                wrong += parts < tokens || parts > tokens * setup->model.top_k;
            }
        }
    }
    ck_assert_uint_eq(chunks_seen, counts->n_chunks);
    ck_assert_msg(wrong == 0, "%s: %u wrong chunks", setup->name, wrong);
    moe_free(moe);
}
END_TEST

/* A reduced chunk leaves its forwarder only when all parts have come. */
START_TEST(chunks_return_when_all_parts_are_there) {
    const struct setup *setup = &setups[_i];
    if (!experiment_algorithm_by_domain(setup->traffic.algorithm) || !setup->traffic.combine) {
        return;
    }
    struct moe *moe = make(setup, 7);
    struct instant_run done = run(moe, 7);
    const struct moe_counts *counts = moe_plan_counts(moe);
    uint64_t *last_ps = memory_allocate(counts->n_chunks + 1, sizeof *last_ps);
    uint32_t wrong = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < done.count; i++) {
            const struct instant_message *sent = &done.messages[i];
            const struct moe_tag tag = moe_describe_tag(sent->message.tag);
            if (tag.backward) {
                continue;
            }
            if (pass == 0 && tag.kind == MOE_TAG_COMBINE_GATHER) {
                const uint32_t forwarder = sent->message.destination;
                const uint32_t number = moe_counts_chunk_number(counts, moe_counts_mate(counts, forwarder, tag.domain),
                                                                moe_counts_domain(counts, forwarder), tag.chunk);
                last_ps[number] = last_ps[number] > sent->delivered_ps ? last_ps[number] : sent->delivered_ps;
            } else if (pass == 1 && tag.kind == MOE_TAG_COMBINE && sent->message.route == TRAFFIC_FABRIC) {
                const uint32_t number = moe_counts_chunk_number(counts, sent->message.destination,
                                                                moe_counts_domain(counts, sent->source), tag.chunk);
                wrong += sent->posted_ps < last_ps[number];
            }
        }
    }
    ck_assert_msg(wrong == 0, "%s: %u chunks returned early", setup->name, wrong);
    free(last_ps);
    instant_free(&done);
    moe_free(moe);
}
END_TEST

START_TEST(same_seed_same_traffic_whatever_the_pacing) {
    const struct setup *setup = &setups[_i];
    struct setup other = *setup;
    other.early_pacing = setup->traffic.algorithm <= EXPERIMENT_ALGORITHM_TWO_HOP && setup->traffic.exchange_counts &&
                         !setup->early_pacing;
    struct moe *first = make(setup, 8), *again = make(&other, 8), *seeded = make(setup, 9);
    ck_assert_uint_eq(moe_summary_digest(first), moe_summary_digest(again));
    ck_assert_uint_ne(moe_summary_digest(first), moe_summary_digest(seeded));
    struct instant_run one = run(first, 1), two = run(first, 1);
    ck_assert_uint_eq(one.count, two.count);
    for (uint32_t i = 0; i < one.count; i++) {
        ck_assert_uint_eq(one.messages[i].delivered_ps, two.messages[i].delivered_ps);
        ck_assert_uint_eq(one.messages[i].message.tag, two.messages[i].message.tag);
    }
    instant_free(&one);
    instant_free(&two);
    moe_free(first);
    moe_free(again);
    moe_free(seeded);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("moe");
    TCase *cases = tcase_create("moe");
    tcase_add_loop_test(cases, every_phase_ends_and_sends_what_was_counted, 0, SETUPS);
    tcase_add_loop_test(cases, messages_fit_their_route_and_unit, 0, SETUPS);
    tcase_add_loop_test(cases, phases_keep_their_order, 0, SETUPS);
    tcase_add_loop_test(cases, paced_data_waits_for_its_grant, 0, SETUPS);
    tcase_add_loop_test(cases, shares_of_a_port_add_up_to_one, 0, SETUPS);
    tcase_add_loop_test(cases, counts_equal_a_recount_token_by_token, 0, SETUPS);
    tcase_add_loop_test(cases, chunks_are_full_and_hold_each_token_at_least_once, 0, SETUPS);
    tcase_add_loop_test(cases, chunks_return_when_all_parts_are_there, 0, SETUPS);
    tcase_add_loop_test(cases, same_seed_same_traffic_whatever_the_pacing, 0, SETUPS);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
