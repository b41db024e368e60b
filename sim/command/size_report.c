// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"
#include "base/quantity.h"
#include "base/table.h"
#include "command/size_study.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_S 1e12

enum { SETTINGS_SIZE = 512 };

const char *const size_study_target_words[SIZE_TARGETS] = {"step time", "time to train", "tokens a second",
                                                           "all-to-all p99", "tokens a second and GPU"};
static const char *const limit_words[DESIGN_LIMITS] = {"the target", "power",      "racks",
                                                       "the budget", "GPU memory", "the time of an output token"};

/* ---- words ---- */

const struct design_figures *size_study_best(const struct size_study *study) {
    const uint32_t best = front_cheapest(&study->demand, study->designs, study->n_designs);
    return best != UINT32_MAX ? &study->designs[best] : NULL;
}

static const char *last_part(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot != NULL ? dot + 1 : key;
}

char *size_study_settings(const struct size_study *study, uint32_t design, char *buffer, size_t size) {
    size_t length = 0;
    buffer[0] = '\0';
    for (uint32_t a = 0; a < study->n_axes && length < size; a++) {
        const char *value = study->labels[design].values[a];
        if (value != NULL && value[0] != '\0') {
            length += (size_t)snprintf(buffer + length, size - length, "%s%s=%s", length > 0 ? ", " : "",
                                       last_part(study->axes[a]), value);
        }
    }
    return buffer;
}

char *size_study_value(const struct size_study *study, double value, char *buffer) {
    if (study->demand.least) {
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%.4g tokens/s", value);
        return buffer;
    }
    return quantity_print_short(buffer, QUANTITY_TIME, value * PS_PER_S);
}

/* Megawatts and kilowatts, as one speaks of clusters. */
static char *power_text(char *buffer, double watts) {
    const bool mega = watts >= 1e6;
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%.4g %s", watts / (mega ? 1e6 : 1e3), mega ? "MW" : "kW");
    return buffer;
}

char *size_study_expense(const struct size_study *study, const struct design_figures *design, char *buffer) {
    if (study->demand.priced) {
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%.6g %s", design->cost, study->currency);
        return buffer;
    }
    return power_text(buffer, design->watts);
}

/* ---- the head ---- */

static uint32_t count_state(const struct size_study *study, enum design_state state) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < study->n_designs; i++) {
        n += study->designs[i].state == state;
    }
    return n;
}

static void print_limits(FILE *stream, const struct size_study *study) {
    const struct experiment_size *size = &study->size;
    char text[QUANTITY_TEXT_SIZE];
    const char *separator = "";
    fprintf(stream, "limits    ");
    if (size->power_watts > 0) {
        fprintf(stream, "at most %s", power_text(text, (double)size->power_watts));
        separator = ", ";
    }
    if (size->racks > 0) {
        fprintf(stream, "%sat most %" PRIu32 " racks", separator, size->racks);
        separator = ", ";
    }
    if (size->budget > 0) {
        fprintf(stream, "%sat most %.6g %s", separator, size->budget, study->currency);
        separator = ", ";
    }
    if (study->demand.token_s > 0) {
        fprintf(stream, "%sat most %.4g ms for an output token", separator, 1e3 * study->demand.token_s);
        separator = ", ";
    }
    if (study->demand.memory_bytes > 0) {
        fprintf(stream, "%sat most %.4g GB of a GPU (%.3g %% of its memory)", separator,
                study->demand.memory_bytes / 1e9, 100 * size->memory_share);
        separator = ", ";
    }
    fprintf(stream, "%s\n", separator[0] == '\0' ? "none" : "");
}

/* What nobody has said draws nothing, and a limit of power lets it pass. */
static void print_unknown(FILE *stream, const struct size_study *study) {
    double most_watts = 0;
    for (uint32_t i = 0; i < study->n_designs; i++) {
        most_watts = fmax(most_watts, study->designs[i].network_watts);
    }
    if (most_watts <= 0) {
        fprintf(stream, "power     of switches is not known to the topology (leaf.power_maximum, spine.power_maximum): "
                        "the network counts as 0 kW\n");
    }
}

static void print_head(FILE *stream, const struct size_study *study) {
    char text[QUANTITY_TEXT_SIZE];
    fprintf(stream, "target    %s %s %s; designs are compared by %s\n", size_study_target_words[study->target],
            study->demand.least ? "at least" : "at most", size_study_value(study, study->demand.target, text),
            study->demand.priced               ? "cost"
            : study->size.rack_power_watts > 0 ? "power of racks and network"
                                               : "network power");
    print_limits(stream, study);
    print_unknown(stream, study);
    fprintf(stream,
            "designs   %" PRIu32 ": %" PRIu32 " cannot be, %" PRIu32 " are beyond a limit, %" PRIu32
            " by the fluid model alone, %" PRIu32 " by packets",
            study->n_designs, count_state(study, DESIGN_REFUSED), count_state(study, DESIGN_OUTSIDE),
            count_state(study, DESIGN_FLUID), count_state(study, DESIGN_PACKETS));
    if (count_state(study, DESIGN_FAILED) > 0) {
        fprintf(stream, ", %" PRIu32 " failed", count_state(study, DESIGN_FAILED));
    }
    fprintf(stream,
            "\nintervals over seeds, both ends moved out by %.3g %% (size.model_error: how far predictions have been "
            "off); those of most goodput first, of equal ones the cheapest\n\n",
            100 * study->size.model_error);
}

/* ---- tables ---- */

static void put_columns(const struct size_study *study, struct table *table) {
    table_column(table, "design", TABLE_RIGHT);
    for (uint32_t a = 0; a < study->n_axes; a++) {
        table_column(table, last_part(study->axes[a]), TABLE_RIGHT);
    }
    table_column(table, "racks", TABLE_RIGHT);
    table_column(table, "leaves", TABLE_RIGHT);
    table_column(table, "spines", TABLE_RIGHT);
}

static void put_row(const struct size_study *study, uint32_t index, struct table *table) {
    const struct design_figures *design = &study->designs[index];
    table_cell(table, "%" PRIu64, design->number);
    for (uint32_t a = 0; a < study->n_axes; a++) {
        table_cell(table, "%s", study->labels[index].values[a]);
    }
    table_cell(table, "%" PRIu32, design->racks);
    table_cell(table, "%" PRIu64, design->leaves);
    if (design->super_spines > 0) {
        table_cell(table, "%" PRIu64 " + %" PRIu64, design->spines, design->super_spines);
    } else {
        table_cell(table, "%" PRIu64, design->spines);
    }
}

/* One wiring of all, or NULL. */
static const char *common_wiring(const struct size_study *study) {
    const char *wiring = NULL;
    for (uint32_t i = 0; i < study->n_designs; i++) {
        const struct design_figures *design = &study->designs[i];
        if (design->state != DESIGN_REFUSED) {
            if (wiring != NULL && strcmp(wiring, design->wiring) != 0) {
                return NULL;
            }
            wiring = design->wiring;
        }
    }
    return wiring;
}

static void put_parts(const struct size_study *study, const struct design_figures *design, const char *wiring,
                      struct table *table) {
    table_cell(table, "%" PRIu64, design->least_spines);
    table_cell(table, "%.1f %%", 100 * (double)design->ports_used / (double)design->ports_bought);
    table_cell(table, "%" PRIu64, design->modules);
    table_cell(table, "%.1f", design->network_typical_watts / 1e3);
    table_cell(table, "%.1f", design->network_watts / 1e3);
    if (study->size.rack_power_watts > 0) {
        table_cell(table, "%.1f", design->watts / 1e3);
    }
    if (study->demand.priced) {
        table_cell(table, "%.6g", design->cost);
    }
    if (wiring == NULL) {
        table_cell(table, "%s", design->wiring);
    }
}

static void print_refused(FILE *stream, const struct size_study *study) {
    char settings[SETTINGS_SIZE];
    for (uint32_t i = 0; i < study->n_designs; i++) {
        const struct design_figures *design = &study->designs[i];
        if (design->state == DESIGN_REFUSED || design->state == DESIGN_FAILED) {
            fprintf(stream, "design %" PRIu64 " (%s) %s: %s\n", design->number,
                    size_study_settings(study, i, settings, sizeof settings),
                    design->state == DESIGN_REFUSED ? "cannot be" : "failed", design->why);
        }
    }
}

void size_report_list(FILE *stream, const struct size_study *study) {
    struct table *table = table_create();
    const char *wiring = common_wiring(study);
    put_columns(study, table);
    table_column(table, "spines by ports", TABLE_RIGHT);
    table_column(table, "ports in use", TABLE_RIGHT);
    table_column(table, "modules", TABLE_RIGHT);
    table_column(table, "network, kW", TABLE_RIGHT);
    table_column(table, "at most, kW", TABLE_RIGHT);
    if (study->size.rack_power_watts > 0) {
        table_column(table, "with racks, kW", TABLE_RIGHT);
    }
    if (study->demand.priced) {
        table_column(table, study->currency, TABLE_RIGHT);
    }
    if (wiring == NULL) {
        table_column(table, "wiring", TABLE_LEFT);
    } else {
        fprintf(stream, "wiring: %s\n\n", wiring);
    }
    for (uint32_t i = 0; i < study->n_designs; i++) {
        if (study->designs[i].state != DESIGN_REFUSED) {
            put_row(study, i, table);
            put_parts(study, &study->designs[i], wiring, table);
        }
    }
    table_print(table, stream, 0);
    table_free(table);
    print_refused(stream, study);
}

/* The rows of the table: the front, or all; those of most goodput first, of equal ones the cheapest. */
struct ranking {
    const struct size_study *study;
    uint32_t *rows, n;
};

static bool comes_before(const struct size_study *study, uint32_t one, uint32_t other) {
    const struct design_figures *mine = &study->designs[one], *its = &study->designs[other];
    const double goodput = isnan(mine->goodput) ? 0 : mine->goodput,
                 other_goodput = isnan(its->goodput) ? 0 : its->goodput;
    if (mine->front != its->front) {
        return mine->front;
    }
    if (goodput != other_goodput) {
        return goodput > other_goodput;
    }
    return front_expense(&study->demand, mine) < front_expense(&study->demand, its);
}

static struct ranking rank(const struct size_study *study, bool all) {
    struct ranking ranking = {.study = study,
                              .rows = memory_allocate((size_t)study->n_designs + 1, sizeof *ranking.rows)};
    for (uint32_t i = 0; i < study->n_designs; i++) {
        const enum design_state state = study->designs[i].state;
        if (study->designs[i].front || (all && (state == DESIGN_FLUID || state == DESIGN_PACKETS))) {
            uint32_t at = ranking.n++;
            for (; at > 0 && comes_before(study, i, ranking.rows[at - 1]); at--) {
                ranking.rows[at] = ranking.rows[at - 1];
            }
            ranking.rows[at] = i;
        }
    }
    return ranking;
}

static void put_value(const struct size_study *study, const struct design_figures *design, struct table *table) {
    char mean[QUANTITY_TEXT_SIZE], low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    table_cell(table, "%s (%s–%s)%s", size_study_value(study, design->value.mean, mean),
               size_study_value(study, design->value.low, low), size_study_value(study, design->value.high, high),
               design->state == DESIGN_FLUID ? ", fluid" : "");
}

static void put_verdict(const struct design_figures *design, struct table *table) {
    char text[128] = "";
    for (int i = 0; i < DESIGN_LIMITS; i++) {
        if (design->limits & 1U << i) {
            const size_t length = strlen(text);
            snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? ", " : "misses ", limit_words[i]);
        }
    }
    table_cell(table, "%s", design->limits != 0 ? text : design->sure ? "yes" : "in the mean");
}

static void print_table(FILE *stream, const struct size_study *study, bool detail) {
    struct table *table = table_create();
    const struct ranking ranking = rank(study, detail || size_study_best(study) == NULL);
    put_columns(study, table);
    table_column(table, "network, kW", TABLE_RIGHT);
    if (study->demand.priced || study->size.rack_power_watts > 0) {
        table_column(table, study->demand.priced ? study->currency : "with racks, kW", TABLE_RIGHT);
    }
    table_column(table, size_study_target_words[study->target], TABLE_RIGHT);
    table_column(table, "meets it", TABLE_LEFT);
    table_column(table, "goodput", TABLE_RIGHT);
    for (uint32_t i = 0; i < ranking.n; i++) {
        const struct design_figures *design = &study->designs[ranking.rows[i]];
        put_row(study, ranking.rows[i], table);
        table_cell(table, "%.1f", design->network_watts / 1e3);
        if (study->demand.priced) {
            table_cell(table, "%.6g", design->cost);
        } else if (study->size.rack_power_watts > 0) {
            table_cell(table, "%.1f", design->watts / 1e3);
        }
        put_value(study, design, table);
        put_verdict(design, table);
        if (isnan(design->goodput)) {
            table_cell(table, "–");
        } else {
            table_cell(table, "%.2f %%", 100 * design->goodput);
        }
    }
    table_print(table, stream, 0);
    table_free(table);
    free(ranking.rows);
}

/* ---- findings ---- */

static uint32_t index_of(const struct size_study *study, const struct design_figures *design) {
    return (uint32_t)(design - study->designs);
}

static void print_design(FILE *stream, const struct size_study *study, const struct design_figures *design) {
    char settings[SETTINGS_SIZE];
    fprintf(stream, "design %" PRIu64 " (%s)", design->number,
            size_study_settings(study, index_of(study, design), settings, sizeof settings));
}

/* "draws 12 kW less", "costs 3 % more". */
static void print_difference(FILE *stream, const struct size_study *study, const struct design_figures *than,
                             const struct design_figures *design) {
    const double one = front_expense(&study->demand, than), other = front_expense(&study->demand, design);
    char text[QUANTITY_TEXT_SIZE];
    if (study->demand.priced) {
        snprintf(text, sizeof text, "%.4g %s", fabs(other - one), study->currency);
    } else {
        power_text(text, fabs(other - one));
    }
    fprintf(stream, "%s %s (%.2g %%) %s", study->demand.priced ? "costs" : "draws", text, 100 * fabs(other / one - 1),
            other < one ? "less" : "more");
}

/* What keeps a design from being chosen. */
static void print_broken(FILE *stream, const struct size_study *study, const struct design_figures *design) {
    char text[QUANTITY_TEXT_SIZE];
    const char *separator = "";
    for (int i = 0; i < DESIGN_LIMITS; i++) {
        if ((design->limits & 1U << i) == 0) {
            continue;
        }
        fprintf(stream, "%s%s", separator, limit_words[i]);
        if (1U << i == DESIGN_LIMIT_TARGET) {
            fprintf(stream, " (%s)", size_study_value(study, design->value.mean, text));
        } else if (1U << i == DESIGN_LIMIT_MEMORY) {
            fprintf(stream, " (%.4g GB)", design->memory_bytes / 1e9);
        } else if (1U << i == DESIGN_LIMIT_TOKEN_TIME) {
            fprintf(stream, " (%.4g ms)", 1e3 * design->token_s);
        } else if (1U << i == DESIGN_LIMIT_RACKS) {
            fprintf(stream, " (%" PRIu32 ")", design->racks);
        } else {
            fprintf(stream, " (%s)", size_study_expense(study, design, text));
        }
        separator = " and ";
    }
}

static void print_binding(FILE *stream, const struct size_study *study, const struct design_figures *best) {
    const uint32_t missed = front_missed(&study->demand, study->designs, study->n_designs, index_of(study, best));
    if (missed == UINT32_MAX) {
        fprintf(stream, "binds     nothing: no design of the space is cheaper\n");
        return;
    }
    fprintf(stream, "binds     ");
    print_design(stream, study, &study->designs[missed]);
    fprintf(stream, " ");
    print_difference(stream, study, best, &study->designs[missed]);
    fprintf(stream, ", but misses ");
    print_broken(stream, study, &study->designs[missed]);
    fprintf(stream, "\n");
}

static void print_next(FILE *stream, const struct size_study *study, const struct design_figures *best) {
    const uint32_t next = front_next(&study->demand, study->designs, study->n_designs, index_of(study, best));
    char text[QUANTITY_TEXT_SIZE];
    if (next == UINT32_MAX) {
        fprintf(stream, "next step nothing better is in the space\n");
        return;
    }
    const struct design_figures *design = &study->designs[next];
    fprintf(stream, "next step ");
    print_design(stream, study, design);
    fprintf(stream, " ");
    print_difference(stream, study, best, design);
    fprintf(stream, " for %s: %.2g %% %s\n", size_study_value(study, design->value.mean, text),
            100 * fabs(design->value.mean / best->value.mean - 1), study->demand.least ? "more" : "less");
}

static void print_radius(FILE *stream, const struct design_figures *best) {
    fprintf(stream, "failures  ");
    if (best->planes > 1) {
        fprintf(stream,
                "a NIC stops 1 GPU; a cable of a NIC or a leaf stops nobody: 1 or %" PRIu64 " GPUs go on with %" PRIu32
                " of %" PRIu32 " planes, and a whole plane may be lost",
                best->leaf_gpus, best->planes - 1, best->planes);
    } else {
        fprintf(stream, "a NIC or its cable stops 1 GPU, a leaf %" PRIu64 ", and there is one plane", best->leaf_gpus);
    }
    fprintf(stream, "; %" PRIu32 " GPUs of each rack stand by", best->spares);
    if (isfinite(best->mtbf_s)) {
        fprintf(stream, "; an interruption every %.3g h", best->mtbf_s / 3600);
    }
    fprintf(stream, "\n");
}

static void print_findings(FILE *stream, const struct size_study *study) {
    const struct design_figures *best = size_study_best(study);
    char value[QUANTITY_TEXT_SIZE], expense[QUANTITY_TEXT_SIZE];
    if (best == NULL) {
        return;
    }
    fprintf(stream, "\ncheapest  ");
    print_design(stream, study, best);
    fprintf(stream, ": %s, %s\n", size_study_value(study, best->value.mean, value),
            size_study_expense(study, best, expense));
    fprintf(stream, "wiring    %s; %.1f %% of the switches' ports are used\n", best->wiring,
            100 * (double)best->ports_used / (double)best->ports_bought);
    print_binding(stream, study, best);
    print_next(stream, study, best);
    print_radius(stream, best);
    if (study->with_packets && study->left > 0) {
        fprintf(stream, "left out  %" PRIu32 " designs may be as good by the fluid model: raise size.finalists\n",
                study->left);
    }
}

void size_report_print(FILE *stream, const struct size_study *study, bool detail) {
    print_head(stream, study);
    print_table(stream, study, detail);
    print_findings(stream, study);
    print_refused(stream, study);
}
