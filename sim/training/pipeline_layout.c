// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/pipeline_layout.h"

#include "base/error_id.h"
#include "base/line.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Fills parts up to a limit, leaving a layer for each of those that follow. False if layers are left. */
static bool fill(const uint64_t *costs, uint32_t n_layers, uint32_t n_parts, uint64_t limit, uint32_t *first) {
    uint32_t layer = 0;
    for (uint32_t part = 0; part < n_parts; part++) {
        const uint32_t end = n_layers - (n_parts - part - 1);
        uint64_t cost = 0;
        first[part] = layer;
        do { // one at least
            cost += costs[layer++];
        } while (layer < end && cost + costs[layer] <= limit);
        if (cost > limit) {
            return false;
        }
    }
    first[n_parts] = layer;
    return layer == n_layers;
}

/* How uneven a cut is: the less the better, the first difference decides. */
struct unevenness {
    uint64_t largest_stage;
    double stage_squares, part_squares; /* sums over all of them */
};

/* A search for a more even cut. */
struct search {
    struct pipeline_layout *layout;
    const uint64_t *costs;
    uint32_t n_stages;
    uint64_t *stages; /* [n_stages] */
    struct unevenness best;
};

static struct unevenness judge(const struct search *search) {
    const uint32_t *first = search->layout->first;
    struct unevenness found = {0};
    memset(search->stages, 0, search->n_stages * sizeof *search->stages);
    for (uint32_t part = 0; part < search->layout->n_parts; part++) {
        uint64_t cost = 0;
        for (uint32_t i = first[part]; i < first[part + 1]; i++) {
            cost += search->costs[i];
        }
        search->stages[part % search->n_stages] += cost;
        found.part_squares += (double)cost * (double)cost;
    }
    for (uint32_t stage = 0; stage < search->n_stages; stage++) {
        const uint64_t cost = search->stages[stage];
        found.stage_squares += (double)cost * (double)cost;
        found.largest_stage = cost > found.largest_stage ? cost : found.largest_stage;
    }
    return found;
}

static bool is_better(const struct unevenness *one, const struct unevenness *other) {
    if (one->largest_stage != other->largest_stage) {
        return one->largest_stage < other->largest_stage;
    }
    if (one->stage_squares != other->stage_squares) {
        return one->stage_squares < other->stage_squares;
    }
    return one->part_squares < other->part_squares;
}

/* Gives a layer of one part to another: those between pass one on. */
static void give(struct pipeline_layout *layout, uint32_t from, uint32_t to) {
    for (uint32_t border = from + 1; border <= to; border++) {
        layout->first[border]--;
    }
    for (uint32_t border = to + 1; border <= from; border++) {
        layout->first[border]++;
    }
}

/* Gives one layer so that the cut is better; false if there is no such layer. */
static bool improve(struct search *search) {
    struct pipeline_layout *layout = search->layout;
    for (uint32_t from = 0; from < layout->n_parts; from++) {
        for (uint32_t to = 0; to < layout->n_parts && layout->first[from + 1] - layout->first[from] > 1; to++) {
            if (to == from) {
                continue;
            }
            give(layout, from, to);
            const struct unevenness now = judge(search);
            if (is_better(&now, &search->best)) {
                search->best = now;
                return true;
            }
            give(layout, to, from);
        }
    }
    return false;
}

/* The cut whose largest part is least. */
static void even_parts(const uint64_t *costs, uint32_t n_layers, uint32_t n_parts, uint32_t *first) {
    uint64_t low = 0, high = 0; // the least limit that works is in low … high
    for (uint32_t i = 0; i < n_layers; i++) {
        high += costs[i];
    }
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (fill(costs, n_layers, n_parts, middle, first)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    fill(costs, n_layers, n_parts, low, first);
}

/* Begins from that cut, and from those with so many of the last layers, which are unlike the others, in the last part. */
static void even_stages(struct pipeline_layout *layout, const uint64_t *costs, uint32_t n_layers, uint32_t n_stages) {
    const uint32_t n_parts = layout->n_parts, most = n_layers / n_parts + 1;
    uint32_t *best = memory_allocate((size_t)n_parts + 1, sizeof *best);
    struct search search = {.layout = layout,
                            .costs = costs,
                            .n_stages = n_stages,
                            .stages = memory_allocate(n_stages, sizeof *search.stages)};
    struct unevenness least = {.largest_stage = UINT64_MAX};
    for (uint32_t last = 0; last <= most && n_layers - last >= n_parts - 1; last++) {
        if (last > 0) {
            even_parts(costs, n_layers - last, n_parts - 1, layout->first);
            layout->first[n_parts] = n_layers;
        }
        search.best = judge(&search);
        while (improve(&search)) {
        }
        if (is_better(&search.best, &least)) {
            least = search.best;
            memcpy(best, layout->first, ((size_t)n_parts + 1) * sizeof *best);
        }
    }
    memcpy(layout->first, best, ((size_t)n_parts + 1) * sizeof *best);
    free(best);
    free(search.stages);
}

void pipeline_layout_balance(struct pipeline_layout *layout, const uint64_t *costs, uint32_t n_layers, uint32_t n_parts,
                             uint32_t n_stages) {
    REQUIRE(n_parts >= 1 && n_layers >= n_parts, "%u layers in %u parts", n_layers, n_parts);
    layout->n_parts = n_parts;
    layout->first = memory_allocate((size_t)n_parts + 1, sizeof *layout->first);
    even_parts(costs, n_layers, n_parts, layout->first);
    if (n_stages < n_parts && n_stages > 1) {
        even_stages(layout, costs, n_layers, n_stages);
    }
}

bool pipeline_layout_read(struct pipeline_layout *layout, const char *text, uint32_t n_layers, uint32_t n_parts,
                          struct error *error) {
    uint64_t sum = 0, parts = 0, number = 0;
    layout->n_parts = n_parts;
    layout->first = memory_allocate((size_t)n_parts + 1, sizeof *layout->first);
    for (const char *at = text; *at != '\0'; parts++) {
        at += strspn(at, " ");
        const size_t digits = line_number(at, &number);
        at += digits + strspn(at + digits, " ");
        sum += number;
        const bool goes_on = *at == ',' && at[1] != '\0';
        if (digits == 0 || number == 0 || number > n_layers || (!goes_on && *at != '\0')) {
            pipeline_layout_fini(layout);
            return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                             "a pipeline layout is numbers of layers from 1, with commas, not `%.100s`", text);
        }
        if (parts < n_parts) {
            layout->first[parts + 1] = (uint32_t)sum;
        }
        at += goes_on;
    }
    if (parts != n_parts || sum != n_layers) {
        pipeline_layout_fini(layout);
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "the pipeline layout has %" PRIu64 " parts with %" PRIu64 " layers; there are %" PRIu32
                         " virtual stages and %" PRIu32 " layers, embedding and logits counted",
                         parts, sum, n_parts, n_layers);
    }
    return true;
}

void pipeline_layout_fini(struct pipeline_layout *layout) {
    free(layout->first);
    *layout = (struct pipeline_layout){0};
}
