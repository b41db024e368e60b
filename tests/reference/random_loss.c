// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_loss.h"

#include "dice.h"
#include "random_wishes.h"

#define US UINT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SELECTIVE_PERCENT = 35, SHORT_TIMEOUT_PERCENT = 40, TRIMMING_PERCENT = 50 };

enum topic { TOPIC_RECOVERY = 450 };

static void draw_recovery(struct nic_parameters *nic, struct dice *dice) {
    static const uint64_t distances[] = {0, 1, 1, 1, 3};
    nic->selective_repeat = true;
    nic->out_of_order = true;
    nic->loss_distance = (uint32_t)dice_pick(dice, distances, COUNT(distances));
    nic->window_products = dice_chance(dice, 40) ? 0.25 * (1 + dice_below(dice, 8)) : 0;
}

/** Queues of few packets, so that there is something to trim. */
static void draw_trimming(struct switch_parameters *switches, const struct nic_parameters *nic, struct dice *dice) {
    const uint64_t packet = (uint64_t)nic->payload_bytes + nic->header_bytes;
    switches->queue_limit_bytes = dice_chance(dice, 80) ? packet * (1 + dice_below(dice, 12)) : 0;
    switches->trim = dice_chance(dice, 85);
    switches->trim_bytes = 64 + dice_below(dice, 200);
    switches->trim_limit_bytes = dice_chance(dice, 70) ? 64 + dice_below(dice, 3000) : 0;
    switches->trim_arriving_fxp32 = (uint64_t)dice_below(dice, 5) << 30;
    switches->trim_turns = dice_below(dice, 4);
}

void random_loss_draw(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_RECOVERY);
    if (!dice_chance(&dice, SELECTIVE_PERCENT)) {
        return;
    }
    draw_recovery(&parameters->nic, &dice);
    if (dice_chance(&dice, TRIMMING_PERCENT) && !random_wishes_blinks(number)) { // those want pauses
        parameters->nic.data_class = PACKET_CLASS_LOSSY;
        draw_trimming(&parameters->leaf, &parameters->nic, &dice);
        draw_trimming(&parameters->spine, &parameters->nic, &dice);
    }
    if (dice_chance(&dice, SHORT_TIMEOUT_PERCENT)) {
        parameters->nic.short_timeout_ps = dice_between(&dice, US, parameters->nic.retransmit_timeout_ps);
        parameters->nic.short_timeout_packets = dice_below(&dice, 5);
    }
}
