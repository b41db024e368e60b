// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/record.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "fabric/lookup.h"
#include "fabric/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_INTERVALS = 10000 };

/* A group of links. */
enum group {
    GROUP_HOSTS,
    GROUP_TO_HOSTS,
    GROUP_UPLINKS,
    GROUP_DOWNLINKS,
    GROUP_NVLINK,
    GROUP_FABRIC,
    GROUP_ALL,
    GROUPS
};

static const char *const group_names[GROUPS] = {"hosts", "to_hosts", "uplinks", "downlinks", "nvlink", "fabric", "all"};

/* The smallest group that a link is in. */
static enum group group_of(const struct fabric *fabric, uint32_t link) {
    const struct fabric_link *place = &fabric->links[link];
    const struct fabric_device *tail = &fabric->devices[place->tail_device],
                               *head = &fabric->devices[place->head_device];
    if (place->kind == FABRIC_NVLINK) {
        return GROUP_NVLINK;
    }
    if (tail->kind == FABRIC_ENDPOINT) {
        return GROUP_HOSTS;
    }
    if (head->kind == FABRIC_ENDPOINT) {
        return GROUP_TO_HOSTS;
    }
    return tail->tier < head->tier ? GROUP_UPLINKS : GROUP_DOWNLINKS;
}

static bool is_in(const struct fabric *fabric, uint32_t link, enum group group) {
    const enum group smallest = group_of(fabric, link);
    return group == GROUP_ALL || group == smallest || (group == GROUP_FABRIC && smallest != GROUP_NVLINK);
}

static bool fail_at(struct error *error, const struct experiment_place *place, const char *hint) {
    error_hint(error, "%s", hint);
    return experiment_place_blame(place, error);
}

static bool refuse_name(struct error *error, const struct experiment_place *place, const struct fabric *fabric,
                        const char *name) {
    char nearest[NAMES_LINK_SIZE], hint[NAMES_LINK_SIZE + 64];
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_RECORD, "there is no link `%.120s` to record", name);
    if (!lookup_nearest(fabric, name, nearest, sizeof(nearest))) {
        return fail_at(error, place,
                       "links are hosts, to_hosts, uplinks, downlinks, fabric, nvlink, all, or have names as in "
                       "`moefabric topology`: leaf0:up3");
    }
    snprintf(hint, sizeof(hint), "did you mean `%s`?", nearest);
    return fail_at(error, place, hint);
}

/* Marks the links that a name stands for. */
static bool mark(bool *wanted, const struct experiment_record *record, const struct fabric *fabric, const char *name,
                 struct error *error) {
    for (int group = 0; group < GROUPS; group++) {
        if (strcmp(name, group_names[group]) == 0) {
            for (uint32_t link = 0; link < fabric->n_links; link++) {
                wanted[link] |= is_in(fabric, link, (enum group)group);
            }
            return true;
        }
    }
    struct lookup_place place;
    if (!lookup_find(fabric, name, &place) || place.link == FABRIC_NONE) {
        return refuse_name(error, &record->links_place, fabric, name);
    }
    wanted[place.link] = true;
    return true;
}

static bool find_links(struct recorder_wishes *wishes, const struct experiment_record *record,
                       const struct fabric *fabric, struct error *error) {
    bool *wanted = memory_allocate(fabric->n_links, sizeof(*wanted));
    bool good = true;
    for (uint32_t i = 0; good && i < record->n_links; i++) {
        good = mark(wanted, record, fabric, record->links[i], error);
    }
    uint32_t *links = memory_allocate(fabric->n_links, sizeof(*links));
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        if (wanted[link]) {
            links[wishes->n_links++] = link;
        }
    }
    wishes->links = links;
    free(wanted);
    return good;
}

/* "gpu0 -> gpu9": two endpoints with NICs. */
static bool find_pair(const struct fabric *fabric, const char *text, struct recorder_pair *pair) {
    static const char *const arrows[] = {" -> ", " → "};
    for (int i = 0; i < 2; i++) {
        const char *arrow = strstr(text, arrows[i]);
        char name[EXPERIMENT_NAME_SIZE * 2];
        struct lookup_place from, to;
        if (!arrow) {
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)(arrow - text), text);
        if (lookup_find(fabric, name, &from) && lookup_find(fabric, arrow + strlen(arrows[i]), &to) &&
            from.link == FABRIC_NONE && to.link == FABRIC_NONE && from.device < fabric->n_endpoints &&
            to.device < fabric->n_endpoints && from.device != to.device) {
            *pair = (struct recorder_pair){from.device, to.device};
            return true;
        }
    }
    return false;
}

static bool find_pairs(struct recorder_wishes *wishes, const struct experiment_record *record,
                       const struct fabric *fabric, struct error *error) {
    struct recorder_pair *pairs = memory_allocate(record->n_pairs, sizeof(*pairs));
    wishes->pairs = pairs;
    wishes->n_pairs = record->n_pairs;
    for (uint32_t i = 0; i < record->n_pairs; i++) {
        if (!find_pair(fabric, record->pairs[i], &pairs[i])) {
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_RECORD, "there is no pair `%.120s` to record",
                      record->pairs[i]);
            return fail_at(error, &record->pairs_place, "a pair is two GPUs of the cluster: \"gpu0 -> gpu9\"");
        }
    }
    return true;
}

static uint32_t quantities_of(const struct experiment_record *record) {
    const uint32_t queue = 1U << RECORDER_QUEUE_BYTES | 1U << RECORDER_DEEPEST_BYTES;
    return (record->queue ? queue : 0) | (uint32_t)record->rate << RECORDER_SENT_BYTES |
           (uint32_t)record->pauses << RECORDER_PAUSED_PS | (uint32_t)record->marks << RECORDER_MARKS |
           (uint32_t)record->drops << RECORDER_DROPS;
}

static uint32_t intervals_of(const struct experiment_record *record) {
    if (record->until_ps == 0) {
        return USUAL_INTERVALS;
    }
    return (uint32_t)((record->until_ps - record->from_ps + record->interval_ps - 1) / record->interval_ps);
}

bool record_init(struct recorder_wishes *wishes, const struct experiment *experiment, const struct fabric *fabric,
                 struct error *error) {
    const struct experiment_record *record = &experiment->record;
    *wishes = (struct recorder_wishes){.interval_ps = record->interval_ps, .from_ps = record->from_ps};
    if (record->interval_ps == 0) {
        return true;
    }
    wishes->quantities = quantities_of(record);
    wishes->n_intervals = intervals_of(record);
    if (!find_links(wishes, record, fabric, error) || !find_pairs(wishes, record, fabric, error)) {
        record_fini(wishes);
        return false;
    }
    return true;
}

void record_fini(struct recorder_wishes *wishes) {
    free((void *)wishes->links);
    free((void *)wishes->pairs);
    *wishes = (struct recorder_wishes){0};
}

uint64_t record_most_bytes(const struct experiment *experiment, const struct fabric *fabric, uint32_t n_policies) {
    struct recorder_wishes wishes;
    struct error error;
    uint64_t bytes = 0;
    if (!record_init(&wishes, experiment, fabric, &error)) {
        return 0;
    }
    for (uint32_t p = 0; p < n_policies; p++) {
        bytes += experiment->n_seeds * recorder_most_bytes(&wishes, experiment->policies[p].queue_pairs);
    }
    record_fini(&wishes);
    return bytes;
}

bool record_check(const struct experiment *experiment, const struct fabric *fabric, uint32_t n_policies,
                  struct error *error) {
    struct recorder_wishes wishes;
    char most[QUANTITY_TEXT_SIZE], limit[QUANTITY_TEXT_SIZE];
    if (!record_init(&wishes, experiment, fabric, error)) {
        return false;
    }
    record_fini(&wishes);
    const uint64_t bytes = record_most_bytes(experiment, fabric, n_policies),
                   limit_bytes = experiment->memory_limit_bytes;
    if (limit_bytes == 0 || bytes <= limit_bytes) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_RECORD,
              "the series of all runs may take %s, limits.memory is %s",
              quantity_print_short(most, QUANTITY_BYTES, (double)bytes),
              quantity_print_short(limit, QUANTITY_BYTES, (double)limit_bytes));
    return fail_at(error, &experiment->record.links_place,
                   "record fewer links or quantities, longer intervals, or an earlier record.until");
}

static void take_pairs(struct series *series, struct recorder *recorder, const struct recorder_wishes *wishes) {
    const uint32_t columns = recorder_pair_columns(recorder);
    series->n_pairs = columns;
    series->pairs = memory_allocate(columns, sizeof(*series->pairs));
    for (uint32_t i = 0; i < columns; i++) {
        const uint32_t each = columns / wishes->n_pairs;
        const struct recorder_pair *pair = &wishes->pairs[i / each];
        series->pairs[i] = (struct series_pair){pair->source, pair->destination, i % each};
    }
    static const enum recorder_pair_quantity quantities[SERIES_PAIR_QUANTITIES] = {
        [SERIES_PAIR_ALLOWED_BITS_PER_S] = RECORDER_PAIR_RATE_BITS_PER_S,
        [SERIES_PAIR_WINDOW_PACKETS] = RECORDER_PAIR_WINDOW_PACKETS,
        [SERIES_PAIR_SENT_PACKETS] = RECORDER_PAIR_SENT_PACKETS,
    };
    for (int q = 0; q < SERIES_PAIR_QUANTITIES; q++) {
        series->pair_values[q] = recorder_release_pairs(recorder, quantities[q]);
    }
}

struct series *record_series(struct recorder *recorder, const struct recorder_wishes *wishes, uint64_t end_ps) {
    static const enum recorder_quantity quantities[SERIES_QUANTITIES] = {
        [SERIES_QUEUE_BYTES] = RECORDER_QUEUE_BYTES,
        [SERIES_DEEPEST_BYTES] = RECORDER_DEEPEST_BYTES,
        [SERIES_SENT_BYTES] = RECORDER_SENT_BYTES,
        [SERIES_PAUSED_PS] = RECORDER_PAUSED_PS,
        [SERIES_MARKS] = RECORDER_MARKS,
        [SERIES_DROPS] = RECORDER_DROPS,
    };
    if (!recorder) {
        return NULL;
    }
    struct series *series = memory_allocate(1, sizeof(*series));
    series->interval_ps = wishes->interval_ps;
    series->from_ps = wishes->from_ps;
    series->n_intervals = recorder_intervals(recorder);
    series->ended_early = end_ps > wishes->from_ps + wishes->n_intervals * wishes->interval_ps;
    series->n_links = wishes->n_links;
    series->links = memory_allocate(wishes->n_links, sizeof(*series->links));
    memcpy(series->links, wishes->links, wishes->n_links * sizeof(*series->links));
    for (int q = 0; q < SERIES_QUANTITIES; q++) {
        series->values[q] = recorder_release(recorder, quantities[q]);
    }
    take_pairs(series, recorder, wishes);
    return series;
}
