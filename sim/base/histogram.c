// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/histogram.h"

#include "base/memory.h"
#include "base/rate.h" /* rate_wide: sums and ranks are wider than 64 bits */

#include <stdlib.h>
#include <string.h>

uint32_t histogram_bucket(uint64_t value) {
    if (value < (UINT64_C(2) << HISTOGRAM_BITS)) {
        return (uint32_t)value;
    }
    const unsigned shift = 63u - (unsigned)__builtin_clzll(value) - HISTOGRAM_BITS;
    return (shift << HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

/** How many low bits a bucket's values may differ in. */
static unsigned shift_of(uint32_t bucket) {
    return bucket < (2u << HISTOGRAM_BITS) ? 0 : (bucket >> HISTOGRAM_BITS) - 1;
}

uint64_t histogram_bucket_first(uint32_t bucket) {
    const unsigned shift = shift_of(bucket);
    return (uint64_t)(bucket - (shift << HISTOGRAM_BITS)) << shift;
}

uint64_t histogram_bucket_last(uint32_t bucket) {
    return histogram_bucket_first(bucket) + ((UINT64_C(1) << shift_of(bucket)) - 1);
}

void histogram_fini(struct histogram *histogram) {
    free(histogram->counts);
    *histogram = (struct histogram){0};
}

/** Makes room for a bucket, a power of two of values at a time. */
static void grow(struct histogram *histogram, uint32_t bucket) {
    if (bucket < histogram->n_buckets) {
        return;
    }
    const uint32_t n_buckets = ((bucket >> HISTOGRAM_BITS) + 1) << HISTOGRAM_BITS;
    histogram->counts = memory_resize(histogram->counts, n_buckets, sizeof *histogram->counts);
    memset(histogram->counts + histogram->n_buckets, 0, (n_buckets - histogram->n_buckets) * sizeof *histogram->counts);
    histogram->n_buckets = n_buckets;
}

static rate_wide sum_of(const struct histogram *histogram) {
    return (rate_wide)histogram->sum_high << 64 | histogram->sum_low;
}

static void add_sum(struct histogram *histogram, rate_wide more) {
    const rate_wide sum = sum_of(histogram) + more;
    histogram->sum_low = (uint64_t)sum;
    histogram->sum_high = (uint64_t)(sum >> 64);
}

static void widen(struct histogram *histogram, uint64_t smallest, uint64_t largest) {
    if (histogram->total == 0 || smallest < histogram->smallest) {
        histogram->smallest = smallest;
    }
    if (histogram->total == 0 || largest > histogram->largest) {
        histogram->largest = largest;
    }
}

void histogram_record(struct histogram *histogram, uint64_t value, uint64_t times) {
    if (times == 0) {
        return;
    }
    const uint32_t bucket = histogram_bucket(value);
    grow(histogram, bucket);
    widen(histogram, value, value);
    histogram->counts[bucket] += times;
    histogram->total += times;
    add_sum(histogram, (rate_wide)value * times);
}

void histogram_merge(struct histogram *into, const struct histogram *from) {
    if (from->total == 0) {
        return;
    }
    grow(into, from->n_buckets - 1);
    widen(into, from->smallest, from->largest);
    for (uint32_t bucket = 0; bucket < from->n_buckets; bucket++) {
        into->counts[bucket] += from->counts[bucket];
    }
    into->total += from->total;
    add_sum(into, sum_of(from));
}

uint64_t histogram_quantile(const struct histogram *histogram, uint32_t parts_per_million) {
    if (histogram->total == 0) {
        return 0;
    }
    uint64_t rank = (uint64_t)(((rate_wide)histogram->total * parts_per_million + 999999) / 1000000);
    rank = rank == 0 ? 1 : rank;
    uint64_t seen = 0;
    for (uint32_t bucket = 0; bucket < histogram->n_buckets; bucket++) {
        seen += histogram->counts[bucket];
        if (seen >= rank) {
            const uint64_t last = histogram_bucket_last(bucket);
            return last < histogram->largest ? last : histogram->largest;
        }
    }
    return histogram->largest;
}

uint64_t histogram_mean(const struct histogram *histogram) {
    return histogram->total == 0 ? 0 : (uint64_t)(sum_of(histogram) / histogram->total);
}
