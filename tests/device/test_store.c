// SPDX-License-Identifier: GPL-3.0-or-later
/* What devices keep things in: heap, table, queue; against the simplest models that there are. */
#include "base/hash.h"
#include "device/heap.h"
#include "device/queue.h"
#include "device/table.h"
#include "run_suite.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw_below(uint64_t *count, uint32_t bound) {
    return hash_below(hash_draw(hash_stream(3, HASH_PURPOSE_TEST, 0, 0), (*count)++), bound);
}

START_TEST(an_empty_heap_is_never_due) {
    const struct heap heap = {0};
    ck_assert_uint_eq(heap_time_ps(&heap), UINT64_MAX);
}
END_TEST

/* Model: an unordered array that is searched from end to end. */
static struct heap_entry take_smallest(struct heap_entry *entries, uint32_t *n) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < *n; i++) {
        if (entries[i].time_ps < entries[best].time_ps ||
            (entries[i].time_ps == entries[best].time_ps && entries[i].tie < entries[best].tie)) {
            best = i;
        }
    }
    const struct heap_entry taken = entries[best];
    entries[best] = entries[--*n];
    return taken;
}

START_TEST(a_heap_gives_the_earliest_and_settles_ties) {
    enum { STEPS = 20000, SPAN = 50 };
    static struct heap_entry model[STEPS];
    struct heap heap = {0};
    uint64_t count = 0;
    uint32_t n = 0;
    bool right = true;
    for (uint32_t step = 0; step < STEPS; step++) {
        if (n == 0 || draw_below(&count, 100) < (step / 2000 % 2 ? 40u : 60u)) {
            const struct heap_entry entry = {draw_below(&count, SPAN), step, draw_below(&count, 1000)};
            heap_push(&heap, entry.time_ps, entry.tie, entry.value);
            model[n++] = entry;
        } else {
            const uint64_t time_ps = heap_time_ps(&heap);
            const struct heap_entry got = heap_pop(&heap), expected = take_smallest(model, &n);
            right = right && time_ps == expected.time_ps && got.time_ps == expected.time_ps &&
                    got.tie == expected.tie && got.value == expected.value;
        }
        right = right && heap.count == n;
    }
    ck_assert(right);
    heap_fini(&heap);
    ck_assert_uint_eq(heap.count, 0);
}
END_TEST

START_TEST(a_heap_sorts) {
    struct heap heap = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        heap_push(&heap, hash_mix(i) % 100, hash_mix(i + 1) % 7, i);
    }
    struct heap_entry last = heap_pop(&heap);
    while (heap.count) {
        const struct heap_entry next = heap_pop(&heap);
        ck_assert(last.time_ps < next.time_ps || (last.time_ps == next.time_ps && last.tie <= next.tie));
        last = next;
    }
    heap_fini(&heap);
}
END_TEST

START_TEST(nothing_is_found_in_an_empty_table) {
    const struct table table = {0};
    ck_assert_ptr_null(table_find(&table, 0));
    ck_assert_ptr_null(table_find(&table, UINT64_MAX));
}
END_TEST

/* Model: an array by key. Few keys, so that slots collide and chains of them are broken and closed. */
START_TEST(a_table_remembers_what_an_array_remembers) {
    enum { KEYS = 300, STEPS = 200000 };
    static uint32_t model[KEYS];
    memset(model, 0xff, sizeof(model));
    struct table table = {0};
    uint64_t count = 0;
    uint32_t n = 0;
    bool right = true;
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t key = draw_below(&count, KEYS);
        const bool growing = step / 5000 % 2 == 0;
        uint32_t *found = table_find(&table, key * UINT64_C(0x100000001));
        right = right && (found ? *found : TABLE_EMPTY) == model[key];
        if (!found && draw_below(&count, 100) < (growing ? 80u : 20u)) {
            model[key] = draw_below(&count, 1u << 30);
            table_add(&table, key * UINT64_C(0x100000001), model[key]);
            n++;
        } else if (found && draw_below(&count, 100) < (growing ? 20u : 80u)) {
            table_remove(&table, key * UINT64_C(0x100000001));
            model[key] = TABLE_EMPTY;
            n--;
        } else if (found) {
            *found = model[key] = draw_below(&count, 1u << 30);
        }
        right = right && table.count == n && 2 * n <= table.capacity;
    }
    ck_assert(right);
    for (uint32_t key = 0; key < KEYS; key++) { // what was not touched last is still right
        const uint32_t *found = table_find(&table, key * UINT64_C(0x100000001));
        ck_assert_uint_eq(found ? *found : TABLE_EMPTY, model[key]);
    }
    table_fini(&table);
}
END_TEST

START_TEST(a_table_that_is_filled_and_emptied_keeps_its_size) {
    struct table table = {0};
    for (int round = 0; round < 50; round++) {
        for (uint64_t key = 0; key < 100; key++) {
            table_add(&table, key << 32, (uint32_t)key);
        }
        ck_assert_uint_eq(table.capacity, 256);
        for (uint64_t key = 0; key < 100; key++) {
            table_remove(&table, key << 32);
        }
        ck_assert_uint_eq(table.count, 0);
    }
    table_fini(&table);
}
END_TEST

static bool push_and_pop(struct queue *queue, struct chunk_pool *pool, uint32_t *pushed, uint32_t *popped,
                         uint32_t draw) {
    const uint32_t share = *pushed / 500 % 2 ? 35 : 65;
    if (draw < share) {
        const struct packet packet = {.time_ps = queue_stamp(UINT64_C(281474976710655) - *pushed, *pushed & 65535),
                                      .number = *pushed};
        queue_push(queue, pool, &packet);
        (*pushed)++;
        return true;
    }
    if (queue_is_empty(queue)) {
        return true;
    }
    const struct packet *front = queue_front(queue);
    const bool right = front->number == *popped && queue_ingress(front) == (*popped & 65535) &&
                       queue_ready_ps(front) == UINT64_C(281474976710655) - *popped;
    queue_pop(queue, pool);
    (*popped)++;
    return right;
}

START_TEST(a_queue_keeps_order_and_its_stamps) {
    struct queue queue = {0};
    struct chunk_pool pool = {0};
    uint32_t pushed = 0, popped = 0;
    uint64_t count = 0;
    bool right = true;
    for (int step = 0; step < 100000; step++) {
        right = push_and_pop(&queue, &pool, &pushed, &popped, draw_below(&count, 100)) && right;
        right = right && queue_is_empty(&queue) == (pushed == popped);
    }
    ck_assert(right);
    ck_assert_uint_gt(popped, 10000);
    chunk_pool_fini(&pool);
}
END_TEST

START_TEST(empty_queues_keep_no_block) {
    struct chunk_pool pool = {0};
    for (uint32_t length = 1; length < 40; length++) {
        struct queue queue = {0};
        for (uint32_t i = 0; i < length; i++) {
            const struct packet packet = {.number = i};
            queue_push(&queue, &pool, &packet);
        }
        for (uint32_t i = 0; i < length; i++) {
            ck_assert_uint_eq(queue_front(&queue)->number, i);
            queue_pop(&queue, &pool);
        }
        ck_assert_ptr_null(queue.head);
        ck_assert_ptr_null(queue.tail);
    }
    const size_t bytes = chunk_pool_bytes(&pool);
    uint32_t blocks = 0;
    while (pool.free) { // all are back
        chunk_take(&pool);
        blocks++;
    }
    blocks += pool.n_uncut + (uint32_t)pool.n_slabs; // a slab is aligned at the cost of a block
    ck_assert_uint_eq(blocks * sizeof(struct chunk), bytes);
    chunk_pool_fini(&pool);
}
END_TEST

int main(void) {
    TCase *heap = tcase_create("heap");
    tcase_add_test(heap, an_empty_heap_is_never_due);
    tcase_add_test(heap, a_heap_gives_the_earliest_and_settles_ties);
    tcase_add_test(heap, a_heap_sorts);
    TCase *table = tcase_create("table");
    tcase_add_test(table, nothing_is_found_in_an_empty_table);
    tcase_add_test(table, a_table_remembers_what_an_array_remembers);
    tcase_add_test(table, a_table_that_is_filled_and_emptied_keeps_its_size);
    TCase *queue = tcase_create("queue");
    tcase_add_test(queue, a_queue_keeps_order_and_its_stamps);
    tcase_add_test(queue, empty_queues_keep_no_block);
    Suite *suite = suite_create("store");
    suite_add_tcase(suite, heap);
    suite_add_tcase(suite, table);
    suite_add_tcase(suite, queue);
    return run_suite(suite);
}
