// SPDX-License-Identifier: GPL-3.0-or-later
/* The compact table of messages that have arrived in part, against an array that holds one number a message. */
#include "base/hash.h"
#include "base/memory.h"
#include "device/missing.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>

enum { MESSAGES = 3000, SOURCES = 40 };

/* One of many messages; sources of one NVLink domain begin anywhere. */
struct drawn {
    uint32_t source, tag, records, left;
};

static void draw(struct drawn *messages, uint64_t stream) {
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const uint64_t draw = hash_draw(stream, i);
        messages[i] = (struct drawn){.source = 65530 + (uint32_t)(draw % SOURCES),
                                     .tag = i / SOURCES << 16 | i % SOURCES,
                                     .records = 1 + (uint32_t)(draw >> 32) % 9};
        messages[i].left = messages[i].records;
    }
}

START_TEST(last_record_of_each_message_is_known) {
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, 2, (uint32_t)_i);
    struct drawn *messages = memory_allocate(MESSAGES, sizeof(*messages));
    struct missing missing = {0};
    draw(messages, stream);
    uint32_t done = 0;
    for (uint64_t n = MESSAGES; done < MESSAGES; n++) { // records of all messages in random order
        struct drawn *message = &messages[hash_draw(stream, n) % MESSAGES];
        if (message->left > 0) {
            message->left--;
            ck_assert_int_eq(missing_take(&missing, message->source, message->tag, message->records),
                             message->left == 0);
            done += message->left == 0;
        }
    }
    ck_assert_uint_eq(missing.count, 0);
    missing_fini(&missing);
    free(messages);
}
END_TEST

START_TEST(table_is_as_large_as_what_it_holds) {
    struct missing missing = {0};
    for (uint32_t tag = 0; tag < MESSAGES; tag++) {
        ck_assert(!missing_take(&missing, 7, tag, 2));
        ck_assert_uint_eq(missing.count, tag + 1);
    }
    ck_assert_uint_lt(missing_bytes(&missing), MESSAGES * 12);
    for (uint32_t tag = MESSAGES; tag-- > 0;) {
        ck_assert(missing_take(&missing, 7, tag, 2));
    }
    missing_fini(&missing);
}
END_TEST

/* The largest number of records that fits an entry, and one more, beside a small message of the same name from elsewhere. */
START_TEST(messages_of_very_many_records_are_counted_too) {
    static const uint32_t records[] = {UINT16_MAX, UINT16_MAX + 1, UINT16_MAX + 2};
    struct missing missing = {0};
    ck_assert(!missing_take(&missing, 2, 9, 2));
    for (uint32_t record = 1; record < records[_i]; record++) {
        ck_assert(!missing_take(&missing, 1, 9, records[_i]));
    }
    ck_assert(missing_take(&missing, 1, 9, records[_i]));
    ck_assert(missing_take(&missing, 2, 9, 2));
    missing_fini(&missing);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("missing");
    TCase *cases = tcase_create("missing");
    tcase_add_loop_test(cases, last_record_of_each_message_is_known, 0, 4);
    tcase_add_test(cases, table_is_as_large_as_what_it_holds);
    tcase_add_loop_test(cases, messages_of_very_many_records_are_counted_too, 0, 3);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
