// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/comparison_table.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "results/comparison_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 128, GAP = 2, INDENT = 2, NARROWEST_COLUMN = 12 };

/** One cell: what is measured, and its ratio. */
struct cell {
    char value[CELL_SIZE];
    char ratio[CELL_SIZE];
};

/** One line of the table. */
struct line {
    char name[2 * MEASUREMENT_NAME_SIZE];
    char unit[METRIC_UNIT_SIZE];
    struct cell *cells; /**< [n_policies] */
};

/** Width of a policy's column and of its parts. */
struct column_width {
    int value, ratio, whole;
    size_t name_shown; /**< bytes of the policy's name printed so far */
};

/** The table as text, before it is cut into blocks. */
struct layout {
    struct line *lines;
    uint32_t n_lines;
    int name_width, unit_width;
    struct column_width *columns; /**< [n_policies] */
};

static int larger(int left, int right) {
    return left > right ? left : right;
}

static void put_padding(FILE *stream, int width) {
    fprintf(stream, "%*s", larger(width, 0), "");
}

/** Prints a text in a field. Blanks to its right are only owed: they are printed when a text follows, so that no line ends in blanks. */
static void put_field(FILE *stream, int *owed, const char *text, int width, bool right) {
    const int blanks = width - text_width(text);
    if (text[0] == '\0') {
        *owed += width;
        return;
    }
    put_padding(stream, *owed + (right ? blanks : 0));
    fputs(text, stream);
    *owed = right ? 0 : blanks;
}

static void format_factor(char *text, size_t size, double factor) {
    if (factor > 0.0 && factor < 0.005) {
        snprintf(text, size, "<0.01");
    } else {
        const int decimals = comparison_text_decimals(factor);
        snprintf(text, size, "%.*f", decimals < 2 && factor > 0.0 ? decimals : 2, factor);
    }
}

/** "×1.50", "×1.03~" where the seeds do not tell it from 1; with detail "×1.50 (1.40–1.60)". */
static void format_ratio(char *text, const struct comparison_range *ratio, bool detail) {
    char mean[32], low[32], high[32];
    text[0] = '\0';
    if (ratio->count == 0) {
        return;
    }
    const struct interval bounds = comparison_text_bounds(ratio);
    const char *open = comparison_is_open(ratio) ? "~" : "";
    format_factor(mean, sizeof mean, ratio->mean);
    format_factor(low, sizeof low, bounds.low);
    format_factor(high, sizeof high, bounds.high);
    if (detail && strcmp(low, high) != 0) {
        snprintf(text, CELL_SIZE, "×%s%s (%s–%s)", mean, open, low, high);
    } else {
        snprintf(text, CELL_SIZE, "×%s%s", mean, open);
    }
}

static void format_row(struct line *line, const struct comparison_row *row, uint32_t n_policies, bool detail) {
    double largest = 0.0;
    for (uint32_t policy = 0; policy < n_policies; policy++) {
        largest = fmax(largest, row->ranges[policy].high); /* fmax passes NAN over */
    }
    const double unit = metric_unit(row->metric->quantity, largest, line->unit);
    memcpy(line->name, row->name, sizeof line->name);
    for (uint32_t policy = 0; policy < n_policies; policy++) {
        comparison_text_value(line->cells[policy].value, CELL_SIZE, &row->ranges[policy], row->metric->quantity, unit);
        if (policy > 0) {
            format_ratio(line->cells[policy].ratio, &row->ratios[policy], detail);
        }
    }
}

static struct line *add_line(struct layout *layout, uint32_t n_policies) {
    layout->lines = memory_resize(layout->lines, (size_t)layout->n_lines + 1, sizeof *layout->lines);
    struct line *line = &layout->lines[layout->n_lines++];
    *line = (struct line){.cells = memory_allocate(n_policies, sizeof *line->cells)};
    return line;
}

/** The line under the worst queue: the link that leaves it, in the seed where it was deepest. */
static void add_worst_queues(struct layout *layout, const struct comparison *comparison) {
    struct line *line = add_line(layout, comparison->n_policies);
    snprintf(line->name, sizeof line->name, "worst queue at");
    for (uint32_t policy = 0; policy < comparison->n_policies; policy++) {
        double deepest = 0.0;
        snprintf(line->cells[policy].value, CELL_SIZE, "–");
        for (uint32_t seed = 0; seed < comparison->n_seeds; seed++) {
            const struct summary *summary = comparison->summaries[policy * comparison->n_seeds + seed];
            if (summary != NULL && summary->worst_queue_bytes > deepest) {
                deepest = summary->worst_queue_bytes;
                snprintf(line->cells[policy].value, CELL_SIZE, "%s", summary->worst_queue);
            }
        }
    }
}

static void measure_widths(struct layout *layout, uint32_t n_policies) {
    layout->columns = memory_allocate(n_policies, sizeof *layout->columns);
    for (uint32_t i = 0; i < layout->n_lines; i++) {
        const struct line *line = &layout->lines[i];
        layout->name_width = larger(layout->name_width, text_width(line->name));
        layout->unit_width = larger(layout->unit_width, text_width(line->unit));
        for (uint32_t policy = 0; policy < n_policies; policy++) {
            struct column_width *column = &layout->columns[policy];
            column->ratio = larger(column->ratio, text_width(line->cells[policy].ratio));
            column->value = larger(column->value, text_width(line->cells[policy].value));
        }
    }
    for (uint32_t policy = 0; policy < n_policies; policy++) {
        struct column_width *column = &layout->columns[policy];
        column->whole = larger(column->value + (column->ratio > 0 ? 1 + column->ratio : 0), NARROWEST_COLUMN);
    }
}

static struct layout make_layout(const struct comparison *comparison, const struct comparison_rows *rows, bool detail) {
    struct layout layout = {0};
    for (uint32_t i = 0; i < rows->count; i++) {
        format_row(add_line(&layout, comparison->n_policies), &rows->rows[i], comparison->n_policies, detail);
        if (strcmp(rows->rows[i].metric->id, "worst_queue") == 0) {
            add_worst_queues(&layout, comparison);
        }
    }
    measure_widths(&layout, comparison->n_policies);
    return layout;
}

static void free_layout(struct layout *layout) {
    for (uint32_t i = 0; i < layout->n_lines; i++) {
        free(layout->lines[i].cells);
    }
    free(layout->lines);
    free(layout->columns);
}

/** Bytes of the longest beginning of a text that fits a width, cut after one of these separators if it holds one. */
static size_t cut_text(const char *text, int width, const char *separators) {
    size_t cut = 0, end = 0;
    for (int used = 0; text[end] != '\0'; used++) {
        if (used == width) {
            return cut > 0 ? cut : end;
        }
        if (strchr(separators, text[end]) != NULL) {
            cut = end + 1;
        }
        do {
            end++;
        } while (text_continues(text[end]));
    }
    return end;
}

/** Where to cut a policy's name: between its parts if possible, else within one. */
static size_t cut_name(const char *name, int width) {
    const size_t between = cut_text(name, width, "+");
    const bool is_good = name[between] == '\0' || (between > 0 && name[between - 1] == '+');
    return is_good ? between : cut_text(name, width, "-_/ ,");
}

/** One line of policies' names above their columns; false once all names have been printed to their end. */
static bool print_name_parts(const struct comparison *comparison, struct layout *layout, uint32_t first, uint32_t last,
                             FILE *stream) {
    int owed = layout->name_width + GAP + layout->unit_width;
    bool more = false;
    for (uint32_t policy = first; policy < last; policy++) {
        struct column_width *column = &layout->columns[policy];
        const char *rest = comparison->policies[policy] + column->name_shown;
        const size_t length = cut_name(rest, column->whole);
        char part[MEASUREMENT_NAME_SIZE];
        snprintf(part, sizeof part, "%.*s", (int)length, rest);
        owed += GAP;
        put_field(stream, &owed, part, column->whole, true);
        column->name_shown += length;
        more = more || rest[length] != '\0';
    }
    fputc('\n', stream);
    return more;
}

static void print_rule(int width, FILE *stream) {
    for (int i = 0; i < width; i++) {
        fputs("─", stream);
    }
    fputc('\n', stream);
}

static void print_line(const struct layout *layout, const struct line *line, uint32_t first, uint32_t last,
                       FILE *stream) {
    int owed = 0;
    put_field(stream, &owed, line->name, layout->name_width + GAP, false);
    put_field(stream, &owed, line->unit, layout->unit_width, false);
    for (uint32_t policy = first; policy < last; policy++) {
        const struct column_width *column = &layout->columns[policy];
        const int ratio_width = column->ratio > 0 ? 1 + column->ratio : 0;
        owed += GAP;
        put_field(stream, &owed, line->cells[policy].value, column->whole - ratio_width, true);
        put_field(stream, &owed, line->cells[policy].ratio, ratio_width, true);
    }
    fputc('\n', stream);
}

/** Prints the columns from first on that fit; returns the first that does not. */
static uint32_t print_block(const struct comparison *comparison, struct layout *layout, uint32_t first, FILE *stream) {
    int width = layout->name_width + GAP + layout->unit_width + GAP + layout->columns[first].whole;
    uint32_t last = first + 1;
    while (last < comparison->n_policies && width + GAP + layout->columns[last].whole <= COMPARISON_TABLE_WIDTH) {
        width += GAP + layout->columns[last++].whole;
    }
    while (print_name_parts(comparison, layout, first, last, stream)) {
    }
    print_rule(width, stream);
    for (uint32_t i = 0; i < layout->n_lines; i++) {
        print_line(layout, &layout->lines[i], first, last, stream);
    }
    return last;
}

/** Has a row before this one the same legend? */
static bool is_repeated(const struct comparison_rows *rows, uint32_t row) {
    for (uint32_t i = 0; i < row; i++) {
        if (strcmp(rows->rows[i].metric->group, rows->rows[row].metric->group) == 0) {
            return true;
        }
    }
    return false;
}

static void print_legend(const struct comparison_rows *rows, FILE *stream) {
    int width = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        width = larger(width, text_width(rows->rows[i].metric->group));
    }
    fputc('\n', stream);
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *group = rows->rows[i].metric->group;
        if (!is_repeated(rows, i)) {
            fputs(group, stream);
            put_padding(stream, width - text_width(group) + GAP);
            fprintf(stream, "%s\n", metric_legend(group));
        }
    }
}

/** Prints a text with breaks between words, lines after the first indented. */
static void print_wrapped(const char *text, FILE *stream) {
    for (int indent = 0; *text != '\0'; indent = INDENT) {
        const size_t length = cut_text(text, COMPARISON_TABLE_WIDTH - indent, " ");
        const size_t shown = length > 0 && text[length - 1] == ' ' ? length - 1 : length;
        put_padding(stream, indent);
        fprintf(stream, "%.*s\n", (int)shown, text);
        text += length;
    }
}

/** What the parentheses hold: an interval if there are seeds enough. */
static void describe_seeds(const struct comparison *comparison, char *text, size_t size) {
    const uint32_t n_seeds = comparison->n_seeds;
    if (n_seeds == 1) {
        snprintf(text, size, "Seed %" PRIu64, comparison_any(comparison)->seed);
    } else if (n_seeds >= INTERVAL_LEAST_VALUES) {
        snprintf(text, size, "Mean (its 95 %% confidence interval) over %" PRIu32 " seeds", n_seeds);
    } else {
        snprintf(text, size, "Mean (lowest–highest) over %" PRIu32 " seeds, for a confidence interval give %d", n_seeds,
                 INTERVAL_LEAST_VALUES);
    }
}

/** Whether both models stand beside each other. */
static bool has_models(const struct comparison *comparison) {
    for (uint32_t policy = 1; policy < comparison->n_policies; policy++) {
        if (strstr(comparison->policies[policy], MEASUREMENT_FLUID_SUFFIX) != NULL) {
            return true;
        }
    }
    return false;
}

static void print_heading(const struct comparison *comparison, bool any_open, FILE *stream) {
    char seeds[CELL_SIZE], ratios[2 * CELL_SIZE + MEASUREMENT_NAME_SIZE] = "",
                                                  text[sizeof seeds + sizeof ratios + CELL_SIZE];
    describe_seeds(comparison, seeds, sizeof seeds);
    if (comparison->n_policies > 1) {
        snprintf(ratios, sizeof ratios, "; × after a value: %sratio to %s%s",
                 comparison->n_seeds > 1 ? "mean of each seed's " : "", comparison->policies[0],
                 has_models(comparison) ? ", of the fluid model to the same policy by packets" : "");
    }
    snprintf(text, sizeof text, "%s%s%s.", seeds, ratios,
             any_open ? "; ~ after a ratio: the seeds do not tell it from 1" : "");
    print_wrapped(text, stream);
    fputc('\n', stream);
}

static bool any_open(const struct comparison *comparison, const struct comparison_rows *rows) {
    for (uint32_t i = 0; i < rows->count; i++) {
        for (uint32_t policy = 1; policy < comparison->n_policies; policy++) {
            if (comparison_is_open(&rows->rows[i].ratios[policy])) {
                return true;
            }
        }
    }
    return false;
}

/** Names the rows that are quantiles of too few values. */
static void print_thin_rows(const struct comparison *comparison, const struct comparison_rows *rows, FILE *stream) {
    char *text = NULL;
    size_t size = 0;
    uint32_t thin = 0;
    FILE *words = open_memstream(&text, &size);
    if (words == NULL) {
        memory_exhausted("a line of text");
    }
    fputs(
        "Close to the largest value, of too few values for a quantile (p99 needs 100 in each run, p99.9 needs 1000): ",
        words);
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t count = 0;
        if (comparison_row_is_thin(comparison, &rows->rows[i], &count)) {
            fprintf(words, "%s%s of %" PRIu64, thin++ > 0 ? ", " : "", rows->rows[i].name, count);
        }
    }
    fputs(".", words);
    if (fclose(words) != 0) {
        memory_exhausted("a line of text");
    }
    if (thin > 0) {
        fputc('\n', stream);
        print_wrapped(text, stream);
    }
    free(text);
}

static void print_explanations(const struct comparison *comparison, FILE *stream) {
    bool first = true;
    for (uint32_t policy = 0; policy < comparison->n_policies; policy++) {
        const struct summary *summary = comparison->summaries[(size_t)policy * comparison->n_seeds];
        for (uint32_t i = 0; summary != NULL && i < summary->n_explanations; i++) {
            char text[CELL_SIZE + MEASUREMENT_EXPLANATION_SIZE];
            snprintf(text, sizeof text, "%s, seed %" PRIu64 ": %s", comparison->policies[policy], summary->seed,
                     summary->explanations[i].text);
            if (first) {
                fputc('\n', stream);
            }
            first = false;
            print_wrapped(text, stream);
        }
    }
}

/** Why rows are missing where all traffic took NVLink. */
static void print_unused_fabric(const struct comparison *comparison, FILE *stream) {
    for (size_t i = 0; i < (size_t)comparison->n_policies * comparison->n_seeds; i++) {
        if (comparison->summaries[i] != NULL &&
            (!isnan(comparison->summaries[i]->marks) || comparison->summaries[i]->model == MEASUREMENT_MODEL_FLUID)) {
            return;
        }
    }
    fputs("\nNothing crossed the fabric: rows of messages, of switches and of NICs are left out.\n", stream);
}

/** Says which runs are missing from times and rates. */
static void print_unfinished(const struct comparison *comparison, FILE *stream) {
    bool first = true;
    for (uint32_t policy = 0; policy < comparison->n_policies; policy++) {
        for (uint32_t seed = 0; seed < comparison->n_seeds; seed++) {
            const struct summary *summary = comparison->summaries[policy * comparison->n_seeds + seed];
            if (summary != NULL && summary->outcome != MEASUREMENT_FINISHED) {
                fprintf(stream, "%s%s, seed %" PRIu64 ": %s; its times and rates are left out\n", first ? "\n" : "",
                        comparison->policies[policy], summary->seed, comparison_outcome_name(summary->outcome));
                first = false;
            }
        }
    }
}

void comparison_table_print(const struct comparison *comparison, bool detail, FILE *stream) {
    struct comparison_rows rows = comparison_rows(comparison, detail);
    if (rows.count == 0) {
        fputs("Nothing was run.\n", stream);
        comparison_rows_free(&rows);
        return;
    }
    struct layout layout = make_layout(comparison, &rows, detail);
    print_heading(comparison, any_open(comparison, &rows), stream);
    for (uint32_t policy = 0; policy < comparison->n_policies;) {
        if (policy > 0) {
            fputc('\n', stream);
        }
        policy = print_block(comparison, &layout, policy, stream);
    }
    print_unfinished(comparison, stream);
    print_thin_rows(comparison, &rows, stream);
    print_unused_fabric(comparison, stream);
    print_legend(&rows, stream);
    print_explanations(comparison, stream);
    free_layout(&layout);
    comparison_rows_free(&rows);
}
