// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_wishes.h"

#include "dice.h"

#define US UINT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ONE_FXP20 = 1 << 20, PLENTY_BYTES = 1 << 20, WISHES_EACH = 3, WISHING_PERCENT = 75, BLINKING_PERCENT = 16 };
enum { BYTE_PS = 20 /* at 400 Gb/s */ };

enum topic { TOPIC_WISHES = 400, TOPIC_BLINKS };

static uint64_t packet_bytes(const struct network_parameters *parameters) {
    return (uint64_t)parameters->nic.payload_bytes + parameters->nic.header_bytes;
}

/** Packets sit in a small lossless pool, at first with ample headroom. */
static void crowd_lossless(struct network_parameters *parameters, struct switch_parameters *switches,
                           struct dice *dice) {
    parameters->nic.data_class = PACKET_CLASS_LOSSLESS;
    switches->pfc = true;
    switches->lossless_pool_bytes = packet_bytes(parameters) * (2 + dice_below(dice, 12));
    switches->headroom_bytes = PLENTY_BYTES;
}

static void wish_pause(struct network_parameters *parameters, struct dice *dice) {
    crowd_lossless(parameters, &parameters->leaf, dice);
    crowd_lossless(parameters, &parameters->spine, dice);
}

static void wish_lossless_drop(struct network_parameters *parameters, struct dice *dice) {
    wish_pause(parameters, dice);
    parameters->leaf.headroom_bytes = packet_bytes(parameters) * dice_below(dice, 3);
    parameters->spine.headroom_bytes = packet_bytes(parameters) * dice_below(dice, 3);
}

static void wish_lossy_drop(struct network_parameters *parameters, struct dice *dice) {
    const uint64_t pool_bytes = packet_bytes(parameters) * (1 + dice_below(dice, 8));
    parameters->nic.data_class = PACKET_CLASS_LOSSY;
    parameters->leaf.lossy_pool_bytes = pool_bytes;
    parameters->spine.lossy_pool_bytes = pool_bytes;
}

/** Room for hardly more than one reply; data are elsewhere, or would have none. */
static void wish_control_drop(struct network_parameters *parameters, struct dice *dice) {
    const uint64_t pool_bytes = UINT64_C(2) * parameters->nic.control_bytes + dice_below(dice, 100);
    parameters->nic.data_class = PACKET_CLASS_LOSSLESS;
    parameters->nic.acknowledge_bytes = 1;
    parameters->leaf.pfc = parameters->spine.pfc = true;
    parameters->leaf.lossy_pool_bytes = pool_bytes;
    parameters->leaf.lossy_alpha_shift = 0;
    parameters->spine.lossy_pool_bytes = pool_bytes;
    parameters->spine.lossy_alpha_shift = 0;
}

static void mark_most(struct switch_parameters *switches, struct dice *dice) {
    switches->ecn = true;
    switches->ecn_minimum_bytes = dice_below(dice, 100);
    switches->ecn_maximum_bytes = 2000 + dice_below(dice, 20000);
    switches->ecn_probability_fxp20 = ONE_FXP20;
}

static void wish_mark(struct network_parameters *parameters, struct dice *dice) {
    mark_most(&parameters->leaf, dice);
    mark_most(&parameters->spine, dice);
    parameters->congestion.kind = dice_chance(dice, 60) ? CONGESTION_SPECTRUM_X : CONGESTION_DCQCN;
}

/** A controller that lives on acknowledgements or pulls. */
static void wish_acknowledgements(struct network_parameters *parameters, struct dice *dice) {
    static const uint64_t kinds[] = {CONGESTION_HPCC, CONGESTION_RECEIVER_CREDIT, CONGESTION_TIMELY, CONGESTION_SWIFT,
                                     CONGESTION_NSCC};
    parameters->congestion.kind = (enum congestion_kind)dice_pick(dice, kinds, COUNT(kinds));
}

/** Too early, and half the time exactly when a packet starts. */
static void wish_probe_given_up(struct network_parameters *parameters, struct dice *dice) {
    const uint64_t packet_ps = packet_bytes(parameters) * BYTE_PS, most_ps = 8 * US;
    const uint64_t starts_ps = packet_ps * (1 + dice_below(dice, (uint32_t)(most_ps / packet_ps)));
    const uint64_t any_ps = dice_between(dice, US, most_ps);
    parameters->congestion.kind = CONGESTION_SPECTRUM_X;
    parameters->congestion.spectrum_x.probe_abort_ps = dice_chance(dice, 50) ? starts_ps : any_ps;
}

/** A timeout that is shorter than the way there and back through full queues. */
static void wish_late_acknowledgement(struct network_parameters *parameters, struct dice *dice) {
    parameters->nic.window_packets = 0;
    parameters->nic.retransmit_timeout_ps = dice_between(dice, 3 * US, 12 * US);
}

/** A small window of the transport, and mostly one of the controller beside it. */
static void wish_window(struct network_parameters *parameters, struct dice *dice) {
    static const uint64_t kinds[] = {CONGESTION_HPCC, CONGESTION_RECEIVER_CREDIT};
    parameters->nic.window_packets = 1 + dice_below(dice, 4);
    parameters->nic.acknowledge_bytes = 1;
    if (dice_chance(dice, 75)) {
        parameters->congestion.kind = (enum congestion_kind)dice_pick(dice, kinds, COUNT(kinds));
    }
}

static void wish_rewind(struct network_parameters *parameters, struct dice *dice) {
    parameters->nic.out_of_order = false;
    parameters->nic.adaptive_marking = true;
    parameters->nic.nack_interval_ps = dice_between(dice, 0, 5 * US);
}

static void wish_reordering(struct network_parameters *parameters, struct dice *dice) {
    static const uint64_t pairs[] = {1, 2, 4};
    parameters->nic.out_of_order = true;
    parameters->nic.queue_pairs = (uint32_t)dice_pick(dice, pairs, COUNT(pairs));
}

/** Both data classes in small buffers, and on most uplinks and hot ports both at once. */
static void wish_turns(struct network_parameters *parameters, struct dice *dice) {
    parameters->nic.other_class_every = 2 + dice_below(dice, 2);
    parameters->leaf.pfc = parameters->spine.pfc = true;
}

static void wish_credit_stall(struct network_parameters *parameters, struct dice *dice) {
    parameters->nvlink.buffer_bytes = 1 + dice_below(dice, 2 * parameters->nvlink.record_bytes);
}

/* What is rarest stands here twice. */
static void (*const wishes[])(struct network_parameters *, struct dice *) = {
    wish_pause,  wish_lossless_drop,  wish_lossless_drop,        wish_lossy_drop, wish_control_drop,
    wish_mark,   wish_probe_given_up, wish_late_acknowledgement, wish_window,     wish_acknowledgements,
    wish_rewind, wish_reordering,     wish_credit_stall,         wish_turns,      wish_turns,
};

static struct dice dice_of_wishes(uint64_t number) {
    return dice_of(number, TOPIC_WISHES);
}

bool random_wishes_has(uint64_t number) {
    struct dice dice = dice_of_wishes(number);
    return dice_chance(&dice, WISHING_PERCENT);
}

bool random_wishes_blinks(uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_BLINKS);
    return random_wishes_has(number) && dice_chance(&dice, BLINKING_PERCENT);
}

void random_wishes_grant(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of_wishes(number);
    if (!dice_chance(&dice, WISHING_PERCENT)) {
        return;
    }
    parameters->path.kind = (enum path_kind)dice_below(&dice, PATH_KINDS); /* all alike */
    parameters->nic.adaptive_marking = dice_chance(&dice, 90);
    for (int i = 0; i < WISHES_EACH; i++) {
        wishes[dice_below(&dice, COUNT(wishes))](parameters, &dice);
    }
    if (random_wishes_blinks(number)) {
        wish_pause(parameters, &dice);
    }
}
