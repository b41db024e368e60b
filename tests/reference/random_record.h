// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which series a random case records.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_RECORD_H
#define MOEFABRIC_TESTS_RANDOM_RECORD_H

#include "device/recorder.h"
#include "random_case.h"

/** Draws what a case whose messages are drawn records. Freed by random_record_free. */
struct recorder_wishes *random_record_create(const struct random_case *random_case);

/** Frees it; NULL is allowed. */
void random_record_free(struct recorder_wishes *wishes);

#endif
