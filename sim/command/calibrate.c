// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "command/arguments.h"
#include "command/calibrate_file.h"
#include "command/calibrate_fit.h"
#include "command/command.h"
#include "command/perf_log.h"
#include "command/simulation.h"
#include "config/experiment_file.h"
#include "fabric/builder.h"
#include "results/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double slower = 0.8; /* share of the usable fraction at which every size is simulated a second time */

const struct arguments_grammar command_calibrate_grammar = {
    .command = "calibrate",
    .operand = "TOPOLOGY LOG",
    .operand_required = true,
    .more_operands = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_SET | ARGUMENTS_SEED | ARGUMENTS_THREADS,
    .output = "where to write the topology (default: none is written)",
    .description =
        "Sets figures of a platform from a log of nccl-tests' alltoall_perf, by least squares, and writes a topology "
        "file "
        "that has them:\n\n"
        "  nvlink.usable_fraction (one node), or nic.usable_fraction (several)\n"
        "  gpu.base_latency\n\n"
        "Every size of the log is simulated twice, with ideal kernels: so it is known what the way takes, and what the "
        "rate "
        "of its bottleneck\n"
        "divides. A figure whose standard error is above a tenth of it is not determined by the log, and stays as it "
        "is; if "
        "none is\n"
        "determined nothing is written. Rows that are more than 10 % off the fit are marked. What takes a part of "
        "base_latency "
        "in each\n"
        "message (gpu.message_cost) cannot be told from it by one number of ranks, nor can SM rates by an all-to-all.",
    .examples = "  moefabric calibrate topologies/hgx-h100-roce.yaml alltoall.log --set cluster.racks=2 -o mine.yaml\n"
                "  moefabric calibrate topologies/hgx-h200.yaml node.log --set cluster.racks=1 --set "
                "'policies=[adaptive+none]'\n",
};

/** One calibration. */
struct calibration {
    const struct arguments *given;
    const char *topology, *log_path;
    struct perf_log log;
    struct experiment *experiment; /**< of the all-to-all; its bytes are set for each size */
    bool one_node;
    struct calibrate_row *rows;
    struct calibrate_figures figures;
};

static bool read_experiment(struct calibration *this, int *exit_code) {
    static const char *const fixed[] = {"traffic.kernel=ideal"};
    const struct arguments *given = this->given;
    const char *overrides[ARGUMENTS_OVERRIDES + 1];
    char text[1024];
    struct error_list errors = {0};
    memcpy(overrides, given->overrides, given->n_overrides * sizeof overrides[0]);
    overrides[given->n_overrides] = fixed[0];
    const int size = snprintf(
        text, sizeof text,
        "name: calibrate\npolicies: [ecmp+dcqcn]\ntopology: \"%s\"\ntraffic: {pattern: all_to_all}\n", this->topology);
    if (size < 0 || (size_t)size >= sizeof text || strpbrk(this->topology, "\"\\") != NULL) {
        fprintf(stderr, "%s: this name of a topology cannot be used\n", this->topology);
        *exit_code = EXIT_CODE_USAGE;
        return false;
    }
    this->experiment = memory_allocate(1, sizeof *this->experiment);
    if (!experiment_read_text("calibrate", text, (size_t)size, overrides, given->n_overrides + 1, this->experiment,
                              &errors)) {
        *exit_code = (int)experiment_report(stderr, &errors);
        return false;
    }
    if (given->has_seed) {
        this->experiment->seeds[0] = given->seed;
    }
    this->one_node = this->experiment->topology.racks == 1;
    return true;
}

static double *fraction_of(const struct calibration *this, struct experiment *experiment) {
    return this->one_node ? &experiment->topology.nvlink.usable_fraction : &experiment->topology.nic.usable_fraction;
}

/* Time of the all-to-all at a share of the usable fraction; NAN if it did not finish. False if it could not start. */
static bool simulate(const struct calibration *this, uint64_t size_bytes, double share, double *time_us,
                     struct error *error) {
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    *experiment = *this->experiment;
    const uint64_t ranks = (uint64_t)experiment->topology.racks * experiment->topology.gpus_used;
    experiment->traffic.bytes = size_bytes / ranks > 0 ? size_bytes / ranks : 1;
    *fraction_of(this, experiment) *= share;
    struct fabric *fabric = fabric_build(&experiment->topology, error);
    const struct simulation simulation = {.experiment = experiment,
                                          .policy = &experiment->policies[0],
                                          .fabric = fabric,
                                          .seed = experiment->seeds[0],
                                          .threads = this->given->threads};
    struct measurement *measurement = fabric != NULL ? simulation_run(&simulation, error) : NULL;
    if (measurement != NULL) {
        struct summary *summary = summary_create(measurement);
        *time_us = measurement->outcome == MEASUREMENT_FINISHED ? summary->phases[0].time_ps / 1e6 : NAN;
        summary_free(summary);
    }
    const bool done = measurement != NULL;
    measurement_free(measurement);
    fabric_free(fabric);
    free(experiment);
    return done;
}

/* time = way + wire ÷ share, at two shares. */
static bool simulate_row(const struct calibration *this, uint32_t index, struct error *error) {
    struct calibrate_row *row = &this->rows[index];
    double whole_us = NAN, slow_us = NAN;
    if (!simulate(this, this->log.rows[index].bytes, 1, &whole_us, error) ||
        !simulate(this, this->log.rows[index].bytes, slower, &slow_us, error)) {
        return false;
    }
    if (isnan(whole_us) || isnan(slow_us)) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "an all-to-all of %" PRIu64 " bytes did not finish in simulation",
                         this->log.rows[index].bytes);
    }
    *row = (struct calibrate_row){.measured_us = this->log.rows[index].time_us,
                                  .wire_us = (slow_us - whole_us) / (1 / slower - 1)};
    row->way_us = whole_us - row->wire_us;
    return true;
}

static double fraction_found(const struct calibration *this) {
    return *fraction_of(this, this->experiment) / this->figures.stretch;
}

static void print_rows(const struct calibration *this) {
    printf("# %12s %12s %12s %8s\n# %12s %12s %12s %8s\n", "size", "measured", "fitted", "error", "(B)", "(us)", "(us)",
           "(%)");
    for (uint32_t i = 0; i < this->log.count; i++) {
        const struct calibrate_row *row = &this->rows[i];
        const double error = 100 * (row->fitted_us / row->measured_us - 1);
        printf("  %12" PRIu64 " %12.2f %12.2f %+8.1f%s\n", this->log.rows[i].bytes, row->measured_us, row->fitted_us,
               error, fabs(error) > 10 ? "  does not fit" : "");
    }
}

static void print_figures(const struct calibration *this) {
    const struct calibrate_figures *figures = &this->figures;
    const double fraction = fraction_found(this);
    printf("\nresidual %.1f %% (root mean square)\n", 100 * figures->residual);
    printf("%s.usable_fraction  %.4f ± %.4f%s\n", this->one_node ? "nvlink" : "nic", fraction,
           fraction * figures->stretch_error / figures->stretch,
           figures->stretch_known ? "" : "  not determined by this log: stays as it is");
    printf("gpu.base_latency        %.3f us ± %.3f us%s\n", figures->base_us, figures->base_error_us,
           figures->base_known ? "" : "  not determined by this log: stays as it is");
    puts("gpu.message_cost        not told apart from base_latency by one number of ranks");
    puts("gpu.sm_copy_rate        not told by an all-to-all");
}

static bool check(const struct calibration *this, struct error *error) {
    if (this->figures.stretch_known && fraction_found(this) > 1) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG,
                         "the log is faster than the links of this topology: a usable fraction of %.2f",
                         fraction_found(this));
    }
    return true;
}

static bool write_topology(const struct calibration *this, struct error *error) {
    const struct calibrate_figures *figures = &this->figures;
    struct calibrate_change changes[2];
    size_t n = 0;
    if (figures->stretch_known) {
        changes[n] = (struct calibrate_change){.section = this->one_node ? "nvlink" : "nic", .key = "usable_fraction"};
        snprintf(changes[n].value, sizeof changes[n].value, "%.4f # calibrated", fraction_found(this));
        n++;
    }
    if (figures->base_known) {
        changes[n] = (struct calibrate_change){.section = "gpu", .key = "base_latency"};
        snprintf(changes[n].value, sizeof changes[n].value, "%.0f ns # calibrated", figures->base_us * 1e3);
        n++;
    }
    if (this->given->output == NULL) {
        return true;
    }
    if (!calibrate_file_write(this->experiment->topology.path, this->given->output, changes, n, error)) {
        return false;
    }
    printf("\n%s has these figures; runs use those of section gpu under traffic.kernel: platform\n",
           this->given->output);
    return true;
}

static bool calibrate(struct calibration *this, struct error *error) {
    this->rows = memory_allocate(this->log.count, sizeof *this->rows);
    for (uint32_t i = 0; i < this->log.count; i++) {
        if (!simulate_row(this, i, error)) {
            return false;
        }
    }
    if (!calibrate_fit(this->rows, this->log.count, &this->figures)) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG, "%s does not determine any figure", this->log_path);
        error_hint(error, "at least 4 sizes, from ones that latency decides to ones that the rate decides");
        return false;
    }
    print_rows(this);
    print_figures(this);
    return check(this, error) && write_topology(this, error);
}

int command_calibrate(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_calibrate_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    code = EXIT_CODE_OK;
    struct calibration this = {.given = &given, .topology = given.operands[0]};
    bool done = given.n_operands == 2 ||
                error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "one topology file and one log are needed");
    if (done) {
        this.log_path = given.operands[1];
        done = perf_log_read(this.log_path, &this.log, &error);
    }
    if (done && read_experiment(&this, &code)) {
        done = calibrate(&this, &error);
    }
    if (!done) {
        error_print(stderr, &error);
        code = (int)error.exit_code;
    }
    free(this.rows);
    free(this.experiment);
    perf_log_free(&this.log);
    return code;
}
