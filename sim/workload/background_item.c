// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/background_item.h"

#include "base/error_id.h"
#include "base/number.h"

#include <stdlib.h>

static bool read_list(struct gpu_list *list, const struct experiment_background *given, const char *text,
                      uint32_t n_ranks, struct error *error) {
    char problem[ERROR_MESSAGE_SIZE];
    return gpu_list_read(list, text, n_ranks, problem, sizeof problem) ||
           error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, "background `%s`: %.300s", given->name,
                     problem);
}

static bool refuse(struct background_item *item, struct error *error, const char *text) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, "background `%s`: %s", item->given->name,
              text);
    background_item_fini(item);
    return false;
}

static bool is_ring(const struct background_item *item) {
    return item->given->pattern == EXPERIMENT_BACKGROUND_RING;
}

bool background_item_init(struct background_item *item, const struct experiment_background *given, uint32_t n_ranks,
                          struct error *error) {
    const bool writes = given->pattern == EXPERIMENT_BACKGROUND_WRITES;
    *item = (struct background_item){.given = given, .steps = 1, .bytes = given->bytes};
    if (!read_list(&item->members, given, given->gpus, n_ranks, error)) {
        return false;
    }
    if (writes && !read_list(&item->targets, given, given->targets, n_ranks, error)) {
        background_item_fini(item);
        return false;
    }
    item->places = gpu_list_places(&item->members, n_ranks);
    for (uint32_t i = 0; i < item->targets.n_gpus; i++) {
        if (item->places[item->targets.gpus[i]] != UINT32_MAX) {
            return refuse(item, error, "a GPU would write to others and be written to");
        }
    }
    item->group = given->group == 0 || writes ? item->members.n_gpus : given->group;
    if (item->members.n_gpus % item->group != 0 || (item->group < 2 && !writes)) {
        return refuse(item, error, "its groups do not divide the GPUs that take part, or hold one GPU each");
    }
    if (is_ring(item)) {
        item->steps = 2 * (item->group - 1);
        item->bytes = number_divide_up(given->bytes, item->group);
    }
    return true;
}

void background_item_fini(struct background_item *item) {
    gpu_list_fini(&item->members);
    gpu_list_fini(&item->targets);
    free(item->places);
    item->places = NULL;
}

/* Where a member stands in its group. */
static uint32_t position_of(const struct background_item *item, uint32_t member) {
    const bool strided = item->given->group_placement == EXPERIMENT_GROUP_PLACEMENT_STRIDED;
    return strided ? member / (item->members.n_gpus / item->group) : member % item->group;
}

/* The rank at another position of a member's group. */
static uint32_t rank_at(const struct background_item *item, uint32_t member, uint32_t position) {
    const uint32_t groups = item->members.n_gpus / item->group;
    const bool strided = item->given->group_placement == EXPERIMENT_GROUP_PLACEMENT_STRIDED;
    return item->members
        .gpus[strided ? position * groups + member % groups : member / item->group * item->group + position];
}

uint32_t background_item_peers(const struct background_item *item, uint32_t member) {
    switch (item->given->pattern) {
    case EXPERIMENT_BACKGROUND_ALL_TO_ALL:
        return item->group - 1;
    case EXPERIMENT_BACKGROUND_PIPELINE:
        return position_of(item, member) + 1 < item->group ? 1 : 0;
    default:
        return 1;
    }
}

uint32_t background_item_peer(const struct background_item *item, uint32_t member, uint32_t index) {
    if (item->given->pattern == EXPERIMENT_BACKGROUND_WRITES) {
        return item->targets.gpus[member % item->targets.n_gpus];
    }
    return rank_at(item, member, (position_of(item, member) + 1 + index) % item->group);
}

bool background_item_is_first(const struct background_item *item, uint32_t member) {
    return item->given->pattern != EXPERIMENT_BACKGROUND_PIPELINE || position_of(item, member) == 0;
}
