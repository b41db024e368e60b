// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "engine/ring.h"
#include "run_suite.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { RACED_RECORDS = 200000 };

/* A ring with the pool of its writer and of its reader. */
struct line {
    struct ring_writer writer;
    struct ring_reader reader;
    struct chunk_pool writer_pool, reader_pool;
};

/* A record that says which it is, in each of its words. */
struct labelled {
    uint64_t words[4];
};

static void append(struct line *line, uint64_t number) {
    const struct labelled record = {{number, hash_mix(number), ~number, number * number}};
    memcpy(ring_append(&line->writer, &line->reader, &line->writer_pool), &record, sizeof(record));
    ring_publish(&line->writer);
}

static bool take(struct line *line, uint64_t number) {
    struct labelled record;
    memcpy(&record, ring_front(&line->reader, &line->reader_pool), sizeof(record));
    ring_pop(&line->reader);
    return record.words[0] == number && record.words[1] == hash_mix(number) && record.words[2] == ~number &&
           record.words[3] == number * number;
}

static uint64_t available(const struct line *line) {
    return ring_available(&line->writer, &line->reader);
}

static void finish(struct line *line) {
    chunk_pool_fini(&line->writer_pool);
    chunk_pool_fini(&line->reader_pool);
}

START_TEST(an_untouched_ring_holds_nothing_and_no_memory) {
    struct line line = {0};
    ck_assert_uint_eq(available(&line), 0);
    ck_assert_uint_eq(chunk_pool_bytes(&line.writer_pool), 0);
}
END_TEST

/* _i records at a time, so that bursts end before, at and after the edge of a block. */
START_TEST(records_come_out_as_they_went_in_whatever_the_burst) {
    struct line line = {0};
    uint64_t written = 0, read = 0;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < _i; i++) {
            append(&line, written++);
        }
        ck_assert_uint_eq(available(&line), (uint64_t)_i);
        for (int i = 0; i < _i; i++) {
            ck_assert(take(&line, read++));
        }
        ck_assert_uint_eq(available(&line), 0);
    }
    finish(&line);
}
END_TEST

START_TEST(reading_and_writing_may_alternate_at_random) {
    struct line line = {0};
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, 0, 0);
    uint64_t written = 0, read = 0;
    bool right = true;
    for (uint64_t step = 0; step < 300000; step++) {
        const uint64_t draw = hash_draw(stream, step);
        const bool growing = step / 1000 % 2 == 0; // now fuller, now emptier
        if ((draw & 255) < (growing ? 150u : 100u)) {
            append(&line, written++);
        } else if (available(&line) > 0) {
            right = right && take(&line, read++);
        }
        right = right && available(&line) == written - read;
    }
    ck_assert(right);
    ck_assert_uint_gt(read, 50000);
    finish(&line);
}
END_TEST

START_TEST(a_record_taken_stays_readable_until_the_next_look) {
    struct line line = {0};
    for (uint64_t i = 0; i < CHUNK_SLOTS; i++) {
        append(&line, i);
    }
    for (uint64_t i = 0; i < CHUNK_SLOTS; i++) {
        const struct labelled *record = ring_front(&line.reader, &line.writer_pool);
        ring_pop(&line.reader);
        append(&line, CHUNK_SLOTS + i); // takes a block if one is free
        ck_assert_uint_eq(record->words[0], i);
    }
    finish(&line);
}
END_TEST

START_TEST(memory_follows_what_is_in_flight_not_what_has_passed) {
    struct line line = {0};
    uint64_t written = 0, read = 0;
    bool right = true;
    append(&line, written++);
    const size_t bytes = chunk_pool_bytes(&line.writer_pool);
    while (read < 100000) {
        while (written - read < 100) {
            append(&line, written++);
        }
        struct labelled record;
        memcpy(&record, ring_front(&line.reader, &line.writer_pool), sizeof(record)); // one pool, as on one worker
        ring_pop(&line.reader);
        right = right && record.words[0] == read++;
    }
    ck_assert(right);
    ck_assert_uint_eq(chunk_pool_bytes(&line.writer_pool), bytes);
    finish(&line);
}
END_TEST

static void *write_all(void *object) {
    struct line *line = object;
    for (uint64_t i = 0; i < RACED_RECORDS; i++) {
        append(line, i);
    }
    return NULL;
}

START_TEST(a_reader_sees_whole_records_while_the_writer_appends) {
    struct line *line = calloc(1, sizeof(*line));
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, write_all, line), 0);
    bool right = true;
    for (uint64_t read = 0; read < RACED_RECORDS;) {
        uint64_t left = available(line);
        if (left == 0) {
            sched_yield();
        }
        for (; left > 0; left--) {
            right = take(line, read++) && right;
        }
    }
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    ck_assert(right);
    ck_assert_uint_eq(available(line), 0);
    finish(line);
    free(line);
}
END_TEST

START_TEST(blocks_are_distinct_aligned_and_taken_again) {
    enum { BLOCKS = 1100 }; // more than a slab holds
    static struct chunk *blocks[BLOCKS];
    struct chunk_pool pool = {0};
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = chunk_take(&pool);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 64, 0);
        ck_assert_ptr_null(blocks[i]->next);
        memset(blocks[i]->slots, i & 255, sizeof(blocks[i]->slots));
    }
    for (int i = 0; i < BLOCKS; i++) {
        ck_assert_int_eq(blocks[i]->slots[CHUNK_SLOTS - 1][CHUNK_SLOT_BYTES - 1], i & 255);
    }
    const size_t bytes = chunk_pool_bytes(&pool);
    ck_assert_uint_ge(bytes, BLOCKS * sizeof(struct chunk));
    for (int i = 0; i < BLOCKS; i++) {
        chunk_give(&pool, blocks[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        ck_assert_ptr_eq(chunk_take(&pool), blocks[BLOCKS - 1 - i]); // the one given back last is still in the cache
    }
    ck_assert_uint_eq(chunk_pool_bytes(&pool), bytes);
    chunk_pool_fini(&pool);
    ck_assert_uint_eq(chunk_pool_bytes(&pool), 0);
}
END_TEST

int main(void) {
    TCase *order = tcase_create("order");
    tcase_add_test(order, an_untouched_ring_holds_nothing_and_no_memory);
    tcase_add_loop_test(order, records_come_out_as_they_went_in_whatever_the_burst, 1, 47);
    tcase_add_test(order, reading_and_writing_may_alternate_at_random);
    tcase_add_test(order, a_record_taken_stays_readable_until_the_next_look);
    tcase_add_test(order, a_reader_sees_whole_records_while_the_writer_appends);
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, memory_follows_what_is_in_flight_not_what_has_passed);
    tcase_add_test(memory, blocks_are_distinct_aligned_and_taken_again);
    Suite *suite = suite_create("ring");
    suite_add_tcase(suite, order);
    suite_add_tcase(suite, memory);
    return run_suite(suite);
}
