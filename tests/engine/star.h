// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Some endpoints around one switch: what the engine's tests put toy devices on.
 */
#ifndef MOEFABRIC_TESTS_ENGINE_STAR_H
#define MOEFABRIC_TESTS_ENGINE_STAR_H

#include "fabric/fabric.h"

#include <stdint.h>

/** n_endpoints under one leaf; the leaf is device number n_endpoints, its port e leads to endpoint e. Freed by fabric_free. */
struct fabric *star_create(uint32_t n_endpoints, uint64_t latency_ps);

/** Link from an endpoint to the leaf. */
uint32_t star_up(const struct fabric *fabric, uint32_t endpoint);

/** Link from the leaf to an endpoint. */
uint32_t star_down(const struct fabric *fabric, uint32_t endpoint);

#endif
