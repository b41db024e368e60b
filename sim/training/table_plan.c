// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/table_plan.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* mem_comm_bw_ratio 9 of config_GB200_16x4x2112.sh ÷ mem_comm_work_ratio 8 ÷ 2 of train.py (see the header), in rows of a sample. */
#define PIECE_COST (9.0 / (8.0 / 2))
#define ELEMENT_BYTES 8 /* sharding/__init__.py: FP32, and as much for AdaGrad */
#define ROOM_BYTES 60e9 /* train.py, memory_cap_for_embedding */
enum { PLANS = 20 };    /* sharding/planner.py, max_search_iter */
#define NOBODY UINT32_MAX

/* A plan being made: pieces stand table by table, hottest first. */
struct planning {
    const struct recommender_shape *shape;
    uint32_t gpus;
    uint32_t *cut, *order; /* [tables] */
    uint32_t *owner;       /* [pieces] */
    uint32_t *newest;      /* [gpus] table of the last piece: those of a table come one after the other */
    double *cost, *bytes;  /* [gpus] */
};

static double heat(const struct planning *planning, uint32_t table) {
    return (double)planning->shape->tables[table].looked_up / planning->cut[table];
}

static double piece_bytes(const struct planning *planning, uint32_t table) {
    return (double)planning->shape->tables[table].rows / planning->cut[table] * planning->shape->width * ELEMENT_BYTES;
}

/* Hottest pieces first, the order of the tables among equals. */
static void sort(struct planning *planning) {
    for (uint32_t i = 0; i < planning->shape->n_tables; i++) {
        uint32_t at = i;
        for (; at > 0 && heat(planning, planning->order[at - 1]) < heat(planning, i); at--) {
            planning->order[at] = planning->order[at - 1];
        }
        planning->order[at] = i;
    }
}

static uint32_t cheapest(const struct planning *planning, uint32_t table) {
    uint32_t found = NOBODY;
    for (uint32_t gpu = 0; gpu < planning->gpus; gpu++) {
        if (planning->newest[gpu] != table && planning->bytes[gpu] + piece_bytes(planning, table) <= ROOM_BYTES &&
            (found == NOBODY || planning->cost[gpu] < planning->cost[found])) {
            found = gpu;
        }
    }
    return found;
}

/* Gives all pieces their GPUs. The table of which a piece has no room, or NOBODY. */
static uint32_t place(struct planning *planning) {
    uint32_t piece = 0;
    sort(planning);
    memset(planning->newest, 0xff, planning->gpus * sizeof *planning->newest);
    for (uint32_t gpu = 0; gpu < planning->gpus; gpu++) {
        planning->cost[gpu] = planning->bytes[gpu] = 0;
    }
    for (uint32_t i = 0; i < planning->shape->n_tables; i++) {
        const uint32_t table = planning->order[i];
        for (uint32_t n = 0; n < planning->cut[table]; n++) {
            const uint32_t gpu = cheapest(planning, table);
            if (gpu == NOBODY) {
                return table;
            }
            planning->owner[piece++] = gpu;
            planning->newest[gpu] = table;
            planning->cost[gpu] += heat(planning, table) + PIECE_COST;
            planning->bytes[gpu] += piece_bytes(planning, table);
        }
    }
    return NOBODY;
}

static double largest_cost(const struct planning *planning) {
    double largest = 0;
    for (uint32_t gpu = 0; gpu < planning->gpus; gpu++) {
        largest = fmax(largest, planning->cost[gpu]);
    }
    return largest;
}

/* The hottest that can be. */
static uint32_t to_be_cut(const struct planning *planning) {
    for (uint32_t i = 0; i < planning->shape->n_tables; i++) {
        if (2 * planning->cut[planning->order[i]] <= planning->gpus) {
            return planning->order[i];
        }
    }
    return NOBODY;
}

/* Writes the pieces of all GPUs, one GPU after the other. */
static void keep(const struct planning *planning, struct table_plan *plan) {
    uint32_t *at = memory_allocate(planning->gpus, sizeof *at);
    uint32_t piece = 0;
    memcpy(plan->cut, planning->cut, planning->shape->n_tables * sizeof *plan->cut);
    memset(plan->first, 0, ((size_t)planning->gpus + 1) * sizeof *plan->first);
    for (int write = 0; write < 2; write++) {
        piece = 0;
        for (uint32_t i = 0; i < planning->shape->n_tables; i++) {
            for (uint32_t n = 0; n < planning->cut[planning->order[i]]; n++, piece++) {
                const uint32_t gpu = planning->owner[piece];
                if (write) {
                    plan->tables[plan->first[gpu] + at[gpu]++] = planning->order[i];
                } else {
                    plan->first[gpu + 1]++;
                }
            }
        }
        for (uint32_t gpu = 0; gpu < planning->gpus && !write; gpu++) {
            plan->first[gpu + 1] += plan->first[gpu];
        }
    }
    free(at);
}

/* Every table over all GPUs. */
static void spread(struct table_plan *plan) {
    const uint32_t tables = plan->shape->n_tables;
    for (uint32_t table = 0; table < tables; table++) {
        plan->cut[table] = plan->gpus;
    }
    for (uint32_t gpu = 0; gpu <= plan->gpus; gpu++) {
        plan->first[gpu] = gpu * tables;
    }
    for (size_t piece = 0; piece < (size_t)plan->gpus * tables; piece++) {
        plan->tables[piece] = (uint32_t)(piece % tables);
    }
}

static void search(struct planning *planning, struct table_plan *plan) {
    const uint32_t tables = planning->shape->n_tables;
    double least = (double)recommender_shape_looked_up(planning->shape) / planning->gpus + tables * PIECE_COST;
    spread(plan);
    for (int i = 0; i < PLANS; i++) {
        uint32_t next = place(planning);
        if (next == NOBODY) {
            if (largest_cost(planning) < least) {
                least = largest_cost(planning);
                keep(planning, plan);
            }
            next = to_be_cut(planning);
        }
        if (next == NOBODY || 2 * planning->cut[next] > planning->gpus) {
            return;
        }
        planning->cut[next] *= 2;
    }
}

struct table_plan table_plan_create(const struct recommender_shape *shape, uint32_t gpus) {
    const size_t most = (size_t)shape->n_tables * gpus;
    struct table_plan plan = {.shape = shape,
                              .gpus = gpus,
                              .cut = memory_allocate(shape->n_tables, sizeof *plan.cut),
                              .first = memory_allocate((size_t)gpus + 1, sizeof *plan.first),
                              .tables = memory_allocate(most, sizeof *plan.tables)};
    struct planning planning = {.shape = shape,
                                .gpus = gpus,
                                .cut = memory_allocate(shape->n_tables, sizeof *planning.cut),
                                .order = memory_allocate(shape->n_tables, sizeof *planning.order),
                                .owner = memory_allocate(most, sizeof *planning.owner),
                                .newest = memory_allocate(gpus, sizeof *planning.newest),
                                .cost = memory_allocate(gpus, sizeof *planning.cost),
                                .bytes = memory_allocate(gpus, sizeof *planning.bytes)};
    for (uint32_t table = 0; table < shape->n_tables; table++) {
        planning.cut[table] = 1;
    }
    search(&planning, &plan);
    free(planning.cut);
    free(planning.order);
    free(planning.owner);
    free(planning.newest);
    free(planning.cost);
    free(planning.bytes);
    return plan;
}

uint32_t table_plan_pieces(const struct table_plan *plan, uint32_t gpu) {
    return plan->first[gpu + 1] - plan->first[gpu];
}

uint32_t table_plan_most_pieces(const struct table_plan *plan) {
    uint32_t most = 0;
    for (uint32_t gpu = 0; gpu < plan->gpus; gpu++) {
        most = table_plan_pieces(plan, gpu) > most ? table_plan_pieces(plan, gpu) : most;
    }
    return most;
}

double table_plan_looked_up(const struct table_plan *plan, uint32_t gpu) {
    double sum = 0;
    for (uint32_t i = plan->first[gpu]; i < plan->first[gpu + 1]; i++) {
        sum += (double)plan->shape->tables[plan->tables[i]].looked_up / plan->cut[plan->tables[i]];
    }
    return sum;
}

double table_plan_rows(const struct table_plan *plan, uint32_t gpu) {
    double sum = 0;
    for (uint32_t i = plan->first[gpu]; i < plan->first[gpu + 1]; i++) {
        sum += (double)plan->shape->tables[plan->tables[i]].rows / plan->cut[plan->tables[i]];
    }
    return sum;
}

double table_plan_distinct(const struct table_plan *plan, uint32_t gpu, double samples) {
    double sum = 0;
    for (uint32_t i = plan->first[gpu]; i < plan->first[gpu + 1]; i++) {
        const struct recommender_table *table = &plan->shape->tables[plan->tables[i]];
        sum += fmin(table->rows, samples * table->looked_up) / plan->cut[plan->tables[i]];
    }
    return sum;
}

void table_plan_fini(struct table_plan *plan) {
    free(plan->cut);
    free(plan->first);
    free(plan->tables);
    *plan = (struct table_plan){0};
}
