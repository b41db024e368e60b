// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_places.h"

#include "config/size_check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct experiment, member)
#define OF_TRAINING(key) AT(training.key_places[EXPERIMENT_TRAINING_##key])

static const struct {
    const char *key; /* or section */
    size_t offset;   /* of a struct experiment_place */
} places[] = {
    {"gate.file", AT(traffic.routing.file_place)},
    {"gate.layer", AT(traffic.routing.layer_place)},
    {"record.links", AT(record.links_place)},
    {"record.pairs", AT(record.pairs_place)},
    {"traffic.bytes", AT(traffic.bytes_place)},
    {"training", AT(training.place)},
    {"training.gpus", OF_TRAINING(GPUS)},
    {"training.global_batch", OF_TRAINING(GLOBAL_BATCH)},
    {"training.pipeline_layout", OF_TRAINING(LAYOUT)},
    {"training.precision", OF_TRAINING(PRECISION)},
    {"training.expert_precision", OF_TRAINING(EXPERT_PRECISION)},
    {"training.attention_precision", OF_TRAINING(ATTENTION_PRECISION)},
    {"training.logits_precision", OF_TRAINING(LOGITS_PRECISION)},
    {"training.stragglers.slow_gpus", AT(training.stragglers.place)},
    {"training.failures", AT(training.failures.place)},
    {"training.checkpoint", AT(training.checkpoint.place)},
    {"size", AT(size.place)},
    {"size", AT(size.target_place)}, /* of the target's key, once there is one */
    {"size.power", AT(size.power_place)},
    {"size.racks", AT(size.racks_place)},
    {"size.budget", AT(size.budget_place)},
    {"size.memory", AT(size.memory_place)},
    {"size.output_token_time", AT(size.token_time_place)},
};

enum { PLACES = sizeof places / sizeof places[0] };

static struct experiment_place *member_of(struct experiment *experiment, size_t i) {
    return (void *)((char *)experiment + places[i].offset); // offsets are of struct experiment_place, and aligned so
}

struct experiment_place experiment_places_of(const struct tree_place *place) {
    struct experiment_place found = {.line = place->line, .column = place->column};
    snprintf(found.file, sizeof found.file, "%s", place->source->name);
    return found;
}

static void take(const struct tree_node *root, const char *key, struct experiment_place *place) {
    const struct tree_entry *entry = tree_find_path(root, key);
    if (entry != NULL) {
        *place = experiment_places_of(&entry->value->place);
    }
}

void experiment_places_take(const struct tree_node *root, struct experiment *experiment) {
    for (size_t i = 0; i < PLACES; i++) {
        take(root, places[i].key, member_of(experiment, i));
    }
    for (int target = 0; target < SIZE_TARGETS; target++) {
        take(root, size_check_target_keys[target], &experiment->size.target_place);
    }
}

void experiment_places_forget(struct experiment *experiment) {
    for (size_t i = 0; i < PLACES; i++) {
        memset(member_of(experiment, i), 0, sizeof(struct experiment_place));
    }
    for (uint32_t i = 0; i < experiment->n_failures; i++) {
        memset(&experiment->failures[i].place, 0, sizeof(struct experiment_place));
    }
    memset(experiment->topology_path, 0, sizeof experiment->topology_path);
    memset(experiment->topology.path, 0, sizeof experiment->topology.path);
}
