// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key tables of configuration files. Sources are spelled out in `doc`: they are what `moefabric explain` prints.
 */
#include "config/background_keys.h"
#include "config/congestion_keys.h"
#include "config/decode_keys.h"
#include "config/design_keys.h"
#include "config/experiment.h"
#include "config/experiment_preset.h"
#include "config/failure_keys.h"
#include "config/gate_keys.h"
#include "config/key.h"
#include "config/placement_keys.h"
#include "config/record_keys.h"
#include "config/reliability_keys.h"
#include "config/size_keys.h"
#include "config/sweep_keys.h"
#include "config/training_keys.h"

#include <assert.h>

#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)
#define SECTION(table) .keys = table, .n_keys = sizeof table / sizeof table[0]
#define PART(member) .offset = offsetof(struct experiment, member)

static const char *const patterns[] = {
    "moe", "single", "permutation", "incast", "all_to_all", "connection_matrix", "workload_text", "ring", NULL};
static const char *const gates[] = {"uniform",  "zipf",      "hot_expert", "group_limited", "node_limited",
                                    "balanced", "dirichlet", "measured",   "trace",         NULL};
const char *const experiment_algorithm_names[EXPERIMENT_ALGORITHMS + 1] = {"direct",   "two_hop",   "pxn", "nccl_p2p",
                                                                           "pairwise", "hybrid_ep", NULL};
const struct experiment_algorithm_needs experiment_algorithm_needs[EXPERIMENT_ALGORITHMS] = {
    [EXPERIMENT_ALGORITHM_DIRECT] = {.grants = true},
    [EXPERIMENT_ALGORITHM_TWO_HOP] = {.by_domain = true, .positions = true, .grants = true},
    [EXPERIMENT_ALGORITHM_PXN] = {.positions = true, .byte_chunks = true},
    [EXPERIMENT_ALGORITHM_NCCL_P2P] = {.byte_chunks = true, .channels = true},
    [EXPERIMENT_ALGORITHM_HYBRID_EP] = {.by_domain = true, .positions = true, .gathers_map = true},
};
static const char *const group_placements[] = {"consecutive", "strided", "random", "packed", NULL};
static const char *const kernels[] = {"ideal", "platform", NULL};
static const char *const types[] = {"fp8", "bf16", "nvfp4", NULL};
static const char *const phases[] = {"dispatch", "combine", "combine_backward", "dispatch_backward", NULL};
static const char *const wirings[] = {"rack", "rail", NULL};
static const char *const paths[] = {"ecmp",  "adaptive", "spray_random", "spray_round_robin", "two_choices",
                                    "drill", "flowlet",  "host_reps",    "d_mod_k",           NULL};
static const char *const recoveries[] = {"go_back_n", "selective_repeat", NULL};
static const char *const hashes[] = {"mix", "crc16", NULL};
static const char *const network_models[] = {"packet", "fluid", "both", NULL};
static const char *const controllers[] = {"none", "dcqcn", "spectrum_x",      "timely", "swift",
                                          "nscc", "hpcc",  "receiver_credit", NULL};
static const char *const profiles[] = {"paper", "mellanox", "firmware", NULL};
static_assert(offsetof(struct experiment_traffic, dispatch_backward) ==
                  offsetof(struct experiment_traffic, dispatch) + 3 * sizeof(bool),
              "`phases` is stored as consecutive flags");

static const struct key file_keys[] = {
    {"name", KEY_TEXT, .required = true, .doc = "Name of the experiment, for reports.", FIELD(experiment, name)},
    {"topology", KEY_TOPOLOGY, .required = true,
     .doc = "The topology file, looked up beside the configuration, then in ../topologies; or a topology written out "
            "in its place.",
     FIELD(experiment, topology)},
    {"policies", KEY_POLICIES, .required = true,
     .doc = "The path policies and congestion controllers to compare, one column each: ecmp+dcqcn, ecmp(4)+dcqcn (4 "
            "queue pairs a peer), "
            "adaptive+spectrum_x+early_pacing, or mappings with the keys of section `policies`.",
     FIELD(experiment, policies)},
    {"failures", KEY_FAILURES,
     .doc = "What fails when: links, switches and NICs that are down, slow or lossy for a time; mappings with the keys "
            "of section `failures`. Every policy and seed is shown the same.",
     FIELD(experiment, failures)},
    {"background", KEY_BACKGROUNDS,
     .doc =
         "Traffic beside what is measured, in rows of its own: a second tenant, data-parallel rings, pipeline sends, "
         "checkpoint writes; mappings with the keys of section `background`. Every policy and seed is shown the same.",
     FIELD(experiment, backgrounds)},
    {"network_model", KEY_CHOICE, .fallback = "packet", .names = network_models,
     .doc = "packet: every packet, queue and acknowledgement is simulated; fluid: messages are flows at max-min fair "
            "rates, in seconds instead of minutes, without queues, marks, drops and congestion control (its README.md "
            "tells how far off it is, and where); both (compare): every policy under both, side by side. "
            "The option --model sets it, too.",
     FIELD(experiment, network_model)},
    {"seeds", KEY_NUMBERS, .fallback = "[1]",
     .doc = "Every policy is run with each of these seeds; n stands for 1 to n.", FIELD(experiment, seeds),
     .count_offset = offsetof(struct experiment, n_seeds)},
};

/* The same fields as in a topology file; what is given here wins. */
static const struct key cluster_keys[] = {
    {"racks", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "NVLink domains: racks or nodes.",
     FIELD(topology, racks)},
    {"gpus_used", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", .doc = "GPUs used of each domain.",
     FIELD(topology, gpus_used)},
    {"wiring", KEY_CHOICE, .names = wirings,
     .doc =
         "rack: consecutive GPUs share a leaf; rail: GPUs with one index (modulo rails) of all domains share leaves.",
     FIELD(topology, fabric.wiring)},
    {"rails", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", .doc = "Rail wiring: number of rails; divides gpus_used.",
     FIELD(topology, fabric.rails)},
    {"crossed_gpus", KEY_TEXT,
     .doc =
         "GPUs that use each other's NIC, in pairs of one NVLink domain: \"1, 2\" gives GPU 1 the NIC of GPU 2 and the "
         "other way round.",
     FIELD(topology, fabric.crossed_gpus)},
    {"leaf_downlinks", KEY_QUANTITY, QUANTITY_COUNT, "1", "4096", .doc = "GPUs of a leaf.",
     FIELD(topology, fabric.leaf_downlinks)},
    {"leaf_uplinks", KEY_QUANTITY, QUANTITY_COUNT, "0", "4096",
     .doc = "Links of a leaf to all spines together; a multiple of spines.", FIELD(topology, fabric.leaf_uplinks)},
    {"spines", KEY_QUANTITY, QUANTITY_COUNT, "0", "4096",
     .doc = "Spine switches, with super-spines those of one pod; 0 = a single leaf.", FIELD(topology, fabric.spines)},
    {"super_spines", KEY_QUANTITY, QUANTITY_COUNT, "0", "16384",
     .doc = "Switches that join the spines of all pods; 0 = two tiers.", FIELD(topology, fabric.super_spines)},
    {"spine_uplinks", KEY_QUANTITY, QUANTITY_COUNT, "0", "4096",
     .doc = "Three tiers: links of a spine to all its super-spines together.", FIELD(topology, fabric.spine_uplinks)},
    {"pod_racks", KEY_QUANTITY, QUANTITY_COUNT, "0", "65536", .doc = "Three tiers: racks of a pod.",
     FIELD(topology, fabric.pod_racks)},
    {"super_spine_groups", KEY_QUANTITY, QUANTITY_COUNT, "1", "4096",
     .doc = "Three tiers: groups of super-spines, each linked to its share of every pod's spines.",
     FIELD(topology, fabric.super_spine_groups)},
    {"host_cable", KEY_QUANTITY, QUANTITY_LENGTH, NULL, "10 km", .doc = "NIC to leaf.",
     FIELD(topology, fabric.host_cable_m)},
    {"spine_cable", KEY_QUANTITY, QUANTITY_LENGTH, NULL, "10 km", .doc = "Leaf to spine.",
     FIELD(topology, fabric.spine_cable_m)},
    {"super_spine_cable", KEY_QUANTITY, QUANTITY_LENGTH, NULL, "10 km", .doc = "Spine to super-spine.",
     FIELD(topology, fabric.super_spine_cable_m)},
};

static const struct key model_keys[] = {
    {"preset", KEY_TEXT, .names = experiment_preset_names,
     .doc = "A published model; `moefabric explain NAME` tells its figures and their source. Every value below may be "
            "overridden. Dense models have no experts: they are for traffic other than moe.",
     FIELD(experiment_model, preset)},
    {"hidden", KEY_QUANTITY, QUANTITY_COUNT, "1", "1048576", .doc = "Elements of a token; default: the preset's.",
     FIELD(experiment_model, hidden)},
    {"experts", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "Routed experts of a layer; default: the preset's.",
     FIELD(experiment_model, experts)},
    {"top_k", KEY_QUANTITY, QUANTITY_COUNT, "1", "64", .doc = "Experts that a token picks; default: the preset's.",
     FIELD(experiment_model, top_k)},
    {"groups", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024",
     .doc = "Groups of experts of group-limited gates; default: the preset's, else 1.",
     FIELD(experiment_model, groups)},
    {"groups_kept", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536",
     .doc = "Groups that a token may use; default: the preset's, else 1.", FIELD(experiment_model, groups_kept)},
    {"intermediate", KEY_QUANTITY, QUANTITY_COUNT, "0", "1048576",
     .doc = "Intermediate elements of an expert (moe_ffn_hidden_size), which with hidden make the size of its weights; "
            "for `moefabric place`; 0 = not known; default: the preset's.",
     FIELD(experiment_model, intermediate)},
};

static const struct key traffic_keys[] = {
    {"pattern", KEY_CHOICE, .fallback = "moe", .names = patterns,
     .doc = "moe: dispatch and combine of one MoE layer; single: one flow; permutation: every GPU to one other; "
            "incast: `senders` GPUs to one; "
            "all_to_all: every GPU the same to every other; connection_matrix: the flows of the file `matrix`; "
            "workload_text: "
            "one pass of training or inference, of the file `workload`; ring: every GPU to the next one.",
     FIELD(experiment_traffic, pattern)},
    {"bytes", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "1 TB", "1 MiB",
     .doc = "Patterns other than moe: size of a message (all_to_all: to each peer).", FIELD(experiment_traffic, bytes)},
    {"source", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777215", "0", .doc = "single: the rank that sends.",
     FIELD(experiment_traffic, source)},
    {"destination", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777215", "1",
     .doc = "single, incast: the rank that receives.", FIELD(experiment_traffic, destination)},
    {"senders", KEY_QUANTITY, QUANTITY_COUNT, "1", "16777215", "8",
     .doc = "incast: ranks that send, without the one that receives.", FIELD(experiment_traffic, senders)},
    {"gpus", KEY_TEXT, .fallback = "all",
     .doc = "moe, permutation, ring, all_to_all: who takes part: all, or numbers and ranges such as \"0-7, 16, "
            "64-127/8\". Under moe these are the GPUs that a job was given, of racks that it may share with others: as "
            "many "
            "or few of each as there are. The rest of the cluster is there and idle, or has traffic of section "
            "background.",
     FIELD(experiment_traffic, gpus)},
    {"matrix", KEY_TEXT,
     .doc = "connection_matrix: a connection matrix of htsim (.cm) or a flow file of HPCC's ns-3 (.txt), looked up "
            "beside the configuration; node n is rank n, and all flows cross the fabric.",
     FIELD(experiment_traffic, matrix)},
    {"workload", KEY_TEXT,
     .doc =
         "workload_text: a workload text of SimAI or ASTRA-sim (.txt), looked up beside the configuration: the compute "
         "times and collectives of each layer. Rings of collectives are built as NCCL builds them.",
     FIELD(experiment_traffic, workload)},
    {"tokens_per_gpu", KEY_QUANTITY, QUANTITY_COUNT, "1", "1048576", "1024",
     .doc = "moe: tokens of a rank's micro-batch.", FIELD(experiment_traffic, tokens_per_gpu)},
    {"expert_parallelism", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777215", "0",
     .doc = "moe: ranks over which the experts of a layer are spread (an expert-parallel group); 0 = all ranks.",
     FIELD(experiment_traffic, expert_parallelism)},
    {"group_placement", KEY_CHOICE, .fallback = "consecutive", .names = group_placements,
     .doc =
         "moe: which ranks form an expert-parallel group. consecutive ranks; or strided: NVLink domains (hosts, "
         "without NVLink) as many apart as there are groups, so that each group is spread over the whole cluster. "
         "Groups within one domain are strided no further. random: drawn for each seed, as a scheduler that knows no "
         "topology gives GPUs to jobs. packed: each group in as few domains as have room, as one does that knows racks "
         "(best fit). two_hop and hybrid_ep need as many GPUs of every group in each of its domains.",
     FIELD(experiment_traffic, group_placement)},
    {"gate", KEY_CHOICE, .fallback = "uniform", .names = gates,
     .doc = "moe: how tokens pick experts. uniform; zipf (zipf_exponent); hot_expert (one expert at hot_expert_factor "
            "× the mean); group_limited (DeepSeek-V3: groups "
            "scored by the sum of their top 2, groups_kept kept); node_limited (DeepEP's benchmark: groups are nodes, "
            "scored by their best, nodes_kept kept); balanced (forced balance: a rank's tokens are dealt so that every "
            "expert gets as many as any other); "
            "dirichlet (popularities drawn with gate.alpha); measured (frequencies or counts of gate.file); trace "
            "(each token's experts from "
            "gate.file).",
     FIELD(experiment_traffic, gate)},
    {"zipf_exponent", KEY_REAL, QUANTITY_REAL, "0", "8", "1.0",
     .doc = "zipf: popularity of the expert of rank r is r^-exponent.", FIELD(experiment_traffic, zipf_exponent)},
    {"hot_expert_factor", KEY_REAL, QUANTITY_REAL, "1", "65536", "5",
     .doc = "hot_expert: its load ÷ the mean load of an expert (measured models: 2.6 to 5.1, DeepSpeed pull request "
            "8213).",
     FIELD(experiment_traffic, hot_expert_factor)},
    {"hot_expert", KEY_QUANTITY, QUANTITY_COUNT, "0", "65535", "0", .doc = "hot_expert: its number.",
     FIELD(experiment_traffic, hot_expert)},
    {"nodes_kept", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", "4",
     .doc = "node_limited: nodes that a token may use (DeepEP's benchmark: 4).", FIELD(experiment_traffic, nodes_kept)},
    {"node_gpus", KEY_QUANTITY, QUANTITY_COUNT, "0", "65536", "0",
     .doc = "node_limited: GPUs of a node; 0 = the NVLink domain.", FIELD(experiment_traffic, node_gpus)},
    {"algorithm", KEY_CHOICE, .fallback = "two_hop", .names = experiment_algorithm_names,
     .doc =
         "moe: two_hop sends a token once to each domain, where the GPU with the sender's index forwards it over "
         "NVLink (DeepEP normal kernels); "
         "direct sends every copy to its expert's GPU; pxn does so over the GPU of its own domain whose NIC is on the "
         "destination's rail (NCCL 2.12); nccl_p2p as NCCL's grouped sends and receives, some peers at a time, in "
         "chunks that are acknowledged; pairwise in the exchange steps of MPI libraries; hybrid_ep as two_hop, but in "
         "chunks within the domain too, and with the routing map of every rank in place of counts (DeepEP hybrid-ep).",
     FIELD(experiment_traffic, algorithm)},
    {"phases", KEY_SET, .fallback = "[dispatch, combine]", .names = phases,
     .doc =
         "moe: which phases are simulated, one after the other. combine_backward dispatches the gradients of what was "
         "combined to the experts, dispatch_backward combines those of what was dispatched; both use the layout of the "
         "forward pass, so no counts are exchanged (DeepEP: cached handles).",
     FIELD(experiment_traffic, dispatch)},
    {"dispatch_type", KEY_CHOICE, .fallback = "fp8", .names = types,
     .doc = "moe: number format of dispatched tokens (DeepSeek-V3: FP8 with a 4-byte scale for 128 elements).",
     FIELD(experiment_traffic, dispatch_type)},
    {"combine_type", KEY_CHOICE, .fallback = "bf16", .names = types,
     .doc = "moe: number format of combined tokens (DeepSeek-V3: BF16).", FIELD(experiment_traffic, combine_type)},
    {"combine_backward_type", KEY_CHOICE, .fallback = "fp8", .names = types,
     .doc = "moe: number format of gradients on their way to experts (DeepSeek-V3 technical report, 3.3.3: FP8, as "
            "dispatched tokens).",
     FIELD(experiment_traffic, combine_backward_type)},
    {"dispatch_backward_type", KEY_CHOICE, .fallback = "bf16", .names = types,
     .doc = "moe: number format of gradients on their way back (DeepSeek-V3 technical report, 3.3.3: BF16).",
     FIELD(experiment_traffic, dispatch_backward_type)},
    {"exchange_counts", KEY_FLAG, .fallback = "true",
     .doc =
         "moe: receive counts are exchanged before dispatch, as DeepEP's layout exchange does; under hybrid_ep routing "
         "maps.",
     FIELD(experiment_traffic, exchange_counts)},
    {"chunk_tokens", KEY_QUANTITY, QUANTITY_COUNT, "1", "65535", "32",
     .doc = "two_hop, hybrid_ep: tokens that are forwarded together (estimate; DeepEP tunes its chunks by platform, "
            "hybrid-ep is often run with 64).",
     FIELD(experiment_traffic, chunk_tokens)},
    {"channels", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "16",
     .doc =
         "nccl_p2p: peers that a GPU sends to at a time (estimate: NCCL's peer-to-peer channels, 16 to 32 on eight-GPU "
         "nodes, each with several peers in one batch).",
     FIELD(experiment_traffic, channels)},
    {"chunk_bytes", KEY_QUANTITY, QUANTITY_BYTES, "1 KiB", "1 GiB", "128 KiB",
     .doc = "pxn, nccl_p2p: size of a chunk that is handed on, or whose buffer is given back; whole token copies, at "
            "least "
            "one (NVIDIA nccl NCCL_P2P_NET_CHUNKSIZE: 128 KiB).",
     FIELD(experiment_traffic, chunk_bytes)},
    {"jitter", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0", .doc = "Ranks start uniformly within this time.",
     FIELD(experiment_traffic, jitter_ps)},
    {"expert_time", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc = "moe: between the last token that a rank receives and its first combine message.",
     FIELD(experiment_traffic, expert_time_ps)},
    {"turn_time", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc =
         "moe: between the last combined token that a rank receives and the first gradient that it sends to experts: "
         "the rest of the forward pass, and of the backward pass down to this layer.",
     FIELD(experiment_traffic, turn_time_ps)},
    {"expert_backward_time", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc = "moe: between the last gradient that a rank receives and the first that it sends back (twice the "
            "operations of "
            "expert_time: for inputs and for weights).",
     FIELD(experiment_traffic, expert_backward_time_ps)},
    {"kernel", KEY_CHOICE, .fallback = "ideal", .names = kernels,
     .doc = "Software of the communication kernels. ideal: it takes no time; platform: it takes what section `gpu` of "
            "the topology says (launch, messages handed to the NIC, scans of the routing map, copies and sums by "
            "streaming multiprocessors).",
     FIELD(experiment_traffic, kernel)},
    {"sms", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "24",
     .doc = "kernel platform: streaming multiprocessors (SMs) that a communication kernel runs on (DeepEP "
            "tests/test_internode.py: 24).",
     FIELD(experiment_traffic, sms)},
    {"seed", KEY_QUANTITY, QUANTITY_COUNT, NULL, NULL, "0",
     .doc = "Added to each of `seeds` for what the traffic draws.", FIELD(experiment_traffic, seed)},
    {"popularity_seed", KEY_QUANTITY, QUANTITY_COUNT, NULL, NULL, "0",
     .doc =
         "moe: seed of which experts are popular, where a gate draws that: seeds then differ in their tokens only. 0 "
         "= each of `seeds` has popular experts of its own.",
     FIELD(experiment_traffic, popularity_seed)},
};

static const struct key policy_keys[] = {
    {"name", KEY_TEXT, .doc = "Heading of its column; default: its short form.", FIELD(experiment_policy, name)},
    {"path", KEY_TEXT, .required = true, .names = paths,
     .doc = "ecmp: a hash of the queue pair picks the path; adaptive: every packet takes a least loaded port "
            "(Spectrum-X); spray_random: every packet a random one; spray_round_robin: a switch's packets take turns; "
            "two_choices: every packet the shallower of two random queues; drill: the same with the last choice as a "
            "third (DRILL(2,1)); flowlet: after a pause a queue pair draws another path (LetFlow); host_reps: the "
            "sender gives every packet a path, one that "
            "came back unmarked before a random one (REPS); d_mod_k: the destination alone picks the port, as in the "
            "forwarding tables of InfiniBand fat trees (D-Mod-K).",
     FIELD(experiment_policy, path)},
    {"queue_pairs", KEY_QUANTITY, QUANTITY_COUNT, "1", "256", "1",
     .doc = "Queue pairs to a peer, used in turn: each is a path of its own under ecmp (NVIDIA nccl "
            "NCCL_IB_QPS_PER_CONNECTION: 1).",
     FIELD(experiment_policy, queue_pairs)},
    {"split_messages", KEY_FLAG, .fallback = "false",
     .doc = "Each message is split over all queue pairs to its peer, in equal parts of a multiple of 128 bytes or of "
            "whole tokens, and is there when all parts are (NVIDIA nccl NCCL_IB_SPLIT_DATA_ON_QPS: 0). Needs "
            "queue_pairs > 1.",
     FIELD(experiment_policy, split_messages)},
    {"congestion", KEY_TEXT, .required = true, .names = controllers,
     .doc = "none: line rate, with PFC alone; dcqcn; spectrum_x: round-trip probes in the style of Spectrum-X; "
            "timely: gradients of the round trip; swift: a window by a target for the delay; nscc: Ultra Ethernet's "
            "window by delay and marks; hpcc: a window by the utilisation that switches tell; "
            "receiver_credit: the receiver pulls packets at its pace.",
     FIELD(experiment_policy, congestion)},
    {"early_pacing", KEY_FLAG, .fallback = "false",
     .doc = "spectrum_x: senders start at their share of what the receiver was announced (ours, not NVIDIA's; needs "
            "traffic.exchange_counts).",
     FIELD(experiment_policy, early_pacing)},
    {"polarised", KEY_FLAG, .fallback = "false", .doc = "ecmp: every switch hashes with the same seed.",
     FIELD(experiment_policy, polarised)},
    {"global_context", KEY_FLAG, .fallback = "false",
     .doc =
         "NICs of several planes: one congestion context a queue pair for all planes, in place of one a plane "
         "(arXiv:2605.21187 compares the two; nic-configuration-operator enables cc-per-plane). receiver_credit, and "
         "controllers with windows under transport.recovery selective_repeat, always have one.",
     FIELD(experiment_policy, global_context)},
};

static const struct key limits_keys[] = {
    {"simulated_time", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "281 s", "1 s",
     .doc = "A run that is not done by then ends as unfinished.", FIELD(experiment, limit_ps)},
    {"stall_time", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "A run in which nothing arrives for so long, although messages are on their way, ends as stalled (looked "
            "at every so "
            "often: one to two such times after the last arrival). 0 = the longest wait of a retransmission timer, "
            "transport.retransmit_timeout × 2^7, at least 500 ms.",
     FIELD(experiment, stall_ps)},
    {"wall_time", KEY_QUANTITY, QUANTITY_TIME, "0 s", "10000000 s", "0 s",
     .doc = "The program stops after so long on the clock on the wall and saves what is finished; 0 = never.",
     FIELD(experiment, wall_time_limit_ps)},
    {"memory", KEY_QUANTITY, QUANTITY_BYTES, "0 B", "1000 TB", "0 B",
     .doc = "The program stops when it holds so much memory and saves what is finished; 0 = never. Over several ranks: "
            "each.",
     FIELD(experiment, memory_limit_bytes)},
};

static const struct key path_keys[] = {
    {"refresh_period", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "1 us",
     .doc = "adaptive, two_choices, drill: how often a switch looks at its ports (fixed at 1 us: Cumulus Linux 5.15, "
            "Equal Cost Multipath). two_choices and drill are published for queues as they are: about a packet's time "
            "comes close (80 ns for 4 KiB at 400 Gb/s).",
     FIELD(experiment_path, refresh_period_ps)},
    {"grade_scale", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "1 GiB", "1 MB",
     .doc = "adaptive: queue depth that counts as 100 % for the grades below 5, 10 and 20 % (grades: htsim "
            "fat_tree_switch.cpp; scale: estimate, no "
            "figure for Spectrum).",
     FIELD(experiment_path, grade_scale_bytes)},
    {"hash", KEY_CHOICE, .fallback = "mix", .names = hashes,
     .doc = "How switches hash queue pairs, and packets that must stay in order. mix: as evenly as chance; crc16: "
            "CRC-16-CCITT over addresses, protocol and ports (Cumulus Linux, cl-ecmpcalc), which is linear: flows that "
            "meet at one switch meet again at the next with as many ports (a power of two), whatever the seeds.",
     FIELD(experiment_path, hash)},
    {"round_robin_rounds", KEY_QUANTITY, QUANTITY_COUNT, "0", "1000000", "5",
     .doc = "spray_round_robin: after so many rounds a switch draws another order of its ports (htsim "
            "fat_tree_switch.cpp: 5); 0 = one order for good, with which switches that send alike stay in step.",
     FIELD(experiment_path, round_robin_rounds)},
    {"flowlet_gap", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "100 us",
     .doc = "flowlet: a queue pair that was silent for longer may move (LetFlow and CONGA as simulated by ConWeave's "
            "authors: 100 us).",
     FIELD(experiment_path, flowlet_gap_ps)},
    {"flowlet_entries", KEY_QUANTITY, QUANTITY_COUNT, "1", "1048576", "65536",
     .doc = "flowlet: places of a switch's table, which queue pairs share by their hash (estimate).",
     FIELD(experiment_path, flowlet_entries)},
    {"exclusion", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "100 ns",
     .doc =
         "Policies that decide packet by packet (all but ecmp and flowlet): so long after the link of a port died, or "
         "came back, the switch leaves the port out, or uses it again (Spectrum-X: about 100 ns, arXiv:2605.21187).",
     FIELD(experiment_path, exclusion_ps)},
    {"convergence", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "1 ms",
     .doc =
         "So long after a cable died, or came back, the routing tables of all switches leave out, or use again, every "
         "port that it concerns; until then packets go into the dead link and are lost (our choice: a fabric whose "
         "routing reacts to the loss of light; BGP by its timers takes seconds).",
     FIELD(experiment_path, convergence_ps)},
    {"remote_weights", KEY_FLAG, .fallback = "true",
     .doc = "adaptive, with failures: once routing has converged, each port is used in proportion to the capacity that "
            "is left behind it towards the destination's leaf (Spectrum-X: weights from BGP for remote asymmetry, "
            "arXiv:2605.21187; Cumulus Linux 5.14, BGP Weighted ECMP). false = all ports that lead there alike.",
     FIELD(experiment_path, remote_weights)},
};

#define IRN "IRN, Mittal and others, SIGCOMM 2018"

static const struct key transport_keys[] = {
    {"acknowledge", KEY_QUANTITY, QUANTITY_BYTES, NULL, "1 GiB", "0",
     .doc = "Payload that one ACK covers; 0 = an ACK a packet.", FIELD(experiment_transport, acknowledge_bytes)},
    {"window", KEY_QUANTITY, QUANTITY_BYTES, NULL, "1 GiB", "0",
     .doc = "Unacknowledged payload of a queue pair; 0 = unlimited.", FIELD(experiment_transport, window_bytes)},
    {"retransmit_timeout", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc =
         "Without progress for so long a queue pair sends again what is not acknowledged; doubled up to 2^7 times; 0 "
         "= as nic.retransmit_timeout of the topology.",
     FIELD(experiment_transport, retransmit_timeout_ps)},
    {"short_timeout", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "In place of the retransmission time-out while at most short_timeout_packets are unacknowledged, so that "
            "the loss of a message's last packets costs little; 0 = no other one (" IRN ": RTO_low 100 us, beside an "
            "RTO_high of 320 us).",
     FIELD(experiment_transport, short_timeout_ps)},
    {"short_timeout_packets", KEY_QUANTITY, QUANTITY_COUNT, "1", "1000000", "3",
     .doc = "Packets of a queue pair up to which short_timeout counts (" IRN ": N = 3).",
     FIELD(experiment_transport, short_timeout_packets)},
    {"recovery", KEY_CHOICE, .fallback = "go_back_n", .names = recoveries,
     .doc = "What is sent again after a loss. go_back_n: everything from the first packet that is missing on; "
            "selective_repeat: only packets that are missing (" IRN "; ROCE_ACCL selective repeat of NVIDIA NICs), "
            "which needs NICs that place packets in any order.",
     FIELD(experiment_transport, recovery)},
    {"loss_distance", KEY_QUANTITY, QUANTITY_COUNT, "0", "4294967295", "0",
     .doc = "selective_repeat: a packet is taken as lost once one so many numbers above it has arrived (" IRN ": 1). "
            "0 = 1 where packets of a queue pair keep their order (ecmp, flowlet); where they do not, only its NACK or "
            "the time-out tells that a packet is lost.",
     FIELD(experiment_transport, loss_distance)},
    {"bandwidth_delay_window", KEY_REAL, QUANTITY_REAL, "0", "1000", "0",
     .doc = "selective_repeat: packets of a queue pair in flight at most, in bandwidth-delay products of the idle path "
            "(" IRN ", BDP-FC: 1); 0 = no limit.",
     FIELD(experiment_transport, window_products)},
};

static const struct key dcqcn_keys[] = {
    {"profile", KEY_TEXT, .fallback = "mellanox", .names = profiles,
     .doc = "Set of constants: paper (SIGCOMM 2015 as in htsim), mellanox (HPCC ns-3), firmware (mlxconfig defaults).",
     FIELD(experiment_dcqcn, profile)},
    {"scale_steps", KEY_FLAG, .fallback = "true",
     .doc = "Additive steps grow with the NIC's rate from 25 Gb/s on (the firmware's absolute 50 Mb/s takes 1.2 s to "
            "regain 200 Gb/s).",
     FIELD(experiment_dcqcn, scale_steps)},
    {"notification_interval", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc = "At most one congestion notification of a queue pair in this time; 0 = the profile's.",
     FIELD(experiment_dcqcn, notification_interval_ps)},
};

#define RA21 "Spectrum-X RA2.1 profile, Mellanox nic-configuration-operator 7697793"

static const struct key spectrum_x_keys[] = {
    {"responsiveness", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.09999",
     .doc = "alpha: how strongly delay changes the rate (" RA21 ": 6553/65536, which 0.1 does not round to).",
     FIELD(experiment_spectrum_x, responsiveness)},
    {"largest_decrease", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.970",
     .doc = "Smallest factor on the rate in a round trip (" RA21 ": 63570/65536).",
     FIELD(experiment_spectrum_x, largest_decrease)},
    {"largest_increase", KEY_REAL, QUANTITY_REAL, "1", "16", "1.060",
     .doc = "Largest factor on the rate in a round trip (" RA21 ": 69468/65536).",
     FIELD(experiment_spectrum_x, largest_increase)},
    {"first_congestion_rate", KEY_REAL, QUANTITY_SHARE, "0.0001", "1", "0.5",
     .doc = "Share of line rate after the first congestion (" RA21 ").",
     FIELD(experiment_spectrum_x, first_congestion_rate)},
    {"additive_step", KEY_QUANTITY, QUANTITY_COUNT, "0", "1048576", "96",
     .doc = "Added a round trip, in 2^-20 of line rate (" RA21 "; its unit is not documented).",
     FIELD(experiment_spectrum_x, additive_step)},
    {"hyper_additive_step", KEY_QUANTITY, QUANTITY_COUNT, "0", "1048576", "1700",
     .doc = "Added a round trip after hyper_period without congestion, in 2^-20 of line rate (" RA21
            "; its unit is not documented).",
     FIELD(experiment_spectrum_x, hyper_additive_step)},
    {"hyper_period", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "2 ms",
     .doc = "Without congestion for so long: the hyper step (" RA21 ").",
     FIELD(experiment_spectrum_x, hyper_period_ps)},
    {"delay_threshold", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "13 us",
     .doc = "Queueing delay that is tolerated (" RA21 ").", FIELD(experiment_spectrum_x, delay_threshold_ps)},
    {"largest_delay", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "250 us",
     .doc = "Queueing delay from which the strong cut applies (" RA21 ").",
     FIELD(experiment_spectrum_x, largest_delay_ps)},
    {"base_round_trip", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "200 us",
     .doc = "Start value of the smallest round trip seen (NVIDIA doca-samples rtt_template: 200 us).",
     FIELD(experiment_spectrum_x, base_round_trip_ps)},
    {"probe_abort", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "4.8 ms",
     .doc = "A probe without reply for so long is given up (NVIDIA doca-samples rtt_template: 300 us, doubled at each "
            "of up to "
            "four in a row; here that end at once, since a full pool delays probes by more than a millisecond).",
     FIELD(experiment_spectrum_x, probe_abort_ps)},
    {"probe_bytes", KEY_QUANTITY, QUANTITY_BYTES, "0 B", "1 GB", "0 B",
     .doc =
         "A queue pair's next probe waits until it has put so many bytes of data on the wire since the last one. 0 = "
         "it follows each reply at once (NVIDIA doca-samples rtt_template asks for it then); 1 = it goes with the "
         "next data packet. Ours: how NICs limit probes is not published. With a hundred destinations 0 "
         "costs 6 % of the port.",
     FIELD(experiment_spectrum_x, probe_bytes)},
    {"minimum_rate", KEY_QUANTITY, QUANTITY_COUNT, "1", "1048576", "64",
     .doc = "Smallest rate, in 2^-20 of line rate (NVIDIA doca-samples rtt_template: 1/16384).",
     FIELD(experiment_spectrum_x, minimum_rate)},
    {"notification_interval", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "4 us",
     .doc = "At most one congestion notification of a queue pair in this time (default of NVIDIA NICs according to the "
            "Barre paper).",
     FIELD(experiment_spectrum_x, notification_interval_ps)},
};

static const struct section sections[] = {
    {"", "A configuration: topology, traffic, and the policies to compare.", SECTION(file_keys)},
    {"cluster", "Scale and wiring of this experiment; what is not given here is as in the topology.",
     SECTION(cluster_keys), PART(topology), .amends = true},
    {"model", "The MoE model whose router makes the traffic.", SECTION(model_keys), PART(model)},
    {"traffic", "Who sends what to whom.", SECTION(traffic_keys), PART(traffic)},
    {"placement", "Which GPUs hold which experts, and how often.", .keys = placement_keys, .n_keys = PLACEMENT_KEYS,
     PART(placement)},
    {"gate", "How popularities of experts come about and vary, and what an expert can take.", SECTION(gate_keys),
     PART(traffic.routing)},
    {"training", "The training step around the layer (`moefabric train`).", .keys = training_keys,
     .n_keys = TRAINING_KEYS, PART(training)},
    {"training.stragglers", "GPUs that compute slower than others.", .keys = reliability_keys_stragglers,
     .n_keys = RELIABILITY_KEYS_STRAGGLERS, PART(training.stragglers)},
    {"training.failures", "What interrupts training how often, and what follows.", .keys = reliability_keys_failures,
     .n_keys = RELIABILITY_KEYS_FAILURES, PART(training.failures)},
    {"training.checkpoint", "Checkpoints, from which training goes on.", .keys = reliability_keys_checkpoint,
     .n_keys = RELIABILITY_KEYS_CHECKPOINT, PART(training.checkpoint)},
    {"policies", "One column of a comparison.", SECTION(policy_keys), .listed = true},
    {"background", "Traffic beside what is measured.", SECTION(background_keys), .listed = true},
    {"failures", "Something that fails, once or again and again.", SECTION(failure_keys), .listed = true},
    {"sweep", "Points that `moefabric sweep` runs: which keys take which values.", .keys = sweep_keys,
     .n_keys = SWEEP_KEYS, PART(sweep), .plans = true},
    {"decode", "A step of inference around the layer, in which every sequence gets one token (`moefabric size`).",
     .keys = decode_keys, .n_keys = DECODE_KEYS, PART(decode)},
    {"design", "A fabric worked out from the topology's switches, in place of `cluster`'s and the topology's own.",
     .keys = design_keys, .n_keys = DESIGN_KEYS, PART(design), .derives = true},
    {"size", "What a cluster is to do and may draw and cost, and the designs that `moefabric size` chooses from.",
     .keys = size_keys, .n_keys = SIZE_KEYS, PART(size), .plans = true},
    {"record", "Series over time of links and queue pairs, for the result file.", .keys = record_keys,
     .n_keys = RECORD_KEYS, PART(record)},
    {"limits", "When a run is given up.", SECTION(limits_keys)},
    {"path", "Parameters of path policies.", SECTION(path_keys), PART(path)},
    {"transport", "Parameters of the transport.", SECTION(transport_keys), PART(transport)},
    {"congestion.dcqcn", "Parameters of the controller dcqcn.", SECTION(dcqcn_keys), PART(dcqcn)},
    {"congestion.spectrum_x", "Parameters of the controller spectrum_x.", SECTION(spectrum_x_keys), PART(spectrum_x)},
    {"congestion.timely", "Parameters of the controller timely.", SECTION(congestion_keys_timely), PART(timely)},
    {"congestion.swift", "Parameters of the controller swift.", SECTION(congestion_keys_swift), PART(swift)},
    {"congestion.nscc", "Parameters of the controller nscc.", SECTION(congestion_keys_nscc), PART(nscc)},
    {"congestion.hpcc", "Parameters of the controller hpcc.", SECTION(congestion_keys_hpcc), PART(hpcc)},
    {"congestion.receiver_credit", "Parameters of the controller receiver_credit.",
     SECTION(congestion_keys_receiver_credit), PART(receiver_credit)},
};

const struct schema *experiment_keys(void) {
    static const struct schema schema = {"configuration", sections, sizeof sections / sizeof sections[0]};
    return &schema;
}
