// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/sweep_store.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "results/store_part.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 18, CHUNK_ROWS = 4096, CHUNK_METRICS = 128 };

static bool describe(hid_t dataset, const char *units, const char *long_name) {
    return store_part_text(dataset, "units", units) && store_part_text(dataset, "long_name", long_name);
}

/** A column of texts, as long as the longest. */
static bool put_texts(hid_t group, const char *name, const char *long_name, const char *const *texts, hsize_t n) {
    size_t size = 1;
    for (hsize_t i = 0; i < n; i++) {
        size = strlen(texts[i]) > size ? strlen(texts[i]) : size;
    }
    char *cells = memory_allocate(n, size);
    for (hsize_t i = 0; i < n; i++) {
        memcpy(cells + i * size, texts[i], strlen(texts[i]));
    }
    const hsize_t fitting = CHUNK_BYTES / size, chunk = fitting > 0 ? fitting : 1;
    const hid_t type = store_part_type(COLUMN_TEXT, size, false);
    const hid_t dataset = store_part_dataset(group, name, type, 1, &n, &chunk);
    bool done = dataset >= 0 && describe(dataset, "1", long_name);
    done = done && (n == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells) >= 0);
    done = H5Dclose(dataset) >= 0 && done;
    H5Tclose(type);
    free(cells);
    return done;
}

static bool put_numbers(hid_t group, const char *name, const char *long_name, const uint64_t *numbers, hsize_t n) {
    const hsize_t chunk = CHUNK_ROWS;
    const hid_t dataset = store_part_dataset(group, name, H5T_STD_U64LE, 1, &n, &chunk);
    bool done = dataset >= 0 && describe(dataset, "1", long_name);
    done = done && (n == 0 || H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    return H5Dclose(dataset) >= 0 && done;
}

/** The keys of the sweep, in order, and what each point sets them to. */
static bool put_axes(hid_t file, const struct sweep_table *table) {
    const char **texts =
        memory_allocate(table->n_axes > table->n_points ? table->n_axes : table->n_points, sizeof *texts);
    const hid_t group = store_part_group(file, "axes");
    for (uint32_t a = 0; a < table->n_axes; a++) {
        texts[a] = table->axes[a];
    }
    bool done = group >= 0 && put_texts(group, "key", "Key that is swept", texts, table->n_axes);
    for (uint32_t a = 0; done && a < table->n_axes; a++) {
        char name[32];
        snprintf(name, sizeof name, "values_%02u", a);
        for (uint32_t p = 0; p < table->n_points; p++) {
            texts[p] = table->points[p].values[a];
        }
        done = put_texts(group, name, table->axes[a], texts, table->n_points);
    }
    H5Gclose(group);
    free(texts);
    return done;
}

static bool put_point_texts(hid_t group, const struct sweep_table *table) {
    const char **errors = memory_allocate(table->n_points, sizeof *errors);
    const char **configurations = memory_allocate(table->n_points, sizeof *configurations);
    for (uint32_t p = 0; p < table->n_points; p++) {
        errors[p] = table->points[p].error;
        configurations[p] = table->points[p].configuration;
    }
    const bool done =
        put_texts(group, "error", "Why the point is not done", errors, table->n_points) &&
        put_texts(group, "configuration", "Resolved configuration, as YAML", configurations, table->n_points);
    free(configurations);
    free(errors);
    return done;
}

static bool put_points(hid_t file, const struct sweep_table *table) {
    const hid_t group = store_part_group(file, "points");
    uint64_t *numbers = memory_allocate(3 * (size_t)table->n_points, sizeof *numbers);
    uint64_t *hashes = numbers + table->n_points, *outcomes = hashes + table->n_points;
    for (uint32_t p = 0; p < table->n_points; p++) {
        numbers[p] = table->points[p].number;
        hashes[p] = table->points[p].hash;
        outcomes[p] = (uint64_t)table->points[p].outcome;
    }
    const bool done =
        group >= 0 && put_numbers(group, "point", "Number in the sweep", numbers, table->n_points) &&
        put_numbers(group, "hash", "Hash of configuration and program", hashes, table->n_points) &&
        put_numbers(group, "outcome", "0 = not run, 1 = done, 2 = refused, 3 = failed", outcomes, table->n_points) &&
        put_point_texts(group, table);
    free(numbers);
    H5Gclose(group);
    return done;
}

/** All runs one below the other. */
struct rows {
    size_t count;
    uint64_t *points, *seeds, *outcomes, *digests;
    const char **policies;
    double *values; /* [count × n_metrics] */
};

static struct rows make_rows(const struct sweep_table *table) {
    struct rows rows = {0};
    for (uint32_t p = 0; p < table->n_points; p++) {
        rows.count += table->points[p].n_runs;
    }
    rows.points = memory_allocate(4 * rows.count, sizeof *rows.points);
    rows.seeds = rows.points + rows.count;
    rows.outcomes = rows.seeds + rows.count;
    rows.digests = rows.outcomes + rows.count;
    rows.policies = memory_allocate(rows.count, sizeof *rows.policies);
    rows.values = memory_allocate(rows.count * table->n_metrics, sizeof *rows.values);
    size_t row = 0;
    for (uint32_t p = 0; p < table->n_points; p++) {
        for (uint32_t r = 0; r < table->points[p].n_runs; r++, row++) {
            const struct sweep_run *run = &table->points[p].runs[r];
            rows.points[row] = table->points[p].number;
            rows.seeds[row] = run->seed;
            rows.outcomes[row] = (uint64_t)run->outcome;
            rows.digests[row] = run->traffic_digest;
            rows.policies[row] = run->policy;
            for (uint32_t m = 0; m < table->n_metrics; m++) {
                rows.values[row * table->n_metrics + m] = sweep_table_value(run, m);
            }
        }
    }
    return rows;
}

static bool put_values(hid_t group, const struct rows *rows, uint32_t n_metrics) {
    const hsize_t extent[2] = {rows->count, n_metrics}, chunk[2] = {CHUNK_BYTES / 1024, CHUNK_METRICS};
    const hid_t dataset = store_part_dataset(group, "values", H5T_IEEE_F64LE, 2, extent, chunk);
    bool done = dataset >= 0 && describe(dataset, "1", "A run a row, a metric a column (metrics/name, metrics/units)");
    if (done && rows->count > 0 && n_metrics > 0) {
        done = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows->values) >= 0;
    }
    return H5Dclose(dataset) >= 0 && done;
}

static bool put_runs(hid_t file, const struct sweep_table *table) {
    const hid_t group = store_part_group(file, "runs");
    struct rows rows = make_rows(table);
    const bool done =
        group >= 0 && put_numbers(group, "point", "Number of its point", rows.points, rows.count) &&
        put_texts(group, "policy", "Policy", rows.policies, rows.count) &&
        put_numbers(group, "seed", "Seed", rows.seeds, rows.count) &&
        put_numbers(group, "outcome", "How it ended: as the attribute outcome of a run", rows.outcomes, rows.count) &&
        put_numbers(group, "traffic_digest", "Equal under every policy of a point with the same seed", rows.digests,
                    rows.count) &&
        put_values(group, &rows, table->n_metrics);
    free(rows.points);
    free(rows.policies);
    free(rows.values);
    H5Gclose(group);
    return done;
}

static bool put_metrics(hid_t file, const struct sweep_table *table) {
    const hid_t group = store_part_group(file, "metrics");
    const char **texts = memory_allocate(3 * (size_t)table->n_metrics, sizeof *texts);
    const char **units = texts + table->n_metrics, **meanings = units + table->n_metrics;
    for (uint32_t m = 0; m < table->n_metrics; m++) {
        texts[m] = table->metrics[m].name;
        units[m] = metric_kept_unit(table->metrics[m].metric->quantity);
        meanings[m] = metric_legend(table->metrics[m].metric->group);
    }
    const bool done = group >= 0 &&
                      put_texts(group, "name", "Metric, of a phase PHASE/METRIC", texts, table->n_metrics) &&
                      put_texts(group, "units", "Its unit", units, table->n_metrics) &&
                      put_texts(group, "meaning", "What it is", meanings, table->n_metrics);
    free(texts);
    H5Gclose(group);
    return done;
}

static bool put_all(hid_t file, const struct sweep_table *table) {
    return store_part_text(file, "kind", "sweep") && store_part_number(file, "schema_version", SWEEP_STORE_VERSION) &&
           store_part_text(file, "program", "moefabric") &&
           store_part_text(file, "program_version", table->program_version) &&
           store_part_text(file, "title", table->title) && put_axes(file, table) && put_points(file, table) &&
           put_metrics(file, table) && put_runs(file, table);
}

bool sweep_store_write(const struct sweep_table *table, const char *path, struct error *error) {
    H5dont_atexit(); /* as in store_open */
    if (!file_check_writable(path, error)) {
        return false;
    }
    char *temporary = file_temporary_name(path);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = store_part_file(temporary);
    bool done = file >= 0 && put_all(file, table);
    done = H5Fclose(file) >= 0 && done;
    if (!done) {
        error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, path,
                       "the file cannot be written: the HDF5 library failed, perhaps for want of space");
        unlink(temporary);
    }
    done = done && file_publish(temporary, path, error);
    free(temporary);
    return done;
}
