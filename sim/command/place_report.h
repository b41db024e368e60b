// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What `place` prints, and the file that it writes.
 */
#ifndef MOEFABRIC_COMMAND_PLACE_REPORT_H
#define MOEFABRIC_COMMAND_PLACE_REPORT_H

#include "base/table.h"
#include "command/place_candidate.h"
#include "results/interval.h"

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

/** Share of the time that the placement found saves against another, batch by batch, in per cent. */
struct place_saving {
    double mean;
    struct interval interval; /**< 95 %; NAN with fewer than 5 micro-batches */
};

/** Of a report. */
struct place_saving place_report_saving(const struct place_report *report, const struct place_candidate *other);

/** One line of a table of layers: place_report_layers makes the table, which the caller prints and frees. */
void place_report_layer(const struct place_report *report, uint32_t layer, struct table *table);

/** The table of place_report_layer, without lines. */
struct table *place_report_layers(void);

/** A placement of a layer. */
struct place_layer {
    uint32_t layer;
    struct placement *placement; /**< owned by whoever made it */
};

/** Writes placements as a file that `run` takes (config/placement_file.h): YAML if its name ends so, else CSV. heading: of a comment. False with *error. */
bool place_report_write(const struct place_layer *layers, uint32_t n_layers, const char *heading, const char *path,
                        struct error *error);

#endif
