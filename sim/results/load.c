// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/load.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "results/column.h"
#include "results/load_check.h"
#include "results/load_part.h"
#include "results/load_series.h"
#include "results/store.h"

#include <hdf5.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP_ROWS = 32768, NAME_SIZE = 256, TEXT_LIMIT_BYTES = 64 << 20 };

/** A file being read, and where. */
struct reader {
    const char *path;
    char place[NAME_SIZE]; /**< group of the run; empty outside of runs */
    uint64_t budget_bytes; /**< memory that rows may still take */
    struct error *error;
};

static bool refuse(const struct reader *reader, int id, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool refuse(const struct reader *reader, int id, const char *format, ...) {
    char text[ERROR_MESSAGE_SIZE - NAME_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    error_set(reader->error, EXIT_CODE_INPUT_OUTPUT, id, "%s%s%s", reader->place, reader->place[0] != '\0' ? ": " : "",
              text);
    if (reader->error != NULL) {
        snprintf(reader->error->file, sizeof reader->error->file, "%s", reader->path);
    }
    return false;
}

/** A text attribute into a field that may cut it; empty if it is not there. */
static bool get_field(hid_t object, const char *name, char *field, size_t size) {
    char *text = load_part_text(object, name);
    snprintf(field, size, "%s", text != NULL ? text : "");
    text_disarm(field); /* it will be shown */
    free(text);
    return field[0] != '\0';
}

static hid_t memory_type_of(const struct column *column) {
    if (column->type != COLUMN_TEXT) {
        return H5Tcopy(column->type == COLUMN_UINT32   ? H5T_NATIVE_UINT32
                       : column->type == COLUMN_UINT64 ? H5T_NATIVE_UINT64
                                                       : H5T_NATIVE_DOUBLE);
    }
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, column->size_bytes);
    H5Tset_cset(text, H5T_CSET_UTF8);
    return text;
}

/** Rows of a dataset of one dimension (a scalar has one); UINT64_MAX if it has more dimensions. */
static uint64_t count_rows(hid_t dataset) {
    const hid_t space = H5Dget_space(dataset);
    const int n_dimensions = H5Sget_simple_extent_ndims(space);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    return n_dimensions > 1 || n_dimensions < 0 || points < 0 ? UINT64_MAX : (uint64_t)points;
}

static void scatter_column(char *rows, size_t row_bytes, const struct column *column, const char *values,
                           size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *field = rows + i * row_bytes + column->offset;
        memcpy(field, values + i * column->size_bytes, column->size_bytes);
        if (column->type == COLUMN_TEXT) {
            field[column->size_bytes - 1] = '\0';
            text_disarm(field);
        }
    }
}

/** Reads a column a step at a time into rows that are there. */
static bool read_column(hid_t dataset, const struct column *column, size_t row_bytes, char *rows, hsize_t n_rows) {
    const hid_t type = memory_type_of(column), file_space = H5Dget_space(dataset);
    const bool scalar = H5Sget_simple_extent_ndims(file_space) == 0;
    const hsize_t step = n_rows < STEP_ROWS ? n_rows : STEP_ROWS;
    char *buffer = memory_allocate(step, column->size_bytes);
    bool done = true;
    for (hsize_t first = 0; done && first < n_rows; first += step) {
        const hsize_t count = n_rows - first < step ? n_rows - first : step;
        const hid_t memory_space = H5Screate_simple(1, &count, NULL);
        done = (scalar || H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0) &&
               H5Dread(dataset, type, memory_space, file_space, H5P_DEFAULT, buffer) >= 0;
        scatter_column(rows + first * row_bytes, row_bytes, column, buffer, done ? count : 0);
        H5Sclose(memory_space);
    }
    free(buffer);
    H5Sclose(file_space);
    H5Tclose(type);
    return done;
}

/** Reads one column of a table into rows; a column that is not there leaves zeros. */
static bool load_column(struct reader *reader, hid_t group, const struct column_table *table,
                        const struct column *column, char *rows, uint64_t n_rows) {
    const hid_t dataset = load_part_open(group, column->name, H5I_DATASET);
    if (dataset < 0) {
        return load_part_is_absent(group, column->name) ||
               refuse(reader, ERROR_ID_RESULT, "%s/%s is damaged", table->name, column->name);
    }
    bool done = true;
    if (count_rows(dataset) != n_rows) {
        done = refuse(reader, ERROR_ID_RESULT, "%s/%s has not the %" PRIu64 " rows of %s/%s", table->name, column->name,
                      n_rows, table->name, table->columns[0].name);
    } else if (!load_part_is_of_type(dataset, column->type)) {
        done = refuse(reader, ERROR_ID_RESULT, "%s/%s has the wrong type", table->name, column->name);
    } else if (!read_column(dataset, column, table->row_bytes, rows, n_rows)) {
        done = refuse(reader, ERROR_ID_RESULT, "%s/%s is damaged", table->name, column->name);
    }
    H5Dclose(dataset);
    return done;
}

/** How many rows a table has: as many as its first column. */
static bool size_table(struct reader *reader, hid_t group, const struct column_table *table, uint64_t *n_rows) {
    const hid_t first = load_part_open(group, table->columns[0].name, H5I_DATASET);
    if (first < 0) {
        return refuse(reader, ERROR_ID_RESULT, "there is no %s/%s", table->name, table->columns[0].name);
    }
    *n_rows = count_rows(first);
    H5Dclose(first);
    if (*n_rows > table->most_rows) {
        return refuse(reader, ERROR_ID_RESULT, "%s/%s is no column, or too long", table->name, table->columns[0].name);
    }
    if (*n_rows > reader->budget_bytes / table->row_bytes) {
        return refuse(reader, ERROR_ID_RESULT,
                      "%s has %" PRIu64 " rows: the file needs more than half of this machine's memory", table->name,
                      *n_rows);
    }
    reader->budget_bytes -= *n_rows * table->row_bytes;
    return true;
}

static bool load_table(struct reader *reader, hid_t run, const struct column_table *table,
                       struct measurement *measurement, uint64_t *n_rows) {
    const hid_t group = load_part_open(run, table->name, H5I_GROUP);
    if (group < 0) {
        return (table->younger && load_part_is_absent(run, table->name)) ||
               refuse(reader, ERROR_ID_RESULT, "there is no table %s", table->name);
    }
    bool done = size_table(reader, group, table, n_rows);
    char *rows = done ? memory_allocate(*n_rows, table->row_bytes) : NULL;
    for (size_t i = 0; done && i < table->n_columns; i++) {
        done = load_column(reader, group, table, &table->columns[i], rows, *n_rows);
    }
    H5Gclose(group);
    if (!done) {
        free(rows);
        return false;
    }
    table->take(measurement, rows, *n_rows);
    return true;
}

/** The scalars: one row that is there already. */
static bool load_totals(struct reader *reader, hid_t run, struct measurement *measurement) {
    const hid_t group = load_part_open(run, column_totals.name, H5I_GROUP);
    if (group < 0) {
        return refuse(reader, ERROR_ID_RESULT, "there is no group %s", column_totals.name);
    }
    bool done = true;
    for (size_t i = 0; done && i < column_totals.n_columns; i++) {
        done = load_column(reader, group, &column_totals, &column_totals.columns[i], (char *)&measurement->totals, 1);
    }
    H5Gclose(group);
    return done;
}

static bool load_rack_matrix(struct reader *reader, hid_t run, struct measurement *measurement) {
    const hid_t dataset = load_part_open(run, "rack_bytes", H5I_DATASET);
    const hid_t space = dataset >= 0 ? H5Dget_space(dataset) : H5I_INVALID_HID;
    hsize_t extent[2] = {0, 0};
    bool done = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, extent, NULL) == 2 && extent[0] == extent[1] &&
                extent[0] <= MEASUREMENT_RACKS && load_part_is_of_type(dataset, COLUMN_UINT64);
    if (done) {
        measurement->n_racks = (uint32_t)extent[0];
        measurement->rack_bytes = memory_allocate(extent[0] * extent[1], sizeof *measurement->rack_bytes);
        done = extent[0] == 0 ||
               H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, measurement->rack_bytes) >= 0;
    }
    H5Sclose(space);
    H5Dclose(dataset);
    return done || refuse(reader, ERROR_ID_RESULT, "rack_bytes is missing or damaged");
}

static bool load_attributes(struct reader *reader, hid_t run, struct measurement *measurement) {
    uint64_t outcome = 0;
    if (!get_field(run, "policy", measurement->policy, sizeof measurement->policy) ||
        !load_part_number(run, "seed", &measurement->seed) || !load_part_number(run, "outcome", &outcome) ||
        outcome > MEASUREMENT_MEMORY) {
        return refuse(reader, ERROR_ID_RESULT, "policy, seed or outcome is missing or wrong");
    }
    measurement->outcome = (enum measurement_outcome)outcome;
    uint64_t model = MEASUREMENT_MODEL_PACKET;
    if (load_part_number(run, "model", &model) && model > MEASUREMENT_MODEL_FLUID) {
        return refuse(reader, ERROR_ID_RESULT, "a network model of number %llu", (unsigned long long)model);
    }
    measurement->model = (enum measurement_model)model;
    return get_field(run, "diagnosis", measurement->diagnosis, sizeof measurement->diagnosis) ||
           H5Aexists(run, "diagnosis") == 0 || refuse(reader, ERROR_ID_RESULT, "diagnosis is damaged");
}

/** All tables, and whether those whose length follows from others have it. */
static bool load_tables(struct reader *reader, hid_t run, struct measurement *measurement) {
    uint64_t *n_rows = memory_allocate(column_tables_count, sizeof *n_rows);
    bool done = true;
    for (size_t i = 0; done && i < column_tables_count; i++) {
        done = load_table(reader, run, &column_tables[i], measurement, &n_rows[i]);
    }
    for (size_t i = 0; done && i < column_tables_count; i++) {
        if (column_tables[i].n_rows(measurement) != n_rows[i]) {
            done = refuse(reader, ERROR_ID_RESULT, "%s has %" PRIu64 " rows where the other tables ask for %" PRIu64,
                          column_tables[i].name, n_rows[i], column_tables[i].n_rows(measurement));
        }
    }
    free(n_rows);
    return done;
}

/** Series, where there are any; they may use the memory that is left. */
static bool load_recorded(struct reader *reader, hid_t run, struct measurement *measurement) {
    const hid_t group = load_part_open(run, "series", H5I_GROUP);
    if (group < 0) {
        return load_part_is_absent(run, "series") || refuse(reader, ERROR_ID_RESULT, "series is damaged");
    }
    const char *wrong = NULL;
    measurement->series = load_series(group, measurement->n_links, &reader->budget_bytes, &wrong);
    H5Gclose(group);
    return measurement->series != NULL ||
           refuse(reader, ERROR_ID_RESULT, "series/%s is missing, damaged or too large", wrong);
}

static bool load_run(struct reader *reader, hid_t run, struct measurement *measurement) {
    char reason[NAME_SIZE];
    return load_attributes(reader, run, measurement) && load_totals(reader, run, measurement) &&
           load_rack_matrix(reader, run, measurement) && load_tables(reader, run, measurement) &&
           load_recorded(reader, run, measurement) &&
           (load_check(measurement, reason, sizeof reason) || refuse(reader, ERROR_ID_RESULT, "%s", reason));
}

/** Names of runs in order of their numbers: 999_… comes before 1000_…. */
static int compare_run_names(const void *left, const void *right) {
    const char *one = left, *two = right;
    const unsigned long first = strtoul(one, NULL, 10), second = strtoul(two, NULL, 10);
    return first != second ? (first > second) - (first < second) : strcmp(one, two);
}

/** Names of all runs, to be freed by the caller; NULL if they cannot be read. Those that are too long for a run's name are cut, and then not found. */
static char (*list_runs(hid_t runs, uint32_t *count))[NAME_SIZE] {
    H5G_info_t information = {0};
    if (H5Gget_info(runs, &information) < 0) {
        return NULL;
    }
    *count = (uint32_t)(information.nlinks < UINT32_MAX ? information.nlinks : UINT32_MAX);
    char(*names)[NAME_SIZE] = memory_allocate(*count, sizeof *names);
    for (uint32_t i = 0; i < *count; i++) {
        if (H5Lget_name_by_idx(runs, ".", H5_INDEX_NAME, H5_ITER_INC, i, names[i], NAME_SIZE, H5P_DEFAULT) < 0) {
            free(names);
            return NULL;
        }
    }
    qsort(names, *count, sizeof *names, compare_run_names);
    return names;
}

static bool load_named_run(struct reader *reader, hid_t runs, const char *name, struct load *load) {
    snprintf(reader->place, sizeof reader->place, "%s", name);
    text_disarm(reader->place);
    const hid_t run = load_part_open(runs, name, H5I_GROUP);
    if (run < 0) {
        return refuse(reader, ERROR_ID_RESULT, "the run is no group");
    }
    load->runs[load->n_runs] = memory_allocate(1, sizeof **load->runs);
    const bool done = load_run(reader, run, load->runs[load->n_runs++]);
    H5Gclose(run);
    return done;
}

/** Whether two runs of a file claim to be the same one. */
static bool are_distinct(struct reader *reader, const struct load *load) {
    for (uint32_t i = 0; i < load->n_runs; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (load->runs[i]->seed == load->runs[j]->seed &&
                strcmp(load->runs[i]->policy, load->runs[j]->policy) == 0) {
                return refuse(reader, ERROR_ID_RESULT, "%s with seed %" PRIu64 " is there twice", load->runs[i]->policy,
                              load->runs[i]->seed);
            }
        }
    }
    return true;
}

static bool load_runs(struct reader *reader, hid_t file, struct load *load) {
    const hid_t runs = load_part_open(file, "runs", H5I_GROUP);
    if (runs < 0) {
        return refuse(reader, ERROR_ID_RESULT, "there is no group runs");
    }
    uint32_t count = 0;
    char(*names)[NAME_SIZE] = list_runs(runs, &count);
    if (names == NULL) {
        H5Gclose(runs);
        return refuse(reader, ERROR_ID_RESULT, "the group runs cannot be listed");
    }
    load->runs = memory_allocate(count, sizeof *load->runs);
    bool done = true;
    for (uint32_t i = 0; done && i < count; i++) {
        done = load_named_run(reader, runs, names[i], load);
    }
    free(names);
    H5Gclose(runs);
    return done;
}

/** The configuration: one text of fixed length. */
static char *load_text(hid_t file, const char *name) {
    const hid_t dataset = load_part_open(file, name, H5I_DATASET);
    const bool is_text = dataset >= 0 && load_part_is_of_type(dataset, COLUMN_TEXT) && count_rows(dataset) == 1;
    const hid_t stored = is_text ? H5Dget_type(dataset) : H5I_INVALID_HID;
    const size_t size = is_text ? H5Tget_size(stored) : 0;
    char *text = NULL;
    if (size > 0 && size <= TEXT_LIMIT_BYTES) {
        text = memory_allocate(size + 1, 1);
        if (H5Dread(dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
            free(text);
            text = NULL;
        }
    }
    H5Tclose(stored);
    H5Dclose(dataset);
    return text;
}

static bool load_header(struct reader *reader, hid_t file, struct load *load) {
    char program[sizeof "moefabric" + 1];
    uint64_t version = 0;
    if (!get_field(file, "program", program, sizeof program) || strcmp(program, "moefabric") != 0 ||
        !load_part_number(file, "schema_version", &version)) {
        return refuse(reader, ERROR_ID_RESULT, "this is no result of moefabric");
    }
    if (H5Aexists(file, "kind") > 0) {
        return refuse(reader, ERROR_ID_RESULT,
                      "this is the result of a sweep, and that of a run or comparison is needed");
    }
    if (version > STORE_SCHEMA_VERSION) {
        return refuse(reader, ERROR_ID_RESULT_NEWER,
                      "the result has layout %" PRIu64 ", this program reads up to %d: read it with a newer moefabric",
                      version, STORE_SCHEMA_VERSION);
    }
    load->title = load_part_text(file, "title");
    load->program_version = load_part_text(file, "program_version");
    load->configuration = load_text(file, "configuration");
    return (load->title != NULL && load->program_version != NULL && load->configuration != NULL) ||
           refuse(reader, ERROR_ID_RESULT, "title, program_version or configuration is missing or damaged");
}

static uint64_t half_of_memory_bytes(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages / 2 * (uint64_t)page_bytes : UINT64_MAX;
}

struct load *load_read(const char *path, struct error *error) {
    struct reader reader = {.path = path, .budget_bytes = half_of_memory_bytes(), .error = error};
    if (!file_check_readable(path, error)) {
        return NULL;
    }
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = load_part_file(path);
    if (file < 0) {
        refuse(&reader, ERROR_ID_RESULT, "this is no HDF5 file, or it is cut short");
        return NULL;
    }
    struct load *load = memory_allocate(1, sizeof *load);
    const bool done = load_header(&reader, file, load) && load_runs(&reader, file, load) && are_distinct(&reader, load);
    H5Fclose(file);
    if (!done) {
        load_free(load);
        return NULL;
    }
    return load;
}

bool load_has_policy(const struct load *load, const char *policy, uint32_t before) {
    for (uint32_t i = 0; i < before; i++) {
        if (strcmp(load->runs[i]->policy, policy) == 0) {
            return true;
        }
    }
    return false;
}

void load_free(struct load *load) {
    if (load == NULL) {
        return;
    }
    for (uint32_t i = 0; i < load->n_runs; i++) {
        measurement_free(load->runs[i]);
    }
    free(load->runs);
    free(load->title);
    free(load->program_version);
    free(load->configuration);
    free(load);
}
