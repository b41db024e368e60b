// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a fabric leaves of a NIC's rate to rings of gradients, which all run at the same time.
 */
#ifndef MOEFABRIC_SIZING_RINGS_H
#define MOEFABRIC_SIZING_RINGS_H

#include "config/topology.h"
#include "fabric/fabric.h"

/** Who passes gradients to whom, in GPUs. GPUs of a stage come in blocks; blocks of all stages take turns (training.group_order: data_pipeline has one block a stage). */
struct rings {
    uint32_t
        stride; /**< of a stage, from a GPU to the one that it sends to: as many as a domain has, or an expert-parallel group */
    uint32_t block; /**< of a stage that follow each other */
    uint32_t stages;
    uint32_t stage; /**< of a stage, all blocks */
};

/**
 * Every GPU sends to the GPU `stride` further on in its stage, the last ones to the first; a stage of `stride` or less has no ring. The share of a NIC's
 * rate that each has on the fullest leaf: its uplinks ÷ the GPUs whose next one is under another leaf, at most 1. Uplinks are
 * taken as evenly used, which adaptive paths come near to and hashed ones do not; tiers above have no oversubscription where section `design` made them.
 */
double rings_share(const struct topology *topology, const struct fabric *fabric, const struct rings *rings);

#endif
