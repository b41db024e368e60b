// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "config/background_reader.h"
#include "config/contradiction.h"
#include "config/design.h"
#include "config/experiment_check.h"
#include "config/experiment_doubt.h"
#include "config/experiment_places.h"
#include "config/experiment_preset.h"
#include "config/experiment_unused.h"
#include "config/failure_reader.h"
#include "config/file_kind.h"
#include "config/flow_file.h"
#include "config/gate_check.h"
#include "config/gpu_groups.h"
#include "config/key.h"
#include "config/placement_file.h"
#include "config/policy_reader.h"
#include "config/section_reader.h"
#include "config/sweep.h"
#include "config/topology_check.h"
#include "config/topology_file.h"
#include "config/topology_search.h"
#include "config/workload_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** One `key=value` of the command line. */
struct override {
    char key[ERROR_FILE_SIZE];
    struct tree_place place;
    struct tree_node *value; /* NULL = could not be read */
};

/** What one reading works with. */
struct reading {
    const char *name; /* of the configuration: topology files are looked up beside it */
    struct tree *tree;
    struct tree_node *root;
    struct override *overrides;
    size_t n_overrides;
    size_t n_settings;                /* of the point, behind the overrides */
    const uint64_t *point;            /* of the sweep or design space; NULL: the configuration as it stands */
    const char *section;              /* that it is a point of */
    struct experiment_labels *labels; /* may be NULL */
    struct experiment *experiment;
    struct error_list *errors;
    bool is_text; /* from memory: there is no folder in which a connection matrix could be looked up */
};

/** Splits and parses one override. */
static void read_override(struct reading *reading, const char *text, struct override *override) {
    static const char form[] = "an override is key=value, for example --set traffic.tokens_per_gpu=256";
    const char *equals = strchr(text, '=');
    const size_t length = equals == NULL ? 0 : (size_t)(equals - text);
    if (length == 0 || length >= sizeof override->key || equals[1] == '\0') {
        struct error error;
        error_set(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_OVERRIDE, "\"%.80s\" is no override", text);
        error_hint(&error, "%s", form);
        snprintf(error.file, sizeof error.file, "--set");
        error_list_add(reading->errors, &error);
        return;
    }
    memcpy(override->key, text, length);
    override->key[length] = '\0';
    override->value = tree_parse(reading->tree, "--set", text, strlen(text), length + 1, reading->errors);
    if (override->value != NULL) {
        override->place = (struct tree_place){.source = override->value->place.source, .line = 1, .column = 1};
    }
}

/** What overrides apply to. */
enum stage {
    STAGE_SWEEP,    /* the sections `sweep` and `size`, which may add overrides of their own */
    STAGE_TOPOLOGY, /* the topology as a whole, which decides what others apply to */
    STAGE_BELOW,    /* keys of the topology */
    STAGE_OTHERS,
};

static enum stage stage_of(const struct override *override) {
    const size_t length = strcspn(override->key, ".");
    if ((length == 5 && strncmp(override->key, "sweep", 5) == 0) ||
        (length == 4 && strncmp(override->key, "size", 4) == 0)) {
        return STAGE_SWEEP;
    }
    if (strcmp(override->key, "topology") == 0) {
        return STAGE_TOPOLOGY;
    }
    return strncmp(override->key, "topology.", 9) == 0 ? STAGE_BELOW : STAGE_OTHERS;
}

static void apply_overrides(const struct reading *reading, enum stage stage) {
    for (size_t i = 0; i < reading->n_overrides + reading->n_settings; i++) {
        const struct override *override = &reading->overrides[i];
        if (override->value != NULL && stage_of(override) == stage) {
            tree_set(reading->tree, reading->root, override->key, override->place, override->value, reading->errors);
        }
    }
}

/** Puts the topology's mapping in place of its file's name. NULL if there is none; its errors have been reported. */
static struct tree_node *load_topology(const struct reading *reading) {
    struct tree_entry *entry = tree_find(reading->root, "topology");
    struct experiment *experiment = reading->experiment;
    if (entry == NULL) {
        return NULL;
    }
    if (entry->value->kind == TREE_VALUE && !entry->value->is_null) {
        if (!topology_search_value(reading->name, entry->value, experiment->topology_path,
                                   sizeof experiment->topology_path, reading->errors)) {
            return NULL;
        }
        struct tree_node *root = topology_file_tree(reading->tree, experiment->topology_path, reading->errors);
        if (root == NULL || !file_kind_check(root, experiment->topology_path, FILE_KIND_TOPOLOGY, reading->errors)) {
            return NULL;
        }
        entry->value = root;
    }
    if (entry->value->kind != TREE_MAPPING) {
        tree_report(reading->errors, entry->value->place, ERROR_ID_VALUE_TYPE,
                    "`topology` is the name of a file, or a mapping", "`topology` is %s", tree_kind_name(entry->value));
        return NULL;
    }
    return entry->value;
}

/** Reads the connection matrix, for its mistakes and its number of nodes. Its place is the configuration's folder. */
static void check_matrix(const struct reading *reading, const struct contradiction_scope *scope) {
    struct experiment *experiment = reading->experiment;
    file_beside(experiment->matrix_path, sizeof experiment->matrix_path, reading->name, experiment->traffic.matrix);
    struct connection_matrix matrix = {0};
    const uint64_t gpus = scope->topology == NULL ? 0 : topology_check_gpus(&experiment->topology);
    if (flow_file_read(experiment->matrix_path, &matrix, reading->errors) && gpus > 0 && matrix.n_nodes > gpus) {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "traffic.matrix", "gpus_used",
                             "the connection matrix has %u nodes, the cluster %llu GPUs", matrix.n_nodes,
                             (unsigned long long)gpus);
    }
    connection_matrix_fini(&matrix);
}

/** Reads the workload text, for its mistakes and whether it fits. */
static void check_workload(const struct reading *reading, const struct contradiction_scope *scope) {
    struct experiment *experiment = reading->experiment;
    const struct topology *topology = &experiment->topology;
    const uint64_t gpus = scope->topology == NULL ? 0 : topology_check_gpus(topology);
    struct workload_text text = {0};
    file_beside(experiment->workload_path, sizeof experiment->workload_path, reading->name,
                experiment->traffic.workload);
    if (workload_text_read(experiment->workload_path, &text, reading->errors) && gpus > 0 && gpus <= UINT32_MAX) {
        workload_text_check(&text, experiment->workload_path, (uint32_t)gpus,
                            topology->nvlink.gpus == 1 ? 1 : topology->gpus_used, reading->errors);
    }
    workload_text_fini(&text);
}

/** Reads the placement file, for its mistakes and whether it fits. */
static void check_placement(const struct reading *reading, const struct contradiction_scope *scope) {
    struct experiment *experiment = reading->experiment;
    struct experiment_placement *placement = &experiment->placement;
    const uint64_t gpus = scope->topology == NULL ? 0 : topology_check_gpus(&experiment->topology);
    const uint32_t given = experiment->traffic.expert_parallelism;
    const uint64_t job = gpu_groups_count(&experiment->traffic, gpus);
    const struct placement_file_fit fit = {
        .layer = placement->layer, .experts = experiment->model.experts, .ranks = given ? given : (uint32_t)job};
    uint32_t first;
    struct placement_file file = {0};
    file_beside(placement->path, sizeof placement->path, reading->name, placement->file);
    if (placement_file_read(placement->path, &file, reading->errors) && gpus > 0) {
        if (tree_find_path(reading->root, "placement.layer") && placement_file_layer(&file, fit.layer, &first) == 0) {
            contradiction_report(scope, ERROR_ID_PLACEMENT, "placement.layer", "placement.file",
                                 "%.150s has no layer %u (its layers are %u to %u)", placement->path, fit.layer,
                                 file.rows[0].layer, file.rows[file.n_rows - 1].layer);
        } else {
            placement_file_check(&file, &fit, reading->errors);
        }
    }
    placement_file_fini(&file);
}

/** All values, once files and overrides are one tree. */
static void fill(const struct reading *reading, const struct tree_node *topology) {
    struct experiment *experiment = reading->experiment;
    if (topology != NULL) {
        topology_read_node(topology, &experiment->topology, reading->errors);
        memcpy(experiment->topology.path, experiment->topology_path, sizeof experiment->topology.path);
    }
    section_reader_defaults(experiment_keys(), experiment);
    section_reader_read(experiment_keys(), reading->root, experiment, reading->errors);
    experiment_preset_fill(&experiment->model);
    const struct tree_entry *policies = tree_find(reading->root, "policies");
    if (policies != NULL) {
        policy_reader_read(policies->value, experiment, reading->errors);
    }
    const struct tree_entry *failures = tree_find(reading->root, "failures");
    if (failures != NULL) {
        failure_reader_read(failures->value, experiment, reading->errors);
    }
    const struct tree_entry *background = tree_find(reading->root, "background");
    if (background != NULL) {
        background_reader_read(background->value, experiment, reading->errors);
    }
    experiment_places_take(reading->root, experiment);
    const struct contradiction_scope scope = {
        .topology = topology, .experiment = reading->root, .errors = reading->errors};
    if (topology != NULL) {
        design_apply(experiment, &scope);
        topology_check(&experiment->topology, &scope);
    }
    experiment_check(experiment, &scope);
    if (!reading->is_text) {
        gate_check_set_path(&experiment->traffic.routing, reading->name);
    }
    if (experiment->traffic.pattern == EXPERIMENT_PATTERN_CONNECTION_MATRIX && !reading->is_text &&
        experiment->traffic.matrix[0] != '\0') {
        check_matrix(reading, &scope);
    }
    if (experiment->traffic.pattern == EXPERIMENT_PATTERN_WORKLOAD_TEXT && !reading->is_text &&
        experiment->traffic.workload[0] != '\0') {
        check_workload(reading, &scope);
    }
    if (experiment->traffic.pattern == EXPERIMENT_PATTERN_MOE && !reading->is_text &&
        experiment->placement.kind == EXPERIMENT_PLACEMENT_FILE && experiment->placement.file[0] != '\0') {
        check_placement(reading, &scope);
    }
}

/** A setting of the point as one more override, whose place is in the section `sweep`. */
static void add_setting(void *context, const struct sweep_setting *setting) {
    struct reading *reading = context;
    const size_t n = reading->n_overrides + reading->n_settings++;
    reading->overrides = memory_resize(reading->overrides, n + 1, sizeof *reading->overrides);
    struct override *override = &reading->overrides[n];
    *override = (struct override){.place = setting->key_place, .value = setting->value};
    snprintf(override->key, sizeof override->key, "%s", setting->key);
}

/** An override of a key that is swept would be lost. */
static void check_swept(const struct reading *reading, const struct sweep *sweep) {
    char hint[ERROR_MESSAGE_SIZE];
    snprintf(hint, sizeof hint, "change the section: --set '%s%s'", reading->section,
             strcmp(reading->section, "sweep") == 0 ? "={grid: {…}}" : ".grid={…}");
    for (size_t i = 0; i < reading->n_overrides; i++) {
        for (uint32_t a = 0; a < sweep->n_axes; a++) {
            if (strcmp(reading->overrides[i].key, sweep->axes[a]) == 0) {
                tree_report(reading->errors, reading->overrides[i].place, ERROR_ID_SWEEP, hint,
                            "`%.60s` is %s by this configuration", sweep->axes[a],
                            strcmp(reading->section, "sweep") == 0 ? "swept" : "varied");
            }
        }
    }
}

/** Notes the value of its axis, which may come from a place that other points do not set. */
static void label(void *context, const struct sweep_setting *setting) {
    struct experiment_labels *labels = context;
    for (uint32_t axis = 0; axis < labels->n_axes; axis++) {
        if (strcmp(labels->keys[axis], setting->key) == 0) {
            free(labels->values[axis]);
            labels->values[axis] = tree_line(setting->value);
        }
    }
}

static void fill_labels(const struct reading *reading, const struct sweep *sweep) {
    struct experiment_labels *labels = reading->labels;
    *labels = (struct experiment_labels){.n_axes = sweep->n_axes};
    for (uint32_t axis = 0; axis < sweep->n_axes; axis++) {
        snprintf(labels->keys[axis], sizeof labels->keys[axis], "%s", sweep->axes[axis]);
        labels->values[axis] = memory_allocate(1, 1);
    }
    sweep_visit(sweep, *reading->point, label, labels, reading->errors);
}

/** The settings of a point, its seeds among them. */
static void take_point(struct reading *reading, const struct sweep *sweep) {
    char path[32];
    snprintf(path, sizeof path, "%s.seeds", reading->section);
    const struct tree_entry *seeds = tree_find_path(reading->root, path);
    if (seeds != NULL) {
        add_setting(reading, &(struct sweep_setting){"seeds", seeds->key_place, seeds->value});
    }
    sweep_visit(sweep, *reading->point, add_setting, reading, reading->errors);
    if (reading->labels != NULL) {
        fill_labels(reading, sweep);
    }
}

/** A configuration without the section that it is to be a point of. */
static void report_missing(const struct reading *reading) {
    const struct tree_place whole = {.source = reading->root->place.source};
    const bool sweep = strcmp(reading->section, "sweep") == 0;
    tree_report(reading->errors, whole, ERROR_ID_SWEEP,
                sweep ? "add, for example, sweep: {grid: {traffic.tokens_per_gpu: [256, 1024]}}"
                      : "add, for example, size: {all_to_all_p99: 1 ms, grid: {design.oversubscription: [1, 2, 4]}}",
                "the configuration has no section `%s`", reading->section);
}

/** Reads the section `sweep` or `size`, and takes what it says of the point that is asked for. */
static void read_points(struct reading *reading, const char *name, uint64_t *n_points) {
    const struct tree_entry *entry = tree_find(reading->root, name);
    const bool asked = reading->point != NULL && strcmp(reading->section, name) == 0;
    const bool all = reading->point == NULL || *reading->point == 0; /* once is enough */
    struct sweep sweep;
    if (entry == NULL && asked) {
        report_missing(reading);
    }
    if (entry == NULL || !sweep_read(reading->tree, entry->value, name, all, &sweep, reading->errors)) {
        return;
    }
    *n_points = sweep.n_points;
    if (!asked) {
        return;
    }
    check_swept(reading, &sweep);
    if (*reading->point < sweep.n_points) {
        take_point(reading, &sweep);
    } else {
        char hint[ERROR_MESSAGE_SIZE];
        snprintf(hint, sizeof hint, "`moefabric %s --list` lists them", name);
        tree_report(reading->errors, entry->key_place, ERROR_ID_SWEEP, hint,
                    "there is no point %" PRIu64 ": points are numbered from 0 to %" PRIu64, *reading->point,
                    sweep.n_points - 1);
    }
}

/** From a parsed file on. */
static void read_all(struct reading *reading, const char *const *overrides) {
    memset(reading->experiment, 0, sizeof *reading->experiment);
    if (reading->root == NULL) {
        return;
    }
    if (reading->root->kind != TREE_MAPPING) {
        section_reader_read(experiment_keys(), reading->root, reading->experiment, reading->errors);
        return;
    }
    if (!file_kind_check(reading->root, reading->name, FILE_KIND_CONFIGURATION, reading->errors)) {
        return;
    }
    reading->overrides = memory_allocate(reading->n_overrides, sizeof *reading->overrides);
    for (size_t i = 0; i < reading->n_overrides; i++) {
        read_override(reading, overrides[i], &reading->overrides[i]);
    }
    uint64_t sweep_points = 0, size_points = 0;
    apply_overrides(reading, STAGE_SWEEP);
    read_points(reading, "sweep", &sweep_points);
    read_points(reading, "size", &size_points);
    apply_overrides(reading, STAGE_TOPOLOGY);
    struct tree_node *topology = load_topology(reading);
    if (topology != NULL || tree_find(reading->root, "topology") == NULL) {
        apply_overrides(reading, STAGE_BELOW);
    }
    apply_overrides(reading, STAGE_OTHERS);
    fill(reading, topology);
    reading->experiment->sweep.n_points = sweep_points;
    reading->experiment->size.n_points = size_points;
    free(reading->overrides);
}

/** Reads the file of a reading whose other fields are set. */
static bool read_file(struct reading *reading, const char *const *overrides, struct error_list *notes) {
    const unsigned before = reading->errors->count + reading->errors->dropped;
    reading->tree = tree_create();
    reading->root = tree_read(reading->tree, reading->name, reading->errors);
    read_all(reading, overrides);
    const bool good = reading->errors->count + reading->errors->dropped == before;
    if (good && notes != NULL) {
        experiment_unused(reading->experiment, reading->root, notes);
        experiment_doubt(reading->experiment, reading->root, notes);
    }
    tree_free(reading->tree);
    return good;
}

bool experiment_read_noting(const char *path, const char *const *overrides, size_t n, struct experiment *experiment,
                            struct error_list *notes, struct error_list *errors) {
    struct reading reading = {.name = path, .n_overrides = n, .experiment = experiment, .errors = errors};
    return read_file(&reading, overrides, notes);
}

bool experiment_read_point(const char *path, const char *section, const char *const *overrides, size_t n,
                           uint64_t point, struct experiment *experiment, struct experiment_labels *labels,
                           struct error_list *notes, struct error_list *errors) {
    *labels = (struct experiment_labels){0};
    struct reading reading = {.name = path,
                              .n_overrides = n,
                              .point = &point,
                              .section = section,
                              .labels = labels,
                              .experiment = experiment,
                              .errors = errors};
    return read_file(&reading, overrides, notes);
}

void experiment_labels_fini(struct experiment_labels *labels) {
    for (uint32_t axis = 0; axis < labels->n_axes; axis++) {
        free(labels->values[axis]);
    }
    *labels = (struct experiment_labels){0};
}

bool experiment_read(const char *path, const char *const *overrides, size_t n, struct experiment *experiment,
                     struct error_list *errors) {
    return experiment_read_noting(path, overrides, n, experiment, NULL, errors);
}

bool experiment_read_text(const char *name, const char *text, size_t size, const char *const *overrides, size_t n,
                          struct experiment *experiment, struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct tree *tree = tree_create();
    struct reading reading = {
        .name = name, .tree = tree, .n_overrides = n, .experiment = experiment, .errors = errors, .is_text = true};
    reading.root = tree_parse(tree, name, text, size, 0, errors);
    read_all(&reading, overrides);
    tree_free(tree);
    return errors->count + errors->dropped == before;
}

enum exit_code experiment_report(FILE *stream, const struct error_list *errors) {
    enum exit_code exit_code = EXIT_CODE_OK;
    error_list_print(stream, errors);
    for (unsigned i = 0; i < errors->count; i++) {
        if (exit_code == EXIT_CODE_OK || errors->errors[i].exit_code == EXIT_CODE_INPUT_OUTPUT) {
            exit_code = errors->errors[i].exit_code;
        }
    }
    return exit_code;
}
