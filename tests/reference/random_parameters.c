// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_parameters.h"

#include "dice.h"
#include "random_loss.h"
#include "random_wishes.h"

#define GBPS UINT64_C(1000000000)
#define US UINT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ONE_FXP20 = 1 << 20, ONE_FXP16 = 1 << 16, PLENTY_BYTES = 1 << 20, AMPLE_HEADROOM_BYTES = 1 << 19 };

enum topic {
    TOPIC_LEAF = 200,
    TOPIC_SPINE,
    TOPIC_NIC,
    TOPIC_NVLINK,
    TOPIC_PATH,
    TOPIC_CONTROLLER,
    TOPIC_PLANES,
    TOPIC_WATCHDOG = 630,
    TOPIC_HEADROOM,
    TOPIC_WATCHDOG_ACTION,
    TOPIC_SPLIT = 640,
    TOPIC_WEIGHTS,
    TOPIC_URGENT,
    TOPIC_PROBES,
    TOPIC_PACE,
    TOPIC_INFINIBAND = 240
};

/** A multiple of the time of a packet at 400 Gb/s, so that things happen exactly when an interval ends; else any time. */
static uint64_t draw_interval_ps(struct dice *dice, const struct nic_parameters *nic, uint64_t most_ps) {
    const uint64_t packet_ps = UINT64_C(20) * (nic->payload_bytes + nic->header_bytes);
    const uint64_t any_ps = dice_between(dice, 0, most_ps);
    return dice_chance(dice, 50) ? any_ps / packet_ps * packet_ps : any_ps;
}

static struct nic_parameters draw_nic(struct dice *dice) {
    static const uint64_t payloads[] = {256, 1000, 1024, 2048, 4096}, pairs[] = {1, 1, 2, 4};
    static const uint64_t windows[] = {0, 0, 1, 3, 8, 32};
    struct nic_parameters nic = {.payload_bytes = (uint32_t)dice_pick(dice, payloads, COUNT(payloads)),
                                 .header_bytes = dice_chance(dice, 50) ? 64 : 78,
                                 .control_bytes = dice_chance(dice, 50) ? 64 : 84,
                                 .queue_pairs = (uint32_t)dice_pick(dice, pairs, COUNT(pairs)),
                                 .window_packets = (uint32_t)dice_pick(dice, windows, COUNT(windows)),
                                 .out_of_order = dice_chance(dice, 50),
                                 .data_class = dice_chance(dice, 60) ? PACKET_CLASS_LOSSLESS : PACKET_CLASS_LOSSY,
                                 .retransmit_timeout_ps = dice_between(dice, 8 * US, 120 * US)};
    nic.nack_interval_ps = draw_interval_ps(dice, &nic, dice_chance(dice, 50) ? US : 20 * US);
    const uint64_t acknowledge[] = {1, nic.payload_bytes + 1, UINT64_C(4) * nic.payload_bytes, PLENTY_BYTES};
    nic.acknowledge_bytes = (uint32_t)dice_pick(dice, acknowledge, nic.window_packets == 0 ? 4 : 1);
    nic.adaptive_marking = dice_chance(dice, nic.out_of_order ? 85 : 25);
    nic.other_class_every = dice_chance(dice, 20) ? 1 + dice_below(dice, 4) : 0;
    return nic;
}

static void draw_ecn(struct switch_parameters *parameters, struct dice *dice, uint64_t packet) {
    parameters->ecn = dice_chance(dice, 75);
    parameters->ecn_minimum_bytes = packet * dice_below(dice, 10);
    parameters->ecn_maximum_bytes = parameters->ecn_minimum_bytes + packet * dice_below(dice, 12);
    parameters->ecn_probability_fxp20 = dice_below(dice, ONE_FXP20 + 1);
}

static uint64_t draw_lossy_pool(struct dice *dice, uint64_t packet) {
    switch (dice_below(dice, 3)) {
    case 0:
        return PLENTY_BYTES;
    case 1:
        return packet * (2 + dice_below(dice, 80));
    default:
        return packet + dice_below(dice, (uint32_t)(8 * packet));
    }
}

static struct switch_parameters draw_switch(struct dice *dice, const struct nic_parameters *nic) {
    const uint64_t packet = nic->payload_bytes + nic->header_bytes;
    struct switch_parameters parameters = {
        .pfc = dice_chance(dice, 85),
        .lossless_pool_bytes = packet * (2 + dice_below(dice, dice_chance(dice, 50) ? 20 : 120)),
        .lossy_pool_bytes = draw_lossy_pool(dice, packet),
        .lossless_alpha_shift = (int)dice_below(dice, 6) - 3,
        .lossy_alpha_shift = (int)dice_below(dice, 5) - 1,
        .headroom_bytes = dice_chance(dice, 75) ? AMPLE_HEADROOM_BYTES : packet * dice_below(dice, 10),
        .xon_bytes = packet * dice_below(dice, 5),
        .class_weight = {0, 1 + dice_below(dice, 4), 1 + dice_below(dice, 4)}};
    draw_ecn(&parameters, dice, packet);
    return parameters;
}

static struct nvlink_parameters draw_nvlink(struct dice *dice) {
    static const uint64_t records[] = {128, 500, 1024, 4096}, grains[] = {1, 256, 1000};
    struct nvlink_parameters nvlink = {.record_bytes = (uint32_t)dice_pick(dice, records, COUNT(records)),
                                       .credit_grain_bytes = (uint32_t)dice_pick(dice, grains, COUNT(grains))};
    if (dice_chance(dice, 70)) {
        nvlink.buffer_bytes = 1 + dice_below(dice, 8 * nvlink.record_bytes);
    }
    return nvlink;
}

static struct path_parameters draw_path(struct dice *dice) {
    static const uint64_t periods[] = {US, US, 5000, 100000, 1234567, 2 * US};
    static const uint64_t kinds[] = {PATH_ADAPTIVE, PATH_ADAPTIVE,    PATH_ADAPTIVE,     PATH_ECMP,
                                     PATH_ECMP,     PATH_FLOWLET,     PATH_SPRAY_RANDOM, PATH_SPRAY_ROUND_ROBIN,
                                     PATH_DRILL,    PATH_TWO_CHOICES, PATH_HOST_REPS};
    static const uint64_t entries[] = {1, 3, 64, 65536};
    struct path_parameters path = {.kind = (enum path_kind)dice_pick(dice, kinds, COUNT(kinds)),
                                   .polarised = dice_chance(dice, 30),
                                   .hash = dice_chance(dice, 30) ? PATH_HASH_CRC16 : PATH_HASH_MIX,
                                   .refresh_period_ps = dice_pick(dice, periods, COUNT(periods)),
                                   .round_robin_rounds = dice_below(dice, 6),
                                   .flowlet_gap_ps = dice_between(dice, 1, dice_chance(dice, 50) ? US : 20 * US),
                                   .flowlet_entries = (uint32_t)dice_pick(dice, entries, COUNT(entries))};
    path.grade_bounds_bytes[0] = 1 + dice_below(dice, 10000);
    path.grade_bounds_bytes[1] = path.grade_bounds_bytes[0] + dice_below(dice, 10000);
    path.grade_bounds_bytes[2] = path.grade_bounds_bytes[1] + dice_below(dice, 30000);
    return path;
}

static struct dcqcn_parameters draw_dcqcn(struct dice *dice) {
    return (struct dcqcn_parameters){.gain_fxp20 = ONE_FXP20 >> (1 + dice_below(dice, 8)),
                                     .alpha_period_ps = dice_between(dice, US / 2, 6 * US),
                                     .decrease_period_ps = dice_between(dice, US / 2, 6 * US),
                                     .increase_period_ps = dice_between(dice, US, 20 * US),
                                     .fast_recovery_stages = 1 + dice_below(dice, 5),
                                     .additive_bits_per_s = GBPS * (1 + dice_below(dice, 20)),
                                     .hyper_bits_per_s = GBPS * (1 + dice_below(dice, 60)),
                                     .minimum_bits_per_s = GBPS * (1 + dice_below(dice, 5)),
                                     .first_rate_fxp20 = dice_chance(dice, 50) ? ONE_FXP20 : ONE_FXP20 / 2,
                                     .clamp_target = dice_chance(dice, 50)};
}

static struct spectrum_x_parameters draw_spectrum_x(struct dice *dice) {
    return (struct spectrum_x_parameters){.responsiveness_fxp16 = ONE_FXP16 / 20 + dice_below(dice, ONE_FXP16 / 10),
                                          .largest_decrease_fxp16 = 40000 + dice_below(dice, 24000),
                                          .largest_increase_fxp16 = 66000 + dice_below(dice, 10000),
                                          .additive_fxp20 = 96 + dice_below(dice, 5000),
                                          .hyper_additive_fxp20 = 1700 + dice_below(dice, 50000),
                                          .hyper_period_ps = dice_between(dice, 5 * US, 60 * US),
                                          .delay_threshold_ps = dice_between(dice, US / 5, 3 * US),
                                          .largest_delay_ps = dice_between(dice, 3 * US, 20 * US),
                                          .first_congestion_fxp20 = ONE_FXP20 / 2,
                                          .minimum_fxp20 = ONE_FXP20 >> (4 + dice_below(dice, 4)),
                                          .base_round_trip_ps = dice_between(dice, US, 30 * US),
                                          .probe_abort_ps = dice_between(dice, 4 * US, 80 * US),
                                          .early_pacing = dice_chance(dice, 60)};
}

static struct timely_parameters draw_timely(struct dice *dice) {
    return (struct timely_parameters){.weight = 0.5 + 0.125 * dice_below(dice, 4),
                                      .decrease = 0.8,
                                      .low_ps = dice_between(dice, US, 6 * US),
                                      .high_ps = dice_between(dice, 6 * US, 30 * US),
                                      .least_round_trip_ps = dice_between(dice, US, 10 * US),
                                      .additive_bits_per_s = GBPS * (1 + dice_below(dice, 20)),
                                      .hyper_bits_per_s = GBPS * (1 + dice_below(dice, 60)),
                                      .hyper_stages = dice_below(dice, 6),
                                      .minimum_bits_per_s = GBPS * (1 + dice_below(dice, 5))};
}

static struct swift_parameters draw_swift(struct dice *dice) {
    return (struct swift_parameters){.base_target_ps = dice_between(dice, US, 8 * US),
                                     .hop_ps = dice_between(dice, 0, US),
                                     .scaling_range_ps = dice_between(dice, 0, 20 * US),
                                     .scaling_least_window = 0.1,
                                     .scaling_most_window = 1 + dice_below(dice, 100),
                                     .additive = 0.25 * (1 + dice_below(dice, 8)),
                                     .decrease = 0.8,
                                     .largest_decrease = 0.5,
                                     .least_window = dice_chance(dice, 50) ? 0.01 : 0.5,
                                     .most_window = 1 + dice_below(dice, 64),
                                     .first_window = dice_below(dice, 8),
                                     .reset_losses = 1 + dice_below(dice, 5)};
}

static struct nscc_parameters draw_nscc(struct dice *dice) {
    struct nscc_parameters nscc = {.proportional = 4, .fair = 5, .steady = 0.15, .fast = 0.25, .decrease = 0.8};
    nscc.target = 0.25 * (1 + dice_below(dice, 6));
    nscc.largest_window = 0.5 * (1 + dice_below(dice, 6));
    nscc.delay_weight = dice_chance(dice, 50) ? 0.0125 : 0.25;
    nscc.quick_share = 0.125 * (1 + dice_below(dice, 8));
    nscc.quick_delay = 0.5 * (1 + dice_below(dice, 8));
    nscc.fast_delay_ps = dice_between(dice, 0, US);
    nscc.adjust_packets = 1 + dice_below(dice, 16);
    return nscc;
}

static struct hpcc_parameters draw_hpcc(struct dice *dice) {
    return (struct hpcc_parameters){.target = dice_chance(dice, 50) ? 0.95 : 0.5,
                                    .largest_stage = dice_below(dice, 6),
                                    .round_trip_ps = dice_between(dice, US, 20 * US),
                                    .additive_bits_per_s = GBPS * dice_below(dice, 20)};
}

static struct receiver_credit_parameters draw_receiver_credit(struct dice *dice) {
    return (struct receiver_credit_parameters){.first_window = 0.25 * dice_below(dice, 12),
                                               .pull_packets = 1 + dice_below(dice, 6),
                                               .interval_ps = dice_between(dice, US, 20 * US),
                                               .tolerated = dice_chance(dice, 50) ? 0.3 : 0,
                                               .decrease = 0.5 * (1 + dice_below(dice, 2)),
                                               .step = 0.01 * (1 + dice_below(dice, 10))};
}

static struct congestion_parameters draw_congestion(struct dice *dice, const struct nic_parameters *nic) {
    static const uint64_t kinds[] = {
        CONGESTION_NONE,   CONGESTION_DCQCN, CONGESTION_DCQCN, CONGESTION_SPECTRUM_X, CONGESTION_SPECTRUM_X,
        CONGESTION_TIMELY, CONGESTION_SWIFT, CONGESTION_NSCC,  CONGESTION_HPCC,       CONGESTION_RECEIVER_CREDIT};
    return (struct congestion_parameters){.kind = (enum congestion_kind)dice_pick(dice, kinds, COUNT(kinds)),
                                          .notification_interval_ps = draw_interval_ps(dice, nic, 5 * US),
                                          .dcqcn = draw_dcqcn(dice),
                                          .spectrum_x = draw_spectrum_x(dice),
                                          .timely = draw_timely(dice),
                                          .swift = draw_swift(dice),
                                          .nscc = draw_nscc(dice),
                                          .hpcc = draw_hpcc(dice),
                                          .receiver_credit = draw_receiver_credit(dice)};
}

/** Some switches have a watchdog that is quick enough for cases of some microseconds. */
static void draw_watchdog(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_WATCHDOG);
    if (!dice_chance(&dice, 50)) {
        return;
    }
    struct dice action_dice = dice_of(number, TOPIC_WATCHDOG_ACTION);
    const enum watchdog_action action = dice_chance(&action_dice, 68)   ? WATCHDOG_DROP
                                        : dice_chance(&action_dice, 85) ? WATCHDOG_FORWARD
                                                                        : WATCHDOG_ALERT;
    struct switch_parameters *const tiers[] = {&parameters->leaf, &parameters->spine};
    for (size_t t = 0; t < COUNT(tiers); t++) {
        tiers[t]->watchdog_detection_ps =
            dice_chance(&dice, 80) ? dice_between(&dice, US / 5, dice_chance(&dice, 50) ? 2 * US : 12 * US) : 0;
        tiers[t]->watchdog_restoration_ps = dice_between(&dice, 1, 12 * US);
        tiers[t]->watchdog_action = action;
        if (action == WATCHDOG_FORWARD) {
            tiers[t]->watchdog_detection_ps = dice_between(&action_dice, US / 20, US);
        }
    }
}

/** What NICs of several planes do. Go-back-N takes no packets out of order, and pulls count those of a queue pair. */
static void draw_planes(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_PLANES);
    parameters->nic.plane_by_pair = dice_chance(&dice, parameters->nic.out_of_order ? 25 : 75);
    parameters->nic.plane_failover_ps = dice_between(&dice, 0, dice_chance(&dice, 50) ? 3 * US : 20 * US);
    parameters->nic.context_by_plane =
        parameters->congestion.kind != CONGESTION_RECEIVER_CREDIT && dice_chance(&dice, 65);
}

/** InfiniBand links in some cases: buffers from hardly more than a packet on, grains from less than a block to several packets. */
static struct infiniband_parameters draw_infiniband(const struct nic_parameters *nic, uint64_t number) {
    static const uint64_t grains[] = {1, 64, 1000, 8192};
    const uint32_t packet = nic->payload_bytes + nic->header_bytes;
    struct dice dice = dice_of(number, TOPIC_INFINIBAND);
    return (struct infiniband_parameters){
        .links = dice_chance(&dice, 25) && !random_wishes_blinks(number), /* blinking switches are for pauses */
        .credit_grain_bytes = (uint32_t)dice_pick(&dice, grains, COUNT(grains)),
        .buffer_bytes =
            dice_chance(&dice, 75) ? 1 + dice_below(&dice, dice_chance(&dice, 60) ? 3 * packet : 30 * packet) : 0};
}

/** In some cases every message goes by all queue pairs of its peer. */
static void draw_split(struct network_parameters *parameters, uint64_t number) {
    static const uint64_t pairs[] = {2, 3, 4, 7};
    struct dice dice = dice_of(number, TOPIC_SPLIT);
    if (dice_chance(&dice, 12)) {
        parameters->nic.split_messages = true;
        parameters->nic.queue_pairs = (uint32_t)dice_pick(&dice, pairs, COUNT(pairs));
    }
}

static void draw_weights(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_WEIGHTS);
    parameters->path.remote_weights = dice_chance(&dice, 80);
}

static void draw_urgent(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_URGENT);
    parameters->nic.urgent_timeout_ps = dice_chance(&dice, 60) ? dice_between(&dice, 3 * US, 60 * US) : 0;
}

/** Not where switches look at their ports every few nanoseconds: fewer probes make runs longer. */
static void draw_probes(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_PROBES);
    const uint32_t packet = parameters->nic.payload_bytes + parameters->nic.header_bytes;
    if (dice_chance(&dice, 40) && parameters->path.refresh_period_ps >= US) {
        parameters->congestion.spectrum_x.probe_bytes = 1 + dice_below(&dice, 3 * packet);
    }
}

static void draw_pace(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_PACE);
    parameters->congestion.receiver_credit.adapts_pace = dice_chance(&dice, 75);
}

static void draw_headroom(struct network_parameters *parameters, uint64_t number) {
    struct dice dice = dice_of(number, TOPIC_HEADROOM);
    parameters->leaf.headroom_automatic = dice_chance(&dice, 8);
    parameters->spine.headroom_automatic = dice_chance(&dice, 8);
}

struct network_parameters random_parameters_create(uint64_t number) {
    struct dice leaf = dice_of(number, TOPIC_LEAF), spine = dice_of(number, TOPIC_SPINE);
    struct dice nic = dice_of(number, TOPIC_NIC), nvlink = dice_of(number, TOPIC_NVLINK);
    struct dice path = dice_of(number, TOPIC_PATH), controller = dice_of(number, TOPIC_CONTROLLER);
    struct network_parameters parameters = {.seed = number, .nic = draw_nic(&nic), .limit_ps = 20000 * US};
    parameters.leaf = draw_switch(&leaf, &parameters.nic);
    parameters.spine = dice_chance(&spine, 50) ? parameters.leaf : draw_switch(&spine, &parameters.nic);
    parameters.nvlink = draw_nvlink(&nvlink);
    parameters.path = draw_path(&path);
    parameters.congestion = draw_congestion(&controller, &parameters.nic);
    parameters.infiniband = draw_infiniband(&parameters.nic, number);
    random_wishes_grant(&parameters, number);
    random_loss_draw(&parameters, number);
    draw_watchdog(&parameters, number);
    draw_planes(&parameters, number);
    draw_headroom(&parameters, number);
    draw_split(&parameters, number);
    draw_weights(&parameters, number);
    draw_urgent(&parameters, number);
    draw_probes(&parameters, number);
    draw_pace(&parameters, number);
    return parameters;
}
