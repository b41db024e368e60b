// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_loss.h"

#include "dice.h"

#define US UINT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SELECTIVE_PERCENT = 35, SHORT_TIMEOUT_PERCENT = 40 };

enum topic { TOPIC_RECOVERY = 450 };

static void draw_recovery(struct nic_parameters *nic, struct dice *dice) {
    static const uint64_t distances[] = {0, 1, 1, 1, 3};
    nic->selective_repeat = true;
    nic->out_of_order = true;
    nic->loss_distance = (uint32_t)dice_pick(dice, distances, COUNT(distances));
    nic->window_products = dice_chance(dice, 40) ? 0.25 * (1 + dice_below(dice, 8)) : 0;
}

void random_loss_draw(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_RECOVERY);
    if (!dice_chance(&dice, SELECTIVE_PERCENT)) {
        return;
    }
    draw_recovery(&parameters->nic, &dice);
    if (dice_chance(&dice, SHORT_TIMEOUT_PERCENT)) {
        parameters->nic.short_timeout_ps = dice_between(&dice, US, parameters->nic.retransmit_timeout_ps);
        parameters->nic.short_timeout_packets = dice_below(&dice, 5);
    }
}
