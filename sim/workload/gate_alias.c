// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/gate_alias.h"

#include "base/memory.h"

#include <stdlib.h>

/* Splits the columns into those below and those above the mean; small ones are filled up from large ones. */
struct gate_alias_column *gate_alias_create(const double *weights, uint32_t count) {
    struct gate_alias_column *columns = memory_allocate(count, sizeof *columns);
    double *scaled = memory_allocate(count, sizeof *scaled), sum = 0;
    uint32_t *stack = memory_allocate(count, sizeof *stack); /* small ones from the bottom, large ones from the top */
    uint32_t n_small = 0, large = count;
    for (uint32_t i = 0; i < count; i++) {
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        scaled[i] = weights[i] / sum * count;
        columns[i] = (struct gate_alias_column){.threshold = UINT32_MAX, .other = i};
        if (scaled[i] < 1) {
            stack[n_small++] = i;
        } else {
            stack[--large] = i;
        }
    }
    while (n_small > 0 && large < count) {
        const uint32_t from = stack[large], to = stack[--n_small];
        columns[to] = (struct gate_alias_column){.threshold = (uint32_t)(scaled[to] * 0x1p32), .other = from};
        scaled[from] -= 1 - scaled[to];
        if (scaled[from] < 1) {
            large++;
            stack[n_small++] = from;
        }
    }
    free(scaled);
    free(stack);
    return columns;
}
