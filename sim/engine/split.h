// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which worker runs which device: neighbours together, about equal work for all.
 */
#ifndef MOEFABRIC_ENGINE_SPLIT_H
#define MOEFABRIC_ENGINE_SPLIT_H

#include "fabric/fabric.h"

#include <stdint.h>

/**
 * Fills worker_of[n_devices] with 0 … n_workers-1. An NVLink domain with its chips stays together, and so do GPUs without NVLink
 * below one leaf; leaves and spines then go, the largest first, to the worker with the least work. Work is counted in ports.
 */
void split_devices(const struct fabric *fabric, uint32_t n_workers, uint32_t *worker_of);

#endif
