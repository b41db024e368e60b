// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/load_series.h"

#include "base/memory.h"
#include "results/load_part.h"

#include <stdlib.h>

/** A dataset and how large it is: rows × columns, or columns alone where it has one dimension. */
struct sized {
    hid_t dataset;
    uint64_t n_rows, n_columns;
};

/** Opens a dataset of whole numbers with so many dimensions; its dataset is H5I_INVALID_HID if there is none. */
static struct sized open_sized(hid_t group, const char *name, int n_dimensions, enum column_type type) {
    struct sized sized = {.dataset = load_part_open(group, name, H5I_DATASET), .n_rows = 1};
    if (sized.dataset < 0) {
        return sized;
    }
    hsize_t extent[2] = {0, 0};
    const hid_t space = H5Dget_space(sized.dataset);
    const bool fits = H5Sget_simple_extent_ndims(space) == n_dimensions && load_part_is_of_type(sized.dataset, type) &&
                      H5Sget_simple_extent_dims(space, extent, NULL) == n_dimensions;
    H5Sclose(space);
    if (!fits) {
        H5Dclose(sized.dataset);
        sized.dataset = H5I_INVALID_HID;
        return sized;
    }
    sized.n_rows = n_dimensions == 2 ? extent[0] : 1;
    sized.n_columns = extent[n_dimensions - 1];
    return sized;
}

/** Room for so many values of this size, if the budget has it. */
static void *take_room(uint64_t n_rows, uint64_t n_columns, size_t size, uint64_t *budget_bytes) {
    if (n_rows > UINT32_MAX || n_columns > UINT32_MAX || n_rows * n_columns > *budget_bytes / size) {
        return NULL;
    }
    *budget_bytes -= n_rows * n_columns * size;
    return memory_allocate(n_rows * n_columns, size);
}

/** Reads a whole dataset; NULL if that fails. Closes it. */
static void *read_sized(struct sized sized, hid_t type, size_t size, uint64_t *budget_bytes) {
    void *values = sized.dataset >= 0 ? take_room(sized.n_rows, sized.n_columns, size, budget_bytes) : NULL;
    const bool is_empty = sized.n_rows == 0 || sized.n_columns == 0;
    if (values != NULL && !is_empty && H5Dread(sized.dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        free(values);
        values = NULL;
    }
    H5Dclose(sized.dataset);
    return values;
}

/** What the columns are; fills their count. */
static uint32_t *read_heads(hid_t group, const char *name, uint32_t *n, uint64_t *budget_bytes) {
    const struct sized sized = open_sized(group, name, 1, COLUMN_UINT32);
    *n = (uint32_t)sized.n_columns;
    return read_sized(sized, H5T_NATIVE_UINT32, sizeof(uint32_t), budget_bytes);
}

/** One quantity, which must have these columns, and as many rows as those before it (UINT32_MAX: it is the first). */
static uint64_t *read_values(hid_t group, const char *name, uint32_t *n_rows, uint32_t n_columns,
                             uint64_t *budget_bytes) {
    const struct sized sized = open_sized(group, name, 2, COLUMN_UINT64);
    const bool fits = sized.dataset >= 0 && sized.n_columns == n_columns && sized.n_rows < UINT32_MAX &&
                      (*n_rows == UINT32_MAX || *n_rows == sized.n_rows);
    if (!fits) {
        H5Dclose(sized.dataset);
        return NULL;
    }
    *n_rows = (uint32_t)sized.n_rows;
    return read_sized(sized, H5T_NATIVE_UINT64, sizeof(uint64_t), budget_bytes);
}

static bool read_links(hid_t group, struct series *series, uint32_t n_links, uint32_t *n_rows, uint64_t *budget_bytes,
                       const char **wrong) {
    *wrong = "link";
    series->links = read_heads(group, "link", &series->n_links, budget_bytes);
    for (uint32_t i = 0; series->links != NULL && i < series->n_links; i++) {
        if (series->links[i] >= n_links) {
            return false;
        }
    }
    for (int q = 0; series->links != NULL && q < SERIES_QUANTITIES; q++) {
        *wrong = series_columns[q].name;
        if (!load_part_is_absent(group, *wrong)) { /* not every quantity is recorded */
            series->values[q] = read_values(group, *wrong, n_rows, series->n_links, budget_bytes);
            if (series->values[q] == NULL) {
                return false;
            }
        }
    }
    return series->links != NULL;
}

/** One of the numbers that name queue pairs, into all of them; the first one decides how many there are. */
static bool read_pair_heads(hid_t group, const char *name, size_t offset, struct series *series,
                            uint64_t *budget_bytes) {
    uint32_t n = 0;
    uint32_t *heads = read_heads(group, name, &n, budget_bytes);
    if (heads != NULL && series->pairs == NULL) {
        series->n_pairs = n;
        series->pairs = take_room(n, 1, sizeof *series->pairs, budget_bytes);
    }
    const bool fits = heads != NULL && series->pairs != NULL && n == series->n_pairs;
    for (uint32_t i = 0; fits && i < n; i++) {
        *(uint32_t *)(void *)((char *)&series->pairs[i] + offset) = heads[i];
    }
    free(heads);
    return fits;
}

static bool read_pairs(hid_t group, struct series *series, uint32_t *n_rows, uint64_t *budget_bytes,
                       const char **wrong) {
    *wrong = "pair_source";
    if (load_part_is_absent(group, *wrong)) {
        return true;
    }
    bool done =
        read_pair_heads(group, "pair_source", offsetof(struct series_pair, source), series, budget_bytes) &&
        read_pair_heads(group, "pair_destination", offsetof(struct series_pair, destination), series, budget_bytes) &&
        read_pair_heads(group, "pair_queue_pair", offsetof(struct series_pair, queue_pair), series, budget_bytes);
    for (int q = 0; done && q < SERIES_PAIR_QUANTITIES; q++) {
        *wrong = series_pair_columns[q].name;
        series->pair_values[q] = read_values(group, *wrong, n_rows, series->n_pairs, budget_bytes);
        done = series->pair_values[q] != NULL;
    }
    return done;
}

struct series *load_series(hid_t group, uint32_t n_links, uint64_t *budget_bytes, const char **wrong) {
    struct series *series = memory_allocate(1, sizeof *series);
    uint64_t ended_early = 0;
    uint32_t n_rows = UINT32_MAX;
    *wrong = "interval_ps";
    const bool done = load_part_number(group, "interval_ps", &series->interval_ps) && series->interval_ps > 0 &&
                      load_part_number(group, "from_ps", &series->from_ps) &&
                      load_part_number(group, "ended_early", &ended_early) &&
                      read_links(group, series, n_links, &n_rows, budget_bytes, wrong) &&
                      read_pairs(group, series, &n_rows, budget_bytes, wrong);
    if (!done) {
        series_free(series);
        return NULL;
    }
    series->ended_early = ended_early != 0;
    series->n_intervals = n_rows == UINT32_MAX ? 0 : n_rows;
    return series;
}
