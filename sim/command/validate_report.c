// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_report.h"

#include "base/table.h"
#include "command/validate_kind.h"
#include "results/json.h"

#include <math.h>

static const char *const verdicts[] = {"ok", "missed", "not run"};
static const char *const uses[] = {"prediction", "calibration"};
static const char *const references[VALIDATE_ROW_REFERENCES] = {"published", "law", "peer simulator", "measurement"};

bool validate_report_is_met(const struct validate_row *row, double reference, double simulated) {
    const double allowed = row->tolerance == VALIDATE_ROW_SHARE ? row->allowed * fabs(reference) : row->allowed;
    // half a digit is a decimal number: its double must not decide a tie
    return fabs(simulated - reference) <= allowed * (1 + 1e-9);
}

uint32_t validate_report_count(const struct validate_report_line *lines, uint32_t n_lines,
                               enum validate_report_verdict verdict) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n_lines; i++) {
        count += lines[i].verdict == verdict;
    }
    return count;
}

static bool is_own_reference(const struct validate_row *row) {
    return row->published_text[0] == '\0';
}

/* Digits after the point: one more than were published, so that the difference can be seen. */
static int decimals_of(const struct validate_row *row) {
    return is_own_reference(row) ? 4 : row->decimals + 1;
}

static void print_reference(struct table *table, const struct validate_report_line *line) {
    if (!is_own_reference(line->row)) {
        table_cell(table, "%s", line->row->published_text);
    } else if (isnan(line->reference)) {
        table_cell(table, "–");
    } else {
        table_cell(table, "(%.*f)", decimals_of(line->row), line->reference);
    }
}

static void print_simulated(struct table *table, const struct validate_report_line *line) {
    if (isnan(line->simulated)) {
        table_cell(table, "–");
        table_cell(table, "–");
        return;
    }
    table_cell(table, "%.*f", decimals_of(line->row), line->simulated);
    if (line->reference == 0) {
        table_cell(table, "–");
    } else {
        table_cell(table, "%+.2f %%", 100 * (line->simulated - line->reference) / line->reference);
    }
}

static void print_line(struct table *table, const struct validate_report_line *line) {
    const struct validate_row *row = line->row;
    table_cell(table, "%s", row->id);
    table_cell(table, "%s", row->what);
    print_reference(table, line);
    print_simulated(table, line);
    table_cell(table, "%s%s", row->tolerance == VALIDATE_ROW_DIGITS ? "" : "± ", row->tolerance_text);
    table_cell(table, "%s", row->kind->unit(row));
    table_cell(table, "%s", references[row->reference]);
    table_cell(table, "%s", uses[row->use]);
    table_cell(table, "%s", verdicts[line->verdict]);
}

static uint32_t count_kind(const struct validate_report_line *lines, uint32_t n_lines,
                           enum validate_row_reference reference, enum validate_report_verdict verdict) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n_lines; i++) {
        count += lines[i].row->reference == reference && lines[i].verdict == verdict;
    }
    return count;
}

static bool has_kind(const struct validate_report_line *lines, uint32_t n_lines,
                     enum validate_row_reference reference) {
    for (uint32_t i = 0; i < n_lines; i++) {
        if (lines[i].row->reference == reference) {
            return true;
        }
    }
    return false;
}

/* How many rows of each kind of reference there are, and what came of them. */
static void print_kinds(const struct validate_report_line *lines, uint32_t n_lines, FILE *stream) {
    for (int r = 0; r < VALIDATE_ROW_REFERENCES; r++) {
        const enum validate_row_reference reference = (enum validate_row_reference)r;
        if (has_kind(lines, n_lines, reference)) {
            fprintf(stream, "%s: %u ok, %u missed, %u not run\n", references[r],
                    count_kind(lines, n_lines, reference, VALIDATE_REPORT_OK),
                    count_kind(lines, n_lines, reference, VALIDATE_REPORT_MISSED),
                    count_kind(lines, n_lines, reference, VALIDATE_REPORT_NOT_RUN));
        }
    }
}

static void print_reason(const struct validate_report_line *line, FILE *stream) {
    const struct validate_row *row = line->row;
    if (line->verdict == VALIDATE_REPORT_NOT_RUN) {
        fprintf(stream, "%s: not run: needs %s\n", row->id, row->needs);
    } else if (line->verdict == VALIDATE_REPORT_MISSED && isnan(line->simulated)) {
        fprintf(stream, "%s: missed: a simulation stalled or reached limits.simulated_time\n", row->id);
    } else if (line->verdict == VALIDATE_REPORT_MISSED && row->note[0] != '\0') {
        fprintf(stream, "%s: missed: %s\n", row->id, row->note);
    }
}

void validate_report_print(const struct validate_report_line *lines, uint32_t n_lines, FILE *stream) {
    struct table *table = table_create();
    table_column(table, "id", TABLE_LEFT);
    table_column(table, "what", TABLE_LEFT);
    table_column(table, "reference", TABLE_RIGHT);
    table_column(table, "simulated", TABLE_RIGHT);
    table_column(table, "error", TABLE_RIGHT);
    table_column(table, "allowed", TABLE_RIGHT);
    table_column(table, "unit", TABLE_LEFT);
    table_column(table, "kind", TABLE_LEFT);
    table_column(table, "use", TABLE_LEFT);
    table_column(table, "verdict", TABLE_LEFT);
    bool own = false;
    for (uint32_t i = 0; i < n_lines; i++) {
        print_line(table, &lines[i]);
        own = own || is_own_reference(lines[i].row);
    }
    table_print(table, stream, 0);
    table_free(table);
    fprintf(stream, "\n");
    if (own) {
        fprintf(stream, "In brackets: computed here, for the same seeds by hash alone or from the file of --data.\n");
    }
    for (uint32_t i = 0; i < n_lines; i++) {
        print_reason(&lines[i], stream);
    }
    print_kinds(lines, n_lines, stream);
    fprintf(stream, "all: %u ok, %u missed, %u not run\n", validate_report_count(lines, n_lines, VALIDATE_REPORT_OK),
            validate_report_count(lines, n_lines, VALIDATE_REPORT_MISSED),
            validate_report_count(lines, n_lines, VALIDATE_REPORT_NOT_RUN));
}

static void put_text(struct json *json, const char *name, const char *text) {
    json_member_text(json, name, text && text[0] != '\0' ? text : NULL);
}

static void json_line(struct json *json, const struct validate_report_line *line) {
    const struct validate_row *row = line->row;
    json_object(json);
    put_text(json, "id", row->id);
    put_text(json, "what", row->what);
    put_text(json, "kind", row->kind->name);
    put_text(json, "reference_kind", references[row->reference]);
    put_text(json, "table", line->table->title);
    put_text(json, "source", line->table->source);
    put_text(json, "set_up", line->table->set_up);
    put_text(json, "unit", row->kind->unit(row));
    json_member_number(json, "published", row->published);
    json_member_number(json, "reference", line->reference);
    json_member_number(json, "simulated", line->simulated);
    json_member_number(json, "error", (line->simulated - line->reference) / line->reference);
    put_text(json, "tolerance", row->tolerance_text);
    put_text(json, "use", uses[row->use]);
    put_text(json, "verdict", verdicts[line->verdict]);
    put_text(json, "needs", row->needs);
    put_text(json, "note", row->note);
    json_object_end(json);
}

void validate_report_json(const struct validate_report_line *lines, uint32_t n_lines, FILE *stream) {
    struct json json = json_begin(stream);
    json_object(&json);
    json_name(&json, "rows");
    json_array(&json);
    for (uint32_t i = 0; i < n_lines; i++) {
        json_line(&json, &lines[i]);
    }
    json_array_end(&json);
    json_member_whole(&json, "ok", validate_report_count(lines, n_lines, VALIDATE_REPORT_OK));
    json_member_whole(&json, "missed", validate_report_count(lines, n_lines, VALIDATE_REPORT_MISSED));
    json_member_whole(&json, "not_run", validate_report_count(lines, n_lines, VALIDATE_REPORT_NOT_RUN));
    json_object_end(&json);
    json_end(&json);
}
