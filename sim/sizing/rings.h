// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a fabric leaves of a NIC's rate to rings of gradients, which all run at the same time.
 */
#ifndef MOEFABRIC_SIZING_RINGS_H
#define MOEFABRIC_SIZING_RINGS_H

#include "config/topology.h"
#include "fabric/fabric.h"

/**
 * Every GPU sends to the GPU of the same index `stride` racks on, around every `group` racks (consecutive ones; a multiple of stride, 1 or less: no
 * ring). The share of a NIC's rate that each has on the fullest leaf: its uplinks ÷ the GPUs whose next one is under another leaf, at most 1. Uplinks are
 * taken as evenly used, which adaptive paths come near to and hashed ones do not; tiers above have no oversubscription where section `design` made them.
 */
double rings_share(const struct topology *topology, const struct fabric *fabric, uint32_t stride, uint32_t group);

#endif
