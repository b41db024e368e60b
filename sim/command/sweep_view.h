// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What is shown of a sweep while it runs: on a terminal a table that is rewritten, elsewhere a line for each point that is done.
 */
#ifndef MOEFABRIC_COMMAND_SWEEP_VIEW_H
#define MOEFABRIC_COMMAND_SWEEP_VIEW_H

#include "results/sweep_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A point that is being run. */
struct sweep_view_row {
    const struct sweep_point *point; /**< NULL: nothing is being run here */
    unsigned thousandths;            /**< done */
    double seconds;                  /**< since it began */
};

/** State of a display. Treat as opaque. */
struct sweep_view {
    FILE *stream;
    const struct sweep_table *table;
    uint32_t to_do, done, failed; /* of the points that are run now */
    unsigned lines;               /* that stand on the terminal */
    double begun_s, shown_s;
    bool quiet, terminal;
};

/** Begins a display for so many points. */
void sweep_view_begin(struct sweep_view *view, const struct sweep_table *table, uint32_t to_do, bool quiet);

/** Says that a point has ended: done, failed, or interrupted. */
void sweep_view_end_point(struct sweep_view *view, const struct sweep_point *point, double seconds);

/** Shows what is being run, on a terminal and if it is time to. */
void sweep_view_update(struct sweep_view *view, const struct sweep_view_row *rows, unsigned n_rows);

/** Removes the table from the terminal and says how it all went. */
void sweep_view_finish(struct sweep_view *view);

/** Seconds on a clock that only goes forward. */
double sweep_view_now(void);

/** What a point sets: "traffic.tokens_per_gpu=256, cluster.spines=2". Returns buffer. */
char *sweep_view_settings(const struct sweep_table *table, const struct sweep_point *point, char *buffer, size_t size);

#endif
