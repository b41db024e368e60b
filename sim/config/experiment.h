// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A configuration file as typed values: topology, traffic, and the policies to compare. Read by experiment_read (experiment_file.h).
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_H
#define MOEFABRIC_CONFIG_EXPERIMENT_H

#include "config/experiment_place.h"
#include "config/experiment_training.h"
#include "config/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EXPERIMENT_NAME_SIZE = 64,
    EXPERIMENT_POLICY_NAME_SIZE = 56,
    EXPERIMENT_COLUMNS = 16,
    EXPERIMENT_SEEDS = 64,
    EXPERIMENT_FAILURES = 64
};
enum {
    EXPERIMENT_BACKGROUNDS = 8,               /**< tags have 3 bits for them */
    EXPERIMENT_BACKGROUND_MESSAGES = 1 << 26, /**< of a GPU to another: tags have 26 bits */
    EXPERIMENT_JOB_SIZE = 2048,               /**< a job may have some GPUs of each of hundreds of racks */
    EXPERIMENT_RECORD_NAMES = 64,
};

enum experiment_pattern {
    EXPERIMENT_PATTERN_MOE,               /**< dispatch and combine of one MoE layer */
    EXPERIMENT_PATTERN_SINGLE,            /**< one flow from `source` to `destination` */
    EXPERIMENT_PATTERN_PERMUTATION,       /**< every GPU sends to one other, no two to the same */
    EXPERIMENT_PATTERN_INCAST,            /**< `senders` GPUs send to one */
    EXPERIMENT_PATTERN_ALL_TO_ALL,        /**< every GPU sends the same to every other */
    EXPERIMENT_PATTERN_CONNECTION_MATRIX, /**< the flows of a .cm file */
    EXPERIMENT_PATTERN_WORKLOAD_TEXT,     /**< a pass of a workload text of SimAI or ASTRA-sim */
    EXPERIMENT_PATTERN_RING,              /**< every GPU sends to the next one */
};

/** What simulates the network. */
enum experiment_network_model {
    EXPERIMENT_NETWORK_PACKET, /**< every packet (sim/device) */
    EXPERIMENT_NETWORK_FLUID,  /**< flows at max-min fair rates (sim/fluid) */
    EXPERIMENT_NETWORK_BOTH,   /**< compare: one column each */
};

enum experiment_gate {
    EXPERIMENT_GATE_UNIFORM,
    EXPERIMENT_GATE_ZIPF,
    EXPERIMENT_GATE_HOT_EXPERT,
    EXPERIMENT_GATE_GROUP_LIMITED,
    EXPERIMENT_GATE_NODE_LIMITED,
    EXPERIMENT_GATE_BALANCED,
    EXPERIMENT_GATE_DIRICHLET,
    EXPERIMENT_GATE_MEASURED,
    EXPERIMENT_GATE_TRACE,
};
/** Which ranks form an expert-parallel group. */
enum experiment_group_placement {
    EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE, /**< ranks that follow each other */
    EXPERIMENT_GROUP_PLACEMENT_STRIDED,     /**< NVLink domains that are as many apart as there are groups */
    EXPERIMENT_GROUP_PLACEMENT_RANDOM,      /**< moe: ranks in an order drawn at random */
    EXPERIMENT_GROUP_PLACEMENT_PACKED,      /**< moe: each group in as few domains as have room (gpu_groups.h) */
};
/** How token copies get to their experts and back: workload/README.md. */
enum experiment_algorithm {
    EXPERIMENT_ALGORITHM_DIRECT,
    EXPERIMENT_ALGORITHM_TWO_HOP,
    EXPERIMENT_ALGORITHM_PXN,
    EXPERIMENT_ALGORITHM_NCCL_P2P,
    EXPERIMENT_ALGORITHM_PAIRWISE,
    EXPERIMENT_ALGORITHM_HYBRID_EP,
    EXPERIMENT_ALGORITHMS
};

/** What an algorithm needs of a configuration: said once, for whoever checks it and whoever makes plans. */
struct experiment_algorithm_needs {
    bool
        by_domain; /**< a token goes to an NVLink domain once, to be forwarded there; else each (token, expert) copy goes to the expert's rank */
    bool
        positions; /**< it hands on: ranks are known by domain and position, so that a group is made of whole domains, or tables say where its GPUs are */
    bool byte_chunks; /**< chunks of traffic.chunk_bytes; by_domain: of traffic.chunk_tokens */
    bool channels;    /**< traffic.channels peers at a time */
    bool gathers_map; /**< routing maps in place of counts */
    bool grants;      /**< it knows early pacing */
};

/** Of each algorithm. */
extern const struct experiment_algorithm_needs experiment_algorithm_needs[EXPERIMENT_ALGORITHMS];

/** Does a token go to an NVLink domain once, to be forwarded there? */
static inline bool experiment_algorithm_by_domain(enum experiment_algorithm algorithm) {
    return experiment_algorithm_needs[algorithm].by_domain;
}

/** Names of algorithms in configurations and tables, EXPERIMENT_ALGORITHMS of them, then NULL. */
extern const char *const experiment_algorithm_names[];

/** What communication kernels take. */
enum experiment_kernel {
    EXPERIMENT_KERNEL_IDEAL,    /**< no time */
    EXPERIMENT_KERNEL_PLATFORM, /**< what section `gpu` of the topology says */
};
enum experiment_hash { EXPERIMENT_HASH_MIX, EXPERIMENT_HASH_CRC16 };
enum experiment_type { EXPERIMENT_TYPE_FP8, EXPERIMENT_TYPE_BF16, EXPERIMENT_TYPE_NVFP4 };

/** Which experts sit where within an expert-parallel group; workload/placement_choose.h has the rules. */
enum experiment_placement_kind {
    EXPERIMENT_PLACEMENT_CONTIGUOUS,
    EXPERIMENT_PLACEMENT_ROUND_ROBIN,
    EXPERIMENT_PLACEMENT_DOMAIN_PACKED,
    EXPERIMENT_PLACEMENT_SPREAD,
    EXPERIMENT_PLACEMENT_EPLB,
    EXPERIMENT_PLACEMENT_EPLB_GLOBAL,
    EXPERIMENT_PLACEMENT_AFFINITY,
    EXPERIMENT_PLACEMENT_FILE,
    EXPERIMENT_PLACEMENT_KINDS
};
/** Which replica of an expert a token goes to. */
enum experiment_replica_choice { EXPERIMENT_REPLICA_NEAREST, EXPERIMENT_REPLICA_EVEN };

/** Section `placement`. */
struct experiment_placement {
    enum experiment_placement_kind kind;
    char file[256]; /**< file: as given; empty = none */
    char path[512]; /**< of it, from the configuration's folder */
    uint32_t layer; /**< file: which */
    uint32_t redundant_experts;
    enum experiment_replica_choice replica_choice;
    uint32_t history_tokens; /**< eplb, eplb_global, affinity */
    double expert_flops;     /**< place: operations a second of a GPU; 0 = not weighed */
    enum experiment_type weight_type;
};

/** Does a placement learn from loads, and so can give an expert several replicas? */
static inline bool experiment_placement_learns(const struct experiment_placement *placement) {
    return placement->kind == EXPERIMENT_PLACEMENT_EPLB || placement->kind == EXPERIMENT_PLACEMENT_EPLB_GLOBAL ||
           placement->kind == EXPERIMENT_PLACEMENT_AFFINITY;
}

/** Section `model`: a preset, each value of which may be overridden. */
struct experiment_model {
    char preset[EXPERIMENT_NAME_SIZE]; /**< deepseek-v3, gpt-oss-20b; empty = all values given */
    uint32_t hidden, experts, top_k, groups, groups_kept;
    uint32_t intermediate; /**< of an expert; 0 = not known */
};

/** Section `gate`: where popularity is from and how it varies, and what experts can take. A count that is 0 is as 1. */
struct experiment_routing {
    char file[256];   /**< measured, trace: as given; empty = none */
    char path[512];   /**< of the file, from the configuration's folder; empty where a configuration has no folder */
    char dataset[64]; /**< HDF5: name; empty = the only one */
    char domain[48];  /**< measured: column; empty = the first, "each" = sources take turns */
    uint32_t layer;   /**< of the file, or of the draw of popularities */
    uint32_t step;    /**< measured: of a tensor of counts */
    double alpha;     /**< dirichlet */
    uint32_t domains; /**< zipf, dirichlet: of sources */
    uint32_t domain_ranks;  /**< consecutive ranks of one domain */
    double domain_strength; /**< share of a domain's own popularity in what its sources follow */
    uint32_t micro_batches; /**< that a rank's tokens are cut into, one popularity each */
    double persistence;     /**< probability that the next micro-batch keeps it */
    double capacity_factor; /**< 0 = dropless */
    struct experiment_place file_place, layer_place; /**< of the keys; line 0: not given */
};

/** Section `traffic`. */
struct experiment_traffic {
    enum experiment_pattern pattern;
    uint64_t bytes; /**< patterns other than moe: a message (all_to_all: to each peer) */
    struct experiment_place bytes_place;
    uint32_t source, destination; /**< single; incast: destination */
    uint32_t senders;             /**< incast */
    char gpus
        [EXPERIMENT_JOB_SIZE]; /**< moe, permutation, ring, all_to_all: who takes part, as gpu_list.h reads it; empty = all */
    char matrix[256];          /**< connection_matrix: name of the file, as given; empty = none */
    char workload[256];        /**< workload_text: name of the file, as given; empty = none */
    uint32_t tokens_per_gpu;     /**< moe */
    uint32_t expert_parallelism; /**< GPUs of one expert-parallel group; 0 = all */
    enum experiment_group_placement group_placement;
    enum experiment_gate gate;
    double zipf_exponent;
    double hot_expert_factor; /**< load of the hot expert ÷ mean load */
    uint32_t hot_expert;
    uint32_t nodes_kept;               /**< node_limited */
    uint32_t node_gpus;                /**< node_limited: GPUs of a node (group); 0 = the NVLink domain */
    struct experiment_routing routing; /**< section `gate` */
    enum experiment_algorithm algorithm;
    enum experiment_type dispatch_type, combine_type;
    enum experiment_type combine_backward_type, dispatch_backward_type; /**< gradients */
    bool dispatch, combine, combine_backward, dispatch_backward;        /**< which phases, in their order */
    bool exchange_counts;             /**< receive counts are exchanged before dispatch */
    uint32_t chunk_tokens;            /**< two_hop, hybrid_ep: tokens of one forwarded chunk */
    uint32_t channels;                /**< nccl_p2p: peers that are sent to at a time */
    uint64_t chunk_bytes;             /**< pxn, nccl_p2p: of what is handed on, or acknowledged, at a time */
    uint64_t jitter_ps;               /**< ranks start uniformly within this time */
    uint64_t expert_time_ps;          /**< between a rank's last dispatched token and its first combine message */
    uint64_t turn_time_ps;            /**< between a rank's last combined token and its first gradient */
    uint64_t expert_backward_time_ps; /**< between a rank's last gradient and the first that it sends back */
    enum experiment_kernel kernel;
    uint32_t sms;             /**< that a communication kernel runs on */
    uint64_t seed;            /**< of the traffic; added to the run's seed number */
    uint64_t popularity_seed; /**< of which experts are popular; 0 = the seed of the traffic */
};

/** One column of a comparison: a path policy and a controller. `run` simulates exactly one. */
struct experiment_policy {
    char
        name[EXPERIMENT_POLICY_NAME_SIZE]; /**< what the fluid model's column adds to it fits in a measurement's name */
    char path[EXPERIMENT_NAME_SIZE];       /**< ecmp, adaptive, spray_random, … */
    char congestion[EXPERIMENT_NAME_SIZE]; /**< none, dcqcn, spectrum_x, timely, … */
    uint32_t queue_pairs;                  /**< a peer */
    bool split_messages;                   /**< a message goes by all of them, else by one in turn */
    bool early_pacing;
    bool polarised;
    bool global_context; /**< NICs of several planes: one congestion context for all of them */
};

/** Section `path`: parameters of path policies. */
struct experiment_path {
    uint64_t refresh_period_ps;
    uint64_t grade_scale_bytes; /**< 100 % of the grades 5 %, 10 %, 20 % */
    enum experiment_hash hash;
    uint32_t round_robin_rounds;
    uint64_t flowlet_gap_ps;
    uint32_t flowlet_entries; /**< of a switch's table */
    uint64_t exclusion_ps;    /**< a switch's own dead port, under policies that decide packet by packet */
    uint64_t convergence_ps;  /**< routing tables follow cables that die or come back */
    bool remote_weights;      /**< adaptive: by the capacity behind each port */
};

/** How a transport recovers from loss. */
enum experiment_recovery {
    EXPERIMENT_RECOVERY_GO_BACK_N,        /**< from the first packet that is missing on, all is sent again */
    EXPERIMENT_RECOVERY_SELECTIVE_REPEAT, /**< only what is missing */
};

/** Section `transport`. */
struct experiment_transport {
    uint64_t acknowledge_bytes;     /**< 0 = every packet */
    uint64_t window_bytes;          /**< a queue pair; 0 = unlimited */
    uint64_t retransmit_timeout_ps; /**< 0 = the NIC's */
    uint64_t short_timeout_ps;      /**< while few packets are unacknowledged; 0 = none of its own */
    uint32_t short_timeout_packets; /**< few */
    enum experiment_recovery recovery;
    uint32_t loss_distance; /**< selective repeat; 0 = as the path policy needs it */
    double window_products; /**< selective repeat; 0 = no limit */
};

/** Section `congestion.dcqcn`. */
struct experiment_dcqcn {
    char profile[EXPERIMENT_NAME_SIZE]; /**< paper, mellanox, firmware */
    bool scale_steps;                   /**< additive steps grow with the NIC rate (reference 25 Gb/s) */
    uint64_t notification_interval_ps;
};

/** Section `congestion.spectrum_x`: names as in the reference (facts D1). */
struct experiment_spectrum_x {
    double responsiveness, largest_decrease, largest_increase, first_congestion_rate;
    uint32_t additive_step, hyper_additive_step; /**< fxp20 a round trip */
    uint64_t hyper_period_ps, delay_threshold_ps, largest_delay_ps, base_round_trip_ps, probe_abort_ps;
    uint64_t probe_bytes;
    uint32_t minimum_rate; /**< fxp20 */
    uint64_t notification_interval_ps;
};

/** Section `congestion.timely` (sim/congestion/timely.h). Steps at 10 Gb/s. */
struct experiment_timely {
    double weight, decrease;
    uint64_t low_ps, high_ps, least_round_trip_ps;
    uint64_t additive_bits_per_s, hyper_bits_per_s, minimum_bits_per_s;
    uint32_t hyper_stages;
};

/** Section `congestion.swift` (sim/congestion/swift.h). Windows in packets. */
struct experiment_swift {
    uint64_t base_target_ps, hop_ps, scaling_range_ps;
    double scaling_least_window, scaling_most_window, additive, decrease, largest_decrease;
    double least_window, most_window, first_window;
    uint32_t reset_losses;
};

/** Section `congestion.nscc` (sim/congestion/nscc.h). */
struct experiment_nscc {
    double target, largest_window, proportional, fair, steady, fast, decrease, delay_weight, quick_share, quick_delay;
    uint64_t fast_delay_ps;
    uint32_t adjust_packets;
};

/** Section `congestion.hpcc` (sim/congestion/hpcc.h). The step at 25 Gb/s. */
struct experiment_hpcc {
    double target;
    uint32_t largest_stage;
    uint64_t base_round_trip_ps, additive_bits_per_s;
};

enum experiment_action {
    EXPERIMENT_ACTION_DOWN,
    EXPERIMENT_ACTION_SLOW,
    EXPERIMENT_ACTION_LOSSY,
    EXPERIMENT_ACTION_SLOW_RECEIVE,
    EXPERIMENT_ACTION_STOP_RECEIVE,
    EXPERIMENT_ACTION_STOP_SEND,
};

/** One of `failures`: what fails, when and how often. */
struct experiment_failure {
    char what[EXPERIMENT_NAME_SIZE * 2]; /**< name of a link or device */
    enum experiment_action action;
    uint64_t at_ps;
    uint64_t for_ps;   /**< 0 = to the end */
    uint64_t every_ps; /**< flaps: from one beginning to the next */
    uint32_t count;    /**< times that it happens */
    double rate;       /**< slow, slow_receive: share that is left */
    double loss;       /**< lossy: probability */
    struct experiment_place place;
};

enum experiment_background_pattern {
    EXPERIMENT_BACKGROUND_ALL_TO_ALL,
    EXPERIMENT_BACKGROUND_RING,     /**< reduce-scatter and all-gather of data-parallel training */
    EXPERIMENT_BACKGROUND_PIPELINE, /**< from stage to stage */
    EXPERIMENT_BACKGROUND_WRITES,   /**< to a few targets, as in a checkpoint */
};

/** One of `background`: traffic beside what is measured. */
struct experiment_background {
    char name[EXPERIMENT_NAME_SIZE];
    enum experiment_background_pattern pattern;
    char gpus[EXPERIMENT_GPUS_SIZE];    /**< as gpu_list.h reads it */
    char targets[EXPERIMENT_GPUS_SIZE]; /**< writes; empty = none */
    uint64_t bytes;
    uint32_t group; /**< GPUs of a group; 0 = all that take part */
    enum experiment_group_placement group_placement;
    uint64_t start_ps;
    uint64_t every_ps; /**< 0 = a round begins when the one before has been received */
    uint32_t rounds;
};

/** Section `congestion.receiver_credit` (sim/congestion/receiver_credit.h). */
struct experiment_receiver_credit {
    double first_window, tolerated, decrease, step;
    uint32_t pull_packets;
    bool adapts_pace;
    uint64_t interval_ps;
};

/** Section `record`: series to be recorded. */
struct experiment_record {
    uint64_t interval_ps; /**< 0 = none */
    uint64_t from_ps;
    uint64_t until_ps;                                             /**< 0 = after the usual number of intervals */
    char links[EXPERIMENT_RECORD_NAMES][EXPERIMENT_NAME_SIZE * 2]; /**< names and groups */
    char pairs[EXPERIMENT_RECORD_NAMES][EXPERIMENT_NAME_SIZE * 2]; /**< "gpu0 -> gpu9" */
    uint32_t n_links, n_pairs;
    bool queue, rate, pauses, marks, drops; /**< quantities */
    struct experiment_place links_place, pairs_place;
};

/** Section `sweep`; what it expands to is in sweep.h. */
struct experiment_sweep {
    uint64_t seeds[EXPERIMENT_SEEDS]; /**< of every point, in place of the configuration's */
    uint32_t n_seeds;                 /**< 0: the configuration's own */
    uint64_t limit;                   /**< points at most */
    uint64_t n_points;                /**< 0: there is no sweep */
};

/** Who shares a leaf in a fabric that is worked out. */
enum experiment_leaves {
    EXPERIMENT_LEAVES_AS_TOPOLOGY,
    EXPERIMENT_LEAVES_SHARED,    /**< consecutive GPUs, whatever their rail */
    EXPERIMENT_LEAVES_RAIL,      /**< GPUs of one rail */
    EXPERIMENT_LEAVES_RACK_RAIL, /**< the same, and all GPUs of a rack's rail share a leaf */
};

/** Section `design`: a fabric that is worked out from the topology's switches; 0 = as the topology has it. */
struct experiment_design {
    uint32_t gpus;                /**< at least; 0 = those of the topology */
    uint64_t nic_rate_bits_per_s; /**< of a GPU, all planes together */
    uint32_t planes;
    double oversubscription; /**< of leaves, at most */
    uint32_t tiers;          /**< of switches; 0 = the fewest that reach */
    enum experiment_leaves leaves;
    uint32_t most_ports; /**< that a switch's capacity is split into */
    bool worked_out;     /**< the topology is no longer that of the file */
    uint32_t racks; /**< of the whole cluster, of which the topology may hold a part; 0 = the topology is all of it */
};

/** Section `decode`: a step of inference in which every sequence gets one token. */
struct experiment_decode {
    uint32_t context_tokens; /**< that a sequence has; 0 = no decoding is described */
    bool overlap;            /**< two micro-batches */
    double memory_efficiency, weight_bytes, cache_bytes;
};

/** Section `size`: what a cluster is to do, and what it may be; its space is read by sweep.h. */
struct experiment_size {
    uint64_t step_time_ps, time_to_train_ps, all_to_all_p99_ps, output_token_time_ps; /**< at most; 0 = not asked */
    double tokens_per_s, tokens_per_s_gpu;                                            /**< at least; 0 = not asked */
    uint64_t power_watts;                                                             /**< at most; 0 = no limit */
    uint32_t racks;                                                                   /**< at most; 0 = no limit */
    double budget;             /**< at most, in the currency of the prices; 0 = no limit */
    double memory_share;       /**< of a GPU's, that may be filled */
    uint64_t rack_power_watts; /**< of a rack with its GPUs; 0 = unknown: only the network counts */
    char prices[256];          /**< file, beside the configuration */
    double model_error;        /**< by which intervals are widened */
    double fluid_error;        /**< by which designs may be better than the fluid model says */
    uint32_t finalists;
    uint64_t seeds[EXPERIMENT_SEEDS];
    uint32_t n_seeds;  /**< 0: the configuration's own */
    uint64_t limit;    /**< points at most */
    uint64_t n_points; /**< 0: there is no section */
    struct experiment_place place, target_place;
    struct experiment_place power_place, racks_place, budget_place, memory_place, token_time_place;
};

/** A configuration file with its topology. */
struct experiment {
    char name[EXPERIMENT_NAME_SIZE];
    char matrix_path[512];    /**< of traffic.matrix: beside the configuration file */
    char workload_path[512];  /**< of traffic.workload: beside the configuration file */
    char topology_path[256];  /**< as resolved, relative to the configuration file */
    struct topology topology; /**< after the cluster section's overrides */
    struct experiment_model model;
    struct experiment_traffic traffic;
    struct experiment_placement placement;
    struct experiment_path path;
    struct experiment_transport transport;
    struct experiment_dcqcn dcqcn;
    struct experiment_spectrum_x spectrum_x;
    struct experiment_timely timely;
    struct experiment_swift swift;
    struct experiment_nscc nscc;
    struct experiment_hpcc hpcc;
    struct experiment_receiver_credit receiver_credit;
    struct experiment_policy policies[EXPERIMENT_COLUMNS];
    uint32_t n_policies;
    struct experiment_failure failures[EXPERIMENT_FAILURES];
    uint32_t n_failures;
    struct experiment_background backgrounds[EXPERIMENT_BACKGROUNDS];
    uint32_t n_backgrounds;
    struct experiment_record record;
    enum experiment_network_model network_model;
    struct experiment_sweep sweep;
    struct experiment_design design;
    struct experiment_decode decode;
    struct experiment_size size;
    struct experiment_training training;
    uint64_t seeds[EXPERIMENT_SEEDS];
    uint32_t n_seeds;
    uint64_t limit_ps;           /**< simulated time after which a run is given up */
    uint64_t stall_ps;           /**< simulated time without any delivery after which a run is given up; 0 = never */
    uint64_t wall_time_limit_ps; /**< wall time after which the program stops; 0 = never */
    uint64_t memory_limit_bytes; /**< resident memory at which the program stops; 0 = never */
};

#endif
