// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Counts of 64-bit values in log-linear buckets: bounded relative error over the whole range, integers only, mergeable.
 *
 * Values below 256 have a bucket each; above, every power of two is split into 128 buckets, so a bucket's width is
 * below 1/128 (0.8 %) of its values. The same layout as HdrHistogram with 7 significant bits (hdrhistogram.org).
 */
#ifndef MOEFABRIC_BASE_HISTOGRAM_H
#define MOEFABRIC_BASE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BITS = 7, HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS };

/** A histogram. Zero-initialise; ends with histogram_fini. Memory follows the largest value seen (at most 58 KiB). */
struct histogram {
    uint64_t *counts;           /**< [n_buckets], NULL while empty */
    uint32_t n_buckets;         /**< allocated */
    uint64_t total;             /**< values counted */
    uint64_t smallest;          /**< exact; valid if total > 0 */
    uint64_t largest;           /**< exact; valid if total > 0 */
    uint64_t sum_low, sum_high; /**< sum of all values, 128 bits */
};

/** Frees what a histogram owns and empties it. */
void histogram_fini(struct histogram *histogram);

/** Counts a value `times` times. */
void histogram_record(struct histogram *histogram, uint64_t value, uint64_t times);

/** Adds all counts of another histogram; the result does not depend on the order of merging. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/** The value below or at which parts_per_million of the values lie (500000 = median, 999000 = p99.9): the upper end of its bucket, never above the largest value. 0 if empty. */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t parts_per_million);

/** Mean of the exact values, rounded down; 0 if empty. */
uint64_t histogram_mean(const struct histogram *histogram);

/** Bucket that counts a value, 0 … HISTOGRAM_BUCKETS-1. */
uint32_t histogram_bucket(uint64_t value);

/** Smallest value of a bucket. */
uint64_t histogram_bucket_first(uint32_t bucket);

/** Largest value of a bucket. */
uint64_t histogram_bucket_last(uint32_t bucket);

#endif
