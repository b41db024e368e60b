// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Random figures of the devices, small enough for everything to happen in small cases.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_PARAMETERS_H
#define MOEFABRIC_TESTS_RANDOM_PARAMETERS_H

#include "device/parameters.h"

#include <stdint.h>

/** Figures of a case. */
struct network_parameters random_parameters_create(uint64_t number);

#endif
