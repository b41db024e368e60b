// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `place` prints, and the file that it writes.
 */
#ifndef MOEFABRIC_COMMAND_PLACE_REPORT_H
#define MOEFABRIC_COMMAND_PLACE_REPORT_H

#include "command/place_candidate.h"

#include <stdio.h>

/** What a report is about. */
struct place_report {
    const struct experiment *experiment;
    const struct fabric *fabric;
    const struct placement_site *site;
    const struct place_candidates *candidates;
    const struct place_candidate *found;      /**< of the list */
    const struct place_candidate *configured; /**< of the list: what the configuration has */
    uint64_t first_unseen_seed;
    uint32_t batches; /**< learnt from */
    bool interrupted;
};

/** All placements on unseen micro-batches; how much the one found saves against each, with 95 % confidence intervals; what moving there costs. */
void place_report_print(const struct place_report *report, FILE *stream);

/** Writes the placement found as a file that `run` takes (config/placement_file.h). False with *error. */
bool place_report_write(const struct place_report *report, const char *path, struct error *error);

#endif
