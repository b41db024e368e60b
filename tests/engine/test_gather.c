// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Order of arrivals against the rule (sim/device/README.md, "Time and order"): time, control before packets, then
 * hash_draw(hash_stream(seed, TIE, link, phase), time), link, order of sending. The engine leaves out the hash among
 * control records of different links, which touch one port each; their order within a link is held.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "run_suite.h"
#include "star.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { ENDPOINTS = 40, LATENCY_PS = 1000000, PACKET_PHASE = 4 };

/* What was sent, and where it should come in the order. */
struct sent {
    uint64_t time_ps, number; /* as in the record */
    uint64_t tie;
    uint32_t link, port, queue;
};

/* An engine whose leaf only writes down what it gathers. */
struct scene {
    struct fabric *fabric;
    struct engine *engine;
    uint64_t seed;
    struct sent *sent, *got;
    uint32_t n_sent, n_got;
    bool in_window;
};

static uint64_t note(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct scene *scene = object;
    const uint32_t n = engine_gather(worker, ENDPOINTS, begin_ps, end_ps);
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        const struct engine_record *record = engine_arrival(worker, i, &queue);
        const uint64_t time_ps = engine_stamp_ps(record->stamp);
        uint64_t number;
        memcpy(&number, record->rest, sizeof(number));
        scene->in_window = scene->in_window && time_ps >= begin_ps && time_ps < end_ps;
        scene->got[scene->n_got++] = (struct sent){
            .time_ps = time_ps, .number = number, .port = engine_stamp_port(record->stamp), .queue = queue};
    }
    return TIME_NEVER;
}

static struct scene scene_create(uint64_t seed, uint64_t window_ps, uint32_t capacity) {
    struct scene scene = {.fabric = star_create(ENDPOINTS, LATENCY_PS), .seed = seed, .in_window = true};
    scene.engine = engine_create(scene.fabric, seed, window_ps);
    scene.sent = memory_allocate(capacity, sizeof(*scene.sent));
    scene.got = memory_allocate(capacity, sizeof(*scene.got));
    return scene;
}

static void scene_free(struct scene *scene) {
    engine_free(scene->engine);
    fabric_free(scene->fabric);
    free(scene->sent);
    free(scene->got);
}

/* Records of one link and queue must be sent in order of time. */
static void send(struct scene *scene, uint32_t endpoint, enum engine_queue queue, uint64_t time_ps) {
    const uint32_t link = star_up(scene->fabric, endpoint);
    const uint64_t record[4] = {time_ps, scene->n_sent};
    engine_send(engine_first_worker(scene->engine), engine_rings_of(scene->engine), link, queue, record);
    scene->sent[scene->n_sent] = (struct sent){
        .time_ps = time_ps,
        .number = scene->n_sent,
        .tie = hash_draw(hash_stream(scene->seed, HASH_PURPOSE_TIE, link, PACKET_PHASE), time_ps),
        .link = link,
        .port = scene->fabric->links[link].head_port,
        .queue = queue,
    };
    scene->n_sent++;
}

static void run(struct scene *scene) {
    engine_set_device(scene->engine, ENDPOINTS, note, scene);
    ck_assert_int_eq(engine_run(scene->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    ck_assert(scene->in_window);
    ck_assert_uint_eq(scene->n_got, scene->n_sent);
}

static int by_rule(const void *a, const void *b) {
    const struct sent *x = a, *y = b;
    const uint64_t keys[5][2] = {{x->time_ps, y->time_ps},
                                 {x->queue, y->queue},
                                 {x->queue == ENGINE_PACKET ? x->tie : 0, y->queue == ENGINE_PACKET ? y->tie : 0},
                                 {x->link, y->link},
                                 {x->number, y->number}};
    for (int i = 0; i < 5; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

/* Control records of one time in any order of links, each link's in the order of sending. */
static void settle_control(struct sent *records, uint32_t n) {
    for (uint32_t i = 0; i < n;) {
        uint32_t same = 1;
        while (i + same < n && records[i + same].time_ps == records[i].time_ps &&
               records[i + same].queue == records[i].queue) {
            same++;
        }
        for (uint32_t j = i + 1; records[i].queue == ENGINE_CONTROL && j < i + same; j++) {
            for (uint32_t k = j; k > i && records[k].port < records[k - 1].port; k--) { // stable
                const struct sent swap = records[k];
                records[k] = records[k - 1];
                records[k - 1] = swap;
            }
        }
        i += same;
    }
}

static void assert_order(struct scene *scene) {
    qsort(scene->sent, scene->n_sent, sizeof(*scene->sent), by_rule);
    settle_control(scene->sent, scene->n_sent);
    settle_control(scene->got, scene->n_got);
    for (uint32_t i = 0; i < scene->n_sent; i++) {
        const struct sent *expected = &scene->sent[i], *got = &scene->got[i];
        if (expected->number != got->number || expected->time_ps != got->time_ps || expected->port != got->port ||
            expected->queue != got->queue) {
            ck_abort_msg("place %u: record %llu expected, %llu gathered", i, (unsigned long long)expected->number,
                         (unsigned long long)got->number);
        }
    }
}

static int by_time(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* n records at random ports and times below span_ps, many of them at the same picosecond if the span is short. */
static void send_at_random(struct scene *scene, uint32_t n, uint64_t begin_ps, uint64_t span_ps, uint64_t stream) {
    uint64_t *times = memory_allocate(n, sizeof(*times));
    for (uint32_t i = 0; i < n; i++) {
        times[i] = begin_ps + hash_draw(stream, 3 * (uint64_t)i) % span_ps;
    }
    qsort(times, n, sizeof(*times), by_time);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t endpoint = hash_below(hash_draw(stream, 3 * (uint64_t)i + 1), ENDPOINTS);
        const bool control = hash_below(hash_draw(stream, 3 * (uint64_t)i + 2), 4) == 0;
        send(scene, endpoint, control ? ENGINE_CONTROL : ENGINE_PACKET, times[i]);
    }
    free(times);
}

/* Few and many: below 25 arrivals and above, the engine sorts by different means. */
static const uint32_t counts[] = {1, 2, 3, 5, 10, 23, 24, 25, 26, 40, 100, 257, 1000, 5000};

START_TEST(one_window_is_gathered_in_order) {
    static const uint64_t spans_ps[] = {1, 3, 30, 255, 256, 257, 1000, LATENCY_PS};
    for (size_t s = 0; s < sizeof(spans_ps) / sizeof(spans_ps[0]); s++) {
        for (uint64_t repeat = 0; repeat < 5; repeat++) {
            struct scene scene = scene_create(repeat, 0, counts[_i]);
            send_at_random(&scene, counts[_i], 7 * repeat, spans_ps[s],
                           hash_stream(repeat, HASH_PURPOSE_TEST, counts[_i], s));
            run(&scene);
            ck_assert_uint_eq(engine_windows(scene.engine), 1);
            assert_order(&scene);
            scene_free(&scene);
        }
    }
}
END_TEST

START_TEST(many_windows_are_gathered_in_order_whatever_their_length) {
    static const uint64_t windows_ps[] = {0, LATENCY_PS / 2, LATENCY_PS / 7, 4096, 100};
    for (size_t w = 0; w < sizeof(windows_ps) / sizeof(windows_ps[0]); w++) {
        struct scene scene = scene_create(5, windows_ps[w], counts[_i]);
        send_at_random(&scene, counts[_i], 12345, 20 * UINT64_C(1000000),
                       hash_stream(9, HASH_PURPOSE_TEST, counts[_i], 0));
        run(&scene);
        assert_order(&scene);
        scene_free(&scene);
    }
}
END_TEST

START_TEST(control_comes_before_packets_of_the_same_time_and_in_the_order_of_sending) {
    struct scene scene = scene_create(1, 0, 100);
    for (uint32_t i = 0; i < 30; i++) {
        send(&scene, i % 3, ENGINE_PACKET, 500);
        send(&scene, i % 3, ENGINE_CONTROL, 500);
    }
    run(&scene);
    uint64_t last[3] = {0};
    for (uint32_t i = 0; i < 60; i++) {
        ck_assert_uint_eq(scene.got[i].queue, i < 30 ? ENGINE_CONTROL : ENGINE_PACKET);
        if (i < 30) {
            ck_assert_uint_ge(scene.got[i].number, last[scene.got[i].port]);
            last[scene.got[i].port] = scene.got[i].number;
        }
    }
    scene_free(&scene);
}
END_TEST

/* How often endpoint a's packet came before endpoint b's, of n times at which both came. */
static uint32_t wins(uint64_t seed, uint32_t a, uint32_t b, uint32_t n) {
    struct scene scene = scene_create(seed, 0, 2 * n);
    for (uint32_t i = 0; i < n; i++) {
        send(&scene, a, ENGINE_PACKET, UINT64_C(81920) * i);
        send(&scene, b, ENGINE_PACKET, UINT64_C(81920) * i);
    }
    run(&scene);
    uint32_t won = 0;
    for (uint32_t i = 0; i < n; i++) {
        won += scene.got[2 * i].port == a;
    }
    scene_free(&scene);
    return won;
}

START_TEST(two_in_step_win_equally_often_under_every_seed) {
    enum { TIMES = 10000, FIVE_DEVIATIONS = 250 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        const uint32_t won = wins(seed, 3, 17, TIMES);
        ck_assert_uint_gt(won, TIMES / 2 - FIVE_DEVIATIONS);
        ck_assert_uint_lt(won, TIMES / 2 + FIVE_DEVIATIONS);
        ck_assert_uint_eq(won, wins(seed, 3, 17, TIMES)); // and the same ones each time
    }
}
END_TEST

START_TEST(seeds_break_one_tie_either_way) {
    uint32_t won = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        won += wins(seed, 0, 1, 1);
    }
    ck_assert_uint_gt(won, 65); // five standard deviations
    ck_assert_uint_lt(won, 135);
}
END_TEST

START_TEST(many_in_step_come_first_equally_often) {
    enum { TIMES = 8000 };
    struct scene scene = scene_create(2, 0, TIMES * ENDPOINTS);
    uint32_t first[ENDPOINTS] = {0};
    for (uint32_t i = 0; i < TIMES; i++) {
        for (uint32_t e = 0; e < ENDPOINTS; e++) {
            send(&scene, e, ENGINE_PACKET, UINT64_C(81920) * i);
        }
    }
    run(&scene);
    for (uint32_t i = 0; i < TIMES; i++) {
        first[scene.got[i * ENDPOINTS].port]++;
    }
    for (uint32_t e = 0; e < ENDPOINTS; e++) {
        ck_assert_uint_gt(first[e], 200 - 70); // five standard deviations about TIMES / ENDPOINTS
        ck_assert_uint_lt(first[e], 200 + 70);
    }
    scene_free(&scene);
}
END_TEST

int main(void) {
    TCase *order = tcase_create("order");
    const int n_counts = sizeof(counts) / sizeof(counts[0]);
    tcase_add_loop_test(order, one_window_is_gathered_in_order, 0, n_counts);
    tcase_add_loop_test(order, many_windows_are_gathered_in_order_whatever_their_length, 0, n_counts);
    tcase_add_test(order, control_comes_before_packets_of_the_same_time_and_in_the_order_of_sending);
    TCase *ties = tcase_create("ties");
    tcase_add_test(ties, two_in_step_win_equally_often_under_every_seed);
    tcase_add_test(ties, seeds_break_one_tie_either_way);
    tcase_add_test(ties, many_in_step_come_first_equally_often);
    Suite *suite = suite_create("gather");
    suite_add_tcase(suite, order);
    suite_add_tcase(suite, ties);
    return run_suite(suite);
}
