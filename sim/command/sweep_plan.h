// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which points a sweep has, which of them are to be run here, and where the results of each are kept.
 *
 * Beside the result NAME.h5 there is a folder NAME.points with a file for each point that has been run, named by the hash of its
 * configuration: HASH.h5, in the layout of the result itself. A point whose file is there is not run again, whatever its number, and
 * whoever put it there: another shard, another machine, an earlier call that was killed.
 */
#ifndef MOEFABRIC_COMMAND_SWEEP_PLAN_H
#define MOEFABRIC_COMMAND_SWEEP_PLAN_H

#include "base/error.h"
#include "results/sweep_table.h"

#include <stdbool.h>
#include <stdint.h>

/** What a sweep is made from. Texts are the caller's. */
struct sweep_plan_source {
    const char *configuration; /**< path */
    const char *const *overrides;
    uint32_t n_overrides;
    const char *output;                        /**< NULL: NAME.h5, NAME from the configuration */
    void (*read)(uint64_t done, uint64_t all); /**< told after each point that was read; NULL: nobody */
};

/** Which points: those whose number is first + k × step. */
struct sweep_plan_part {
    uint64_t first, step;
    bool alone; /**< only the first one */
};

/** A sweep that is about to be run. Ends with sweep_plan_fini. */
struct sweep_plan {
    struct sweep_plan_source source;
    struct sweep_table *table; /**< points of the part, SWEEP_MISSING or SWEEP_REFUSED, until results come */
    uint64_t n_points;         /**< of the whole sweep */
    char *output, *folder;
    struct error_list notes; /**< what is noted of every point */
    uint32_t n_equal;        /**< points whose configuration another point has too */
};

/**
 * Expands a sweep and reads every point of the part. False with *errors: mistakes in the section, or in the first point where all have one, or the
 * result would replace a file that a point is made from.
 * Points with mistakes of their own are SWEEP_REFUSED. Reads nothing of what has been run.
 */
bool sweep_plan_init(struct sweep_plan *plan, const struct sweep_plan_source *source,
                     const struct sweep_plan_part *part, struct error_list *errors);

/** Path of a point's file, to be freed by the caller. */
char *sweep_plan_path(const struct sweep_plan *plan, const struct sweep_point *point);

/** Takes over what has been run already; files that are damaged count as missing. Returns the number of points that are done. */
uint32_t sweep_plan_collect(struct sweep_plan *plan);

/** Reads the file of one point, if it is there and of the same configuration. */
void sweep_plan_take(struct sweep_plan *plan, struct sweep_point *point);

/** Makes the folder for the points, and finds out whether the result can be written. False with *error. */
bool sweep_plan_prepare(const struct sweep_plan *plan, struct error *error);

/**
 * Runs a point in this process and writes its file, unless it is interrupted. False with *error (exit code 3 if the configuration is not what it was
 * when the sweep was expanded; 4 if the file cannot be written).
 */
bool sweep_plan_run(const struct sweep_plan *plan, uint32_t index, unsigned threads, _Atomic uint64_t *thousandths,
                    struct error *error);

/** Writes the file of a point that could not do so itself. */
bool sweep_plan_store(const struct sweep_plan *plan, const struct sweep_point *point, struct error *error);

/** Removes what processes of this machine have left half-written in the folder when they were killed. */
void sweep_plan_tidy(const struct sweep_plan *plan);

/** Frees what it owns. */
void sweep_plan_fini(struct sweep_plan *plan);

#endif
