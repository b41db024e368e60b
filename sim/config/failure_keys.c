// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/failure_keys.h"

#include "config/experiment.h"

#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)

static const char *const actions[] = {"down", "slow", "lossy", "slow_receive", "stop_receive", "stop_send", NULL};

const struct key failure_keys[8] = {
    {"what", KEY_TEXT, .required = true,
     .doc = "A link as reports name it, \"leaf0:up3 → spine1\" (-> will do, and so will \"leaf0:up3\" where that is "
            "enough), a switch (\"spine1\": all its cables), or a GPU (\"gpu17\": its NIC; "
            "with the action slow all that it sends, into the fabric and over NVLink), or a NIC (\"nic17\", that of "
            "gpu17).",
     FIELD(experiment_failure, what)},
    {"action", KEY_CHOICE, .required = true, .names = actions,
     .doc = "down: nothing gets across, in both directions. slow: another rate, in both directions. lossy: packets are "
            "lost at random; of a link that is named, in that direction alone. slow_receive: the host of a GPU takes "
            "data from its NIC at a share of the port's rate, so that the NIC pauses its leaf (the usual start of a "
            "PFC storm) or, without PFC, discards. stop_receive: it takes nothing. "
            "stop_send: a GPU starts no message, neither into the fabric nor over NVLink: what it would have sent "
            "starts when that ends (a straggler, whose kernel is late); needs `for`.",
     FIELD(experiment_failure, action)},
    {"at", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", .required = true, .doc = "When it begins.",
     FIELD(experiment_failure, at_ps)},
    {"for", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s", .doc = "How long it lasts; 0 = to the end of the run.",
     FIELD(experiment_failure, for_ps)},
    {"every", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "Flaps: from one beginning to the next; longer than `for`.", FIELD(experiment_failure, every_ps)},
    {"count", KEY_QUANTITY, QUANTITY_COUNT, "1", "10000", "1", .doc = "Flaps: how often it happens.",
     FIELD(experiment_failure, count)},
    {"rate", KEY_REAL, QUANTITY_SHARE, "0.001", "1", "0.5",
     .doc = "slow, slow_receive: share of the link's rate that is left (50 % in a published fault plan for htsim, "
            "which calls it an "
            "estimate).",
     FIELD(experiment_failure, rate)},
    {"loss", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.0001",
     .doc = "lossy: probability that a packet is lost (the same plan: 1e-4, from 1e-5 to 1e-2).",
     FIELD(experiment_failure, loss)},
};
