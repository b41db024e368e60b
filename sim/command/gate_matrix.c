// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/gate_matrix.h"

#include "base/memory.h"
#include "base/quantity.h"
#include "base/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RACKS_OF_A_TABLE = 16, RACKS_OF_A_MATRIX = 8192 /* 512 MiB */ };

void gate_matrix_init(struct gate_matrix *matrix, const struct moe *moe) {
    const struct moe_placement *placement = &moe_plan_counts(moe)->shape.placement;
    const uint32_t n_ranks = placement->n_ranks, n_racks = n_ranks / placement->ranks_per_domain;
    matrix->n_racks = n_racks;
    if (n_racks > RACKS_OF_A_MATRIX) {
        return;
    }
    uint64_t *row = memory_allocate(n_ranks, sizeof *row);
    matrix->bytes = memory_allocate((size_t)n_racks * n_racks, sizeof *matrix->bytes);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        uint64_t *to = matrix->bytes + (size_t)moe_placement_domain(placement, rank) * n_racks;
        memset(row, 0, n_ranks * sizeof *row);
        for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase < MOE_SUMMARY_PHASES; phase++) {
            moe_summary_matrix_row(moe, phase, rank, row);
        }
        for (uint32_t peer = 0; peer < n_ranks; peer++) {
            to[moe_placement_domain(placement, peer)] += row[peer];
        }
    }
    free(row);
}

void gate_matrix_fini(struct gate_matrix *matrix) {
    free(matrix->bytes);
}

static void print_whole(const struct gate_matrix *matrix, FILE *stream) {
    struct table *table = table_create();
    char text[QUANTITY_TEXT_SIZE], title[32];
    table_column(table, "from rack", TABLE_LEFT);
    for (uint32_t to = 0; to < matrix->n_racks; to++) {
        snprintf(title, sizeof title, "to %" PRIu32, to);
        table_column(table, title, TABLE_RIGHT);
    }
    for (uint32_t from = 0; from < matrix->n_racks; from++) {
        table_cell(table, "%" PRIu32, from);
        for (uint32_t to = 0; to < matrix->n_racks; to++) {
            const uint64_t bytes = matrix->bytes[(size_t)from * matrix->n_racks + to];
            table_cell(table, "%s", quantity_print_short(text, QUANTITY_BYTES, (double)bytes));
        }
    }
    table_print(table, stream, 2);
    table_free(table);
}

static void print_extremes(const struct gate_matrix *matrix, FILE *stream) {
    const uint32_t n = matrix->n_racks;
    char mean_text[QUANTITY_TEXT_SIZE], largest_text[QUANTITY_TEXT_SIZE], within_text[QUANTITY_TEXT_SIZE];
    double sum = 0, within = 0;
    size_t largest = 1;
    for (size_t i = 0; i < (size_t)n * n; i++) {
        const bool same = i / n == i % n;
        within += same ? (double)matrix->bytes[i] : 0;
        sum += same ? 0 : (double)matrix->bytes[i];
        largest = !same && matrix->bytes[i] > matrix->bytes[largest] ? i : largest;
    }
    fprintf(stream, "  %" PRIu32 " racks: mean pair %s, largest %s (from %zu to %zu); within a rack %s on average\n", n,
            quantity_print_short(mean_text, QUANTITY_BYTES, sum / ((double)n * (n - 1))),
            quantity_print_short(largest_text, QUANTITY_BYTES, (double)matrix->bytes[largest]), largest / n,
            largest % n, quantity_print_short(within_text, QUANTITY_BYTES, within / n));
}

void gate_matrix_print(const struct gate_matrix *matrix, FILE *stream) {
    if (!matrix->bytes) {
        fprintf(stream, "  %" PRIu32 " racks are too many for a matrix; --csv goes through all pairs of GPUs\n",
                matrix->n_racks);
    } else if (matrix->n_racks <= RACKS_OF_A_TABLE) {
        print_whole(matrix, stream);
    } else {
        print_extremes(matrix, stream);
    }
}

void gate_matrix_print_ranks(const struct moe *moe, FILE *stream) {
    const struct moe_placement *placement = &moe_plan_counts(moe)->shape.placement;
    uint64_t *row = memory_allocate(placement->n_ranks, sizeof *row);
    fprintf(stream, "phase,from,to,route,bytes\n");
    for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase < MOE_SUMMARY_PHASES; phase++) {
        for (uint32_t rank = 0; rank < placement->n_ranks; rank++) {
            memset(row, 0, placement->n_ranks * sizeof *row);
            moe_summary_matrix_row(moe, phase, rank, row);
            for (uint32_t peer = 0; peer < placement->n_ranks; peer++) {
                const bool nvlink = moe_placement_route(placement, rank, peer) == TRAFFIC_NVLINK;
                if (row[peer] > 0) {
                    fprintf(stream, "%s,%" PRIu32 ",%" PRIu32 ",%s,%" PRIu64 "\n", moe_summary_phase_name(phase), rank,
                            peer, nvlink ? "nvlink" : "fabric", row[peer]);
                }
            }
        }
    }
    free(row);
}
