// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "device/pieces.h"
#include "run_suite.h"

#include <check.h>
#include <stdbool.h>

/* Cuts by walking: a piece ends at the largest size, at the end of a unit or at the end of the message. Returns false at the first difference. */
static bool agrees_with_a_walk(const struct pieces *pieces) {
    uint64_t at = 0, index = 0;
    while (at < pieces->bytes) {
        uint64_t end = at + pieces->largest_bytes;
        if (pieces->unit_bytes && end > (at / pieces->unit_bytes + 1) * pieces->unit_bytes) {
            end = (at / pieces->unit_bytes + 1) * pieces->unit_bytes;
        }
        end = end < pieces->bytes ? end : pieces->bytes;
        if (pieces_size(pieces, index) != end - at) {
            return false;
        }
        at = end;
        index++;
    }
    return pieces_count(pieces) == index;
}

START_TEST(small_messages_are_cut_as_a_walk_cuts_them) {
    for (uint64_t bytes = 1; bytes <= 60; bytes++) {
        for (uint32_t unit = 0; unit <= 25; unit++) {
            for (uint32_t largest = 1; largest <= 20; largest++) {
                const struct pieces pieces = {bytes, unit, largest};
                if (!agrees_with_a_walk(&pieces)) {
                    ck_abort_msg("%llu bytes, units of %u, pieces of %u", (unsigned long long)bytes, unit, largest);
                }
            }
        }
    }
}
END_TEST

START_TEST(random_messages_are_cut_as_a_walk_cuts_them) {
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, 1, 0);
    for (uint64_t i = 0; i < 2000; i++) {
        const struct pieces pieces = {.bytes = 1 + hash_draw(stream, 3 * i) % 1000000,
                                      .unit_bytes = (uint32_t)(hash_draw(stream, 3 * i + 1) % 20000),
                                      .largest_bytes = 1 + (uint32_t)(hash_draw(stream, 3 * i + 2) % 9000)};
        if (!agrees_with_a_walk(&pieces)) {
            ck_abort_msg("%llu bytes, units of %u, pieces of %u", (unsigned long long)pieces.bytes, pieces.unit_bytes,
                         pieces.largest_bytes);
        }
    }
}
END_TEST

START_TEST(figures_of_a_dispatched_token) {
    // 7,392 bytes: 7,168 elements of FP8 and a scale of 4 bytes for 128 of them; packets of 4,096
    const struct pieces pieces = {.bytes = 3 * 7392, .unit_bytes = 7392, .largest_bytes = 4096};
    ck_assert_uint_eq(pieces_count(&pieces), 6);
    for (uint64_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(pieces_size(&pieces, i), i % 2 ? 3296 : 4096);
    }
}
END_TEST

START_TEST(terabytes_are_counted_without_overflow) {
    const struct pieces whole = {.bytes = UINT64_C(1) << 44, .largest_bytes = 4096};
    ck_assert_uint_eq(pieces_count(&whole), UINT64_C(1) << 32);
    ck_assert_uint_eq(pieces_size(&whole, (UINT64_C(1) << 32) - 1), 4096);
    const struct pieces cut = {.bytes = (UINT64_C(1) << 44) + 1, .unit_bytes = UINT32_MAX, .largest_bytes = 4096};
    const uint64_t per_unit = (UINT64_C(1) << 32) / 4096; // the last of a unit is a byte short
    ck_assert_uint_eq(pieces_size(&cut, per_unit - 1), 4095);
    ck_assert_uint_eq(pieces_size(&cut, per_unit), 4096);
    ck_assert_uint_eq(pieces_size(&cut, pieces_count(&cut) - 1), ((UINT64_C(1) << 44) + 1) % UINT32_MAX % 4096);
}
END_TEST

START_TEST(parts_are_equal_but_for_the_last) {
    // 10,000 / 4 = 2,500, up to a multiple of 128: 2,560; four of them, less 240
    const struct pieces plain = {.bytes = 10000, .largest_bytes = 4096};
    static const uint64_t plain_parts[] = {2560, 2560, 2560, 2320};
    // 10 tokens and a half / 4: up to 3 tokens
    const struct pieces tokens = {.bytes = 10 * 7168 + 3584, .unit_bytes = 7168, .largest_bytes = 4096};
    static const uint64_t token_parts[] = {21504, 21504, 21504, 10752};
    // 300 / 4 = 75, up to 128: two whole ones, a rest and nothing
    const struct pieces small = {.bytes = 300, .largest_bytes = 4096};
    static const uint64_t small_parts[] = {128, 128, 44, 0};
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(pieces_part(&plain, 4, i).bytes, plain_parts[i]);
        ck_assert_uint_eq(pieces_part(&tokens, 4, i).bytes, token_parts[i]);
        ck_assert_uint_eq(pieces_part(&tokens, 4, i).unit_bytes, 7168);
        ck_assert_uint_eq(pieces_part(&small, 4, i).bytes, small_parts[i]);
    }
}
END_TEST

int main(void) {
    TCase *cuts = tcase_create("cuts");
    tcase_add_test(cuts, small_messages_are_cut_as_a_walk_cuts_them);
    tcase_add_test(cuts, random_messages_are_cut_as_a_walk_cuts_them);
    tcase_add_test(cuts, figures_of_a_dispatched_token);
    tcase_add_test(cuts, terabytes_are_counted_without_overflow);
    tcase_add_test(cuts, parts_are_equal_but_for_the_last);
    Suite *suite = suite_create("pieces");
    suite_add_tcase(suite, cuts);
    return run_suite(suite);
}
