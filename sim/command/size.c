// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/interrupt.h"
#include "command/size_study.h"
#include "command/size_target.h"
#include "command/spare.h"
#include "command/sweep_point.h"
#include "command/version.h"
#include "results/provenance.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct arguments_grammar command_size_grammar = {
    .command = "size",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_SET | ARGUMENTS_THREADS | ARGUMENTS_LIST | ARGUMENTS_DETAIL |
               ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description =
        "Chooses a cluster from the design space of a configuration's section `size`: counts parts and power of every "
        "design,\nleaves out those beyond a limit, tries the rest by the fluid model and the best of them packet by "
        "packet, and\nprints those that no other one beats in both expense and target, which constraint binds, and "
        "what "
        "the next step buys.\nWith --list the designs and their parts alone; with --detail those that were beaten, "
        "too.",
    .examples = "  moefabric size configs/size-quickstart.yaml\n"
                "  moefabric size configs/size-deepseek-v3.yaml --list\n",
};

enum { LINE_SIZE = 2 * ERROR_MESSAGE_SIZE + ERROR_FILE_SIZE };

/** A call of the command. */
struct call {
    const struct arguments *given;
    struct size_study study;
    struct parts_prices prices;
    struct size_cache cache;
    struct experiment *experiment; /* of the design at hand */
};

static int fail(const struct error *error) {
    error_print(stderr, error);
    return (int)error->exit_code;
}

/* ---- designs ---- */

/* Reads a design; labels may be NULL. */
static bool read_design(const struct call *call, uint64_t number, struct experiment_labels *labels,
                        struct error_list *errors) {
    struct experiment_labels own = {0};
    struct experiment_labels *used = labels != NULL ? labels : &own;
    *errors = (struct error_list){0};
    const bool good = experiment_read_point(call->given->operand, "size", call->given->overrides,
                                            call->given->n_overrides, number, call->experiment, used, NULL, errors);
    if (labels == NULL) {
        experiment_labels_fini(used);
    }
    return good;
}

static void refuse(struct design_figures *design, enum design_state state, const struct error *error) {
    char line[LINE_SIZE];
    design->state = state;
    snprintf(design->why, sizeof design->why, "%.*s", (int)sizeof design->why - 1,
             sweep_point_error(error, line, sizeof line));
}

/* A file that cannot be read says nothing about the design: the search ends. */
static bool is_of_files(const struct error *error) {
    return error->id == ERROR_ID_FILE_UNREADABLE;
}

/* One design. False with *error if nothing more is to be done. */
static bool describe(struct call *call, uint32_t index, struct error *error) {
    struct size_study *study = &call->study;
    struct design_figures *design = &study->designs[index];
    struct experiment_labels labels;
    struct error_list errors;
    const struct parts_prices *prices = study->demand.priced ? &call->prices : NULL;
    *design = (struct design_figures){
        .number = index, .goodput = NAN, .mtbf_s = NAN, .token_s = NAN, .cost = NAN, .memory_bytes = NAN, .watts = NAN};
    const bool good = read_design(call, index, &labels, &errors);
    for (uint32_t a = 0; a < study->n_axes; a++) {
        study->labels[index].values[a] = a < labels.n_axes ? labels.values[a] : NULL;
    }
    if (!good) {
        *error = errors.errors[0];
    }
    if (!good || !size_target_describe(call->experiment, prices, design, error)) {
        if (is_of_files(error)) {
            return false;
        }
        refuse(design, DESIGN_REFUSED, error);
        *error = (struct error){0};
        return true;
    }
    design->limits = front_static_limits(&study->demand, design);
    design->state = design->limits != 0 ? DESIGN_OUTSIDE : DESIGN_FLUID;
    return true;
}

static bool describe_all(struct call *call, struct error *error) {
    struct size_study *study = &call->study;
    study->designs = memory_allocate(study->n_designs, sizeof *study->designs);
    study->labels = memory_allocate(study->n_designs, sizeof *study->labels);
    bool any = false;
    for (uint32_t i = 0; i < study->n_designs; i++) {
        if (!describe(call, i, error)) {
            return false;
        }
        any = any || study->designs[i].state != DESIGN_REFUSED;
    }
    if (!any) {
        struct error_list errors;
        read_design(call, 0, NULL, &errors);
        if (errors.count > 0) {
            *error = errors.errors[0];
            return false;
        }
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_SIZE, "no design can be built: %.300s",
                  study->designs[0].why);
    }
    return any;
}

/* ---- simulation ---- */

static void tell(const struct call *call, const char *how, const char *of, uint32_t done, uint32_t all,
                 const struct design_figures *design) {
    char value[QUANTITY_TEXT_SIZE];
    if (!call->given->quiet) {
        fprintf(stderr, "%s: %" PRIu32 " %s %" PRIu32 ", design %" PRIu64 ": %s\n", how, done, of, all, design->number,
                design->state == DESIGN_FAILED ? design->why
                                               : size_study_value(&call->study, design->value.mean, value));
    }
}

/* One design. False with *error if nothing more is to be done. */
static bool measure(struct call *call, uint32_t index, enum experiment_network_model model, struct error *error) {
    struct design_figures *design = &call->study.designs[index];
    struct error_list errors;
    const struct size_measure how = {.model = model, .threads = call->given->threads, .cache = &call->cache};
    if (!read_design(call, index, NULL, &errors)) {
        *error = errors.errors[0];
        return false;
    }
    if (size_target_measure(call->experiment, &how, design, error)) {
        front_judge(&call->study.demand, design);
        return true;
    }
    if (error->exit_code == EXIT_CODE_INTERRUPTED || is_of_files(error)) {
        return false;
    }
    refuse(design, DESIGN_FAILED, error);
    return true;
}

/* Every design that keeps all limits so far. */
static bool measure_open(struct call *call, struct error *error) {
    struct size_study *study = &call->study;
    uint32_t open = 0, done = 0;
    for (uint32_t i = 0; i < study->n_designs; i++) {
        open += study->designs[i].state == DESIGN_FLUID;
    }
    for (uint32_t i = 0; i < study->n_designs; i++) {
        if (study->designs[i].state != DESIGN_FLUID) {
            continue;
        }
        if (!measure(call, i, EXPERIMENT_NETWORK_FLUID, error)) {
            return false;
        }
        tell(call, "fluid model", "of", ++done, open, &study->designs[i]);
    }
    return true;
}

/* One finalist after the other: what is known of one may settle the next. */
static bool measure_finalists(struct call *call, struct error *error) {
    struct size_study *study = &call->study;
    for (uint32_t done = 0;; done++) {
        const uint32_t next =
            front_finalist(&study->demand, study->designs, study->n_designs, study->size.fluid_error, &study->left);
        if (next == UINT32_MAX || done == study->size.finalists) {
            return true;
        }
        if (!measure(call, next, EXPERIMENT_NETWORK_PACKET, error)) {
            return false;
        }
        tell(call, "packets", "of at most", done + 1, study->size.finalists, &study->designs[next]);
    }
}

static bool simulate(struct call *call, struct error *error) {
    struct size_study *study = &call->study;
    interrupt_listen();
    study->with_packets = study->size.finalists > 0;
    const bool done = measure_open(call, error) && (!study->with_packets || measure_finalists(call, error));
    study->measured = true;
    front_mark(&study->demand, study->designs, study->n_designs, study->with_packets ? DESIGN_PACKETS : DESIGN_FLUID);
    return done;
}

/* ---- the command ---- */

/* The result is called after the configuration, as that of a sweep. */
static void name_output(const struct call *call, char *path, size_t size) {
    if (call->given->output != NULL) {
        snprintf(path, size, "%s", call->given->output);
    } else {
        snprintf(path, size, "%s.h5", call->study.name);
    }
}

static int write_result(const struct call *call, const char *path, struct provenance *provenance, int code) {
    struct error error = {0};
    provenance->threads = call->given->threads;
    provenance->exit_code = code;
    provenance_stop(provenance);
    if (!size_result_write(&call->study, path, &error) || !provenance_write(provenance, path, &error)) {
        return fail(&error);
    }
    if (!call->given->quiet) {
        fprintf(stderr, "result: %s\n", path);
    }
    return code;
}

static void print(const struct call *call) {
    if (call->given->json) {
        size_json_print(stdout, &call->study);
    } else if (call->given->list) {
        size_report_list(stdout, &call->study);
    } else {
        size_report_print(stdout, &call->study, call->given->detail);
    }
    fflush(stdout);
}

/* A contradiction that has no place gets that of the section. */
static void locate(const struct experiment_place *place, struct error *error) {
    if (error->exit_code == EXIT_CODE_CONFIGURATION) {
        experiment_place_blame(place, error);
    }
}

static int run(struct call *call, struct provenance *provenance) {
    struct size_study *study = &call->study;
    struct error error = {0};
    char path[1024];
    name_output(call, path, sizeof path);
    if (!describe_all(call, &error)) {
        locate(&study->size.place, &error);
        return fail(&error);
    }
    if (call->given->list) {
        print(call);
        return EXIT_CODE_OK;
    }
    if (!spare_inputs(call->given->operand, call->experiment, path, "--output", &error) ||
        !file_check_writable(path, &error) || !simulate(call, &error)) {
        return fail(&error);
    }
    print(call);
    if (size_study_best(study) == NULL) {
        size_report_impossible(study, &error);
        locate(&study->size.place, &error);
        return write_result(call, path, provenance, fail(&error));
    }
    return write_result(call, path, provenance, EXIT_CODE_OK);
}

/* What was asked, from the configuration without its design space; prices beside it. */
static bool begin(struct call *call, struct error_list *errors) {
    struct size_study *study = &call->study;
    struct experiment_labels labels;
    struct error_list of_first;
    const struct arguments *given = call->given;
    if (!experiment_read(given->operand, given->overrides, given->n_overrides, call->experiment, errors)) {
        return false;
    }
    study->configuration = given->operand;
    snprintf(study->name, sizeof study->name, "%s", call->experiment->name);
    study->size = call->experiment->size;
    study->target = size_check_target(&study->size);
    study->demand = size_target_demand(call->experiment);
    study->n_designs = (uint32_t)study->size.n_points;
    if (study->n_designs == 0) { // there is no section
        read_design(call, 0, NULL, errors);
        return false;
    }
    if (!read_design(call, 0, &labels, &of_first) && is_of_files(&of_first.errors[0])) {
        *errors = of_first;
        return false;
    }
    study->n_axes = labels.n_axes;
    memcpy(study->axes, labels.keys, sizeof study->axes);
    experiment_labels_fini(&labels);
    if (study->demand.priced) {
        char path[ERROR_FILE_SIZE];
        file_beside(path, sizeof path, given->operand, study->size.prices);
        if (!parts_prices_read(path, &call->prices, errors)) {
            return false;
        }
        snprintf(study->currency, sizeof study->currency, "%s", call->prices.currency);
    }
    return true;
}

static void finish(struct call *call) {
    for (uint32_t i = 0; call->study.labels != NULL && i < call->study.n_designs; i++) {
        for (uint32_t a = 0; a < call->study.n_axes; a++) {
            free(call->study.labels[i].values[a]);
        }
    }
    free(call->study.labels);
    free(call->study.designs);
    free(call->experiment);
    size_cache_fini(&call->cache);
}

int command_size(int n_arguments, char **arguments) {
    struct arguments given;
    struct error_list errors = {0};
    int code;
    if (!arguments_read(&given, &command_size_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    struct provenance provenance = provenance_start(version_number(), n_arguments, arguments);
    provenance.commit = version_commit();
    provenance.compiler = version_compiler();
    struct call *call = memory_allocate(1, sizeof *call);
    call->given = &given;
    call->experiment = memory_allocate(1, sizeof *call->experiment);
    code = begin(call, &errors) ? run(call, &provenance) : (int)experiment_report(stderr, &errors);
    finish(call);
    free(call);
    provenance_free(&provenance);
    return code;
}
