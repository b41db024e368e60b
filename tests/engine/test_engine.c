// SPDX-License-Identifier: GPL-3.0-or-later
/* Windows, idle time, limits and causality, on toy devices that throw records at each other. */
#include "base/hash.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "run_suite.h"
#include "star.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { ENDPOINTS = 12, LATENCY_PS = 700000, BOUNCES = 400 };

/* A record as toys see it. */
struct ball {
    uint64_t time_ps, number, bounces_left, unused;
};

/* What a toy saw. */
struct sight {
    uint64_t time_ps, number, bounces_left;
};

/* Endpoints throw balls back through the leaf, which throws them to any endpoint; each toy delays by a draw. */
struct toy {
    struct game *game;
    uint32_t device;
    uint64_t last_sent_ps[ENDPOINTS]; /* by port: a link keeps its order */
    struct sight *sights;
    uint32_t n_sights, capacity;
    uint32_t n_runs;
    bool in_window;
};

struct game {
    struct fabric *fabric;
    struct engine *engine;
    struct toy toys[ENDPOINTS + 1];
};

static void throw_ball(struct toy *toy, struct engine_worker *worker, uint32_t port, const struct sight *caught) {
    const struct fabric *fabric = toy->game->fabric;
    const uint64_t delay_ps = hash_mix(caught->number * 1000 + caught->bounces_left) % 900000;
    uint64_t time_ps = caught->time_ps + LATENCY_PS + delay_ps;
    time_ps = time_ps > toy->last_sent_ps[port]
                  ? time_ps
                  : toy->last_sent_ps[port] + 1; // no two at one time: ties have tests of their own
    toy->last_sent_ps[port] = time_ps;
    const struct ball ball = {.time_ps = time_ps, .number = caught->number, .bounces_left = caught->bounces_left - 1};
    engine_send(worker, engine_rings_of(toy->game->engine), fabric->devices[toy->device].first_port + port,
                ENGINE_PACKET, &ball);
}

static void catch_ball(struct toy *toy, struct engine_worker *worker, const struct ball *ball) {
    if (toy->n_sights == toy->capacity) {
        toy->capacity = toy->capacity ? 2 * toy->capacity : 256;
        toy->sights = memory_resize(toy->sights, toy->capacity, sizeof(*toy->sights));
    }
    const struct sight sight = {ball->time_ps, ball->number, ball->bounces_left};
    toy->sights[toy->n_sights++] = sight;
    if (ball->bounces_left > 0) {
        const bool leaf = toy->device == ENDPOINTS;
        throw_ball(toy, worker, leaf ? hash_below(hash_mix(ball->number ^ ball->time_ps), ENDPOINTS) : 0, &sight);
    }
}

static uint64_t play(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct toy *toy = object;
    toy->n_runs++;
    const uint32_t n = engine_gather(worker, toy->device, begin_ps, end_ps);
    for (uint32_t i = 0; i < n; i++) {
        enum engine_queue queue;
        const struct engine_record *record = engine_arrival(worker, i, &queue);
        struct ball ball;
        memcpy(&ball, record, sizeof(ball));
        ball.time_ps = engine_stamp_ps(record->stamp);
        toy->in_window = toy->in_window && ball.time_ps >= begin_ps && ball.time_ps < end_ps;
        catch_ball(toy, worker, &ball);
    }
    return TIME_NEVER;
}

/* worker_of NULL: one worker. */
static struct game *game_create_split(uint64_t window_ps, uint32_t n_workers, const uint32_t *worker_of) {
    struct game *game = memory_allocate(1, sizeof(*game));
    game->fabric = star_create(ENDPOINTS, LATENCY_PS);
    game->engine = worker_of ? engine_create_split(game->fabric, 1, window_ps, n_workers, worker_of)
                             : engine_create(game->fabric, 1, window_ps);
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        game->toys[d] = (struct toy){.game = game, .device = d, .in_window = true};
        engine_set_device(game->engine, d, play, &game->toys[d]);
    }
    return game;
}

static struct game *game_create(uint64_t window_ps) {
    return game_create_split(window_ps, 1, NULL);
}

static void game_free(struct game *game) {
    engine_free(game->engine);
    fabric_free(game->fabric);
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        free(game->toys[d].sights);
    }
    free(game);
}

/* n balls set off from each endpoint. */
static void serve(struct game *game, uint64_t n, uint64_t bounces) {
    for (uint64_t i = 0; i < n * ENDPOINTS; i++) {
        const struct sight start = {.time_ps = 0, .number = i, .bounces_left = bounces};
        throw_ball(&game->toys[i % ENDPOINTS], engine_first_worker(game->engine), 0, &start);
    }
}

static bool toys_agree(const struct toy *a, const struct toy *b) {
    return a->n_sights == b->n_sights && memcmp(a->sights, b->sights, a->n_sights * sizeof(*a->sights)) == 0;
}

START_TEST(every_ball_is_caught_in_its_window_and_in_order) {
    struct game *game = game_create(0);
    serve(game, 8, BOUNCES);
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    uint64_t caught = 0;
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        const struct toy *toy = &game->toys[d];
        ck_assert(toy->in_window);
        for (uint32_t i = 1; i < toy->n_sights; i++) {
            if (toy->sights[i].time_ps < toy->sights[i - 1].time_ps) {
                ck_abort_msg("device %u went back in time", d);
            }
        }
        caught += toy->n_sights;
    }
    ck_assert_uint_eq(caught, UINT64_C(8) * ENDPOINTS * BOUNCES);
    game_free(game);
}
END_TEST

START_TEST(the_length_of_the_window_is_no_part_of_the_result) {
    static const uint64_t windows_ps[] = {LATENCY_PS, LATENCY_PS - 1, LATENCY_PS / 2, LATENCY_PS / 7, 9973};
    struct game *whole = game_create(0);
    serve(whole, 8, BOUNCES);
    ck_assert_int_eq(engine_run(whole->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    struct game *part = game_create(windows_ps[_i]);
    serve(part, 8, BOUNCES);
    ck_assert_int_eq(engine_run(part->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        ck_assert(toys_agree(&whole->toys[d], &part->toys[d]));
    }
    ck_assert_uint_ge(engine_windows(part->engine), engine_windows(whole->engine));
    game_free(whole);
    game_free(part);
}
END_TEST

/* Devices dealt out at random; some workers may get none. */
static void deal(uint32_t n_workers, uint64_t number, uint32_t *worker_of) {
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        worker_of[d] = hash_below(hash_draw(hash_stream(number, HASH_PURPOSE_TEST, 2, 0), d), n_workers);
    }
}

START_TEST(workers_are_no_part_of_the_result) {
    struct game *alone = game_create(0);
    serve(alone, 4, BOUNCES / 4);
    ck_assert_int_eq(engine_run(alone->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    for (uint32_t n_workers = 1; n_workers <= 4; n_workers++) {
        uint32_t worker_of[ENDPOINTS + 1];
        deal(n_workers, (uint64_t)_i * 10 + n_workers, worker_of);
        struct game *split = game_create_split(_i ? LATENCY_PS / 3 : 0, n_workers, worker_of);
        serve(split, 4, BOUNCES / 4);
        ck_assert_int_eq(engine_run(split->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
        for (uint32_t d = 0; d <= ENDPOINTS; d++) {
            ck_assert(split->toys[d].in_window);
            ck_assert(toys_agree(&alone->toys[d], &split->toys[d]));
        }
        ck_assert_uint_eq(engine_packets(split->engine), engine_packets(alone->engine));
        game_free(split);
    }
    game_free(alone);
}
END_TEST

START_TEST(workers_end_together_at_a_limit) {
    const uint64_t limit_ps = UINT64_C(33) * LATENCY_PS + 12345;
    struct game *alone = game_create(0);
    serve(alone, 4, BOUNCES);
    ck_assert_int_eq(engine_run(alone->engine, limit_ps, NULL, NULL), ENGINE_LIMIT);
    uint32_t worker_of[ENDPOINTS + 1];
    deal(3, 77, worker_of);
    struct game *split = game_create_split(0, 3, worker_of);
    serve(split, 4, BOUNCES);
    ck_assert_int_eq(engine_run(split->engine, limit_ps, NULL, NULL), ENGINE_LIMIT);
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        ck_assert(toys_agree(&alone->toys[d], &split->toys[d]));
    }
    ck_assert_uint_eq(engine_windows(alone->engine), engine_windows(split->engine));
    ck_assert_uint_eq(engine_now_ps(split->engine), limit_ps);
    game_free(alone);
    game_free(split);
}
END_TEST

START_TEST(memory_follows_what_is_in_flight) {
    struct game *game = game_create(0);
    serve(game, 2, 20);
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    const size_t bytes = engine_bytes(game->engine);
    game_free(game);
    game = game_create(0);
    serve(game, 2, 20000);
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    ck_assert_uint_eq(engine_bytes(game->engine), bytes);
    game_free(game);
}
END_TEST

START_TEST(devices_with_nothing_due_do_not_run) {
    struct game *game = game_create(0);
    const struct sight start = {.bounces_left = 1};
    throw_ball(&game->toys[5], engine_first_worker(game->engine), 0, &start);
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        ck_assert_uint_eq(game->toys[d].n_runs, d == ENDPOINTS);
    }
    ck_assert_uint_eq(engine_windows(game->engine), 1);
    game_free(game);
}
END_TEST

/* A device that is due at fixed times. */
struct clock {
    const uint64_t *times_ps; /* increasing, TIME_NEVER at the end */
    uint32_t next, late;
};

static uint64_t strike(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct clock *clock = object;
    (void)worker;
    while (clock->times_ps[clock->next] < end_ps) {
        clock->late += clock->times_ps[clock->next] < begin_ps;
        clock->next++;
    }
    return clock->times_ps[clock->next];
}

static const uint64_t hours_ps[] = {
    0, UINT64_C(1000000000), UINT64_C(1000000001), UINT64_C(1000000000000), UINT64_C(3600000000000000), TIME_NEVER};

START_TEST(windows_jump_over_idle_time) {
    struct game *game = game_create(0);
    struct clock clock = {.times_ps = hours_ps};
    engine_set_device(game->engine, 0, strike, &clock);
    engine_wake(game->engine, 0, 0);
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    ck_assert_uint_eq(clock.next, 5);
    ck_assert_uint_eq(clock.late, 0);
    ck_assert_uint_eq(engine_windows(game->engine), 4); // two of the times fall into one window
    ck_assert_uint_eq(engine_now_ps(game->engine), hours_ps[4] + LATENCY_PS);
    game_free(game);
}
END_TEST

START_TEST(an_arrival_wakes_earlier_than_a_device_meant_to) {
    static const uint64_t far_ps[] = {0, UINT64_C(1000000000000), TIME_NEVER};
    struct game *game = game_create(0);
    struct clock clock = {.times_ps = far_ps};
    engine_set_device(game->engine, 0, strike, &clock);
    engine_wake(game->engine, 0, 0);
    serve(game, 1, 50); // most of it happens long before the clock's second time
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    ck_assert_uint_eq(clock.next, 2);
    ck_assert(game->toys[ENDPOINTS].in_window);
    ck_assert_uint_gt(game->toys[ENDPOINTS].n_sights, ENDPOINTS);
    game_free(game);
}
END_TEST

START_TEST(what_is_due_before_the_limit_is_done_and_nothing_after) {
    for (uint64_t late_ps = 0; late_ps < 2; late_ps++) {
        struct game *game = game_create(0);
        struct clock clock = {.times_ps = hours_ps};
        engine_set_device(game->engine, 0, strike, &clock);
        engine_wake(game->engine, 0, 0);
        ck_assert_int_eq(engine_run(game->engine, hours_ps[3] + late_ps, NULL, NULL), ENGINE_LIMIT);
        ck_assert_uint_eq(clock.next, 3 + late_ps);
        ck_assert_uint_eq(engine_now_ps(game->engine), hours_ps[3] + late_ps);
        game_free(game);
    }
}
END_TEST

START_TEST(a_limit_cuts_through_a_window) {
    const uint64_t limit_ps = UINT64_C(1000000001); // between two of the times, which are one picosecond apart
    struct game *game = game_create(0);
    struct clock clock = {.times_ps = hours_ps};
    engine_set_device(game->engine, 0, strike, &clock);
    engine_wake(game->engine, 0, 0);
    ck_assert_int_eq(engine_run(game->engine, limit_ps, NULL, NULL), ENGINE_LIMIT);
    ck_assert_uint_eq(clock.next, 2);
    ck_assert_uint_eq(clock.late, 0);
    game_free(game);
}
END_TEST

/* Says stop when asked for the last time. */
struct asker {
    uint64_t last_ps;
    uint32_t asked, stop_at;
};

static bool ask(void *object, uint64_t now_ps) {
    struct asker *asker = object;
    ck_assert_uint_ge(now_ps, asker->last_ps);
    asker->last_ps = now_ps;
    return ++asker->asked < asker->stop_at;
}

START_TEST(who_is_asked_between_windows_can_stop_the_run) {
    struct game *game = game_create(0);
    struct asker asker = {.stop_at = 5};
    serve(game, 1, BOUNCES);
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, ask, &asker), ENGINE_STOPPED);
    ck_assert_uint_eq(asker.asked, 5);
    ck_assert_uint_eq(engine_windows(game->engine), 5);
    game_free(game);
}
END_TEST

START_TEST(without_work_a_run_ends_at_once) {
    struct game *game = game_create(0);
    ck_assert_int_eq(engine_run(game->engine, UINT64_MAX, NULL, NULL), ENGINE_IDLE);
    ck_assert_uint_eq(engine_windows(game->engine), 0);
    ck_assert_uint_eq(engine_now_ps(game->engine), 0);
    game_free(game);
}
END_TEST

/* A device that breaks the rule: it sends faster than its link. */
static uint64_t cheat(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    struct toy *toy = object;
    const struct ball ball = {.time_ps = end_ps - 1};
    (void)begin_ps;
    engine_gather(worker, toy->device, begin_ps, end_ps);
    engine_send(worker, engine_rings_of(toy->game->engine), toy->game->fabric->devices[toy->device].first_port,
                ENGINE_PACKET, &ball);
    return TIME_NEVER;
}

static void run_with_cheat(uint32_t device, uint32_t n_workers) {
    uint32_t worker_of[ENDPOINTS + 1];
    for (uint32_t d = 0; d <= ENDPOINTS; d++) {
        worker_of[d] = d % n_workers;
    }
    struct game *game = game_create_split(0, n_workers, worker_of);
    engine_set_device(game->engine, device, cheat, &game->toys[device]);
    engine_wake(game->engine, device, UINT64_C(5) * LATENCY_PS);
    engine_run(game->engine, UINT64_MAX, NULL, NULL);
    game_free(game);
}

START_TEST(an_arrival_inside_the_window_at_a_device_still_to_run_is_a_bug) {
    run_with_cheat(0, 1); // to the leaf, which runs last
}
END_TEST

START_TEST(an_arrival_inside_the_window_at_a_device_that_has_run_is_a_bug) {
    run_with_cheat(ENDPOINTS, 1); // from the leaf to endpoint 0
}
END_TEST

START_TEST(an_arrival_inside_the_window_at_another_worker_is_a_bug) {
    run_with_cheat(ENDPOINTS - 1, 3);
}
END_TEST

static uint64_t dawdle(void *object, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps) {
    (void)object;
    (void)worker;
    (void)begin_ps;
    return end_ps - 1;
}

START_TEST(work_left_in_a_window_that_has_ended_is_a_bug) {
    struct game *game = game_create(0);
    engine_set_device(game->engine, 3, dawdle, NULL);
    engine_wake(game->engine, 3, 0);
    engine_run(game->engine, UINT64_MAX, NULL, NULL);
}
END_TEST

START_TEST(a_window_longer_than_a_link_is_a_bug) {
    game_create(LATENCY_PS + 1);
}
END_TEST

static Suite *engine_suite(void) {
    TCase *windows = tcase_create("windows");
    tcase_add_test(windows, every_ball_is_caught_in_its_window_and_in_order);
    tcase_add_loop_test(windows, the_length_of_the_window_is_no_part_of_the_result, 0, 5);
    tcase_add_loop_test(windows, workers_are_no_part_of_the_result, 0, 4);
    tcase_add_test(windows, memory_follows_what_is_in_flight);
    tcase_add_test(windows, devices_with_nothing_due_do_not_run);
    tcase_add_test(windows, windows_jump_over_idle_time);
    tcase_add_test(windows, an_arrival_wakes_earlier_than_a_device_meant_to);
    TCase *ends = tcase_create("ends");
    tcase_add_test(ends, what_is_due_before_the_limit_is_done_and_nothing_after);
    tcase_add_test(ends, a_limit_cuts_through_a_window);
    tcase_add_test(ends, workers_end_together_at_a_limit);
    tcase_add_test(ends, who_is_asked_between_windows_can_stop_the_run);
    tcase_add_test(ends, without_work_a_run_ends_at_once);
    TCase *causality = tcase_create("causality");
    tcase_add_test_raise_signal(causality, an_arrival_inside_the_window_at_a_device_still_to_run_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(causality, an_arrival_inside_the_window_at_a_device_that_has_run_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(causality, an_arrival_inside_the_window_at_another_worker_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(causality, work_left_in_a_window_that_has_ended_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(causality, a_window_longer_than_a_link_is_a_bug, SIGABRT);
    Suite *suite = suite_create("engine");
    suite_add_tcase(suite, windows);
    suite_add_tcase(suite, ends);
    suite_add_tcase(suite, causality);
    return suite;
}

int main(void) {
    return run_suite(engine_suite());
}
