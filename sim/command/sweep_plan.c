// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/sweep_plan.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "command/spare.h"
#include "command/sweep_point.h"
#include "command/version.h"
#include "config/experiment_file.h"
#include "results/sweep_load.h"
#include "results/sweep_store.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 2 * ERROR_MESSAGE_SIZE + ERROR_FILE_SIZE };

/** One point as it was read. */
struct point_reading {
    struct experiment experiment;
    struct experiment_labels labels;
    struct error_list errors, notes;
    bool good;
};

static struct point_reading *read_point(const struct sweep_plan_source *source, uint64_t number) {
    struct point_reading *reading = memory_allocate(1, sizeof *reading);
    reading->good =
        experiment_read_point(source->configuration, "sweep", source->overrides, source->n_overrides, number,
                              &reading->experiment, &reading->labels, &reading->notes, &reading->errors);
    return reading;
}

static void free_reading(struct point_reading *reading) {
    experiment_labels_fini(&reading->labels);
    free(reading);
}

static bool is_same_note(const struct error *one, const struct error *other) {
    return one->line == other->line && one->column == other->column && strcmp(one->message, other->message) == 0;
}

/** Leaves the notes that another list has too: a setting that is idle in some points only is what a sweep is for. */
static void keep_common(struct error_list *notes, const struct error_list *others) {
    unsigned kept = 0;
    for (unsigned i = 0; i < notes->count; i++) {
        for (unsigned k = 0; k < others->count; k++) {
            if (is_same_note(&notes->errors[i], &others->errors[k])) {
                notes->errors[kept++] = notes->errors[i];
                break;
            }
        }
    }
    notes->count = kept;
}

static struct sweep_table *make_table(const struct point_reading *first) {
    const char *axes[EXPERIMENT_AXES];
    for (uint32_t a = 0; a < first->labels.n_axes; a++) {
        axes[a] = first->labels.keys[a];
    }
    return sweep_table_create(first->experiment.name[0] != '\0' ? first->experiment.name : "sweep", version_number(),
                              first->labels.n_axes, axes);
}

/** Adds a point that was read. */
static void add_point(struct sweep_plan *plan, uint64_t number, const struct point_reading *reading) {
    struct sweep_point *point = sweep_table_add_point(plan->table, number, (const char *const *)reading->labels.values);
    if (!reading->good) {
        char line[LINE_SIZE];
        point->outcome = SWEEP_REFUSED;
        sweep_table_set_text(&point->error, sweep_point_error(&reading->errors.errors[0], line, sizeof line));
        return;
    }
    char *resolved = NULL;
    point->hash = sweep_point_hash(&reading->experiment, &resolved);
    sweep_table_set_text(&point->configuration, resolved);
    free(resolved);
}

static int compare_hashes(const void *left, const void *right) {
    const uint64_t one = *(const uint64_t *)left, other = *(const uint64_t *)right;
    return (one > other) - (one < other);
}

static uint32_t count_equal(const struct sweep_table *table) {
    uint64_t *hashes = memory_allocate((size_t)table->n_points + 1, sizeof *hashes);
    uint32_t n = 0, equal = 0;
    for (uint32_t i = 0; i < table->n_points; i++) {
        if (table->points[i].outcome != SWEEP_REFUSED) {
            hashes[n++] = table->points[i].hash;
        }
    }
    qsort(hashes, n, sizeof *hashes, compare_hashes);
    for (uint32_t i = 1; i < n; i++) {
        equal += hashes[i] == hashes[i - 1];
    }
    free(hashes);
    return equal;
}

/** OUTPUT or NAME.h5, and NAME.points beside it. */
static void name_files(struct sweep_plan *plan) {
    const char *given = plan->source.output, *name = given != NULL ? given : plan->table->title;
    const size_t length = strlen(name), size = length + sizeof ".points";
    const bool ending = length > 3 && strcmp(name + length - 3, ".h5") == 0;
    plan->output = memory_allocate(size, 1);
    plan->folder = memory_allocate(size, 1);
    snprintf(plan->output, size, "%s%s", name, given != NULL ? "" : ".h5");
    snprintf(plan->folder, size, "%.*s.points", (int)(given != NULL && ending ? length - 3 : length), name);
}

/** Would the result replace a file that this point is made from? Then that is all there is to say. */
static bool spare_point(const struct sweep_plan *plan, const struct experiment *experiment, struct error_list *errors) {
    struct error error;
    if (spare_inputs(plan->source.configuration, experiment, plan->output, "--output", &error)) {
        return true;
    }
    *errors = (struct error_list){0};
    error_list_add(errors, &error);
    return false;
}

/** Every point of the part. Keeps the mistakes of the first that has some; false if all have, or the result would replace what it is made from. */
static bool read_points(struct sweep_plan *plan, const struct sweep_plan_part *part, struct error_list *errors) {
    bool any = false, spared = true;
    for (uint64_t number = part->first; number < plan->n_points && spared; number += part->step) {
        struct point_reading *reading = read_point(&plan->source, number);
        if (reading->labels.n_axes != plan->table->n_axes) { /* the file was there for the points before */
            *errors = reading->errors;
            free_reading(reading);
            return false;
        }
        add_point(plan, number, reading);
        if (reading->good && !any) {
            plan->notes = reading->notes;
        } else if (reading->good) {
            keep_common(&plan->notes, &reading->notes);
        } else if (errors->count == 0) {
            *errors = reading->errors;
        }
        any = any || reading->good;
        if (plan->source.read != NULL && !part->alone) {
            plan->source.read((number - part->first) / part->step + 1,
                              (plan->n_points - part->first + part->step - 1) / part->step);
        }
        spared = !reading->good || spare_point(plan, &reading->experiment, errors);
        free_reading(reading);
        if (part->alone) {
            break;
        }
    }
    return spared && (any || plan->table->n_points == 0);
}

bool sweep_plan_init(struct sweep_plan *plan, const struct sweep_plan_source *source,
                     const struct sweep_plan_part *part, struct error_list *errors) {
    *plan = (struct sweep_plan){.source = *source};
    struct point_reading *first = read_point(source, part->alone ? part->first : 0);
    if (first->labels.n_axes == 0) { /* there is no such point */
        *errors = first->errors;
        free_reading(first);
        return false;
    }
    plan->n_points = first->experiment.sweep.n_points;
    plan->table = make_table(first);
    free_reading(first);
    name_files(plan);
    if (!read_points(plan, part, errors)) {
        sweep_plan_fini(plan);
        return false;
    }
    plan->n_equal = count_equal(plan->table);
    return true;
}

char *sweep_plan_path(const struct sweep_plan *plan, const struct sweep_point *point) {
    const size_t size = strlen(plan->folder) + 32;
    char *path = memory_allocate(size, 1);
    snprintf(path, size, "%s/%016" PRIx64 ".h5", plan->folder, point->hash);
    return path;
}

void sweep_plan_take(struct sweep_plan *plan, struct sweep_point *point) {
    struct error error;
    char *path = sweep_plan_path(plan, point);
    struct sweep_table *stored = sweep_load_read(path, &error);
    if (stored != NULL && stored->n_points == 1 && stored->points[0].hash == point->hash &&
        strcmp(stored->points[0].configuration, point->configuration) == 0) {
        sweep_table_absorb(plan->table, point, stored, &stored->points[0]);
    }
    sweep_table_free(stored);
    free(path);
}

uint32_t sweep_plan_collect(struct sweep_plan *plan) {
    uint32_t done = 0;
    for (uint32_t i = 0; i < plan->table->n_points; i++) {
        struct sweep_point *point = &plan->table->points[i];
        if (point->outcome == SWEEP_MISSING) {
            sweep_plan_take(plan, point);
        }
        done += point->outcome == SWEEP_DONE;
    }
    return done;
}

bool sweep_plan_prepare(const struct sweep_plan *plan, struct error *error) {
    struct stat status;
    if (mkdir(plan->folder, 0777) != 0 && errno != EEXIST) {
        return error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, plan->folder,
                              "the folder for the points cannot be made: %s", strerror(errno));
    }
    if (stat(plan->folder, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, plan->folder,
                              "the folder for the points cannot be made: there is something else of this name");
    }
    if (access(plan->folder, W_OK | X_OK) != 0) {
        return error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, plan->folder,
                              "nothing can be written into the folder for the points: %s", strerror(errno));
    }
    return file_check_writable(plan->output, error);
}

/** A table with one point, which has the same name, hash and configuration as one of the plan. */
static struct sweep_table *table_of(const struct sweep_plan *plan, const struct sweep_point *given) {
    const struct sweep_table *table = plan->table;
    const char *axes[EXPERIMENT_AXES];
    for (uint32_t a = 0; a < table->n_axes; a++) {
        axes[a] = table->axes[a];
    }
    struct sweep_table *alone = sweep_table_create(table->title, table->program_version, table->n_axes, axes);
    struct sweep_point *point = sweep_table_add_point(alone, given->number, (const char *const *)given->values);
    point->hash = given->hash;
    sweep_table_set_text(&point->configuration, given->configuration);
    return alone;
}

static bool write_table(const struct sweep_plan *plan, const struct sweep_table *alone, struct error *error) {
    char *path = sweep_plan_path(plan, &alone->points[0]);
    const bool done = sweep_store_write(alone, path, error);
    free(path);
    return done;
}

bool sweep_plan_store(const struct sweep_plan *plan, const struct sweep_point *point, struct error *error) {
    struct sweep_table *alone = table_of(plan, point);
    alone->points[0].outcome = point->outcome;
    sweep_table_set_text(&alone->points[0].error, point->error);
    const bool done = write_table(plan, alone, error);
    sweep_table_free(alone);
    return done;
}

/** Simulates what was read into a table of its own, and writes that. */
static bool run_and_store(const struct sweep_plan *plan, const struct sweep_point *given,
                          const struct experiment *experiment, const struct sweep_point_options *options,
                          struct error *error) {
    struct sweep_table *alone = table_of(plan, given);
    sweep_point_simulate(experiment, options, alone, &alone->points[0]);
    const bool done = alone->points[0].outcome == SWEEP_MISSING || write_table(plan, alone, error);
    sweep_table_free(alone);
    return done;
}

bool sweep_plan_run(const struct sweep_plan *plan, uint32_t index, unsigned threads, _Atomic uint64_t *thousandths,
                    struct error *error) {
    const struct sweep_point *point = &plan->table->points[index];
    struct point_reading *reading = read_point(&plan->source, point->number);
    char *resolved = NULL;
    bool done = reading->good && sweep_point_hash(&reading->experiment, &resolved) == point->hash;
    if (!done) {
        error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_SWEEP, plan->source.configuration,
                       "the configuration, or a file that it names, was changed while the sweep was running");
    } else {
        const struct sweep_point_options options = {.threads = threads, .thousandths = thousandths};
        done = run_and_store(plan, point, &reading->experiment, &options, error);
    }
    free(resolved);
    free_reading(reading);
    return done;
}

/** Has a process of this machine ended? One that nobody has waited for is still listed: in containers whose first process never does, for ever. */
static bool has_ended(long process) {
    char path[64], text[512];
    if (kill((pid_t)process, 0) != 0) {
        return errno == ESRCH;
    }
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        return false;
    }
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    const char *name_end = strrchr(text, ')'); // proc(5): number (name) state
    return name_end != NULL && strncmp(name_end, ") Z", 3) == 0;
}

/** Is this a half-written file (file_temporary_name) of this machine whose process is gone? */
static bool is_left_over(const char *name, const char *host) {
    static const char ending[] = ".part";
    const size_t length = strlen(name);
    long process = 0;
    int end = 0;
    const char *at = strstr(name, host);
    if (length < sizeof ending || strcmp(name + length - strlen(ending), ending) != 0 || at == NULL) {
        return false;
    }
    return sscanf(at + strlen(host), ".%ld.part%n", &process, &end) == 1 && end > 0 && process > 0 &&
           has_ended(process);
}

void sweep_plan_tidy(const struct sweep_plan *plan) {
    char host[HOST_NAME_MAX + 1] = "";
    DIR *folder = opendir(plan->folder);
    gethostname(host, sizeof host - 1);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (is_left_over(entry->d_name, host)) {
            unlinkat(dirfd(folder), entry->d_name, 0);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

void sweep_plan_fini(struct sweep_plan *plan) {
    sweep_table_free(plan->table);
    free(plan->output);
    free(plan->folder);
    *plan = (struct sweep_plan){0};
}
