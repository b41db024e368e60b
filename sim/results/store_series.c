// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/store_series.h"

#include "base/memory.h"
#include "results/store_axis.h"
#include "results/store_part.h"

#include <stdlib.h>

enum { CHUNK_INTERVALS = 256, CHUNK_COLUMNS = 64, CHUNK_ROWS = 16384 }; /* 128 KiB */

static bool describe(hid_t dataset, const struct series_column *column) {
    return dataset >= 0 && store_part_text(dataset, "units", column->units) &&
           store_part_text(dataset, "long_name", column->long_name);
}

/** One quantity: a row an interval, a column a link or queue pair. */
static bool put_values(hid_t group, const struct series_column *column, const uint64_t *values, uint32_t n_rows,
                       uint32_t n_columns, struct store_axis *const axes[2]) {
    const hsize_t dimensions[2] = {n_rows, n_columns}, chunk[2] = {CHUNK_INTERVALS, CHUNK_COLUMNS};
    const hid_t dataset = store_part_dataset(group, column->name, H5T_STD_U64LE, 2, dimensions, chunk);
    bool done = describe(dataset, column);
    if (done && n_rows > 0 && n_columns > 0) {
        done = H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    }
    return H5Dclose(dataset) >= 0 && done && store_axis_attach(axes, 2, group, column->name);
}

/** What the columns of the quantities are. */
static bool put_heads(hid_t group, const struct series_column *column, const uint32_t *heads, uint32_t n) {
    const hsize_t dimensions = n, chunk = CHUNK_ROWS;
    const hid_t dataset = store_part_dataset(group, column->name, H5T_STD_U32LE, 1, &dimensions, &chunk);
    bool done = describe(dataset, column);
    if (done && n > 0) {
        done = H5Dwrite(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, heads) >= 0;
    }
    return H5Dclose(dataset) >= 0 && done;
}

static bool put_links(hid_t group, const struct series *series, struct store_axis *time) {
    static const struct series_column link = {"link", "1", "Row of the links table, by column of the quantities"};
    struct store_axis axis = {0};
    struct store_axis *const axes[] = {time, &axis};
    bool done = put_heads(group, &link, series->links, series->n_links) && store_axis_begin(&axis, group, link.name);
    for (int q = 0; done && q < SERIES_QUANTITIES; q++) {
        if (series->values[q] != NULL || series->n_intervals == 0) {
            done = put_values(group, &series_columns[q], series->values[q], series->n_intervals, series->n_links, axes);
        }
    }
    return store_axis_end(&axis) && done;
}

/** One of the numbers that name a queue pair, of all of them. */
static bool put_pair_heads(hid_t group, const struct series *series, const struct series_column *column, size_t offset,
                           struct store_axis *axis) {
    uint32_t *heads = memory_allocate(series->n_pairs, sizeof *heads);
    for (uint32_t i = 0; i < series->n_pairs; i++) {
        heads[i] = *(const uint32_t *)(const void *)((const char *)&series->pairs[i] + offset);
    }
    const bool done =
        put_heads(group, column, heads, series->n_pairs) && store_axis_attach(&axis, 1, group, column->name);
    free(heads);
    return done;
}

static bool put_pairs(hid_t group, const struct series *series, struct store_axis *time) {
    static const struct series_column source = {"pair_source", "1", "Sending rank, by column of the quantities"};
    static const struct series_column destination = {"pair_destination", "1", "Receiving rank"};
    static const struct series_column number = {"pair_queue_pair", "1", "Number among the queue pairs to that rank"};
    struct store_axis axis = {0};
    struct store_axis *const axes[] = {time, &axis};
    bool done =
        store_axis_count(&axis, group, "pair", "1", "Queue pair, by column of the quantities", 0, 1, series->n_pairs) &&
        put_pair_heads(group, series, &source, offsetof(struct series_pair, source), &axis) &&
        put_pair_heads(group, series, &destination, offsetof(struct series_pair, destination), &axis) &&
        put_pair_heads(group, series, &number, offsetof(struct series_pair, queue_pair), &axis);
    for (int q = 0; done && q < SERIES_PAIR_QUANTITIES; q++) {
        done = put_values(group, &series_pair_columns[q], series->pair_values[q], series->n_intervals, series->n_pairs,
                          axes);
    }
    return store_axis_end(&axis) && done;
}

bool store_series_put(hid_t run, const struct series *series) {
    const hid_t group = store_part_group(run, "series");
    struct store_axis time = {0};
    bool done = group >= 0 &&
                store_part_text(group, "long_name", "Links and queue pairs over time: a row an interval") &&
                store_part_number(group, "interval_ps", series->interval_ps) &&
                store_part_number(group, "from_ps", series->from_ps) &&
                store_part_number(group, "ended_early", series->ended_early) &&
                store_axis_count(&time, group, "time_ps", "ps", "Start of the interval", series->from_ps,
                                 series->interval_ps, series->n_intervals) &&
                put_links(group, series, &time) && (series->n_pairs == 0 || put_pairs(group, series, &time));
    done = store_axis_end(&time) && done;
    H5Gclose(group);
    return done;
}
