// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A random small fabric.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_FABRIC_H
#define MOEFABRIC_TESTS_RANDOM_FABRIC_H

#include "fabric/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/** A fabric of 2 to 12 endpoints: one to three leaves, NVLink domains or both. Freed by fabric_free. */
struct fabric *random_fabric_create(uint64_t number, bool equal_links, bool store_and_forward);

#endif
