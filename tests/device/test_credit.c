// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "device/credit.h"
#include "fabric/irregular.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Two GPUs on one chip (device 2); GPU 0's link up is link 0. */
struct scene {
    struct fabric *fabric;
    struct network_parameters parameters;
    struct context context;
    struct engine *engine;
    uint64_t returned_bytes;
    uint32_t returns, smallest, largest;
};

static uint64_t take_credits(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct scene *scene = object;
    const uint32_t n = engine_gather(worker, 0, begin_ps, end_ps);
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        const struct engine_record *record = engine_arrival(worker, i, &queue);
        struct control control;
        memcpy(&control, record, sizeof(control));
        ck_assert_uint_eq(control.kind, CONTROL_CREDIT);
        ck_assert_uint_eq(engine_stamp_ps(record->stamp), (scene->returns + 1) * UINT64_C(1000000) + RIG_LATENCY_PS);
        scene->returned_bytes += control.amount;
        scene->returns++;
        scene->smallest = control.amount < scene->smallest ? control.amount : scene->smallest;
        scene->largest = control.amount > scene->largest ? control.amount : scene->largest;
    }
    return TIME_NEVER;
}

static struct scene *scene_create(void) {
    static const struct rig_shape shape = {
        .hosts_per_leaf = 2, .domain_gpus = 2, .chips = 1, .links_per_chip = 1, .nvlink_ps = 160};
    struct scene *scene = calloc(1, sizeof(*scene));
    scene->fabric = rig_fabric(&shape);
    scene->parameters = rig_parameters();
    scene->engine = engine_create(scene->fabric, 1, 0);
    scene->context = (struct context){
        .fabric = scene->fabric, .parameters = &scene->parameters, .rings = engine_rings_of(scene->engine)};
    scene->smallest = UINT32_MAX;
    engine_set_device(scene->engine, 0, take_credits, scene);
    return scene;
}

static void scene_free(struct scene *scene) {
    engine_free(scene->engine);
    fabric_free(scene->fabric);
    free(scene);
}

START_TEST(a_buffer_is_twice_the_round_trip_at_the_rate_of_its_link) {
    struct scene *scene = scene_create();
    // 50 GB/s: 2 × (2 × 500 ns + 2 records of 1,024 bytes × 160 ps) / 160 ps a byte = 2 × 1,327.68 ns / 0.16 ns = 16,596
    ck_assert_uint_eq(credit_initial_bytes(&scene->context, 0), 16596);
    const struct irregular_figures slow = {.rate_bits_per_s = UINT64_C(25000000000), .latency_ps = 700000};
    irregular_set_link(scene->fabric, 0, &slow);
    // 320 ps a byte on this link, and on the slower of both: 2 × (1,200 + 655.36) ns / 0.32 ns = 11,596
    ck_assert_uint_eq(credit_initial_bytes(&scene->context, 0), 11596);
    // the way back at its own rate, records at the slower: 2 × 1,855.36 ns / 0.16 ns
    ck_assert_uint_eq(credit_initial_bytes(&scene->context, scene->fabric->links[0].reverse), 23192);
    scene_free(scene);
}
END_TEST

START_TEST(a_figure_is_taken_as_given_but_never_too_small_to_go_on) {
    struct scene *scene = scene_create();
    scene->parameters.nvlink.credit_grain_bytes = 2000;
    static const uint64_t given[] = {1, 3023, 3024, 3025, 1u << 20}, expected[] = {3024, 3024, 3024, 3025, 1u << 20};
    for (int i = 0; i < 5; i++) {
        scene->parameters.nvlink.buffer_bytes = given[i];
        ck_assert_uint_eq(credit_initial_bytes(&scene->context, 0), expected[i]);
    }
    scene_free(scene);
}
END_TEST

START_TEST(bytes_come_back_in_grains_and_none_is_lost) {
    static const uint32_t grains[] = {1, 500, 1024, 4096, 10000};
    struct scene *scene = scene_create();
    scene->parameters.nvlink.credit_grain_bytes = grains[_i];
    const uint32_t back = scene->fabric->links[0].reverse; // from the chip to GPU 0
    uint32_t gathered = 0, returns = 0;
    uint64_t freed_bytes = 0;
    for (uint64_t n = 0; n < 500; n++) {
        const uint32_t size = 1 + (uint32_t)(hash_mix(n) % RIG_RECORD_BYTES);
        const bool whole = gathered + size >= grains[_i];
        credit_return(&scene->context, engine_first_worker(scene->engine), 2, 0, back, &gathered, size,
                      (returns + 1) * UINT64_C(1000000));
        freed_bytes += size;
        returns += whole;
        ck_assert_uint_lt(gathered, grains[_i]);
    }
    ck_assert_int_eq(engine_run(scene->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    ck_assert_uint_eq(scene->returns, returns);
    ck_assert_uint_eq(scene->returned_bytes + gathered, freed_bytes);
    ck_assert_uint_ge(scene->smallest, grains[_i]);
    ck_assert_uint_lt(scene->largest, grains[_i] + RIG_RECORD_BYTES);
    scene_free(scene);
}
END_TEST

int main(void) {
    TCase *credits = tcase_create("credits");
    tcase_add_test(credits, a_buffer_is_twice_the_round_trip_at_the_rate_of_its_link);
    tcase_add_test(credits, a_figure_is_taken_as_given_but_never_too_small_to_go_on);
    tcase_add_loop_test(credits, bytes_come_back_in_grains_and_none_is_lost, 0, 5);
    Suite *suite = suite_create("credit");
    suite_add_tcase(suite, credits);
    return run_suite(suite);
}
