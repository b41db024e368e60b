// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bytes between every pair of ranks and of racks (NVLink domains) that a plan will send.
 */
#ifndef MOEFABRIC_COMMAND_GATE_MATRIX_H
#define MOEFABRIC_COMMAND_GATE_MATRIX_H

#include "workload/moe_summary.h"

#include <stdint.h>
#include <stdio.h>

/** Bytes between racks, all phases together: [n_racks × n_racks], from × to, NULL if there are more than 8192; what stays in a rack crosses NVLink. */
struct gate_matrix {
    uint32_t n_racks;
    uint64_t *bytes;
};

/** Sums a plan. Ends with gate_matrix_fini. */
void gate_matrix_init(struct gate_matrix *matrix, const struct moe *moe);

/** Frees it. */
void gate_matrix_fini(struct gate_matrix *matrix);

/** Prints all rows and columns of up to 16 racks, else mean and largest of the pairs; of more than 8192 it says so. */
void gate_matrix_print(const struct gate_matrix *matrix, FILE *stream);

/** Prints phase,from,to,route,bytes of every pair of ranks that exchange any, as CSV with a heading. */
void gate_matrix_print_ranks(const struct moe *moe, FILE *stream);

#endif
