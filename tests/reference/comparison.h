// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The engine against the naive simulator, on one case.
 */
#ifndef MOEFABRIC_TESTS_COMPARISON_H
#define MOEFABRIC_TESTS_COMPARISON_H

#include "random_case.h"
#include "reference.h"

#include <stdbool.h>
#include <stdio.h>

enum { COMPARISON_RUNS_MOST = 6 };

/** One run of the engine: with the smallest latency divided by parts as window, on so many threads. */
struct comparison_run {
    uint64_t parts;
    uint32_t threads;
};

/** How a case is run: each in three windows; one in 8 also on two threads and one in 80 on 3 and on 8, the windows in turn. Fills runs and returns how many. */
size_t comparison_plan(uint64_t number, struct comparison_run runs[COMPARISON_RUNS_MOST]);

/** Runs the engine as comparison_plan says and compares traces and counters with a run of the naive simulator; prints the first difference. True if all is equal. */
bool comparison_equal(FILE *stream, const struct random_case *random_case, const struct reference *reference);

/** The same in a process of its own, so that an engine that aborts or hangs (60 s) counts as different too. known: a run of the naive simulator, NULL = it is run there as well. */
bool comparison_equal_apart(FILE *stream, const struct random_case *random_case, const struct reference *known);

#endif
