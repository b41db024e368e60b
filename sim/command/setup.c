// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/setup.h"

#include "base/error_id.h"
#include "base/rate.h"
#include "command/setup_congestion.h"
#include "workload/kernel.h"

#include <assert.h>
#include <string.h>

enum { RESUME_BELOW_BYTES = 9216 }; /* Linux mlx5 port_buffer.c: xon = xoff - MINIMUM_MAX_MTU */

static uint32_t fixed_point(double share, int bits) {
    return (uint32_t)(share * (double)(UINT64_C(1) << bits) + 0.5);
}

static uint64_t retransmit_timeout_of(const struct experiment *experiment) {
    const uint64_t given_ps = experiment->transport.retransmit_timeout_ps;
    return given_ps != 0 ? given_ps : experiment->topology.nic.retransmit_timeout_ps;
}

/* Without a word of the user: longer than any wait that ends by itself. */
static uint64_t stall_of(const struct experiment *experiment) {
    const uint64_t least_ps = UINT64_C(500000000000);
    const uint64_t longest_wait_ps = retransmit_timeout_of(experiment) << NIC_LONGEST_BACK_OFF;
    return experiment->stall_ps != 0 ? experiment->stall_ps : longest_wait_ps > least_ps ? longest_wait_ps : least_ps;
}

/* The names of the configuration stand in the order of what devices do; neither room knows the other. */
static_assert((int)TOPOLOGY_WATCHDOG_DROP == (int)WATCHDOG_DROP &&
                  (int)TOPOLOGY_WATCHDOG_FORWARD == (int)WATCHDOG_FORWARD &&
                  (int)TOPOLOGY_WATCHDOG_ALERT == (int)WATCHDOG_ALERT,
              "both enums of watchdogs are alike");

static struct switch_parameters switch_of(const struct topology_switch *given) {
    return (struct switch_parameters){
        .pfc = given->pfc,
        .lossless_pool_bytes = given->lossless_pool_bytes,
        .lossy_pool_bytes = given->lossy_pool_bytes,
        .lossless_alpha_shift = given->lossless_alpha_shift,
        .lossy_alpha_shift = given->lossy_alpha_shift,
        .headroom_bytes = given->headroom_bytes,
        .headroom_automatic = given->headroom_bytes == 0,
        .xon_bytes = given->xon_bytes,
        .watchdog_detection_ps = given->watchdog ? given->watchdog_detection_ps : 0,
        .watchdog_restoration_ps = given->watchdog_restoration_ps,
        .watchdog_action = (enum watchdog_action)given->watchdog_action,
        .ecn = given->ecn,
        .ecn_minimum_bytes = given->ecn_minimum_bytes,
        .ecn_maximum_bytes = given->ecn_maximum_bytes,
        .ecn_probability_fxp20 = fixed_point(given->ecn_probability, 20),
        .queue_limit_bytes = given->queue_limit_bytes,
        .trim = given->trim,
        .trim_bytes = (uint32_t)given->trim_size_bytes,
        .trim_limit_bytes =
            given->trim_queue_limit_bytes != 0 ? given->trim_queue_limit_bytes : 2 * given->queue_limit_bytes,
        .trim_arriving_fxp32 = (uint64_t)(given->trim_arriving * 4294967296.0 + 0.5),
        .trim_turns = given->trim_priority,
        .class_weight = {0, 1, 1}, // DWRR 50/50 (Cumulus Linux, RDMA over Converged Ethernet, `nv set qos roce`)
    };
}

static uint32_t window_packets(const struct experiment *experiment) {
    const uint64_t payload = experiment->topology.nic.payload_bytes;
    return (uint32_t)((experiment->transport.window_bytes + payload - 1) / payload);
}

/* What is still to come when a NIC has decided to pause its leaf: there and back, a packet under way at each end, and one cut. */
static uint64_t in_flight_bytes(const struct topology *topology, uint64_t packet_bytes) {
    const struct topology_fabric *fabric = &topology->fabric;
    const uint64_t cables_ps = 2 * fabric->host_cable_m * fabric->cable_latency_ps_per_m;
    const uint64_t built_ps = cables_ps + 2 * topology->nic.latency_ps + topology->leaf.latency_ps;
    const uint64_t around_ps = fabric->link_latency_ps > 0 ? 2 * fabric->link_latency_ps : built_ps;
    return (uint64_t)((double)around_ps * (double)topology->nic.rate_bits_per_s / 8e12) + 3 * packet_bytes;
}

/* Linux drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c, calculate_xoff, for at least 40 Gb/s as there. */
static uint64_t receive_headroom_bytes(const struct topology *topology, uint64_t packet_bytes) {
    const double gbps = (double)topology->nic.rate_bits_per_s / 1e9;
    const double driver =
        (301 + 2.16 * (double)topology->fabric.host_cable_m) * (gbps > 40 ? gbps : 40) + 2.72 * (double)packet_bytes;
    const uint64_t needed = in_flight_bytes(topology, packet_bytes);
    if (topology->nic.receive_headroom_bytes != 0) {
        return topology->nic.receive_headroom_bytes;
    }
    return topology->nic.planes * ((uint64_t)driver > needed ? (uint64_t)driver : needed);
}

static void set_receive(struct nic_parameters *nic, const struct topology *topology) {
    const uint64_t packet_bytes = topology->nic.payload_bytes + topology->nic.header_bytes;
    const uint64_t headroom_bytes = receive_headroom_bytes(topology, packet_bytes);
    const uint64_t buffer_bytes = topology->nic.receive_buffer_bytes;
    const uint64_t rate = topology->nic.receive_rate_bits_per_s;
    nic->receive_ps_per_byte = rate != 0 ? rate_ps_per_byte(rate) : 0;
    nic->receive_buffer_bytes = buffer_bytes;
    nic->receive_xoff_bytes = buffer_bytes > headroom_bytes ? buffer_bytes - headroom_bytes : 0;
    nic->receive_xon_bytes =
        nic->receive_xoff_bytes > RESUME_BELOW_BYTES ? nic->receive_xoff_bytes - RESUME_BELOW_BYTES : 0;
}

/* Where packets of a queue pair may overtake each other, a later one says nothing of an earlier one. */
static uint32_t loss_distance(const struct experiment *experiment, bool reorders) {
    const uint32_t given = experiment->transport.loss_distance;
    return given != 0 ? given : reorders ? 0 : 1;
}

/* Whether data travel in the lossless class: links pause, or are InfiniBand. */
static bool is_lossless(const struct topology *topology) {
    return topology->leaf.pfc || topology->fabric.link_layer == TOPOLOGY_LINK_INFINIBAND;
}

/* Whether packets of the control class can be lost: a link fails, or data that are dropped leave them no room. */
static bool may_lose(const struct experiment *experiment) {
    return experiment->n_failures > 0 || !is_lossless(&experiment->topology);
}

/* arXiv:2605.21187: by hardware plane load balancing, and by NCCL. */
static uint64_t plane_failover_of(const struct topology_nic *nic) {
    const uint64_t usual_ps = nic->plane_failover == TOPOLOGY_FAILOVER_HARDWARE ? 3000000000 : 1080000000000;
    return nic->plane_failover_time_ps > 0 ? nic->plane_failover_time_ps : usual_ps;
}

/* Whether packets of a queue pair go by several planes. */
static bool chooses_planes(const struct topology_nic *nic) {
    return nic->planes > 1 && nic->plane_choice == TOPOLOGY_PLANE_PACKET;
}

static struct nic_parameters nic_of(const struct experiment *experiment, const struct experiment_policy *policy,
                                    bool adaptive, bool pulls) {
    const struct topology_nic *given = &experiment->topology.nic;
    const uint64_t acknowledge = experiment->transport.acknowledge_bytes;
    struct nic_parameters nic = {
        .payload_bytes = (uint32_t)given->payload_bytes,
        .header_bytes = (uint32_t)given->header_bytes,
        .control_bytes = (uint32_t)given->control_bytes,
        .acknowledge_bytes = acknowledge ? (uint32_t)acknowledge : 1,
        .queue_pairs = policy->queue_pairs ? policy->queue_pairs : 1,
        .split_messages = policy->split_messages,
        .window_packets = window_packets(experiment),
        .out_of_order = given->out_of_order,
        .adaptive_marking = adaptive,
        .data_class = is_lossless(&experiment->topology) ? PACKET_CLASS_LOSSLESS : PACKET_CLASS_LOSSY,
        .retransmit_timeout_ps = retransmit_timeout_of(experiment),
        .urgent_timeout_ps = may_lose(experiment) ? retransmit_timeout_of(experiment) : 0,
        .message_gap_ps = given->message_rate > 0 ? (uint64_t)(1e12 / given->message_rate + 0.5) : 0,
        .nack_interval_ps = given->nack_interval_ps,
        .selective_repeat = experiment->transport.recovery == EXPERIMENT_RECOVERY_SELECTIVE_REPEAT,
        .loss_distance = loss_distance(experiment, adaptive || chooses_planes(given)),
        .plane_failover_ps = plane_failover_of(given),
        .plane_by_pair = given->plane_choice == TOPOLOGY_PLANE_QUEUE_PAIR,
        .context_by_plane = !policy->global_context && !pulls,
        .short_timeout_ps = experiment->transport.short_timeout_ps,
        .short_timeout_packets = experiment->transport.short_timeout_packets,
        .window_products = experiment->transport.window_products,
    };
    set_receive(&nic, &experiment->topology);
    return nic;
}

bool setup_find_path(const char *name, enum path_kind *kind, struct error *error) {
    for (int k = 0; k < PATH_KINDS; k++) {
        if (strcmp(path_policy_of((enum path_kind)k)->name, name) == 0) {
            *kind = (enum path_kind)k;
            return true;
        }
    }
    return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_POLICY, "there is no path policy \"%s\"", name);
}

struct path_parameters setup_path(const struct experiment *experiment, const struct experiment_policy *policy,
                                  enum path_kind kind) {
    const uint64_t scale = experiment->path.grade_scale_bytes;
    return (struct path_parameters){
        .kind = kind,
        .polarised = policy->polarised,
        .hash = experiment->path.hash == EXPERIMENT_HASH_CRC16 ? PATH_HASH_CRC16 : PATH_HASH_MIX,
        .refresh_period_ps = experiment->path.refresh_period_ps,
        // grades at 5 %, 10 %, 20 % (ultraethernet/uet-htsim, fat_tree_switch.cpp)
        .grade_bounds_bytes = {(uint32_t)(scale / 20), (uint32_t)(scale / 10), (uint32_t)(scale / 5)},
        .round_robin_rounds = experiment->path.round_robin_rounds,
        .flowlet_gap_ps = experiment->path.flowlet_gap_ps,
        .flowlet_entries = experiment->path.flowlet_entries,
        .remote_weights = experiment->path.remote_weights,
    };
}

bool setup_network(const struct experiment *experiment, const struct experiment_policy *policy, uint64_t seed,
                   struct network_parameters *parameters, struct error *error) {
    enum path_kind kind = PATH_ECMP;
    *parameters =
        (struct network_parameters){.seed = seed, .limit_ps = experiment->limit_ps, .stall_ps = stall_of(experiment)};
    if (!setup_find_path(policy->path, &kind, error) ||
        !setup_congestion(experiment, policy, &parameters->congestion, error)) {
        return false;
    }
    parameters->leaf = switch_of(&experiment->topology.leaf);
    parameters->spine = switch_of(&experiment->topology.spine);
    parameters->nic = nic_of(experiment, policy, path_policy_of(kind)->reorders,
                             congestion_controller_of(parameters->congestion.kind)->wants_pulls);
    parameters->path = setup_path(experiment, policy, kind);
    parameters->infiniband = (struct infiniband_parameters){
        .links = experiment->topology.fabric.link_layer == TOPOLOGY_LINK_INFINIBAND,
        .credit_grain_bytes = (uint32_t)experiment->topology.infiniband.credit_grain_bytes,
        .buffer_bytes = experiment->topology.infiniband.buffer_bytes,
    };
    parameters->nvlink = (struct nvlink_parameters){
        .record_bytes = (uint32_t)experiment->topology.nvlink.record_bytes,
        .credit_grain_bytes = (uint32_t)experiment->topology.nvlink.credit_grain_bytes,
        .buffer_bytes = experiment->topology.nvlink.buffer_bytes,
        .copy_ps_per_byte = kernel_of(experiment, 0).copy_ps_per_byte,
    };
    return true;
}
