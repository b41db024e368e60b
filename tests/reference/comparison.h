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

/** Runs the engine with the whole window, a half and a seventh of it, one case in 8 on two threads and one in 40 on 3 and on 8, and compares traces and counters with a run of the naive simulator; prints the first difference. True if all is equal. */
bool comparison_equal(FILE *stream, const struct random_case *random_case, const struct reference *reference);

/** Runs both in a process of their own, so that one that aborts or hangs (60 s) counts as different too. */
bool comparison_equal_apart(FILE *stream, const struct random_case *random_case);

#endif
