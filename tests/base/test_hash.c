// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "run_suite.h"

#include <check.h>
#include <string.h>

START_TEST(bytes_hash_the_same_however_they_are_cut) {
    static const char text[] = "policies: [ecmp+none]";
    const size_t size = strlen(text);
    const uint64_t whole = hash_bytes(0, text, size);
    for (size_t cut = 0; cut <= size; cut++) {
        ck_assert_uint_eq(hash_bytes(hash_bytes(0, text, cut), text + cut, size - cut), whole);
    }
}
END_TEST

START_TEST(bytes_hash_by_value_place_and_number) {
    const uint64_t hashes[] = {hash_bytes(0, "ab", 2), hash_bytes(0, "ba", 2), hash_bytes(0, "ab\0", 3),
                               hash_bytes(0, "a", 1),  hash_bytes(0, "\0", 1), hash_bytes(0, "\0\0", 2),
                               hash_bytes(0, "", 0)};
    enum { HASHES = sizeof hashes / sizeof hashes[0] };
    for (int i = 0; i < HASHES; i++) {
        for (int k = 0; k < i; k++) {
            ck_assert_uint_ne(hashes[i], hashes[k]);
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hash");
    TCase *bytes = tcase_create("bytes");
    tcase_add_test(bytes, bytes_hash_the_same_however_they_are_cut);
    tcase_add_test(bytes, bytes_hash_by_value_place_and_number);
    suite_add_tcase(suite, bytes);
    return run_suite(suite);
}
