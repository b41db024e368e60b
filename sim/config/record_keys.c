// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/record_keys.h"

#include "config/experiment.h"

#include <assert.h>

#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)

static const char *const quantities[] = {"queue", "rate", "pauses", "marks", "drops", NULL};
static_assert(offsetof(struct experiment_record, drops) == offsetof(struct experiment_record, queue) + 4 * sizeof(bool),
              "`quantities` is stored as consecutive flags");

const struct key record_keys[RECORD_KEYS] = {
    {"interval", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 s", "0 s",
     .doc = "Length of an interval; 0 = nothing is recorded.", FIELD(experiment_record, interval_ps)},
    {"from", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s", .doc = "Beginning of the first interval.",
     FIELD(experiment_record, from_ps)},
    {"until", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "When recording ends; 0 = 10,000 intervals after it began. What is recorded at most is held against "
            "limits.memory.",
     FIELD(experiment_record, until_ps)},
    {"links", KEY_NAMES, .fallback = "[fabric]",
     .doc = "Which links: names as reports have them (\"leaf0:up3 → spine1\"; -> will do, and so will \"leaf0:up3\"), "
            "or groups of them: hosts (NIC to leaf), to_hosts (leaf to NIC), uplinks (leaf to spine, spine to "
            "super-spine), downlinks, fabric (all of these), nvlink, all.",
     FIELD(experiment_record, links), .count_offset = offsetof(struct experiment_record, n_links)},
    {"pairs", KEY_NAMES, .fallback = "[]",
     .doc = "Senders and destinations (\"gpu0 -> gpu9\") of whose queue pairs the controller's rate and window and the "
            "packets sent are recorded.",
     FIELD(experiment_record, pairs), .count_offset = offsetof(struct experiment_record, n_pairs)},
    {"quantities", KEY_SET, .fallback = "[queue, rate, pauses, marks, drops]", .names = quantities,
     .doc =
         "What of each link: queue (at the end of the interval and at its deepest), rate (bytes sent; their share of "
         "what the link could carry is its utilisation), pauses (time paused), marks and drops (packets).",
     FIELD(experiment_record, queue)},
};
