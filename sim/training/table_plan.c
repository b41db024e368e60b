// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/table_plan.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* mem_comm_bw_ratio 9 of config_GB200_16x4x2112.sh ÷ mem_comm_work_ratio (8 ÷ 2) of train.py, in rows of a sample. */
#define PIECE_COST (9.0 / (8.0 / 2))
#define ELEMENT_BYTES 8 /* sharding/__init__.py: FP32, and as much for AdaGrad */
#define ROOM_BYTES 60e9 /* train.py, memory_cap_for_embedding */
enum { PLANS = 20 };    /* sharding/planner.py, max_search_iter */
#define NOBODY UINT32_MAX

/* A plan being made: pieces stand table by table, hottest first. */
struct planning {
    const struct recommender_shape *shape;
    uint32_t gpus;
    uint32_t *cut, *order; /* [tables], the latter without copies */
    uint32_t n_order;
    double room_bytes;    /* beside copies */
    uint32_t *owner;      /* [pieces] */
    uint32_t *newest;     /* [gpus] table of the last piece: those of a table come one after the other */
    double *cost, *bytes; /* [gpus] */
};

static double heat(const struct planning *planning, uint32_t table) {
    return (double)planning->shape->tables[table].looked_up / planning->cut[table];
}

static double piece_bytes(const struct planning *planning, uint32_t table) {
    return (double)planning->shape->tables[table].rows / planning->cut[table] * planning->shape->width * ELEMENT_BYTES;
}

/* Hottest pieces first, the order of the tables among equals. */
static void sort(struct planning *planning) {
    planning->n_order = 0;
    for (uint32_t table = 0; table < planning->shape->n_tables; table++) {
        if (planning->cut[table] > 0) {
            uint32_t at = planning->n_order++;
            for (; at > 0 && heat(planning, planning->order[at - 1]) < heat(planning, table); at--) {
                planning->order[at] = planning->order[at - 1];
            }
            planning->order[at] = table;
        }
    }
}

static uint32_t cheapest(const struct planning *planning, uint32_t table) {
    uint32_t found = NOBODY;
    for (uint32_t gpu = 0; gpu < planning->gpus; gpu++) {
        if (planning->newest[gpu] != table &&
            planning->bytes[gpu] + piece_bytes(planning, table) <= planning->room_bytes &&
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
    for (uint32_t i = 0; i < planning->n_order; i++) {
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
    for (uint32_t i = 0; i < planning->n_order; i++) {
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
        for (uint32_t i = 0; i < planning->n_order; i++) {
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

/* Every table that is not copied over all GPUs. */
static void spread(const struct planning *planning, struct table_plan *plan) {
    uint32_t piece = 0;
    for (uint32_t gpu = 0; gpu < plan->gpus; gpu++) {
        plan->first[gpu] = piece;
        for (uint32_t table = 0; table < plan->shape->n_tables; table++) {
            plan->cut[table] = planning->cut[table] > 0 ? plan->gpus : 0;
            if (planning->cut[table] > 0) {
                plan->tables[piece++] = table;
            }
        }
    }
    plan->first[plan->gpus] = piece;
}

/* Of every GPU, if all have a piece of every table. */
static double spread_cost(const struct table_plan *plan) {
    return table_plan_looked_up(plan, 0) + table_plan_pieces(plan, 0) * PIECE_COST;
}

static void search(struct planning *planning, struct table_plan *plan) {
    spread(planning, plan);
    double least = spread_cost(plan);
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

/* Small tables are copied, all others are whole for now. */
static void copy(struct planning *planning, uint64_t copied_bytes) {
    planning->room_bytes = ROOM_BYTES;
    for (uint32_t table = 0; table < planning->shape->n_tables; table++) {
        planning->cut[table] = 1;
        if (piece_bytes(planning, table) < (double)copied_bytes) {
            planning->room_bytes -= piece_bytes(planning, table);
            planning->cut[table] = 0;
        }
    }
}

struct table_plan table_plan_create(const struct recommender_shape *shape, uint32_t gpus, uint64_t copied_bytes) {
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
    copy(&planning, copied_bytes);
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

struct table_plan_copies table_plan_copied(const struct table_plan *plan) {
    struct table_plan_copies copies = {0};
    for (uint32_t table = 0; table < plan->shape->n_tables; table++) {
        if (plan->cut[table] == 0) {
            copies.tables++;
            copies.rows += plan->shape->tables[table].rows;
            copies.looked_up += plan->shape->tables[table].looked_up;
        }
    }
    return copies;
}

void table_plan_fini(struct table_plan *plan) {
    free(plan->cut);
    free(plan->first);
    free(plan->tables);
    *plan = (struct table_plan){0};
}
