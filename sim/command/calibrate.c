// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/memory.h"
#include "base/table.h"
#include "command/arguments.h"
#include "command/calibrate_file.h"
#include "command/calibrate_fit.h"
#include "command/calibrate_log.h"
#include "command/calibrate_model.h"
#include "command/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double does_not_fit = 0.1; /* of a measured time */

const struct arguments_grammar command_calibrate_grammar = {
    .command = "calibrate",
    .operand = "TOPOLOGY LOG",
    .operand_required = true,
    .more_operands = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_SET | ARGUMENTS_SEED | ARGUMENTS_THREADS,
    .output = "where to write the topology (default: nowhere)",
    .description =
        "Sets figures of a platform from logs, by nonlinear least squares over simulations of their rows, and writes a "
        "topology file\n"
        "that has them:\n\n"
        "  nvlink.usable_fraction   from logs of nccl-tests' alltoall_perf in one node\n"
        "  nic.usable_fraction      from such logs over several nodes\n"
        "  gpu.base_latency         from any\n"
        "  gpu.message_cost         from logs of several nodes with different numbers of ranks\n"
        "  gpu.sm_copy_rate         from logs of DeepEP's tests\n\n"
        "Logs of nccl-tests say how many ranks they are of; nodes of other logs are those of the topology and --set. A "
        "figure whose\n"
        "standard error is above a tenth of it is not determined by the logs, and stays as it is; if none is "
        "determined nothing is\n"
        "written. Rows that are more than 10 % off the fit are named; up to a quarter of all are left out of it.",
    .examples = "  moefabric calibrate topologies/hgx-h100-roce.yaml two-nodes.log four-nodes.log -o mine.yaml\n"
                "  moefabric calibrate topologies/hgx-h200.yaml node.log deepep.log --set cluster.racks=1 --set "
                "'policies=[adaptive+none]'\n",
};

/* How a figure is written, and where it begins if the topology does not have it. */
static const struct figure {
    const char *section, *key, *unit, *wants;
    double unit_size, start;
    bool inverse; /* times grow as it shrinks */
} figures[CALIBRATE_FIGURES] = {
    [CALIBRATE_NVLINK_FRACTION] = {"nvlink", "usable_fraction", "", "a log of one node", 1, 1, true},
    [CALIBRATE_NIC_FRACTION] = {"nic", "usable_fraction", "", "a log of several nodes", 1, 1, true},
    [CALIBRATE_BASE_LATENCY] = {"gpu", "base_latency", "us", "", 1e6, 5e6, false},
    [CALIBRATE_MESSAGE_COST] = {"gpu", "message_cost", "us", "logs of several nodes with different numbers of ranks",
                                1e6, 2e5, false},
    [CALIBRATE_SM_COPY_RATE] = {"gpu", "sm_copy_rate", "GB/s", "a log of DeepEP's tests", 1e9, 1e11, true},
};

#define CONFIDENCE 2 /* standard errors: 95 % */

/** One calibration. */
struct calibration {
    const struct arguments *given;
    struct calibrate_log log;
    struct calibrate_model model;
    enum calibrate_figure sought[CALIBRATE_FIGURES];
    size_t n_sought;
    bool wanted[CALIBRATE_FIGURES]; /* the logs could tell it */
    bool known[CALIBRATE_FIGURES];
    struct calibrate_values start, found;
    double error[CALIBRATE_FIGURES];
    double residual;
    struct error failure; /* of a simulation */
    bool failed;
};

/* Values for multiples of the figures that are sought; of the others the topology's, or what was found before. */
static struct calibrate_values values_of(const struct calibration *this, const double *multiples) {
    struct calibrate_values values = this->start;
    for (size_t i = 0; i < this->n_sought; i++) {
        const enum calibrate_figure figure = this->sought[i];
        values.of[figure] =
            figures[figure].inverse ? values.of[figure] / multiples[i] : values.of[figure] * multiples[i];
    }
    return values;
}

/* No link carries more than its rate. Beyond, a row is said to take as much less as its links would have to be faster: so a search turns back, or ends where check() refuses. */
static double take_within(const struct calibration *this, uint32_t row, struct calibrate_values *values) {
    const int own = calibrate_model_racks(&this->model, row) > 1 ? CALIBRATE_NIC_FRACTION : CALIBRATE_NVLINK_FRACTION;
    const double beyond = fmax(values->of[own], 1);
    for (int i = CALIBRATE_NVLINK_FRACTION; i <= CALIBRATE_NIC_FRACTION; i++) {
        values->of[i] = fmin(values->of[i], 1);
    }
    return beyond;
}

static bool simulate(struct calibration *this, uint32_t row, const struct calibrate_values *values, double *time_us) {
    struct calibrate_values within = *values;
    const double beyond = take_within(this, row, &within);
    if (!calibrate_model_simulate(&this->model, row, &within, time_us, &this->failure)) {
        this->failed = true;
    } else if (isnan(*time_us)) {
        this->failed = true;
        error_set(&this->failure, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                  "a row of the logs (%s, line %u) did not finish in simulation", this->log.rows[row].path,
                  this->log.rows[row].line);
    } else {
        *time_us /= beyond;
    }
    return !this->failed;
}

static bool residuals(void *context, const double *multiples, double *residual) {
    struct calibration *this = context;
    const struct calibrate_values values = values_of(this, multiples);
    size_t n = 0;
    for (uint32_t i = 0; i < this->log.count; i++) {
        const struct calibrate_row *row = &this->log.rows[i];
        double time_us;
        if (!row->odd) {
            if (!simulate(this, i, &values, &time_us)) {
                return false;
            }
            residual[n++] = time_us / row->measured_us - 1;
        }
    }
    return true;
}

/* Which figures rows can tell. */
static void find_wanted(struct calibration *this) {
    uint32_t racks = 0;
    this->wanted[CALIBRATE_BASE_LATENCY] = true;
    for (uint32_t i = 0; i < this->log.count; i++) {
        const uint32_t own = calibrate_model_racks(&this->model, i);
        const bool alltoall = this->log.rows[i].kind == CALIBRATE_ALLTOALL;
        this->wanted[CALIBRATE_SM_COPY_RATE] |= !alltoall;
        this->wanted[CALIBRATE_NVLINK_FRACTION] |= alltoall && own == 1;
        this->wanted[CALIBRATE_NIC_FRACTION] |= alltoall && own > 1;
        if (alltoall && own > 1) {
            this->wanted[CALIBRATE_MESSAGE_COST] |= racks > 0 && own != racks;
            racks = own;
        }
    }
}

/* The row with the fewest SMs, where their rate matters most. */
static uint32_t row_of_fewest_sms(const struct calibration *this) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < this->log.count; i++) {
        const struct calibrate_row *row = &this->log.rows[i];
        if (row->kind != CALIBRATE_ALLTOALL && (best == UINT32_MAX || row->sms < this->log.rows[best].sms)) {
            best = i;
        }
    }
    return best;
}

/* A rate that limits nothing has no influence on times: it begins where it limits too much, within a factor of 2. */
static bool start_rate(struct calibration *this) {
    enum { HALVINGS = 16 };
    const uint32_t row = row_of_fewest_sms(this);
    double *rate = &this->start.of[CALIBRATE_SM_COPY_RATE];
    *rate = figures[CALIBRATE_SM_COPY_RATE].start;
    for (int halving = 0; halving < HALVINGS; halving++) {
        double time_us;
        if (!simulate(this, row, &this->start, &time_us)) {
            return false;
        }
        if (time_us > this->log.rows[row].measured_us) {
            return true;
        }
        *rate /= 2;
    }
    return true;
}

static bool start(struct calibration *this) {
    this->start = this->model.own;
    for (int figure = 0; figure < CALIBRATE_FIGURES; figure++) {
        if (this->wanted[figure]) {
            this->sought[this->n_sought++] = (enum calibrate_figure)figure;
            if (this->start.of[figure] <= 0) {
                this->start.of[figure] = figures[figure].start;
            }
        }
    }
    return !this->wanted[CALIBRATE_SM_COPY_RATE] || start_rate(this);
}

static uint32_t rows_that_fit(const struct calibration *this) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < this->log.count; i++) {
        n += !this->log.rows[i].odd;
    }
    return n;
}

/* Of the rows that were fitted, the one that is farthest off is left out if it does not fit: it may have drawn the others away. At most a quarter of all. */
static bool leave_out_worst(struct calibration *this, const double *residual) {
    const uint32_t left = rows_that_fit(this);
    uint32_t worst = UINT32_MAX;
    double most = does_not_fit;
    size_t n = 0;
    for (uint32_t i = 0; i < this->log.count; i++) {
        if (!this->log.rows[i].odd) {
            const double off = fabs(residual[n++]);
            worst = off > most ? i : worst;
            most = off > most ? off : most;
        }
    }
    if (worst == UINT32_MAX || left <= this->n_sought + 2 || 4 * (this->log.count - left + 1) > this->log.count) {
        return false;
    }
    this->log.rows[worst].odd = true;
    return true;
}

static bool fit(struct calibration *this, struct calibrate_fit_result *result) {
    double *residual = memory_allocate(this->log.count, sizeof(*residual));
    bool good;
    do {
        const struct calibrate_fit_problem problem = {.rows = rows_that_fit(this),
                                                      .figures = this->n_sought,
                                                      .simulate = residuals,
                                                      .context = this,
                                                      .last = residual};
        good = calibrate_fit(&problem, result);
    } while (good && leave_out_worst(this, residual));
    free(residual);
    return good;
}

/* Figures that the rows do not tell stay as the topology has them, and the others are sought again. True if there are such. */
static bool drop_unknown(struct calibration *this, const struct calibrate_fit_result *result) {
    size_t kept = 0;
    for (size_t i = 0; i < this->n_sought; i++) {
        const enum calibrate_figure figure = this->sought[i];
        if (calibrate_fit_known(result, i)) {
            this->sought[kept++] = figure;
        } else {
            this->start.of[figure] = this->model.own.of[figure];
            this->error[figure] = INFINITY;
        }
    }
    const bool dropped = kept < this->n_sought;
    this->n_sought = kept;
    return dropped;
}

static void take(struct calibration *this, const struct calibrate_fit_result *result) {
    this->found = values_of(this, result->multiple);
    this->residual = result->residual;
    for (size_t i = 0; i < this->n_sought; i++) {
        const enum calibrate_figure figure = this->sought[i];
        this->known[figure] = true;
        this->error[figure] = this->found.of[figure] * result->error[i] / result->multiple[i];
        const bool fraction = figure == CALIBRATE_NVLINK_FRACTION || figure == CALIBRATE_NIC_FRACTION;
        if (fraction && this->found.of[figure] < 1 + CONFIDENCE * this->error[figure]) {
            this->found.of[figure] = fmin(this->found.of[figure], 1); // it may be 1
        }
    }
}

/* Times of all rows under what was found. */
static bool find_times(struct calibration *this) {
    for (uint32_t i = 0; i < this->log.count; i++) {
        if (!simulate(this, i, &this->found, &this->log.rows[i].fitted_us)) {
            return false;
        }
    }
    return true;
}

/* Fits until all figures that are left are determined. */
static bool fit_known(struct calibration *this) {
    struct calibrate_fit_result result;
    while (this->n_sought > 0) {
        if (!fit(this, &result)) {
            return false;
        }
        if (!drop_unknown(this, &result)) {
            take(this, &result);
            return true;
        }
    }
    return false;
}

static void sms_cell(struct table *table, uint32_t sms) {
    char text[16] = "";
    if (sms > 0) {
        snprintf(text, sizeof text, "%" PRIu32, sms);
    }
    table_cell(table, "%s", text);
}

static void print_rows(const struct calibration *this) {
    struct table *table = table_create();
    table_column(table, "log, line", TABLE_LEFT);
    table_column(table, "", TABLE_LEFT);
    table_column(table, "size or tokens", TABLE_RIGHT);
    table_column(table, "SMs", TABLE_RIGHT);
    table_column(table, "measured, us", TABLE_RIGHT);
    table_column(table, "fitted, us", TABLE_RIGHT);
    table_column(table, "error, %", TABLE_RIGHT);
    table_column(table, "", TABLE_LEFT);
    for (uint32_t i = 0; i < this->log.count; i++) {
        const struct calibrate_row *row = &this->log.rows[i];
        const double error = row->fitted_us / row->measured_us - 1;
        table_cell(table, "%s:%u", row->path, row->line);
        table_cell(table, "%s", calibrate_log_kind_name(row->kind));
        table_cell(table, "%" PRIu64, row->size);
        sms_cell(table, row->sms);
        table_cell(table, "%.2f", row->measured_us);
        table_cell(table, "%.2f", row->fitted_us);
        table_cell(table, "%+.1f", 100 * error);
        table_cell(table, "%s", fabs(error) > does_not_fit ? row->odd ? "does not fit, left out" : "does not fit" : "");
    }
    table_print(table, stdout, 2);
    table_free(table);
}

static void print_figures(const struct calibration *this) {
    printf("\nresidual %.1f %% (root mean square)\n", 100 * this->residual);
    for (int i = 0; i < CALIBRATE_FIGURES; i++) {
        const struct figure *figure = &figures[i];
        char name[64];
        snprintf(name, sizeof name, "%s.%s", figure->section, figure->key);
        printf("%-24s", name);
        if (!this->wanted[i]) {
            printf("stays as it is: it takes %s to tell it\n", figure->wants);
        } else if (!this->known[i]) {
            printf("stays as it is: not determined by these logs\n");
        } else {
            printf("%.4g ± %.2g %s\n", this->found.of[i] / figure->unit_size, this->error[i] / figure->unit_size,
                   figure->unit);
        }
    }
}

static bool check(const struct calibration *this, struct error *error) {
    for (int i = CALIBRATE_NVLINK_FRACTION; i <= CALIBRATE_NIC_FRACTION; i++) {
        if (this->known[i] && this->found.of[i] > 1) {
            error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG, this->log.rows[0].path,
                           "the logs are faster than the links of this topology: %s.%s would be %.2f",
                           figures[i].section, figures[i].key, this->found.of[i]);
            error_hint(error, "at most 1: another topology, or another number of GPUs or racks (--set cluster.racks)");
            return false;
        }
    }
    return true;
}

static bool write_topology(const struct calibration *this, struct error *error) {
    struct calibrate_change changes[CALIBRATE_FIGURES];
    size_t n = 0;
    for (int i = 0; i < CALIBRATE_FIGURES; i++) {
        const struct figure *figure = &figures[i];
        if (this->known[i]) {
            changes[n] = (struct calibrate_change){.section = figure->section, .key = figure->key};
            snprintf(changes[n].value, sizeof changes[n].value, "%.4g%s%s # calibrated",
                     this->found.of[i] / figure->unit_size, figure->unit[0] != '\0' ? " " : "", figure->unit);
            n++;
        }
    }
    if (this->given->output == NULL) {
        return true;
    }
    if (!calibrate_file_write(this->model.experiments[0]->topology.path, this->given->output, changes, n, error)) {
        return false;
    }
    printf("\n%s has these figures; runs use those of section gpu under traffic.kernel: platform\n",
           this->given->output);
    return true;
}

static bool calibrate(struct calibration *this, struct error *error) {
    find_wanted(this);
    const bool good = start(this) && fit_known(this) && find_times(this);
    if (this->failed) {
        *error = this->failure;
        return false;
    }
    if (!good) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_LOG, "the logs do not determine any figure");
        error_hint(error, "more rows than figures, from sizes that latency decides to ones that the rate decides");
        return false;
    }
    print_rows(this);
    print_figures(this);
    return check(this, error) && write_topology(this, error);
}

static bool read_logs(struct calibration *this, struct error *error) {
    const struct arguments *given = this->given;
    if (given->n_operands < 2) {
        return error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "a topology file and a log or more are needed");
    }
    for (uint32_t i = 1; i < given->n_operands; i++) {
        if (!calibrate_log_read(&this->log, given->operands[i], error)) {
            return false;
        }
    }
    return true;
}

int command_calibrate(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_calibrate_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    code = EXIT_CODE_OK;
    struct calibration this = {.given = &given};
    bool done = read_logs(&this, &error);
    if (done) {
        this.model = (struct calibrate_model){.given = &given, .topology = given.operands[0], .log = &this.log};
        done = !calibrate_model_init(&this.model, &code) || calibrate(&this, &error);
    }
    if (!done) {
        error_print(stderr, &error);
        code = (int)error.exit_code;
    }
    calibrate_model_fini(&this.model);
    calibrate_log_fini(&this.log);
    return code;
}
