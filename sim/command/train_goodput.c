// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_goodput.h"

#include "base/error_id.h"
#include "base/quantity.h"
#include "base/table.h"
#include "command/interrupt.h"
#include "config/reliability_check.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define NOMINAL_WORK_S (30 * 86400.0) /* where the steps to the target are not known */
#define APART 0.1                     /* ours: expected time ÷ mean of courses, from 1 */
enum { SCALES = 5 };

/* What is worked out for a policy. */
struct figures {
    struct goodput goodput;
    struct goodput_runs runs;
};

double train_goodput_parameters(const struct training_setup *setup) {
    double sum = 0;
    if (setup->recommender != NULL) {
        return recommender_shape_embeddings(setup->recommender) + recommender_shape_dense(setup->recommender);
    }
    for (int kind = 0; kind < MODEL_LAYER_KINDS; kind++) {
        const enum model_layer layer = (enum model_layer)kind;
        const struct model_parameters one = model_shape_parameters(setup->shape, setup->preset, layer);
        sum += model_shape_count(setup->shape, setup->preset, layer) * (one.trained + one.experts);
    }
    return sum;
}

static struct goodput_job job_of(const struct experiment *experiment, const struct training_setup *setup,
                                 double work_s) {
    return (struct goodput_job){.failures = &experiment->training.failures,
                                .checkpoint = &experiment->training.checkpoint,
                                .topology = &experiment->topology,
                                .gpus = setup->groups.gpus,
                                .parameters = train_goodput_parameters(setup),
                                .optimiser_state_bytes = experiment->training.optimiser_state_bytes,
                                .work_s = work_s,
                                .from_start = true,
                                .stop = interrupt_has_come};
}

bool train_goodput_check(const struct experiment *experiment, const struct training_setup *setup, struct error *error) {
    const struct goodput_job job = job_of(experiment, setup, NOMINAL_WORK_S);
    struct goodput goodput;
    return !reliability_check_fails(job.failures) || goodput_fill(&goodput, &job, error);
}

static double work_s(const struct training_setup *setup, const struct train_column *column) {
    return setup->training->steps > 0 ? train_report_run_s(setup->training, &column->mean) : NOMINAL_WORK_S;
}

static const char *text(char *buffer, double seconds) {
    return isfinite(seconds) ? quantity_print_short(buffer, QUANTITY_DURATION, seconds) : "never";
}

static void print_parts(FILE *stream, const struct goodput *goodput) {
    struct table *table = table_create();
    char buffer[QUANTITY_TEXT_SIZE];
    table_column(table, "what fails", TABLE_LEFT);
    table_column(table, "parts", TABLE_RIGHT);
    table_column(table, "MTBF of one", TABLE_RIGHT);
    table_column(table, "of interruptions", TABLE_RIGHT);
    for (int i = 0; i < FAILURE_COMPONENTS; i++) {
        const struct failure_part *part = &goodput->parts[i];
        if (part->per_s > 0 && part->count > 0) {
            table_cell(table, "%s", failure_component_names[i]);
            table_cell(table, "%" PRIu64, part->count);
            table_cell(table, "%s", text(buffer, 1 / part->per_s));
            if (part->interrupts) {
                table_cell(table, "%.1f %%", 100 * (double)part->count * part->per_s * goodput->mtbf_s);
            } else {
                table_cell(table, "routed around");
            }
        }
    }
    table_print(table, stream, 0);
    table_free(table);
}

static void print_head(FILE *stream, const struct experiment *experiment, const struct training_setup *setup,
                       const struct goodput *goodput) {
    static const char *const sources[] = {"its own rates", "rates llama3", "rates rsc1", "rates rsc2"};
    const struct experiment_interruptions *failures = &experiment->training.failures;
    const struct experiment_checkpoint *checkpoint = &experiment->training.checkpoint;
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE], third[QUANTITY_TEXT_SIZE];
    fprintf(stream, "\nfailures    %" PRIu32 " GPUs and %" PRIu32 " warm spares are interrupted every %s (%s)\n",
            setup->groups.gpus, failures->warm_spares, text(first, goodput->mtbf_s), sources[failures->rates]);
    fprintf(stream, "checkpoint  %.4g TB, training stands still for %s", goodput->bytes / 1e12,
            text(first, goodput->cost_s));
    if (goodput->write_s > 0) {
        fprintf(stream, ", good %s later", text(first, goodput->write_s));
    }
    fprintf(stream, "; every %s", text(first, goodput->interval_s));
    if (checkpoint->interval_s > 0) {
        fprintf(stream, " (the optimum is %s)\n\n", text(first, goodput->optimum_s));
    } else {
        fprintf(stream, ", the optimum (estimates: Young %s, Daly %s)\n\n", text(second, goodput->young_s),
                text(third, goodput->daly_s));
    }
}

static void share_row(struct table *table, const char *name, const struct figures *figures, uint32_t n, size_t offset) {
    table_cell(table, "%s", name);
    table_cell(table, "%%");
    for (uint32_t i = 0; i < n; i++) {
        double part_s;
        memcpy(&part_s, (const char *)&figures[i].runs + offset, sizeof part_s);
        table_cell(table, "%.3g", 100 * part_s / figures[i].runs.mean_s);
    }
}

static void time_rows(struct table *table, const struct figures *figures, uint32_t n) {
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    table_cell(table, "expected time to train");
    table_cell(table, "all");
    for (uint32_t i = 0; i < n; i++) {
        table_cell(table, "%s", text(first, figures[i].goodput.expected_s));
    }
    table_cell(table, "mean of %" PRIu32 " courses", figures[0].runs.runs);
    table_cell(table, "95 %% confidence");
    for (uint32_t i = 0; i < n; i++) {
        table_cell(table, "%s ± %.2g %%", text(first, figures[i].runs.mean_s),
                   100 * figures[i].runs.half_width_s / figures[i].runs.mean_s);
    }
    table_cell(table, "90 %% of courses");
    table_cell(table, "from and to");
    for (uint32_t i = 0; i < n; i++) {
        table_cell(table, "%s to %s", text(first, figures[i].runs.fastest_s), text(second, figures[i].runs.slowest_s));
    }
}

static void print_courses(FILE *stream, const struct train_column *columns, const struct figures *figures, uint32_t n) {
    struct table *table = table_create();
    table_column(table, "", TABLE_LEFT);
    table_column(table, "", TABLE_LEFT);
    for (uint32_t i = 0; i < n; i++) {
        table_column(table, columns[i].policy, TABLE_RIGHT);
    }
    table_cell(table, "goodput");
    table_cell(table, "%%");
    for (uint32_t i = 0; i < n; i++) {
        table_cell(table, "%.4g", 100 * figures[i].goodput.goodput);
    }
    time_rows(table, figures, n);
    table_cell(table, "interruptions");
    table_cell(table, "of a course");
    for (uint32_t i = 0; i < n; i++) {
        table_cell(table, "%.4g", figures[i].runs.interruptions);
    }
    share_row(table, "checkpoints", figures, n, offsetof(struct goodput_runs, checkpoint_s));
    share_row(table, "computed again", figures, n, offsetof(struct goodput_runs, lost_s));
    share_row(table, "detection", figures, n, offsetof(struct goodput_runs, detection_s));
    share_row(table, "waiting for a host", figures, n, offsetof(struct goodput_runs, waiting_s));
    share_row(table, "restart", figures, n, offsetof(struct goodput_runs, restart_s));
    fputc('\n', stream);
    table_print(table, stream, 0);
    table_free(table);
}

/* Where the estimate and what was simulated are apart, the reader is told whom to believe. */
static void print_doubt(FILE *stream, const struct figures *figures, uint32_t n) {
    bool apart = false;
    for (uint32_t i = 0; i < n; i++) {
        apart = apart || !(fabs(figures[i].goodput.expected_s / figures[i].runs.mean_s - 1) <= APART);
    }
    if (apart) {
        fprintf(
            stream,
            "spares are scarce: goodput and expected time are estimates, more than %.0f %% off the simulated courses, "
            "which count every repair\n",
            100 * APART);
    }
}

/* A job as long on fewer and more GPUs, with as many spares in proportion, checkpoints at the optimum. */
static bool print_scales(FILE *stream, const struct goodput_job *job, struct error *error) {
    struct table *table = table_create();
    char buffer[QUANTITY_TEXT_SIZE];
    bool done = true;
    table_column(table, "GPUs", TABLE_RIGHT);
    table_column(table, "interrupted every", TABLE_RIGHT);
    table_column(table, "checkpoint every", TABLE_RIGHT);
    table_column(table, "goodput", TABLE_RIGHT);
    table_column(table, "without spares", TABLE_RIGHT);
    for (int i = 0; i < SCALES && done; i++) {
        struct experiment_interruptions failures = *job->failures;
        struct experiment_checkpoint checkpoint = *job->checkpoint;
        struct goodput_job scaled = *job;
        struct goodput with = {0}, without = {0};
        const double factor = exp2(i - SCALES / 2);
        scaled.failures = &failures;
        scaled.checkpoint = &checkpoint;
        scaled.gpus = (uint32_t)fmax(job->gpus * factor, 1);
        checkpoint.interval_s = 0;
        failures.warm_spares =
            (uint32_t)ceil(job->failures->warm_spares * factor / failures.host_gpus) * failures.host_gpus;
        done = goodput_fill(&with, &scaled, error);
        failures.warm_spares = 0;
        done = done && goodput_fill(&without, &scaled, error);
        table_cell(table, "%" PRIu32, scaled.gpus);
        table_cell(table, "%s", text(buffer, with.mtbf_s));
        table_cell(table, "%s", text(buffer, with.interval_s));
        table_cell(table, "%.1f %%", 100 * with.goodput);
        table_cell(table, "%.1f %%", 100 * without.goodput);
    }
    if (done) {
        fputc('\n', stream);
        table_print(table, stream, 0);
    }
    table_free(table);
    return done;
}

static bool check_given(const struct experiment *experiment, const struct goodput *goodput, double longest_s,
                        struct error *error) {
    const struct experiment_place *place = &experiment->training.checkpoint.place;
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    if (experiment->training.checkpoint.interval_s <= longest_s) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
              "training.checkpoint.interval (%s) is longer than all of the training (%s)",
              text(first, experiment->training.checkpoint.interval_s), text(second, longest_s));
    error_hint(error, "0 = the optimum, %s", text(first, goodput->optimum_s));
    return experiment_place_blame(place, error);
}

static bool refuse_endless(const struct goodput_job *job, const struct goodput *goodput, const char *policy,
                           struct error *error) {
    char often[QUANTITY_TEXT_SIZE], outage[QUANTITY_TEXT_SIZE], repair[QUANTITY_TEXT_SIZE];
    error_set(error, EXIT_CODE_LIMIT, ERROR_ID_RUN_LIMIT,
              "%s: training does not come to its end between interruptions: %" PRIu32
              " GPUs are interrupted every %s, %s to detect and restart, %s to repair a host",
              policy, job->gpus, text(often, goodput->mtbf_s),
              text(outage, job->failures->detection_s + job->failures->restart_s),
              text(repair, job->failures->repair_s));
    error_hint(
        error,
        "longer times between failures, more of warm_spares, a shorter restart or repair in `training.failures`");
    return false;
}

bool train_goodput_report(FILE *stream, const struct experiment *experiment, const struct training_setup *setup,
                          const struct train_column *columns, uint32_t n_columns, struct error *error) {
    struct figures figures[EXPERIMENT_COLUMNS];
    if (!reliability_check_fails(&experiment->training.failures)) {
        return true;
    }
    for (uint32_t i = 0; i < n_columns; i++) {
        const struct goodput_job job = job_of(experiment, setup, work_s(setup, &columns[i]));
        if (!goodput_fill(&figures[i].goodput, &job, error) ||
            !check_given(experiment, &figures[i].goodput, job.work_s, error)) {
            return false;
        }
        if (!goodput_simulate(&figures[i].goodput, &job, experiment->seeds[0], &figures[i].runs)) {
            return error_set(error, EXIT_CODE_INTERRUPTED, ERROR_ID_RUN_LIMIT,
                             "interrupted: not all %" PRIu32 " courses of training are simulated", job.failures->runs);
        }
        if (!figures[i].runs.ended) {
            return refuse_endless(&job, &figures[i].goodput, columns[i].policy, error);
        }
    }
    const struct goodput_job job = job_of(experiment, setup, work_s(setup, &columns[0]));
    print_head(stream, experiment, setup, &figures[0].goodput);
    print_parts(stream, &figures[0].goodput);
    print_courses(stream, columns, figures, n_columns);
    print_doubt(stream, figures, n_columns);
    if (setup->training->steps == 0) {
        fprintf(stream, "training.steps is not given: times are those of 30 days of training\n");
    }
    return print_scales(stream, &job, error);
}
