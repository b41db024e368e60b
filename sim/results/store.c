// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/store.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "results/column.h"
#include "results/store_axis.h"
#include "results/store_part.h"
#include "results/store_series.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK_ROWS = 32768, /**< 256 KiB of 64-bit values: well inside HDF5's chunk cache of 1 MiB */
    CHUNK_RACKS = 128,  /**< edge of a chunk of the rack matrix: 128 KiB */
    REASON_SIZE = 256,
};

struct store {
    char *path;      /**< final name */
    char *temporary; /**< where the bytes go until store_commit */
    hid_t file;
    hid_t runs; /**< group /runs */
    uint32_t n_runs;
    char reason[REASON_SIZE]; /**< of the first failure of the operating system */
};

/** Takes the words of the operating system out of HDF5's error stack: "… error message = 'No space left on device' …". */
static herr_t find_reason(unsigned depth, const H5E_error2_t *entry, void *reason) {
    static const char mark[] = "error message = '";
    const char *words = entry->desc != NULL ? strstr(entry->desc, mark) : NULL;
    (void)depth;
    if (words != NULL) {
        words += sizeof mark - 1;
        snprintf(reason, REASON_SIZE, "%.*s", (int)strcspn(words, "'"), words);
    }
    return 0;
}

/** Called by HDF5 at each failure: keeps the first reason, as the next call to HDF5 would forget it. */
static herr_t note_failure(hid_t stack, void *client) {
    struct store *store = client;
    if (store->reason[0] == '\0') {
        H5Ewalk2(stack, H5E_WALK_UPWARD, find_reason, store->reason);
    }
    return 0;
}

/** Has failures of HDF5 noted in a store from here on, rather than printed. NULL: neither. */
static void watch(struct store *store) {
    H5Eset_auto2(H5E_DEFAULT, store != NULL ? note_failure : NULL, store);
}

/** Fills *error for a path that cannot be written; returns false. */
static bool refuse(struct error *error, const char *path, const char *reason) {
    error_set(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, "the file cannot be written: %s", reason);
    if (error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", path);
    }
    return false;
}

/** Whether the operating system has refused something, even where HDF5 went on: closing a group may write, and its failure says nothing more. */
static bool has_failed(const struct store *store) {
    return store->reason[0] != '\0';
}

/** Fills *error with what was noted; returns false. */
static bool fail(const struct store *store, struct error *error) {
    return refuse(error, store->path, has_failed(store) ? store->reason : "the HDF5 library failed");
}

/** Removes the temporary file and frees the store, whose HDF5 file is closed. */
static void release(struct store *store) {
    unlink(store->temporary); /* gone already after a commit */
    free(store->temporary);
    free(store->path);
    free(store);
}

/** Copies one field of many rows to a dense, zeroed buffer. Texts end at their NUL: what is behind it is not data. */
static void gather_column(void *buffer, const struct column *column, size_t row_bytes, const char *rows, size_t count) {
    char *to = buffer;
    for (size_t i = 0; i < count; i++) {
        const char *field = rows + i * row_bytes + column->offset;
        const size_t size = column->type == COLUMN_TEXT ? strnlen(field, column->size_bytes) : column->size_bytes;
        memset(to + size, 0, column->size_bytes - size);
        memcpy(to, field, size);
        to += column->size_bytes;
    }
}

/** Writes rows of a column a chunk at a time, so that memory does not grow with the table. */
static bool write_rows(hid_t dataset, hid_t memory_type, const struct column *column, size_t row_bytes,
                       const char *rows, hsize_t n_rows) {
    const hsize_t step = n_rows < CHUNK_ROWS ? n_rows : CHUNK_ROWS;
    void *buffer = memory_allocate(step, column->size_bytes);
    const hid_t file_space = H5Dget_space(dataset);
    bool done = file_space >= 0;
    for (hsize_t first = 0; done && first < n_rows; first += step) {
        const hsize_t count = n_rows - first < step ? n_rows - first : step;
        const hid_t memory_space = H5Screate_simple(1, &count, NULL);
        gather_column(buffer, column, row_bytes, rows + first * row_bytes, count);
        done = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
               H5Dwrite(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, buffer) >= 0;
        H5Sclose(memory_space);
    }
    H5Sclose(file_space);
    free(buffer);
    return done;
}

/** One column as a dataset: all rows, or without an axis of rows the first one as a scalar. */
static bool put_column(hid_t group, const struct column_table *table, const struct column *column,
                       const struct measurement *measurement, struct store_axis *axis) {
    const int n_dimensions = axis != NULL ? 1 : 0;
    const hsize_t n_rows = table->n_rows(measurement), chunk = CHUNK_ROWS;
    const char *rows = table->rows(measurement);
    const hid_t file_type = store_part_type(column->type, column->size_bytes, false);
    const hid_t memory_type = store_part_type(column->type, column->size_bytes, true);
    const hid_t dataset = store_part_dataset(group, column->name, file_type, n_dimensions, &n_rows, &chunk);
    bool done = dataset >= 0 && store_part_text(dataset, "units", column->units) &&
                store_part_text(dataset, "long_name", column->long_name);
    if (done && axis == NULL) {
        done = H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows + column->offset) >= 0;
    } else if (done && n_rows > 0) {
        done = write_rows(dataset, memory_type, column, table->row_bytes, rows, n_rows);
    }
    done = H5Dclose(dataset) >= 0 && done;
    H5Tclose(memory_type);
    H5Tclose(file_type);
    return done && (axis == NULL || store_axis_attach(&axis, 1, group, column->name));
}

static bool put_totals(hid_t run, const struct measurement *measurement) {
    const struct column_table *table = &column_totals;
    const hid_t group = store_part_group(run, table->name);
    bool done = group >= 0 && store_part_text(group, "long_name", table->long_name);
    for (size_t i = 0; done && i < table->n_columns; i++) {
        done = put_column(group, table, &table->columns[i], measurement, NULL);
    }
    H5Gclose(group);
    return done;
}

static bool put_table(hid_t run, const struct column_table *table, const struct measurement *measurement) {
    const hid_t group = store_part_group(run, table->name);
    struct store_axis axis = {0};
    bool done = group >= 0 && store_part_text(group, "long_name", table->long_name) &&
                store_axis_count(&axis, group, table->row, "1", "Row number", 0, 1, table->n_rows(measurement));
    for (size_t i = 0; done && i < table->n_columns; i++) {
        done = put_column(group, table, &table->columns[i], measurement, &axis);
    }
    done = store_axis_end(&axis) && done;
    H5Gclose(group);
    return done;
}

/** Source and destination rack are two axes, though of the same racks: no tool takes a matrix that has one axis twice. */
static bool put_rack_axes(hid_t run, uint32_t n_racks) {
    struct store_axis source = {0}, destination = {0};
    struct store_axis *const axes[] = {&source, &destination};
    bool done =
        store_axis_count(&source, run, "source_rack", "1", "Rack, by row of rack_bytes", 0, 1, n_racks) &&
        store_axis_count(&destination, run, "destination_rack", "1", "Rack, by column of rack_bytes", 0, 1, n_racks) &&
        store_axis_attach(axes, 2, run, "rack_bytes");
    done = store_axis_end(&source) && done;
    return store_axis_end(&destination) && done;
}

static bool put_rack_matrix(hid_t run, const struct measurement *measurement) {
    const hsize_t dimensions[2] = {measurement->n_racks, measurement->n_racks}, chunk[2] = {CHUNK_RACKS, CHUNK_RACKS};
    const hid_t dataset = store_part_dataset(run, "rack_bytes", H5T_STD_U64LE, 2, dimensions, chunk);
    bool done = dataset >= 0 && store_part_text(dataset, "units", "B") &&
                store_part_text(dataset, "long_name",
                                "Payload over the fabric from the rack of the row to the rack of the column");
    if (done && measurement->n_racks > 0) {
        done = H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, measurement->rack_bytes) >= 0;
    }
    return H5Dclose(dataset) >= 0 && done && put_rack_axes(run, measurement->n_racks);
}

/** Name of a run's group: 003_adaptive+dcqcn_seed1. A slash would open a group of its own. */
static void name_run(char *name, size_t size, uint32_t number, const struct measurement *measurement) {
    snprintf(name, size, "%03u_%s_seed%llu", number, measurement->policy, (unsigned long long)measurement->seed);
    for (char *letter = name; *letter != '\0'; letter++) {
        if (*letter == '/') {
            *letter = '_';
        }
    }
}

bool store_add_run(struct store *store, const struct measurement *measurement, struct error *error) {
    char name[MEASUREMENT_NAME_SIZE + 64];
    name_run(name, sizeof name, store->n_runs, measurement);
    watch(store);
    const hid_t run = store_part_group(store->runs, name);
    bool done = run >= 0 && store_part_text(run, "long_name", "One policy with one seed") &&
                store_part_text(run, "policy", measurement->policy) &&
                store_part_number(run, "seed", measurement->seed) &&
                store_part_number(run, "outcome", (uint64_t)measurement->outcome) &&
                (measurement->model == MEASUREMENT_MODEL_PACKET ||
                 store_part_number(run, "model", (uint64_t)measurement->model)) &&
                (measurement->diagnosis[0] == '\0' || store_part_text(run, "diagnosis", measurement->diagnosis)) &&
                put_totals(run, measurement) && put_rack_matrix(run, measurement);
    for (size_t i = 0; done && i < column_tables_count; i++) {
        done = put_table(run, &column_tables[i], measurement);
    }
    done = done && (measurement->series == NULL || store_series_put(run, measurement->series));
    done = H5Gclose(run) >= 0 && done && !has_failed(store);
    watch(NULL);
    if (!done) {
        fail(store, error);
    }
    store->n_runs++;
    return done;
}

/** The resolved configuration as one text of its own length. */
static bool put_configuration(hid_t file, const char *text) {
    const hid_t type = store_part_type(COLUMN_TEXT, strlen(text) + 1, false); /* HDF5 has no text of length 0 */
    const hid_t dataset = store_part_dataset(file, "configuration", type, 0, NULL, NULL);
    const bool done = dataset >= 0 && store_part_text(dataset, "units", "1") &&
                      store_part_text(dataset, "long_name", "Resolved configuration of all runs, as YAML") &&
                      H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    H5Dclose(dataset);
    H5Tclose(type);
    return done;
}

static bool put_header(struct store *store, const struct store_header *header) {
    return store_part_number(store->file, "schema_version", STORE_SCHEMA_VERSION) &&
           store_part_text(store->file, "program", "moefabric") &&
           store_part_text(store->file, "program_version", header->program_version) &&
           store_part_text(store->file, "title", header->title) &&
           put_configuration(store->file, header->configuration);
}

static hid_t put_runs(hid_t file) {
    const hid_t runs = store_part_group(file, "runs");
    if (runs >= 0 && !store_part_text(runs, "long_name", "One group a run, numbered in order")) {
        H5Gclose(runs);
        return H5I_INVALID_HID;
    }
    return runs;
}

static struct store *make_store(const char *path) {
    struct store *store = memory_allocate(1, sizeof *store);
    store->file = store->runs = H5I_INVALID_HID;
    store->path = memory_allocate(strlen(path) + 1, 1);
    strcpy(store->path, path);
    store->temporary = file_temporary_name(path);
    return store;
}

struct store *store_open(const char *path, const struct store_header *header, struct error *error) {
    H5dont_atexit(); /* files are closed here; after a full disk the library's own clean-up would only complain */
    if (!file_check_writable(path, error)) {
        return NULL;
    }
    struct store *store = make_store(path);
    watch(store);
    store->file = store_part_file(store->temporary);
    if (store->file >= 0 && put_header(store, header)) {
        store->runs = put_runs(store->file);
    }
    watch(NULL);
    if (store->runs < 0 || has_failed(store)) {
        fail(store, error);
        store_discard(store);
        return NULL;
    }
    return store;
}

bool store_commit(struct store *store, struct error *error) {
    watch(store);
    H5Gclose(store->runs);
    bool done = H5Fclose(store->file) >= 0 && !has_failed(store);
    watch(NULL);
    done = done ? file_publish(store->temporary, store->path, error) : fail(store, error);
    release(store);
    return done;
}

void store_discard(struct store *store) {
    if (store == NULL) {
        return;
    }
    watch(NULL);
    H5Gclose(store->runs);
    H5Fclose(store->file);
    release(store);
}
