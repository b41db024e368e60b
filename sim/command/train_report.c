// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_report.h"

#include "base/quantity.h"
#include "training/training_memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PS_PER_S 1e12
#define SEEN_SHARE 5e-4 /* of what four digits show */

static double seconds(uint64_t ps) {
    return (double)ps / PS_PER_S;
}

static uint32_t sequence_of(const struct training_setup *setup) {
    return setup->training->sequence_tokens ? setup->training->sequence_tokens : setup->preset->sequence_tokens;
}

struct train_figures train_report_figures(const struct training_setup *setup, const struct training_result *result) {
    struct train_figures figures = {.step_s = seconds(result->step_ps),
                                    .gathered_s = seconds(result->gather_ps),
                                    .evaluation_s = seconds(result->evaluation_ps),
                                    .overhead_s = seconds(setup->training->step_overhead_ps + result->optimiser_ps),
                                    .imbalance = result->imbalance};
    for (uint32_t stage = 0; stage < result->n_stages; stage++) {
        const struct pipeline_stage_time *time = &result->stages[stage];
        figures.computing_s += seconds(time->compute_ps) / result->n_stages;
        figures.exposed_s += seconds(time->exposed_ps) / result->n_stages;
        figures.hidden_s += (seconds(time->network_ps) - seconds(time->exposed_ps)) / result->n_stages;
        figures.waiting_s += seconds(time->waiting_ps) / result->n_stages;
        figures.gradients_s += seconds(time->exposed_gradients_ps) / result->n_stages;
    }
    const double tokens = (double)setup->training->global_batch * sequence_of(setup);
    figures.tokens_per_s_gpu = tokens / figures.step_s / setup->groups.gpus;
    figures.tflops_per_gpu = result->operations / figures.step_s / setup->groups.gpus / 1e12;
    return figures;
}

double train_report_run_s(const struct experiment_training *training, const struct train_figures *figures) {
    return figures->step_s * training->steps + figures->evaluation_s * (training->steps / training->evaluation_every);
}

/* "embedding, 3 dense, 58 with experts": what a part holds. */
static void print_part(FILE *stream, const struct training_setup *setup, uint32_t first, uint32_t end) {
    static const char *const names[MODEL_LAYER_KINDS] = {"embedding", "dense", "with experts", "prediction layer",
                                                         "logits"};
    const char *separator = "";
    for (int kind = 0, begin = 0; kind < MODEL_LAYER_KINDS; kind++) {
        const int count = (int)model_shape_count(setup->shape, setup->preset, (enum model_layer)kind);
        const int low = begin > (int)first ? begin : (int)first;
        const int high = begin + count < (int)end ? begin + count : (int)end;
        if (high > low && (kind == MODEL_LAYER_DENSE || kind == MODEL_LAYER_MOE)) {
            fprintf(stream, "%s%d %s", separator, high - low, names[kind]);
        } else if (high > low) {
            fprintf(stream, "%s%s", separator, names[kind]);
        }
        separator = high > low ? " + " : separator;
        begin += count;
    }
}

static enum model_layer kind_of(const struct training_setup *setup, uint32_t layer) {
    return model_shape_kind(setup->shape, setup->preset, layer);
}

/* Past the parts that hold as many layers of one kind as this. */
static uint32_t same_until(const struct training_setup *setup, const struct pipeline_layout *layout, uint32_t part) {
    const uint32_t *first = layout->first;
    const enum model_layer kind = kind_of(setup, first[part]);
    uint32_t end = part + 1;
    while (end < layout->n_parts && kind_of(setup, first[part + 1] - 1) == kind &&
           first[end + 1] - first[end] == first[part + 1] - first[part] && kind_of(setup, first[end]) == kind &&
           kind_of(setup, first[end + 1] - 1) == kind) {
        end++;
    }
    return end;
}

static void print_memory(FILE *stream, const struct training_setup *setup, const struct training_memory *memory) {
    fprintf(stream,
            "memory    %.1f of %.0f GB a GPU: weights %.1f, gradients %.1f, optimiser %.1f, activations %.1f of %.0f "
            "passes on the way%s\n",
            training_memory_sum(memory) / 1e9, setup->gpu->memory_gb, memory->weights / 1e9, memory->gradients / 1e9,
            memory->optimiser / 1e9, memory->activations / 1e9, memory->passes,
            training_memory_sum(memory) > setup->gpu->memory_gb * 1e9 ? ": MORE THAN IT HAS" : "");
}

void train_report_layout(FILE *stream, const struct training_setup *setup, const struct training_result *result) {
    const struct training_groups *groups = &setup->groups;
    fprintf(stream,
            "training  %s on %" PRIu32 " %s: tensor %" PRIu32 " × context %" PRIu32 " × data %" PRIu32
            " × pipeline %" PRIu32,
            setup->preset->name, groups->gpus, setup->gpu->name, groups->tensor, groups->context, groups->data,
            groups->pipeline);
    if (setup->preset->experts > 0) {
        fprintf(stream, ", experts over %" PRIu32 " GPUs in %" PRIu32 " %s", groups->expert, groups->expert_data,
                groups->expert_data == 1 ? "copy" : "copies");
    }
    fprintf(stream, "\ndomains   of %" PRIu32 " GPUs, %" PRIu32 " of a stage%s\n", groups->gpus_per_domain,
            groups->stage_in_domain,
            groups->pipeline == 1        ? ""
            : groups->pipeline_in_domain ? "; stages reach each other by NVLink"
                                         : "; stages reach each other by NICs");
    fprintf(stream,
            "step      %" PRIu32 " sequences of %" PRIu32 " tokens: %" PRIu32 " micro-batches of %" PRIu32
            " tokens a GPU; model %.1f PFLOP a step\n",
            setup->training->global_batch, sequence_of(setup), groups->micro_batches, groups->tokens,
            result->operations / 1e15);
    print_memory(stream, setup, &result->memory);
    fprintf(stream, "stages    ");
    for (uint32_t part = 0, end; part < result->layout.n_parts; part = end) {
        end = same_until(setup, &result->layout, part);
        fprintf(stream, part > 0 ? " | " : "");
        if (end - part > 1) {
            fprintf(stream, "%" PRIu32 " × ", end - part);
        }
        print_part(stream, setup, result->layout.first[part], result->layout.first[part + 1]);
    }
    fprintf(stream, "\n          busiest stage is busy %.1f %% longer than the mean, exposed communication counted\n\n",
            100 * (result->imbalance - 1));
}

static void row(struct table *table, const char *name, const char *unit, const struct train_column *columns, uint32_t n,
                double (*value)(const struct train_column *)) {
    char number[QUANTITY_TEXT_SIZE];
    table_cell(table, "%s", name);
    table_cell(table, "%s", unit);
    for (uint32_t i = 0; i < n; i++) {
        table_cell(table, "%s", quantity_print_number(number, value(&columns[i])));
    }
}

static double load(const struct train_column *column) {
    return column->exchange.expert_load;
}
static double share(const struct train_column *column, double part_s) {
    return 100 * part_s / column->mean.step_s;
}
static double computing(const struct train_column *column) {
    return share(column, column->mean.computing_s);
}
static double exposed(const struct train_column *column) {
    return share(column, column->mean.exposed_s);
}
static double waiting(const struct train_column *column) {
    return share(column, column->mean.waiting_s);
}
static double gradients(const struct train_column *column) {
    return share(column, column->mean.gradients_s);
}
static double rest(const struct train_column *column) {
    return share(column, column->mean.gathered_s + column->mean.overhead_s);
}
static double hidden(const struct train_column *column) {
    const double all_s = column->mean.hidden_s + column->mean.exposed_s;
    return all_s > 0 ? 100 * column->mean.hidden_s / all_s : 100;
}
static double hidden_in_pairs(const struct train_column *column) {
    return 100 * column->mean.pair_hidden_share;
}
static double tokens(const struct train_column *column) {
    return column->mean.tokens_per_s_gpu;
}
static double tflops(const struct train_column *column) {
    return column->mean.tflops_per_gpu;
}

static double evaluation(const struct train_column *column) {
    return column->mean.evaluation_s;
}

/* Of a layer with experts. */
static void exchange_rows(struct table *table, const struct train_column *columns, uint32_t n_columns) {
    char number[QUANTITY_TEXT_SIZE];
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        table_cell(table, "%s", training_phase_names[phase]);
        table_cell(table, "us");
        for (uint32_t i = 0; i < n_columns; i++) {
            table_cell(table, "%s", quantity_print_number(number, (double)columns[i].exchange.phase_ps[phase] / 1e6));
        }
    }
    row(table, "busiest GPU's expert load", "× mean", columns, n_columns, load);
}

void train_report_table(FILE *stream, const struct training_setup *setup, const struct train_column *columns,
                        uint32_t n_columns, uint32_t seeds) {
    struct table *table = table_create();
    table_column(table, "", TABLE_LEFT);
    table_column(table, "", TABLE_LEFT);
    for (uint32_t i = 0; i < n_columns; i++) {
        table_column(table, columns[i].policy, TABLE_RIGHT);
    }
    table_cell(table, "step time");
    table_cell(table, "s");
    for (uint32_t i = 0; i < n_columns; i++) {
        const struct train_column *column = &columns[i];
        if (seeds > 1 && column->most_step_s - column->least_step_s > SEEN_SHARE * column->mean.step_s) {
            table_cell(table, "%.4g (%.4g–%.4g)", column->mean.step_s, column->least_step_s, column->most_step_s);
        } else {
            table_cell(table, "%.4g", column->mean.step_s);
        }
    }
    const bool layers = setup->recommender == NULL;
    row(table, layers ? "tokens" : "samples", "per s and GPU", columns, n_columns, tokens);
    row(table, "model operations", "TFLOPS per GPU", columns, n_columns, tflops);
    row(table, "computing", "% of the step", columns, n_columns, computing);
    row(table, layers ? "exposed communication of layers" : "exposed communication of tables", "%", columns, n_columns,
        exposed);
    if (layers) {
        row(table, "waiting for other stages", "%", columns, n_columns, waiting);
    }
    row(table, "exposed gradients", "%", columns, n_columns, gradients);
    row(table, "optimiser, parameters, overhead", "%", columns, n_columns, rest);
    row(table, layers ? "hidden communication of layers" : "hidden communication of tables", "% of it", columns,
        n_columns, hidden);
    if (setup->preset->experts > 0 && setup->training->schedule == EXPERIMENT_SCHEDULE_1F1B_OVERLAP) {
        row(table, "… of exchanges, in pairs of passes", "% of them", columns, n_columns, hidden_in_pairs);
    }
    if (setup->preset->experts > 0) {
        exchange_rows(table, columns, n_columns);
    }
    if (setup->training->evaluation_batch > 0) {
        row(table, "evaluation", "s", columns, n_columns, evaluation);
    }
    if (setup->training->steps > 0) {
        char text[QUANTITY_TEXT_SIZE];
        table_cell(table, "time to train");
        table_cell(table, "no failures");
        for (uint32_t i = 0; i < n_columns; i++) {
            const double run_s = train_report_run_s(setup->training, &columns[i].mean);
            table_cell(table, "%s", quantity_print_short(text, QUANTITY_DURATION, run_s));
        }
    }
    table_print(table, stream, 0);
    table_free(table);
}

void train_report_changed_cell(struct table *table, const struct train_column *column, double step_s) {
    const double less = 100 * (1 - step_s / column->mean.step_s);
    table_cell(table, "%.4g s (%s%.1f %%)", step_s, less < 0 ? "+" : "−", fabs(less));
}

/* What is taken away. */
enum cause { CAUSE_SKEW, CAUSE_EXCHANGE, CAUSE_LAUNCH, CAUSE_GAPS, CAUSE_GRADIENTS, CAUSES };

static bool step_without(const struct training_setup *as_it_is, enum cause cause, double *step_s, struct error *error) {
    struct experiment_training training = *as_it_is->training;
    struct training_setup changed = *as_it_is;
    struct training_result result;
    changed.training = &training;
    switch (cause) {
    case CAUSE_SKEW:
        changed.exchange.expert_load = 1;
        break;
    case CAUSE_EXCHANGE:
        memset(changed.exchange.phase_ps, 0, sizeof changed.exchange.phase_ps);
        break;
    case CAUSE_LAUNCH:
        training.cuda_graphs = true;
        break;
    case CAUSE_GAPS:
        training.kernel_gap_ps = 0;
        break;
    default:
        changed.free_gradients = true;
    }
    if (!training_step(&changed, NULL, NULL, &result, error)) {
        return false;
    }
    *step_s = seconds(result.step_ps);
    training_result_fini(&result);
    return true;
}

static bool can_be(const struct training_setup *setup, enum cause cause) {
    switch (cause) {
    case CAUSE_SKEW:
        return setup->preset->experts > 0;
    case CAUSE_EXCHANGE:
        return setup->preset->experts > 0 || setup->recommender != NULL;
    case CAUSE_LAUNCH:
        return !setup->training->cuda_graphs;
    case CAUSE_GAPS:
        return setup->recommender == NULL && setup->training->kernel_gap_ps > 0 &&
               setup->training->kernels_per_layer > 0;
    default:
        return true;
    }
}

/* The step of a column without each cause, its layers where they are. Writes NAN for causes that cost nothing now. */
static bool steps_without(const struct training_setup *setup, const struct train_column *column, double *steps_s,
                          struct error *error) {
    struct training_setup as_it_is = *setup;
    struct training_result result;
    as_it_is.exchange = column->exchange;
    if (!training_step(&as_it_is, NULL, NULL, &result, error)) {
        return false;
    }
    bool done = true;
    as_it_is.layout = &result.layout;
    for (int cause = 0; cause < CAUSES && done; cause++) {
        steps_s[cause] = NAN;
        if (can_be(setup, (enum cause)cause)) {
            done = step_without(&as_it_is, (enum cause)cause, &steps_s[cause], error);
        }
    }
    training_result_fini(&result);
    return done;
}

bool train_report_causes(FILE *stream, const struct training_setup *setup, const struct train_column *columns,
                         uint32_t n_columns, struct error *error) {
    static const char *const names[CAUSES] = {"busiest GPU's experts as the mean", "exchanges in no time",
                                              "launches in no time", "kernels without gaps",
                                              "gradients and parameters in no time"};
    double steps_s[EXPERIMENT_COLUMNS][CAUSES];
    struct table *table = table_create();
    bool done = true;
    table_column(table, "step time if", TABLE_LEFT);
    for (uint32_t i = 0; i < n_columns && done; i++) {
        table_column(table, columns[i].policy, TABLE_RIGHT);
        done = steps_without(setup, &columns[i], steps_s[i], error);
    }
    for (int cause = 0; cause < CAUSES && done; cause++) {
        if (isnan(steps_s[0][cause])) {
            continue;
        }
        table_cell(table, "%s", names[cause]);
        for (uint32_t i = 0; i < n_columns; i++) {
            train_report_changed_cell(table, &columns[i], steps_s[i][cause]);
        }
    }
    if (done) {
        fputc('\n', stream);
        table_print(table, stream, 0);
    }
    table_free(table);
    return done;
}
