// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Failures of random cases: cables, switches and NICs that go down, flap, slow down or lose packets.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_FAILURES_H
#define MOEFABRIC_TESTS_RANDOM_FAILURES_H

#include "device/parameters.h"
#include "fabric/fabric.h"
#include "fabric/failure.h"

/** Draws the failures of a case: none for most. list->failures has to be freed. */
struct failure_list random_failures_create(uint64_t number, const struct fabric *fabric,
                                           const struct network_parameters *parameters);

#endif
