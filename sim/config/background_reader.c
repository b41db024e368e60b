// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/background_reader.h"

#include "base/quantity.h"
#include "config/gpu_list.h"
#include "config/key.h"
#include "config/section_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** Messages of a GPU that are posted beforehand where rounds begin by the clock: they are kept in memory. */
static const uint64_t most_posted = 1 << 20;

/** One item that is checked. */
struct checking {
    const struct experiment *experiment;
    const struct experiment_background *item;
    const struct contradiction_scope *scope;
    char place[32]; /* "background.2" */
};

#define CONFLICT(other, ...)                                                                                           \
    contradiction_report(checking->scope, ERROR_ID_CONFLICT_TRAFFIC, checking->place, other, __VA_ARGS__)

static void read_item(const struct tree_node *node, struct experiment_background *item, struct error_list *errors) {
    const struct section *section = key_section(experiment_keys(), "background");
    memset(item, 0, sizeof *item);
    section_reader_section_defaults(section, item);
    if (node->kind != TREE_MAPPING) {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE,
                    "it is a mapping: {name: tenant, pattern: all_to_all, gpus: 64-127, bytes: 1 MB}",
                    "an item of `background` is %s", tree_kind_name(node));
        return;
    }
    section_reader_read_section(section, node, item, errors);
}

void background_reader_read(const struct tree_node *node, struct experiment *experiment, struct error_list *errors) {
    if (node->kind == TREE_VALUE && node->is_null) {
        return; /* all of them commented out */
    }
    if (node->kind != TREE_LIST) {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE, "each begins with a dash: - {name: …, pattern: …}",
                    "the value of `background` is %s", tree_kind_name(node));
        return;
    }
    if (node->n_entries > EXPERIMENT_BACKGROUNDS) {
        tree_report(errors, node->place, ERROR_ID_VALUE_LENGTH, "one item can have many groups of GPUs: `group`",
                    "%u items are too many (at most %d are allowed)", (unsigned)node->n_entries,
                    EXPERIMENT_BACKGROUNDS);
    }
    for (uint32_t i = 0; i < node->n_entries && i < EXPERIMENT_BACKGROUNDS; i++) {
        read_item(node->entries[i].value, &experiment->backgrounds[i], errors);
        experiment->n_backgrounds = i + 1;
    }
}

/** GPUs of a group; n of them take part. */
static uint64_t group_of(const struct experiment_background *item, uint64_t n) {
    return item->group == 0 ? n : item->group;
}

static bool read_list(const struct checking *checking, const char *key, const char *text, uint64_t gpus,
                      struct gpu_list *list) {
    char problem[ERROR_MESSAGE_SIZE];
    if (!gpu_list_read(list, text, (uint32_t)gpus, problem, sizeof problem)) {
        CONFLICT("gpus_used", "background `%s`, `%s`: %.300s", checking->item->name, key, problem);
        return false;
    }
    return true;
}

static void check_targets(const struct checking *checking, const struct gpu_list *writers, uint64_t gpus) {
    struct gpu_list targets;
    if (checking->item->targets[0] == '\0') {
        CONFLICT(checking->place, "background `%s`: writes need `targets`", checking->item->name);
        return;
    }
    if (!read_list(checking, "targets", checking->item->targets, gpus, &targets)) {
        return;
    }
    uint32_t *places = gpu_list_places(writers, (uint32_t)gpus);
    for (uint32_t i = 0; i < targets.n_gpus; i++) {
        if (places[targets.gpus[i]] != UINT32_MAX) {
            CONFLICT(checking->place, "background `%s`: GPU %" PRIu32 " would write to others and be written to",
                     checking->item->name, targets.gpus[i]);
            break;
        }
    }
    free(places);
    gpu_list_fini(&targets);
}

static void check_groups(const struct checking *checking, uint64_t n) {
    const uint64_t group = group_of(checking->item, n);
    if (n % group != 0) {
        CONFLICT(checking->place,
                 "background `%s`: groups of %" PRIu64 " do not divide the %" PRIu64 " GPUs that take part",
                 checking->item->name, group, n);
    } else if (group < 2) {
        CONFLICT(checking->place, "background `%s`: a GPU alone in its group has nobody to send to",
                 checking->item->name);
    }
}

/** Rounds and messages have to fit their tags, queue pairs' numbers of packets, and memory. */
static void check_rounds(const struct checking *checking, uint64_t n) {
    const struct experiment_background *item = checking->item;
    const uint64_t group = group_of(item, n), rounds = item->rounds;
    const uint64_t steps = item->pattern == EXPERIMENT_BACKGROUND_RING ? 2 * (group - 1) : 1;
    const uint64_t payload = checking->experiment->topology.nic.payload_bytes;
    if (item->pattern == EXPERIMENT_BACKGROUND_WRITES && rounds > 1 && item->every_ps == 0) {
        CONFLICT(checking->place,
                 "background `%s`: writers receive nothing that could begin their next round; say `every`", item->name);
    }
    if (rounds * steps >= EXPERIMENT_BACKGROUND_MESSAGES) {
        CONFLICT(checking->place, "background `%s`: %" PRIu64 " messages from a GPU to another are more than %d",
                 item->name, rounds * steps, EXPERIMENT_BACKGROUND_MESSAGES - 1);
    }
    if (payload > 0 && item->bytes / payload * rounds >= UINT32_MAX) {
        CONFLICT("nic.payload", "background `%s`: more than 2^32 packets of a queue pair", item->name);
    }
    const uint64_t peers = item->pattern == EXPERIMENT_BACKGROUND_ALL_TO_ALL ? group - 1 : 1;
    if (item->every_ps > 0 && rounds * peers > most_posted) {
        CONFLICT(checking->place,
                 "background `%s`: %" PRIu64 " messages of a GPU wait for their time, at most %" PRIu64 " can",
                 item->name, rounds * peers, most_posted);
    }
}

/** Rounds that begin by the clock have to begin before the run is cut off; so no time of theirs is beyond what can be simulated. */
static void check_times(const struct checking *checking) {
    const struct experiment_background *item = checking->item;
    const uint64_t limit_ps = checking->experiment->limit_ps;
    char last[QUANTITY_TEXT_SIZE], limit[QUANTITY_TEXT_SIZE];
    if (item->start_ps >= limit_ps) {
        CONFLICT("limits.simulated_time", "background `%s` begins at %s, the run is cut off at %s", item->name,
                 quantity_print(last, QUANTITY_TIME, item->start_ps), quantity_print(limit, QUANTITY_TIME, limit_ps));
    } else if (item->every_ps > 0 && item->rounds > 1 &&
               (limit_ps - 1 - item->start_ps) / item->every_ps < item->rounds - 1) {
        CONFLICT("limits.simulated_time",
                 "background `%s`: %" PRIu32 " rounds every %s last longer than the run, which is cut off at %s",
                 item->name, item->rounds, quantity_print(last, QUANTITY_TIME, item->every_ps),
                 quantity_print(limit, QUANTITY_TIME, limit_ps));
    }
}

static void check_name(const struct checking *checking, uint32_t number) {
    static const char *const taken[] = {"dispatch", "combine", "counts", "transfer", "pass"};
    const char *name = checking->item->name;
    bool used = false;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        used = used || strcmp(name, taken[i]) == 0;
    }
    for (uint32_t i = 0; i < number; i++) {
        used = used || strcmp(name, checking->experiment->backgrounds[i].name) == 0;
    }
    if (used) {
        CONFLICT(checking->place, "the name `%s` is taken: reports could not tell them apart", name);
    }
}

static void check_item(const struct checking *checking, uint64_t gpus) {
    const struct experiment_background *item = checking->item;
    struct gpu_list list;
    if (!read_list(checking, "gpus", item->gpus, gpus, &list)) {
        return;
    }
    if (item->pattern == EXPERIMENT_BACKGROUND_WRITES) {
        check_targets(checking, &list, gpus);
    } else {
        check_groups(checking, list.n_gpus);
    }
    check_rounds(checking, list.n_gpus);
    check_times(checking);
    gpu_list_fini(&list);
}

void background_reader_check(const struct experiment *experiment, uint64_t gpus,
                             const struct contradiction_scope *scope) {
    for (uint32_t i = 0; i < experiment->n_backgrounds; i++) {
        struct checking checking = {.experiment = experiment, .item = &experiment->backgrounds[i], .scope = scope};
        if (checking.item->name[0] == '\0' || checking.item->gpus[0] == '\0') {
            continue; /* reported before */
        }
        snprintf(checking.place, sizeof checking.place, "background.%" PRIu32, i);
        check_name(&checking, i);
        check_item(&checking, gpus);
    }
}

uint64_t background_reader_peers(const struct experiment *experiment) {
    const uint64_t gpus = (uint64_t)experiment->topology.racks * experiment->topology.gpus_used;
    uint64_t peers = 0;
    for (uint32_t i = 0; i < experiment->n_backgrounds; i++) {
        const struct experiment_background *item = &experiment->backgrounds[i];
        peers += item->pattern == EXPERIMENT_BACKGROUND_ALL_TO_ALL ? group_of(item, gpus) - 1 : 1;
    }
    return peers;
}
