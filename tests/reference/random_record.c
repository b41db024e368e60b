// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_record.h"

#include "base/memory.h"
#include "dice.h"

#include <stdlib.h>

#define US UINT64_C(1000000)

enum { TOPIC_RECORD = 610, BYTE_PS = 20, INTERVALS_MOST = 60, PAIRS_MOST = 4 };

/** A multiple of a byte's time at 400 Gb/s, so that intervals end just when something happens; else any time. */
static uint64_t draw_time_ps(struct dice *dice, uint64_t least_ps, uint64_t most_ps) {
    const uint64_t any_ps = dice_between(dice, least_ps, most_ps);
    return dice_chance(dice, 60) ? any_ps / BYTE_PS * BYTE_PS : any_ps;
}

static void draw_links(struct recorder_wishes *wishes, struct dice *dice, const struct fabric *fabric) {
    uint32_t *links = memory_allocate(fabric->n_links, sizeof *links);
    const uint32_t percent = dice_chance(dice, 60) ? 100 : 30;
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        if (dice_chance(dice, percent)) {
            links[wishes->n_links++] = link;
        }
    }
    wishes->links = links;
}

static void draw_pairs(struct recorder_wishes *wishes, struct dice *dice, const struct random_case *random_case) {
    struct recorder_pair *pairs = memory_allocate(PAIRS_MOST, sizeof *pairs);
    const uint32_t most = dice_below(dice, PAIRS_MOST + 1);
    for (uint32_t i = 0; i < random_case->n_messages && wishes->n_pairs < most; i++) {
        const struct random_case_message *drawn = &random_case->messages[i];
        if (drawn->message.route == TRAFFIC_FABRIC) {
            pairs[wishes->n_pairs++] =
                (struct recorder_pair){.source = drawn->source, .destination = drawn->message.destination};
        }
    }
    wishes->pairs = pairs;
}

struct recorder_wishes *random_record_create(const struct random_case *random_case) {
    struct dice dice = dice_of(random_case->recipe.number, TOPIC_RECORD);
    struct recorder_wishes *wishes = memory_allocate(1, sizeof *wishes);
    wishes->interval_ps = draw_time_ps(&dice, 100 * BYTE_PS, dice_chance(&dice, 50) ? US : 10 * US);
    wishes->from_ps = dice_chance(&dice, 70) ? 0 : draw_time_ps(&dice, 0, 10 * US);
    wishes->n_intervals = 1 + dice_below(&dice, INTERVALS_MOST);
    wishes->quantities = (1U << RECORDER_QUANTITIES) - 1;
    draw_links(wishes, &dice, random_case->fabric);
    draw_pairs(wishes, &dice, random_case);
    return wishes;
}

void random_record_free(struct recorder_wishes *wishes) {
    if (wishes != NULL) {
        free((void *)wishes->links);
        free((void *)wishes->pairs);
        free(wishes);
    }
}
