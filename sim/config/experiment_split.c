// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_split.h"

#include "base/number.h"
#include "base/quantity.h"
#include "config/gpu_groups.h"
#include "config/topology_check.h"

#include <inttypes.h>

/** Reports with the shared argument left out. */
#define CONFLICT(id, first, second, ...) contradiction_report(scope, id, first, second, __VA_ARGS__)

uint64_t experiment_split_counts_bytes(uint64_t experts_per_gpu) {
    return EXPERIMENT_SPLIT_COUNTS_HEADER_BYTES + 4 * experts_per_gpu;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

uint64_t experiment_split_slots(const struct experiment *experiment, uint64_t parallel) {
    const struct experiment_placement *placement = &experiment->placement;
    const uint64_t redundant = experiment_placement_learns(placement) ? placement->redundant_experts : 0;
    return (experiment->model.experts + redundant) / parallel;
}

/** Whole experts, replicas included, on each GPU of a group; a file may say anything. */
static void check_experts(const struct experiment *experiment, uint64_t parallel, const char *key, const char *hint,
                          const struct contradiction_scope *scope) {
    const struct experiment_placement *placement = &experiment->placement;
    const uint32_t experts = experiment->model.experts, redundant = placement->redundant_experts;
    const bool given = experiment->traffic.expert_parallelism != 0;
    if (placement->kind == EXPERIMENT_PLACEMENT_FILE) {
        return;
    }
    if (experiment_placement_learns(placement) && redundant > 0) {
        if (((uint64_t)experts + redundant) % parallel != 0) {
            CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "placement.redundant_experts", key,
                     "%" PRIu32 " experts and %" PRIu32 " redundant ones cannot be divided over %" PRIu64 " GPUs",
                     experts, redundant, parallel);
        }
    } else if (experts % parallel != 0) {
        contradiction_report_hint(scope, ERROR_ID_CONFLICT_EXPERTS, key, "model.experts", hint,
                                  "traffic.expert_parallelism is %" PRIu64 "%s: %" PRIu32
                                  " experts cannot be divided over so many GPUs",
                                  parallel, given ? "" : " (not given: all GPUs)", experts);
    }
}

/** Whole experts on each GPU of a group, and whole groups in the cluster. */
static void check_groups(const struct experiment *experiment, uint64_t gpus, const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const uint32_t experts = experiment->model.experts;
    const bool given = traffic->expert_parallelism != 0;
    const uint64_t parallel = given ? traffic->expert_parallelism : gpus;
    const char *key = given ? "traffic.expert_parallelism" : "traffic"; /* where it would stand */
    char hint[ERROR_MESSAGE_SIZE];
    snprintf(hint, sizeof hint,
             "%" PRIu64 " would do: it divides both the %" PRIu32 " experts and the %" PRIu64 " GPUs",
             greatest_common_divisor(gpus, experts), experts, gpus);
    if (gpus % parallel != 0) {
        const bool some = gpus < topology_check_gpus(&experiment->topology);
        contradiction_report_hint(scope, ERROR_ID_CONFLICT_EXPERTS, key, some ? "traffic.gpus" : "gpus_used", hint,
                                  "traffic.expert_parallelism is %" PRIu64 ": it does not divide the %" PRIu64
                                  " GPUs of the %s",
                                  parallel, gpus, some ? "job" : "cluster");
    }
    check_experts(experiment, parallel, key, hint, scope);
}

/** Node-limited gates: a group within one node is one node. */
static void check_nodes(const struct experiment *experiment, uint64_t parallel, const char *key,
                        const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const struct experiment_model *model = &experiment->model;
    const uint32_t node = traffic->node_gpus == 0 ? experiment->topology.gpus_used : traffic->node_gpus;
    if (traffic->gate != EXPERIMENT_GATE_NODE_LIMITED || parallel <= node) {
        return;
    }
    const uint64_t nodes = parallel / node, kept = traffic->nodes_kept < nodes ? traffic->nodes_kept : nodes;
    if (parallel % node != 0) {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.node_gpus", key,
                 "nodes of %" PRIu32 " GPUs do not divide the expert parallelism of %" PRIu64, node, parallel);
    } else if (nodes > EXPERIMENT_SPLIT_LARGEST_NODES) {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.node_gpus", key, "%" PRIu64 " nodes of a group are more than %d",
                 nodes, EXPERIMENT_SPLIT_LARGEST_NODES);
    } else if (model->experts % parallel == 0 && model->experts / nodes * kept < model->top_k) {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.nodes_kept", "model.top_k",
                 "%" PRIu64 " nodes of %" PRIu64 " experts hold fewer than the %" PRIu32 " experts that a token picks",
                 kept, model->experts / nodes, model->top_k);
    }
}

/** Groups by tables: as many GPUs of every group in each of its domains? Set for one seed; groups drawn at random never are, but for an accident. */
static void check_parts(const struct experiment *experiment, uint64_t parallel, const char *key,
                        const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const struct topology *topology = &experiment->topology;
    char problem[ERROR_MESSAGE_SIZE];
    const struct gpu_groups_wanted wanted = {.gpus = traffic->gpus,
                                             .n_gpus = (uint32_t)topology_check_gpus(topology),
                                             .domain_gpus = topology->nvlink.gpus > 1 ? topology->gpus_used : 1,
                                             .group_gpus = (uint32_t)parallel,
                                             .placement = traffic->group_placement};
    struct gpu_groups *groups = gpu_groups_create(&wanted, problem, sizeof problem);
    const bool random = traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_RANDOM;
    if (groups != NULL && (random || groups->domain_gpus == 0)) {
        contradiction_report_hint(
            scope, ERROR_ID_CONFLICT_EXPERTS, "traffic.algorithm", random ? "traffic.group_placement" : key,
            "direct, pxn, nccl_p2p and pairwise take any GPUs",
            "%s needs as many GPUs of every expert-parallel group in each of its NVLink domains%s",
            experiment_algorithm_names[traffic->algorithm], random ? ": groups drawn at random have not" : "");
    }
    gpu_groups_free(groups);
}

static void check_domains(const struct experiment *experiment, uint64_t parallel, const char *key,
                          const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const uint64_t domain = experiment->topology.gpus_used;
    const char *name = experiment_algorithm_names[traffic->algorithm];
    const struct experiment_algorithm_needs *needs = &experiment_algorithm_needs[traffic->algorithm];
    if (!needs->positions) {
        return;
    }
    if (!gpu_groups_plain(traffic)) {
        if (needs->by_domain) {
            check_parts(experiment, parallel, traffic->gpus[0] != '\0' ? "traffic.gpus" : key, scope);
        }
    } else if (parallel % domain != 0 && domain % parallel != 0) {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.algorithm", key,
                 "%s needs whole NVLink domains in an expert-parallel group or whole groups in a domain: %" PRIu64
                 " GPUs of a group, %" PRIu64 " used of a domain",
                 name, parallel, domain);
    } else if (parallel / domain > EXPERIMENT_SPLIT_LARGEST_DOMAINS) {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.algorithm", key,
                 "%" PRIu64 " NVLink domains of a group are more than the %d that %s knows", parallel / domain,
                 EXPERIMENT_SPLIT_LARGEST_DOMAINS, name);
    }
}

/** Chunks have numbers of few bits. A chunk of bytes holds a token copy or more, and all of a source's may have one destination. */
static void check_chunks(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    if (experiment_algorithm_by_domain(traffic->algorithm) && traffic->chunk_tokens > 0 &&
        traffic->tokens_per_gpu / traffic->chunk_tokens >= EXPERIMENT_SPLIT_LARGEST_CHUNKS) {
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.chunk_tokens", "traffic.tokens_per_gpu",
                 "%" PRIu32 " tokens in chunks of %" PRIu32 " are more than %d chunks", traffic->tokens_per_gpu,
                 traffic->chunk_tokens, EXPERIMENT_SPLIT_LARGEST_CHUNKS);
    }
    const bool by_bytes = experiment_algorithm_needs[traffic->algorithm].byte_chunks;
    const uint64_t largest_copy_bytes = 2 * (uint64_t)experiment->model.hidden; /* BF16 */
    const uint64_t copies = (uint64_t)traffic->tokens_per_gpu * experiment->model.top_k;
    if (by_bytes && largest_copy_bytes > 0 &&
        copies / number_larger(traffic->chunk_bytes / largest_copy_bytes, 1) >= EXPERIMENT_SPLIT_LARGEST_CHUNKS) {
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.chunk_bytes", "traffic.tokens_per_gpu",
                 "%" PRIu64 " token copies of a GPU may be more than %d chunks", copies,
                 EXPERIMENT_SPLIT_LARGEST_CHUNKS);
    }
}

/** Counts cross the fabric as one packet, which must fit. */
static void check_counts(const struct experiment *experiment, uint64_t gpus, uint64_t parallel,
                         const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const uint64_t payload = experiment->topology.nic.payload_bytes;
    const uint64_t bytes = experiment_split_counts_bytes(experiment_split_slots(experiment, parallel));
    const bool exchanged = traffic->exchange_counts && traffic->dispatch &&
                           !experiment_algorithm_needs[traffic->algorithm].gathers_map; /* no single packet */
    if (exchanged && experiment_split_peers(experiment, gpus) > 0 && bytes > payload) {
        char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.exchange_counts", "nic.payload",
                 "the counts of the %" PRIu64 " experts of a GPU take %s, more than one packet's payload of %s",
                 experiment_split_slots(experiment, parallel), quantity_print(first, QUANTITY_BYTES, bytes),
                 quantity_print(second, QUANTITY_BYTES, payload));
    }
}

static uint64_t parallelism(const struct experiment *experiment, uint64_t gpus) {
    const uint64_t given = experiment->traffic.expert_parallelism;
    return given == 0 ? gpu_groups_count(&experiment->traffic, gpus) : given;
}

void experiment_split_check(const struct experiment *experiment, uint64_t gpus,
                            const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    if (!gpu_groups_plain(traffic) && traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_STRIDED) {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.group_placement", "traffic.gpus",
                 "strided groups are made of whole NVLink domains: not among some of the GPUs");
        return;
    }
    const uint64_t job = gpu_groups_count(traffic, gpus);
    const uint64_t parallel = parallelism(experiment, gpus);
    const char *key = traffic->expert_parallelism == 0 ? "gpus_used" : "traffic.expert_parallelism";
    const uint32_t domain = experiment->topology.gpus_used;
    check_groups(experiment, job, scope);
    if (job % parallel != 0) {
        return; // the rest would follow from it
    }
    if (traffic->group_placement == EXPERIMENT_GROUP_PLACEMENT_STRIDED && parallel > domain && parallel % domain != 0) {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "traffic.group_placement", key,
                 "strided groups are made of whole NVLink domains: %" PRIu64 " GPUs of a group are not a multiple of "
                 "the %" PRIu32 " used of a domain",
                 parallel, domain);
    }
    check_nodes(experiment, parallel, key, scope);
    check_domains(experiment, parallel, key, scope);
    check_chunks(experiment, scope);
    check_counts(experiment, gpus, parallel, scope);
}

/** Members of a group beyond a rank's own domain. Where groups and domains do not divide each other, a rank may be the only one of its group in its domain. */
static uint64_t group_peers(const struct experiment *experiment, uint64_t parallel) {
    const uint64_t domain = experiment->topology.gpus_used;
    if (!gpu_groups_plain(&experiment->traffic)) {
        const uint64_t beyond = (uint64_t)experiment->topology.racks * domain - domain;
        return parallel - 1 < beyond ? parallel - 1 : beyond;
    }
    if (parallel % domain == 0) {
        return parallel - domain;
    }
    return domain % parallel == 0 ? 0 : parallel - 1;
}

uint64_t experiment_split_peers(const struct experiment *experiment, uint64_t gpus) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const uint64_t domain = experiment->topology.gpus_used, parallel = parallelism(experiment, gpus);
    switch (traffic->pattern) {
    case EXPERIMENT_PATTERN_ALL_TO_ALL:
    case EXPERIMENT_PATTERN_WORKLOAD_TEXT:
        return gpus - domain;
    case EXPERIMENT_PATTERN_CONNECTION_MATRIX:
        return gpus - 1; // its flows cross the fabric even within a domain
    case EXPERIMENT_PATTERN_MOE:
        /* who hands on: the one at the same position of each other domain */
        return experiment_algorithm_needs[traffic->algorithm].positions && gpu_groups_plain(traffic)
                   ? (parallel > domain ? parallel / domain - 1 : 0)
                   : group_peers(experiment, parallel);
    default:
        return 1;
    }
}
