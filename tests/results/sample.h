// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A small measurement with known numbers, and a folder for the files of a test.
 */
#ifndef MOEFABRIC_TESTS_RESULTS_SAMPLE_H
#define MOEFABRIC_TESTS_RESULTS_SAMPLE_H

#include "results/measurement.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * 4 ranks in 2 racks, phases counts (control), dispatch and combine, 3 links, 2 experts. Rank 3 is hot. Scale stretches all times of transfer.
 * reversed: messages are added in the opposite order.
 */
struct measurement *sample_measurement(const char *policy, uint64_t seed, uint64_t scale, bool reversed);

/** A new empty folder under the system's place for temporary files; to be freed by the caller. */
char *sample_folder(void);

/** folder/name; to be freed by the caller. */
char *sample_path(const char *folder, const char *name);

/** Whole content of a file, NUL-terminated, to be freed by the caller; fails the test if it cannot be read. */
char *sample_read(const char *path, size_t *size);

/** Number of entries of a folder, without . and .. */
unsigned sample_count_files(const char *folder);

#endif
