// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The bus bandwidth of a uniform all-to-all of nodes with NVLink inside and one NIC a GPU.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_ALLTOALL_H
#define MOEFABRIC_COMMAND_VALIDATE_ALLTOALL_H

#include "command/validate_kind.h"

/**
 * Packets of an all-to-all over `nodes` × `gpus`. busbw = algbw × (n - 1) ÷ n (NCCL, nccl-tests doc/PERFORMANCE.md), logical bytes;
 * in GB/s, or as a multiple of the NIC's payload rate: its wire rate × payload ÷ (payload + headers) of a full packet.
 */
extern const struct validate_kind validate_alltoall_busbw;

#endif
