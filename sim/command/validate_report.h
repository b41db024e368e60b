// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Reference values against simulated ones: verdicts, as a table and as JSON.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_REPORT_H
#define MOEFABRIC_COMMAND_VALIDATE_REPORT_H

#include "command/validate_row.h"
#include "command/validate_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum validate_report_verdict {
    VALIDATE_REPORT_OK,
    VALIDATE_REPORT_MISSED,  /**< outside its tolerance, or the simulation did not finish */
    VALIDATE_REPORT_NOT_RUN, /**< needs what this version does not have */
};

/** What came of a row. */
struct validate_report_line {
    const struct validate_table *table;
    const struct validate_row *row;
    double reference, simulated; /**< NAN where there is none */
    enum validate_report_verdict verdict;
};

/** Is simulated as near to reference as the row wants it? NAN is not. */
bool validate_report_is_met(const struct validate_row *row, double reference, double simulated);

/** How many lines have a verdict. */
uint32_t validate_report_count(const struct validate_report_line *lines, uint32_t n_lines,
                               enum validate_report_verdict verdict);

/** One line a row, then why rows were missed or not run as far as their notes say, then the sums, for each kind of reference and for all. */
void validate_report_print(const struct validate_report_line *lines, uint32_t n_lines, FILE *stream);

/** The same as JSON, with the sources and set-ups of the tables. */
void validate_report_json(const struct validate_report_line *lines, uint32_t n_lines, FILE *stream);

#endif
