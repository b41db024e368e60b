// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/sweep_load.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "results/load_part.h"
#include "results/sweep_store.h"

#include <hdf5.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 100000000, MOST_AXES = 4096, MOST_METRICS = 65536 };
static const uint64_t most_bytes = UINT64_C(1) << 32; /* of one column */

/** A file being read. */
struct reader {
    hid_t file;
    const char *wrong; /* what is missing or damaged; NULL while all is well */
    uint32_t *indexes; /* [metrics of the file] in the table */
    uint32_t n_indexes;
};

/** Texts of a column in one block. */
struct texts {
    char *bytes;
    size_t size; /* of each, with its NUL */
    uint64_t count;
};

static const char *text_at(const struct texts *texts, uint64_t i) {
    return texts->bytes + i * texts->size;
}

/** Opens a column; its rows are counted. H5I_INVALID_HID, with *wrong set, if it is not there or not of the type and extent. */
static hid_t open_column(struct reader *reader, const char *name, enum column_type type, int n_dimensions,
                         hsize_t extent[2]) {
    const hid_t dataset = reader->wrong == NULL ? H5Oopen(reader->file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t space = dataset >= 0 && H5Iget_type(dataset) == H5I_DATASET ? H5Dget_space(dataset) : H5I_INVALID_HID;
    const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == n_dimensions &&
                      H5Sget_simple_extent_dims(space, extent, NULL) == n_dimensions && extent[0] <= MOST_ROWS &&
                      load_part_is_of_type(dataset, type);
    H5Sclose(space);
    if (!good) {
        reader->wrong = reader->wrong != NULL ? reader->wrong : name;
        H5Oclose(dataset);
        return H5I_INVALID_HID;
    }
    return dataset;
}

static struct texts read_texts(struct reader *reader, const char *name) {
    hsize_t extent[2];
    struct texts texts = {0};
    const hid_t dataset = open_column(reader, name, COLUMN_TEXT, 1, extent);
    if (dataset < 0) {
        return texts;
    }
    const hid_t stored = H5Dget_type(dataset), type = H5Tcopy(H5T_C_S1);
    texts.size = H5Tget_size(stored) + 1;
    texts.count = extent[0];
    H5Tset_size(type, texts.size);
    H5Tset_cset(type, H5T_CSET_UTF8);
    if (texts.size > most_bytes / (texts.count + 1)) {
        reader->wrong = name;
        texts.count = 0;
    } else {
        texts.bytes = memory_allocate(texts.count + 1, texts.size);
        if (texts.count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.bytes) < 0) {
            reader->wrong = name;
        }
    }
    H5Tclose(type);
    H5Tclose(stored);
    H5Dclose(dataset);
    return texts;
}

/** Puts '?' for control characters in texts that will be shown. */
static struct texts disarm(struct texts texts) {
    for (uint64_t i = 0; i < texts.count; i++) {
        text_disarm(texts.bytes + i * texts.size);
    }
    return texts;
}

/** A column of so many numbers (UINT64_MAX: of any length, which is filled); to be freed by the caller. */
static uint64_t *read_numbers(struct reader *reader, const char *name, uint64_t *count) {
    hsize_t extent[2];
    const hid_t dataset = open_column(reader, name, COLUMN_UINT64, 1, extent);
    if (dataset < 0) {
        return NULL;
    }
    if (*count != UINT64_MAX && *count != extent[0]) {
        reader->wrong = name;
    }
    *count = extent[0];
    uint64_t *numbers = memory_allocate(extent[0] + 1, sizeof *numbers);
    if (extent[0] > 0 && H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0) {
        reader->wrong = name;
    }
    H5Dclose(dataset);
    return numbers;
}

static bool check_count(struct reader *reader, const char *name, uint64_t count, uint64_t wanted) {
    if (reader->wrong == NULL && count != wanted) {
        reader->wrong = name;
    }
    return reader->wrong == NULL;
}

/** A table with the axes of the file and without points; NULL, with *wrong set, on damage. */
static struct sweep_table *read_head(struct reader *reader) {
    struct texts keys = disarm(read_texts(reader, "axes/key"));
    char *title = load_part_text(reader->file, "title"), *version = load_part_text(reader->file, "program_version");
    struct sweep_table *table = NULL;
    if (reader->wrong == NULL && (title == NULL || version == NULL || keys.count > MOST_AXES)) {
        reader->wrong = title == NULL ? "title" : version == NULL ? "program_version" : "axes/key";
    }
    if (reader->wrong == NULL) {
        const char **names = memory_allocate(keys.count, sizeof *names);
        for (uint64_t i = 0; i < keys.count; i++) {
            names[i] = text_at(&keys, i);
        }
        table = sweep_table_create(title, version, (uint32_t)keys.count, names);
        free(names);
    }
    free(keys.bytes);
    free(title);
    free(version);
    return table;
}

/** What the points set the axes to. */
static struct texts *read_values(struct reader *reader, uint32_t n_axes, uint64_t n_points) {
    struct texts *values = memory_allocate((size_t)n_axes + 1, sizeof *values);
    for (uint32_t a = 0; a < n_axes; a++) {
        char name[32];
        snprintf(name, sizeof name, "axes/values_%02u", a);
        values[a] = disarm(read_texts(reader, name));
        check_count(reader, "axes", values[a].count, n_points);
    }
    return values;
}

static void fill_points(struct sweep_table *table, const struct texts *values, uint64_t n_points,
                        uint64_t *const numbers[3], const struct texts texts[2]) {
    const char **here = memory_allocate((size_t)table->n_axes + 1, sizeof *here);
    for (uint64_t p = 0; p < n_points; p++) {
        for (uint32_t a = 0; a < table->n_axes; a++) {
            here[a] = text_at(&values[a], p);
        }
        struct sweep_point *point = sweep_table_add_point(table, numbers[0][p], here);
        point->hash = numbers[1][p];
        point->outcome = numbers[2][p] <= SWEEP_FAILED ? (enum sweep_outcome)numbers[2][p] : SWEEP_MISSING;
        sweep_table_set_text(&point->error, text_at(&texts[0], p));
        sweep_table_set_text(&point->configuration, text_at(&texts[1], p));
    }
    free(here);
}

static void read_points(struct reader *reader, struct sweep_table *table) {
    uint64_t count = UINT64_MAX;
    uint64_t *const numbers[3] = {read_numbers(reader, "points/point", &count),
                                  read_numbers(reader, "points/hash", &count),
                                  read_numbers(reader, "points/outcome", &count)};
    const struct texts texts[2] = {disarm(read_texts(reader, "points/error")),
                                   read_texts(reader, "points/configuration")};
    struct texts *values = read_values(reader, table->n_axes, count);
    if (check_count(reader, "points/error", texts[0].count, count) &&
        check_count(reader, "points/configuration", texts[1].count, count)) {
        fill_points(table, values, count, numbers, texts);
    }
    for (uint32_t a = 0; a < table->n_axes; a++) {
        free(values[a].bytes);
    }
    free(values);
    for (int i = 0; i < 3; i++) {
        free(numbers[i]);
    }
    free(texts[0].bytes);
    free(texts[1].bytes);
}

/** Metrics that this program does not know are left out. */
static void read_metrics(struct reader *reader, struct sweep_table *table) {
    struct texts names = disarm(read_texts(reader, "metrics/name"));
    if (reader->wrong == NULL && names.count > MOST_METRICS) {
        reader->wrong = "metrics/name";
    }
    if (reader->wrong == NULL) {
        reader->n_indexes = (uint32_t)names.count;
        reader->indexes = memory_allocate(names.count + 1, sizeof *reader->indexes);
        for (uint64_t i = 0; i < names.count; i++) {
            reader->indexes[i] = sweep_table_metric(table, text_at(&names, i));
        }
    }
    free(names.bytes);
}

/** The values of all runs, metric by metric of the file. */
static double *read_matrix(struct reader *reader, uint64_t n_runs) {
    hsize_t extent[2];
    const hid_t dataset = open_column(reader, "runs/values", COLUMN_DOUBLE, 2, extent);
    if (dataset < 0) {
        return NULL;
    }
    double *values = NULL;
    if (extent[0] != n_runs || extent[1] != reader->n_indexes || extent[0] * extent[1] > most_bytes / sizeof *values) {
        reader->wrong = "runs/values";
    } else {
        values = memory_allocate(extent[0] * extent[1] + 1, sizeof *values);
        if (extent[0] * extent[1] > 0 &&
            H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
            reader->wrong = "runs/values";
        }
    }
    H5Dclose(dataset);
    return values;
}

/** One run for its point; runs stand in the order of the points. NULL, with *wrong set, if there is no such point. */
static struct sweep_run *add_run(struct reader *reader, struct sweep_table *table, uint32_t *at, uint64_t number) {
    while (*at < table->n_points && table->points[*at].number != number) {
        (*at)++;
    }
    if (*at == table->n_points) {
        reader->wrong = "runs/point";
        return NULL;
    }
    struct sweep_point *point = &table->points[*at];
    point->runs = memory_resize(point->runs, (size_t)point->n_runs + 1, sizeof *point->runs);
    struct sweep_run *run = &point->runs[point->n_runs++];
    *run = (struct sweep_run){0};
    return run;
}

static void read_runs(struct reader *reader, struct sweep_table *table) {
    uint64_t count = UINT64_MAX;
    uint64_t *points = read_numbers(reader, "runs/point", &count), *seeds = read_numbers(reader, "runs/seed", &count);
    uint64_t *outcomes = read_numbers(reader, "runs/outcome", &count);
    uint64_t *digests = read_numbers(reader, "runs/traffic_digest", &count);
    struct texts policies = disarm(read_texts(reader, "runs/policy"));
    check_count(reader, "runs/policy", policies.count, count);
    double *values = reader->wrong == NULL ? read_matrix(reader, count) : NULL;
    uint32_t at = 0;
    for (uint64_t i = 0; reader->wrong == NULL && i < count; i++) {
        struct sweep_run *run = add_run(reader, table, &at, points[i]);
        if (run == NULL || outcomes[i] > MEASUREMENT_MEMORY) {
            reader->wrong = run == NULL ? reader->wrong : "runs/outcome";
            break;
        }
        run->seed = seeds[i];
        run->outcome = (enum measurement_outcome)outcomes[i];
        run->traffic_digest = digests[i];
        snprintf(run->policy, sizeof run->policy, "%s", text_at(&policies, i));
        sweep_table_set_values(table, run, values + i * reader->n_indexes, reader->indexes, reader->n_indexes);
    }
    free(values);
    free(policies.bytes);
    free(digests);
    free(outcomes);
    free(seeds);
    free(points);
}

static bool check_kind(hid_t file, const char *path, struct error *error) {
    uint64_t version = 0;
    char *kind = load_part_text(file, "kind");
    const bool is_sweep =
        kind != NULL && strcmp(kind, "sweep") == 0 && load_part_number(file, "schema_version", &version);
    free(kind);
    if (!is_sweep) {
        return error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_RESULT, path, "this is no result of a sweep");
    }
    return version <= SWEEP_STORE_VERSION ||
           error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_RESULT_NEWER, path,
                          "the result has layout %" PRIu64
                          ", this program reads up to %d: read it with a newer moefabric",
                          version, SWEEP_STORE_VERSION);
}

/** Opens a file; H5I_INVALID_HID, with *error, if it cannot be. */
static hid_t open_file(const char *path, struct error *error) {
    if (!file_check_readable(path, error)) {
        return H5I_INVALID_HID;
    }
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = load_part_file(path);
    if (file < 0) {
        error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_RESULT, path,
                       "this is no HDF5 file, or it is cut short");
    }
    return file;
}

bool sweep_load_is_sweep(const char *path) {
    struct error error;
    const hid_t file = open_file(path, &error);
    if (file < 0) {
        return false;
    }
    const bool is_sweep = H5Aexists(file, "kind") > 0;
    H5Fclose(file);
    return is_sweep;
}

struct sweep_table *sweep_load_read(const char *path, struct error *error) {
    struct reader reader = {.file = open_file(path, error)};
    struct sweep_table *table = NULL;
    if (reader.file < 0) {
        return NULL;
    }
    if (check_kind(reader.file, path, error)) {
        table = read_head(&reader);
        if (table != NULL) {
            read_points(&reader, table);
            read_metrics(&reader, table);
            read_runs(&reader, table);
        }
        if (reader.wrong != NULL) {
            error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_RESULT, path, "%s is missing or damaged",
                           reader.wrong);
            sweep_table_free(table);
            table = NULL;
        }
    }
    free(reader.indexes);
    H5Fclose(reader.file);
    return table;
}
