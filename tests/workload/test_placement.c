// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement.h"

#include "base/hash.h"
#include "run_suite.h"
#include "workload/placement_eplb.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The published example: github.com/deepseek-ai/EPLB README (d52c72d). */
static const double example_load[2][12] = {
    {90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86},
    {20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27},
};
static const uint32_t example_slots[2][16] = {
    {5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1},
    {7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1},
};

START_TEST(eplb_gives_the_published_map) {
    const struct placement_eplb_shape shape = {.experts = 12, .replicas = 16, .groups = 4, .nodes = 2, .ranks = 8};
    uint32_t slots[16];
    placement_eplb(example_load[_i], &shape, slots);
    for (int slot = 0; slot < 16; slot++) {
        ck_assert_uint_eq(slots[slot], example_slots[_i][slot]);
    }
}
END_TEST

/* Draws a shape and loads that EPLB must cope with. */
static struct placement_eplb_shape draw_shape(uint32_t number, double *load) {
    const uint64_t stream = hash_stream(number, HASH_PURPOSE_TEST, 0, 0);
    const uint32_t nodes = 1 + hash_below(hash_draw(stream, 0), 4), size = 1 + hash_below(hash_draw(stream, 1), 4);
    const uint32_t groups = nodes * (1 + hash_below(hash_draw(stream, 2), 3));
    const uint32_t experts = groups * (1 + hash_below(hash_draw(stream, 3), 5)), ranks = nodes * size;
    const uint32_t slots = (experts + ranks - 1) / ranks + hash_below(hash_draw(stream, 4), 3);
    for (uint32_t expert = 0; expert < experts; expert++) {
        load[expert] = hash_below(hash_draw(stream, 5 + expert), 1000);
    }
    return (struct placement_eplb_shape){experts, slots * ranks, groups, nodes, ranks};
}

START_TEST(every_expert_is_somewhere_and_every_rank_is_full) {
    double load[64];
    for (uint32_t number = 0; number < 300; number++) {
        const struct placement_eplb_shape shape = draw_shape(number, load);
        uint32_t *slots = calloc(shape.replicas, sizeof *slots);
        placement_eplb(load, &shape, slots);
        struct placement *placement = placement_create_slots(shape.experts, shape.ranks, shape.replicas, slots);
        for (uint32_t expert = 0; expert < shape.experts; expert++) {
            ck_assert_uint_ge(placement_replicas_of(placement, expert), 1);
        }
        for (uint32_t rank = 0; rank < shape.ranks; rank++) {
            ck_assert_uint_eq(placement_slots_of(placement, rank), shape.replicas / shape.ranks);
        }
        ck_assert_uint_eq(placement->largest_slots, shape.replicas / shape.ranks);
        placement_free(placement);
        free(slots);
    }
}
END_TEST

START_TEST(hierarchical_keeps_a_group_in_one_node) {
    double load[64];
    for (uint32_t number = 0; number < 300; number++) {
        const struct placement_eplb_shape shape = draw_shape(number, load);
        uint32_t *slots = calloc(shape.replicas, sizeof *slots), node_of_group[16];
        memset(node_of_group, 0xff, sizeof node_of_group);
        placement_eplb(load, &shape, slots);
        for (uint32_t slot = 0; slot < shape.replicas; slot++) {
            const uint32_t group = slots[slot] / (shape.experts / shape.groups);
            const uint32_t node = slot / (shape.replicas / shape.nodes);
            ck_assert(node_of_group[group] == UINT32_MAX || node_of_group[group] == node);
            node_of_group[group] = node;
        }
        free(slots);
    }
}
END_TEST

START_TEST(replicas_go_where_they_relieve_most) {
    const double load[] = {12, 1, 3};
    uint32_t expert_of[6], replicas_of[3];
    placement_eplb_replicate(load, 3, 6, expert_of, replicas_of);
    ck_assert_uint_eq(replicas_of[0], 4); /* 12, 6, 4 a replica are more than 3 */
    ck_assert_uint_eq(replicas_of[1], 1);
    ck_assert_uint_eq(replicas_of[2], 1);
    placement_eplb_replicate((const double[]){8, 1, 5}, 3, 6, expert_of, replicas_of);
    ck_assert_uint_eq(replicas_of[0], 3);
    ck_assert_uint_eq(replicas_of[2], 2);
}
END_TEST

START_TEST(load_is_neither_lost_nor_made) {
    const uint32_t expert_of[] = {2, 0, 1, 0, 1}, rank_of[] = {1, 1, 0, 0, 2};
    struct placement *placement = placement_create(3, 3, 5, expert_of, rank_of);
    double rank_load[3] = {0};
    placement_spread_load(placement, (const double[]){4, 2, 5}, rank_load);
    ck_assert(rank_load[0] == 3 && rank_load[1] == 7 && rank_load[2] == 1);
    ck_assert(fabs(placement_imbalance(rank_load, 3) - 7 / (11.0 / 3)) < 1e-12);
    ck_assert_uint_eq(placement->largest_slots, 2);
    placement_free(placement);
}
END_TEST

START_TEST(digest_knows_what_differs) {
    struct placement *one = placement_create_slots(4, 2, 4, (const uint32_t[]){0, 1, 2, 3});
    struct placement *same = placement_create_slots(4, 2, 4, (const uint32_t[]){1, 0, 3, 2});
    struct placement *other = placement_create_slots(4, 2, 4, (const uint32_t[]){0, 2, 1, 3});
    struct placement *copy = placement_copy(other);
    ck_assert(placement_digest(one) == placement_digest(same));
    ck_assert(placement_digest(one) != placement_digest(other));
    ck_assert(placement_digest(copy) == placement_digest(other));
    placement_free(one);
    placement_free(same);
    placement_free(other);
    placement_free(copy);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("placement");
    TCase *tests = tcase_create("placement");
    tcase_add_loop_test(tests, eplb_gives_the_published_map, 0, 2);
    tcase_add_test(tests, every_expert_is_somewhere_and_every_rank_is_full);
    tcase_add_test(tests, hierarchical_keeps_a_group_in_one_node);
    tcase_add_test(tests, replicas_go_where_they_relieve_most);
    tcase_add_test(tests, load_is_neither_lost_nor_made);
    tcase_add_test(tests, digest_knows_what_differs);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
