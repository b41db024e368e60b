// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/training_cut.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"
#include "config/experiment_place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t training_cut_parts(const struct training_setup *setup) {
    const struct experiment_training *training = setup->training;
    return setup->groups.pipeline * (training->schedule == EXPERIMENT_SCHEDULE_1F1B ? 1 : training->virtual_stages);
}

/* What a layer keeps its stage busy for, forward and backward: its exchanges too, or what of them its computing cannot hide where they overlap. */
static uint64_t cost_of(const struct training_setup *setup, const struct layer_time *layer) {
    const uint64_t computing_ps = layer_time_computing_ps(layer);
    uint64_t exchanges_ps = layer_time_exchanges_ps(setup, layer);
    if (setup->training->schedule == EXPERIMENT_SCHEDULE_1F1B_OVERLAP) {
        exchanges_ps -= number_smaller(exchanges_ps, computing_ps);
    }
    return computing_ps + layer_time_sharing_ps(layer) + exchanges_ps;
}

bool training_cut(const struct training_setup *setup, const struct layer_time *layers, uint32_t n_layers,
                  struct pipeline_layout *layout, struct error *error) {
    const char *text = setup->training->pipeline_layout;
    const uint32_t n_parts = training_cut_parts(setup);
    if (n_parts > n_layers) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "%" PRIu32 " layers, embedding and logits counted, cannot fill %" PRIu32 " virtual stages",
                         n_layers, n_parts);
    }
    if (strcmp(text, "auto") != 0) {
        return pipeline_layout_read(layout, text, n_layers, n_parts, error) ||
               experiment_place_blame(&setup->training->key_places[EXPERIMENT_TRAINING_LAYOUT], error);
    }
    uint64_t *costs = memory_allocate(n_layers, sizeof *costs);
    for (uint32_t i = 0; i < n_layers; i++) {
        costs[i] = cost_of(setup, &layers[i]);
    }
    pipeline_layout_balance(layout, costs, n_layers, n_parts, setup->groups.pipeline);
    free(costs);
    return true;
}
