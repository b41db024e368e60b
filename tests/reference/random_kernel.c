// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_kernel.h"

#include "dice.h"

#include "base/rate.h"

#define GBPS UINT64_C(1000000000)

enum topic { TOPIC_RATES = 660, TOPIC_LOCAL };

enum { COPYING_PERCENT = 30, SLOW_MESSAGES_PERCENT = 10, LONGEST_GAP_PS = 100000, LOCAL_PERCENT = 40 };

/** From slower than one NVLink to faster than all of them. Slow messages are rare: they throttle cases that want pauses. */
static void draw_rates(struct network_parameters *parameters, struct dice *dice) {
    static const uint64_t rates[] = {8 * GBPS, 50 * GBPS, 200 * GBPS, 333 * GBPS, 800 * GBPS, 8000 * GBPS};
    const uint64_t rate = dice_pick(dice, rates, sizeof rates / sizeof *rates);
    parameters->nvlink.copy_ps_per_byte = dice_chance(dice, COPYING_PERCENT) ? rate_ps_per_byte(rate) : 0;
    parameters->nic.message_gap_ps =
        dice_chance(dice, SLOW_MESSAGES_PERCENT) ? dice_between(dice, 1, LONGEST_GAP_PS) : 0;
}

void random_kernel_draw(struct random_case *random_case) {
    struct dice rates = dice_of(random_case->recipe.number, TOPIC_RATES);
    struct dice local = dice_of(random_case->recipe.number, TOPIC_LOCAL);
    draw_rates(&random_case->parameters, &rates);
    for (uint32_t i = 0; i < random_case->n_messages; i++) {
        struct traffic_message *message = &random_case->messages[i].message;
        const uint32_t units = dice_chance(&local, LOCAL_PERCENT) ? dice_below(&local, 30) : 0;
        message->local_units = message->route == TRAFFIC_NVLINK ? units : 0;
    }
}
