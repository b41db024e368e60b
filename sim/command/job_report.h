// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Where a job on some of the GPUs sits, and how its expert-parallel groups lie on NVLink domains.
 */
#ifndef MOEFABRIC_COMMAND_JOB_REPORT_H
#define MOEFABRIC_COMMAND_JOB_REPORT_H

#include "config/gpu_groups.h"

#include <stdio.h>

/** How the groups of a job lie. */
struct job_report {
    uint32_t domains;                      /**< that the job has GPUs of */
    uint32_t fewest_gpus, most_gpus;       /**< that it has of one of those */
    uint32_t groups, whole_groups;         /**< all; within one domain */
    uint32_t fewest_domains, most_domains; /**< of a group */
};

/** Counts; domain_gpus: places of an NVLink domain. */
struct job_report job_report_of(const struct gpu_groups *groups, uint32_t domain_gpus);

/** Prints one line. */
void job_report_print(FILE *stream, const struct gpu_groups *groups, uint32_t domain_gpus);

#endif
