// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who works together in training: tensor-parallel GPUs follow each other, then those that share a sequence, then data-parallel copies, then
 * stages (Megatron-LM's order tp-cp-dp-pp). Expert-parallel groups are consecutive GPUs of a stage.
 */
#ifndef MOEFABRIC_TRAINING_TRAINING_GROUPS_H
#define MOEFABRIC_TRAINING_TRAINING_GROUPS_H

#include "base/error.h"
#include "config/experiment.h"

#include <stdbool.h>
#include <stdint.h>

/** Groups of GPUs, and what a GPU of them has to do and to send with. */
struct training_groups {
    uint32_t gpus, tensor, context, data, expert, pipeline;
    uint32_t replicas;    /**< of what all GPUs of a tensor-parallel group hold together: context × data */
    uint32_t expert_data; /**< copies of an expert */
    uint32_t
        block; /**< GPUs of a stage that follow each other in either order: none shares a layer, a sequence or experts with one beyond them */
    uint32_t micro_batches;    /**< of a step, on each data-parallel copy */
    uint32_t tokens;           /**< of a micro-batch on a GPU */
    uint32_t gpus_per_domain;  /**< NVLink domain */
    uint32_t stage_in_domain;  /**< GPUs of one stage in it */
    bool pipeline_in_domain;   /**< stages reach each other by NVLink */
    double nic_bytes_per_s;    /**< of a GPU, payload */
    double nvlink_bytes_per_s; /**< of a GPU, payload */
};

/** Works out groups for so many GPUs. False with *error, which shows the arithmetic, if something does not divide. */
bool training_groups_fill(struct training_groups *groups, const struct experiment *experiment, struct error *error);

/** Is a group of n GPUs, each `stride` after the one before, within one NVLink domain? */
bool training_groups_in_domain(const struct training_groups *groups, uint32_t n, uint32_t stride);

#endif
