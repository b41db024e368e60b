// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Configurations as texts, run to their measurement.
 */
#ifndef MOEFABRIC_TESTS_COMMAND_LABORATORY_H
#define MOEFABRIC_TESTS_COMMAND_LABORATORY_H

#include "command/simulation.h"

/** A configuration that has been run once. Ends with laboratory_fini. */
struct laboratory {
    struct experiment *experiment;
    struct fabric *fabric;
    struct simulation simulation;
    struct measurement *measurement;
};

/** Runs the first policy of a configuration (YAML; topologies are found from the folder tests/golden/cases) with its first seed. A mistake in it fails the test. */
struct laboratory laboratory_run(const char *text);

/** The same of a configuration with the pattern workload_text, whose workload is a text too. */
struct laboratory laboratory_run_workload(const char *text, const char *workload);

/** The only flow of a phase; fails the test if there is none or another. */
const struct measurement_flow *laboratory_only_flow(const struct laboratory *laboratory, uint32_t phase);

/** Frees what it holds. */
void laboratory_fini(struct laboratory *laboratory);

#endif
