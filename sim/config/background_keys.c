// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/background_keys.h"

#include "config/experiment.h"

#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)

static const char *const patterns[] = {"all_to_all", "ring", "pipeline", "writes", NULL};
static const char *const placements[] = {"consecutive", "strided", NULL};

const struct key background_keys[10] = {
    {"name", KEY_TEXT, .required = true, .doc = "What its rows are called in reports, for example tenant.",
     FIELD(experiment_background, name)},
    {"pattern", KEY_CHOICE, .required = true, .names = patterns,
     .doc =
         "all_to_all: every GPU of a group to every other. ring: a ring all-reduce as data-parallel training does it "
         "(reduce-scatter, then all-gather: 2 (n - 1) steps, in each of which a GPU passes 1/n of its buffer on; "
         "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002). pipeline: a GPU passes on to the next of its "
         "group what came from the one before. writes: every GPU to one of `targets`, as in a checkpoint.",
     FIELD(experiment_background, pattern)},
    {"gpus", KEY_TEXT, .fallback = "all",
     .doc = "Who takes part, in this order: all, or numbers and ranges such as \"0-7, 16, 64-127/8\".",
     FIELD(experiment_background, gpus)},
    {"targets", KEY_TEXT,
     .doc = "writes: who receives, for example GPUs that stand for storage hosts; the first of `gpus` writes to the "
            "first target, and so on in turn.",
     FIELD(experiment_background, targets)},
    {"bytes", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "1 TB", .required = true,
     .doc = "all_to_all: to each peer; ring: a GPU's whole buffer; pipeline: from stage to stage; writes: from each "
            "GPU. In each round.",
     FIELD(experiment_background, bytes)},
    {"group", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777215", "0",
     .doc = "GPUs of a group; divides `gpus`. 0 = all of them are one. writes has no groups.",
     FIELD(experiment_background, group)},
    {"group_placement", KEY_CHOICE, .fallback = "consecutive", .names = placements,
     .doc = "Which of `gpus` form a group: consecutive ones, or strided: as many apart as there are groups.",
     FIELD(experiment_background, group_placement)},
    {"start", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s", .doc = "When it begins.",
     FIELD(experiment_background, start_ps)},
    {"every", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "From one round's beginning to the next, whatever is still under way. 0 = a GPU begins its next round as "
            "soon as it has received all of the one before (pipeline: the first stage sends one after the other).",
     FIELD(experiment_background, every_ps)},
    {"rounds", KEY_QUANTITY, QUANTITY_COUNT, "1", "1000000", "1",
     .doc =
         "How often. A run lasts until all traffic is delivered, this too: choose so many that it goes on as long as "
         "what is measured.",
     FIELD(experiment_background, rounds)},
};
