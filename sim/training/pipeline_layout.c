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

void pipeline_layout_balance(struct pipeline_layout *layout, const uint64_t *costs, uint32_t n_layers,
                             uint32_t n_parts) {
    REQUIRE(n_parts >= 1 && n_layers >= n_parts, "%u layers in %u parts", n_layers, n_parts);
    uint64_t low = 0, high = 0; // the least limit that works is in low … high
    for (uint32_t i = 0; i < n_layers; i++) {
        high += costs[i];
    }
    layout->n_parts = n_parts;
    layout->first = memory_allocate((size_t)n_parts + 1, sizeof *layout->first);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (fill(costs, n_layers, n_parts, middle, layout->first)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    fill(costs, n_layers, n_parts, low, layout->first);
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
