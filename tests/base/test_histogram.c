// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"
#include "base/histogram.h"
#include "run_suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

START_TEST(buckets_cover_all_values_without_gap_or_overlap) {
    ck_assert_uint_eq(histogram_bucket_first(0), 0);
    for (uint32_t bucket = 0; bucket + 1 < HISTOGRAM_BUCKETS; bucket++) {
        ck_assert_uint_eq(histogram_bucket_last(bucket) + 1, histogram_bucket_first(bucket + 1));
        ck_assert_uint_eq(histogram_bucket(histogram_bucket_first(bucket)), bucket);
        ck_assert_uint_eq(histogram_bucket(histogram_bucket_last(bucket)), bucket);
    }
    ck_assert_uint_eq(histogram_bucket_last(HISTOGRAM_BUCKETS - 1), UINT64_MAX);
}
END_TEST

START_TEST(a_bucket_is_narrower_than_a_128th_of_its_values) {
    for (uint32_t bucket = 256; bucket < HISTOGRAM_BUCKETS; bucket++) {
        const uint64_t width = histogram_bucket_last(bucket) - histogram_bucket_first(bucket) + 1;
        ck_assert_uint_le(width, histogram_bucket_first(bucket) / 128);
    }
}
END_TEST

static int compare(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

START_TEST(quantiles_agree_with_a_sort_within_a_bucket) {
    enum { N = 5000 };
    static uint64_t values[N];
    static const uint32_t quantiles[] = {1, 10000, 500000, 900000, 990000, 999000, 1000000};
    struct histogram histogram = {0};
    const uint64_t stream = hash_stream(3, HASH_PURPOSE_TEST, 0, 0);
    for (uint64_t i = 0; i < N; i++) {
        values[i] = hash_draw(stream, i) >> (hash_draw(stream, i + N) % 64);
        histogram_record(&histogram, values[i], 1);
    }
    qsort(values, N, sizeof values[0], compare);
    for (size_t q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++) {
        uint64_t rank = ((uint64_t)N * quantiles[q] + 999999) / 1000000;
        rank = rank == 0 ? 1 : rank;
        const uint64_t exact = values[rank - 1], got = histogram_quantile(&histogram, quantiles[q]);
        ck_assert_uint_ge(got, exact);
        ck_assert_uint_le(got - exact, exact / 128);
    }
    ck_assert_uint_eq(histogram.smallest, values[0]);
    ck_assert_uint_eq(histogram.largest, values[N - 1]);
    histogram_fini(&histogram);
}
END_TEST

START_TEST(merging_is_counting_it_all_in_one) {
    struct histogram all = {0}, left = {0}, right = {0}, empty = {0};
    const uint64_t stream = hash_stream(4, HASH_PURPOSE_TEST, 0, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t value = hash_draw(stream, i) >> (i % 60);
        histogram_record(&all, value, 1 + i % 3);
        histogram_record(i % 2 ? &left : &right, value, 1 + i % 3);
    }
    histogram_merge(&right, &left);
    histogram_merge(&right, &empty);
    histogram_merge(&empty, &right);
    const struct histogram *merged[] = {&right, &empty};
    for (int m = 0; m < 2; m++) {
        ck_assert_uint_eq(merged[m]->total, all.total);
        ck_assert_uint_eq(merged[m]->n_buckets, all.n_buckets);
        ck_assert_mem_eq(merged[m]->counts, all.counts, all.n_buckets * sizeof all.counts[0]);
        ck_assert_uint_eq(merged[m]->smallest, all.smallest);
        ck_assert_uint_eq(merged[m]->largest, all.largest);
        ck_assert_uint_eq(histogram_mean(merged[m]), histogram_mean(&all));
    }
    histogram_fini(&all);
    histogram_fini(&left);
    histogram_fini(&right);
    histogram_fini(&empty);
}
END_TEST

START_TEST(sums_do_not_overflow) {
    struct histogram histogram = {0};
    ck_assert_uint_eq(histogram_quantile(&histogram, 500000), 0);
    ck_assert_uint_eq(histogram_mean(&histogram), 0);
    histogram_record(&histogram, UINT64_MAX, 1000000);
    histogram_record(&histogram, 5, 0);
    ck_assert_uint_eq(histogram_mean(&histogram), UINT64_MAX);
    ck_assert_uint_eq(histogram_quantile(&histogram, 999000), UINT64_MAX);
    ck_assert_uint_eq(histogram.smallest, UINT64_MAX);
    histogram_fini(&histogram);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("base-histogram");
    TCase *group = tcase_create("histogram");
    tcase_add_test(group, buckets_cover_all_values_without_gap_or_overlap);
    tcase_add_test(group, a_bucket_is_narrower_than_a_128th_of_its_values);
    tcase_add_test(group, quantiles_agree_with_a_sort_within_a_bucket);
    tcase_add_test(group, merging_is_counting_it_all_in_one);
    tcase_add_test(group, sums_do_not_overflow);
    suite_add_tcase(suite, group);
    return run_suite(suite);
}
