// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenario.h"
#include "usual.h"

#include "base/hash.h"
#include "fabric/irregular.h"

enum { FULL_BYTES = RIG_PAYLOAD_BYTES + RIG_HEADER_BYTES };

/* Start times that are odd on purpose: few things happen in step. */
static uint32_t post(struct rig *rig, uint32_t source, struct traffic_message message) {
    message.start_ps += hash_mix(source * 1000 + rig->n_messages) % 3000000;
    return rig_add(rig, source, &message);
}

static void squeeze(struct switch_parameters *parameters) {
    parameters->lossless_pool_bytes = 40 * FULL_BYTES;
    parameters->headroom_bytes = 20 * FULL_BYTES;
    parameters->xon_bytes = 2 * FULL_BYTES;
    parameters->ecn = true;
    parameters->ecn_minimum_bytes = 10 * FULL_BYTES;
    parameters->ecn_maximum_bytes = 40 * FULL_BYTES;
    parameters->ecn_probability_fxp20 = 1u << 19;
}

static struct rig *paused_incast(void) {
    const struct rig_shape shape = {.leaves = 4, .hosts_per_leaf = 4, .spines = 2, .up_ps = 20, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    squeeze(&rig->parameters.leaf);
    squeeze(&rig->parameters.spine);
    rig->parameters.congestion = usual_congestion(CONGESTION_DCQCN, UINT64_C(400000000000));
    rig->parameters.nic.acknowledge_bytes = 1;
    for (uint32_t source = 1; source < 16; source++) {
        post(rig, source, (struct traffic_message){.destination = 0, .bytes = 200000 + source});
        post(rig, source, (struct traffic_message){.destination = (source + 5) % 16, .bytes = 100000 + source});
    }
    return rig;
}

static struct rig *lossy_incast(void) {
    const struct rig_shape shape = {.leaves = 2, .hosts_per_leaf = 6, .spines = 2, .up_ps = 20};
    struct rig *rig = rig_create(&shape);
    rig->parameters.leaf.lossy_pool_bytes = 30 * FULL_BYTES;
    rig->parameters.nic.data_class = PACKET_CLASS_LOSSY;
    rig->parameters.nic.out_of_order = false;
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.nic.nack_interval_ps = 4000000;
    rig->parameters.nic.retransmit_timeout_ps = 50000000;
    for (uint32_t source = 1; source < 12; source++) {
        post(rig, source, (struct traffic_message){.destination = 0, .bytes = 150000 + source * 37});
    }
    return rig;
}

static struct rig *adaptive(void) {
    const struct rig_shape shape = {.leaves = 4, .hosts_per_leaf = 4, .spines = 4, .up_ps = 20, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    rig->parameters.path.kind = PATH_ADAPTIVE;
    rig->parameters.nic.adaptive_marking = true;
    rig->parameters.nic.acknowledge_bytes = 1;
    squeeze(&rig->parameters.leaf);
    rig->parameters.congestion = usual_congestion(CONGESTION_SPECTRUM_X, UINT64_C(400000000000));
    rig->parameters.congestion.spectrum_x.base_round_trip_ps = 10000000;
    rig->parameters.congestion.spectrum_x.delay_threshold_ps = 500000;
    for (uint32_t source = 0; source < 16; source++) {
        post(rig, source, (struct traffic_message){.destination = (source * 5 + 6) % 16, .bytes = 400000});
        post(rig, source, (struct traffic_message){.destination = (source + 4) % 16, .bytes = 300000});
    }
    return rig;
}

static struct rig *nvlink(void) {
    const struct rig_shape shape = {.leaves = 2,
                                    .hosts_per_leaf = 4,
                                    .spines = 1,
                                    .domain_gpus = 4,
                                    .chips = 3,
                                    .links_per_chip = 2,
                                    .up_ps = 20,
                                    .nvlink_ps = 160,
                                    .cut_through = true};
    struct rig *rig = rig_create(&shape);
    rig->parameters.nvlink.buffer_bytes = 5 * RIG_RECORD_BYTES;
    rig->parameters.nvlink.credit_grain_bytes = 2048;
    for (uint32_t source = 0; source < 8; source++) {
        const uint32_t first = source / 4 * 4; // of the domain
        const uint32_t mate = first + (source + 1) % 4;
        post(rig, source, (struct traffic_message){.destination = mate, .bytes = 70000, .route = TRAFFIC_NVLINK});
        post(rig, source, (struct traffic_message){.destination = (source + 4) % 8, .bytes = 50000});
        for (uint32_t i = 1; i < 4; i++) {
            post(rig, source,
                 (struct traffic_message){.destination = first + (source + i) % 4,
                                          .bytes = 20000 + i * 5555,
                                          .unit_bytes = 7392,
                                          .channel = 1,
                                          .route = TRAFFIC_NVLINK});
        }
    }
    const uint32_t forwarded =
        post(rig, 5, (struct traffic_message){.destination = 6, .bytes = 50000, .channel = 1, .route = TRAFFIC_NVLINK});
    traffic_list_after(rig->list, forwarded, 1, 1 * 5 + 1); // what came from rank 1 over the fabric
    return rig;
}

static struct rig *windows(void) {
    const struct rig_shape shape = {.leaves = 3, .hosts_per_leaf = 2, .spines = 2, .parallel = 2, .up_ps = 80};
    struct rig *rig = rig_create(&shape);
    rig->parameters.nic.queue_pairs = 3;
    rig->parameters.nic.window_packets = 5;
    rig->parameters.nic.acknowledge_bytes = 9000;
    uint32_t last = 0;
    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t source = i % 6, destination = (i + 1) % 6;
        const struct traffic_message message = {.destination = destination, .bytes = 30000 + i * 111};
        const uint32_t number = post(rig, source, message);
        if (i % 6 != 0) {
            traffic_list_after(rig->list, number, (source + 5) % 6, last); // from the one before in the ring
        }
        last = number;
        if (i % 7 == 0) {
            post(rig, (source + 3) % 6, (struct traffic_message){.destination = source, .bytes = 100, .urgent = 1});
        }
    }
    return rig;
}

static struct rig *unequal(void) {
    const struct rig_shape shape = {.leaves = 3,
                                    .hosts_per_leaf = 3,
                                    .spines = 2,
                                    .up_ps = 50,
                                    .down_ps = 20,
                                    .uplink_ps = 40,
                                    .cut_through = true};
    struct rig *rig = rig_create(&shape);
    irregular_set_cut_through(rig->fabric, rig->fabric->switch_devices[1], false);
    rig->parameters.nic.acknowledge_bytes = 1;
    for (uint32_t source = 0; source < 9; source++) {
        for (uint32_t i = 1; i < 9; i += 2) {
            post(rig, source, (struct traffic_message){.destination = (source + i) % 9, .bytes = 33333 + 1000 * i});
        }
    }
    return rig;
}

struct rig *scenario_create(enum scenario scenario, uint64_t seed) {
    static struct rig *(*const makers[SCENARIOS])(void) = {
        [SCENARIO_PAUSED_INCAST] = paused_incast,
        [SCENARIO_LOSSY_INCAST] = lossy_incast,
        [SCENARIO_ADAPTIVE] = adaptive,
        [SCENARIO_NVLINK] = nvlink,
        [SCENARIO_WINDOWS] = windows,
        [SCENARIO_UNEQUAL] = unequal,
    };
    struct rig *rig = makers[scenario]();
    rig->parameters.seed = seed;
    return rig;
}
