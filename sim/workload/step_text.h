// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One pass of a workload text (config/workload_text.h) as a program, in the order of its own simulators (iterate_… of Workload.cc, aliyun/SimAI):
 *
 * Forward, layer by layer: compute, then the collective, which is waited for. Backward, from the last layer to the first:
 *
 * - transformers: the gradient of the input and its collective, which is waited for; that of the weights; its collective, which is not;
 * - DATA: the gradient of the weights; its collective, which is not waited for; the gradient of the input, but for the first layer;
 * - others: the gradient of the input, whose collective (but for the first layer, which has nobody to send to) runs beside what follows: the gradient
 *   of the weights, and its collective, which is not waited for; then the wait for the former.
 *
 * A pass ends when all that was begun has ended.
 */
#ifndef MOEFABRIC_WORKLOAD_STEP_TEXT_H
#define MOEFABRIC_WORKLOAD_STEP_TEXT_H

#include "config/workload_text.h"
#include "workload/step_program.h"

/** The program of a text that fits the cluster (workload_text_check). The text may be ended afterwards. Ends with step_program_fini. */
void step_text_program(const struct workload_text *text, uint32_t n_ranks, uint32_t domain_ranks,
                       struct step_program *program);

#endif
