// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_unused.h"

#include "config/experiment_preset.h"
#include "config/key.h"
#include "config/reliability_check.h"
#include "config/section_reader.h"
#include "config/training_check.h"

#include <stddef.h>
#include <string.h>

/** When a setting matters. */
struct rule {
    const char *path; /**< dotted key, or a whole section */
    bool (*matters)(const struct experiment *experiment);
    const char *when; /**< the same in words */
};

/** What is being looked through. */
struct search {
    const struct experiment *experiment;
    const struct experiment *defaults;
    const struct tree_node *root;
    struct error_list *notes;
};

static bool is_moe(const struct experiment *experiment) {
    return experiment->traffic.pattern == EXPERIMENT_PATTERN_MOE;
}

static bool has_matrix(const struct experiment *experiment) {
    return experiment->traffic.pattern == EXPERIMENT_PATTERN_CONNECTION_MATRIX;
}

static bool has_workload(const struct experiment *experiment) {
    return experiment->traffic.pattern == EXPERIMENT_PATTERN_WORKLOAD_TEXT;
}

static bool has_bytes(const struct experiment *experiment) {
    return !is_moe(experiment) && !has_matrix(experiment) && !has_workload(experiment);
}

static bool has_source(const struct experiment *experiment) {
    return experiment->traffic.pattern == EXPERIMENT_PATTERN_SINGLE;
}

static bool has_destination(const struct experiment *experiment) {
    return has_source(experiment) || experiment->traffic.pattern == EXPERIMENT_PATTERN_INCAST;
}

static bool has_senders(const struct experiment *experiment) {
    return experiment->traffic.pattern == EXPERIMENT_PATTERN_INCAST;
}

static bool has_gate(const struct experiment *experiment, enum experiment_gate gate) {
    return is_moe(experiment) && experiment->traffic.gate == gate;
}

static bool is_zipf(const struct experiment *experiment) {
    return has_gate(experiment, EXPERIMENT_GATE_ZIPF);
}

static bool is_hot_expert(const struct experiment *experiment) {
    return has_gate(experiment, EXPERIMENT_GATE_HOT_EXPERT);
}

static bool is_node_limited(const struct experiment *experiment) {
    return has_gate(experiment, EXPERIMENT_GATE_NODE_LIMITED);
}

static bool is_group_limited(const struct experiment *experiment) {
    return has_gate(experiment, EXPERIMENT_GATE_GROUP_LIMITED);
}

static bool has_popularity(const struct experiment *experiment) {
    return is_zipf(experiment) || has_gate(experiment, EXPERIMENT_GATE_DIRICHLET);
}

static bool is_measured(const struct experiment *experiment) {
    return has_gate(experiment, EXPERIMENT_GATE_MEASURED);
}

static bool is_dirichlet(const struct experiment *experiment) {
    return has_gate(experiment, EXPERIMENT_GATE_DIRICHLET);
}

static bool has_gate_file(const struct experiment *experiment) {
    return is_measured(experiment) || has_gate(experiment, EXPERIMENT_GATE_TRACE);
}

static bool has_gate_layer(const struct experiment *experiment) {
    return has_popularity(experiment) || has_gate_file(experiment);
}

static bool has_micro_batches(const struct experiment *experiment) {
    return has_popularity(experiment) || is_measured(experiment);
}

static bool has_domains(const struct experiment *experiment) {
    return has_popularity(experiment) && experiment->traffic.routing.domains > 1;
}

static bool has_domain_ranks(const struct experiment *experiment) {
    return has_domains(experiment) ||
           (is_measured(experiment) && strcmp(experiment->traffic.routing.domain, "each") == 0);
}

static bool has_persistence(const struct experiment *experiment) {
    return has_popularity(experiment) && experiment->traffic.routing.micro_batches > 1;
}

static bool is_by_domain(const struct experiment *experiment) {
    return is_moe(experiment) && experiment_algorithm_by_domain(experiment->traffic.algorithm);
}

static bool is_nccl(const struct experiment *experiment) {
    return is_moe(experiment) && experiment_algorithm_needs[experiment->traffic.algorithm].channels;
}

static bool has_chunk_bytes(const struct experiment *experiment) {
    return is_moe(experiment) && experiment_algorithm_needs[experiment->traffic.algorithm].byte_chunks;
}

static bool has_combine_backward(const struct experiment *experiment) {
    return is_moe(experiment) && experiment->traffic.combine_backward;
}

static bool has_dispatch_backward(const struct experiment *experiment) {
    return is_moe(experiment) && experiment->traffic.dispatch_backward;
}

static bool has_dispatch(const struct experiment *experiment) {
    return is_moe(experiment) && experiment->traffic.dispatch;
}

static bool has_placement_file(const struct experiment *experiment) {
    return is_moe(experiment) && experiment->placement.kind == EXPERIMENT_PLACEMENT_FILE;
}

static bool has_replicas(const struct experiment *experiment) {
    return is_moe(experiment) && experiment_placement_learns(&experiment->placement);
}

static bool has_replica_choice(const struct experiment *experiment) {
    return has_placement_file(experiment) || (has_replicas(experiment) && experiment->placement.redundant_experts > 0);
}

static bool has_combine(const struct experiment *experiment) {
    return is_moe(experiment) && experiment->traffic.combine;
}

static bool is_named(const struct experiment *experiment, const char *path, const char *congestion) {
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        const struct experiment_policy *policy = &experiment->policies[p];
        if (strcmp(policy->path, path) == 0 || strcmp(policy->congestion, congestion) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_adaptive(const struct experiment *experiment) {
    return is_named(experiment, "adaptive", "");
}

static bool has_refreshes(const struct experiment *experiment) {
    return has_adaptive(experiment) || is_named(experiment, "two_choices", "") || is_named(experiment, "drill", "");
}

static bool has_round_robin(const struct experiment *experiment) {
    return is_named(experiment, "spray_round_robin", "");
}

static bool has_flowlet(const struct experiment *experiment) {
    return is_named(experiment, "flowlet", "");
}

static bool has_failures(const struct experiment *experiment) {
    return experiment->n_failures > 0;
}

static bool has_weights(const struct experiment *experiment) {
    return has_adaptive(experiment) && has_failures(experiment);
}

static bool has_excluding(const struct experiment *experiment) {
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        const char *path = experiment->policies[p].path;
        if (strcmp(path, "ecmp") != 0 && strcmp(path, "flowlet") != 0 && strcmp(path, "d_mod_k") != 0) {
            return has_failures(experiment);
        }
    }
    return false;
}

/* Ordered packets are hashed under every policy but two. */
static bool has_hash(const struct experiment *experiment) {
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        const char *path = experiment->policies[p].path;
        if (strcmp(path, "flowlet") != 0 && strcmp(path, "d_mod_k") != 0) {
            return true;
        }
    }
    return false;
}

static bool has_dcqcn(const struct experiment *experiment) {
    return is_named(experiment, "", "dcqcn");
}

static bool has_spectrum_x(const struct experiment *experiment) {
    return is_named(experiment, "", "spectrum_x");
}

static bool has_timely(const struct experiment *experiment) {
    return is_named(experiment, "", "timely");
}

static bool has_swift(const struct experiment *experiment) {
    return is_named(experiment, "", "swift");
}

static bool has_nscc(const struct experiment *experiment) {
    return is_named(experiment, "", "nscc");
}

static bool has_hpcc(const struct experiment *experiment) {
    return is_named(experiment, "", "hpcc");
}

static bool has_receiver_credit(const struct experiment *experiment) {
    return is_named(experiment, "", "receiver_credit");
}

static bool has_record(const struct experiment *experiment) {
    return experiment->record.interval_ps > 0;
}

static bool has_selective_repeat(const struct experiment *experiment) {
    return experiment->transport.recovery == EXPERIMENT_RECOVERY_SELECTIVE_REPEAT;
}

static bool has_short_timeout(const struct experiment *experiment) {
    return experiment->transport.short_timeout_ps > 0;
}

static bool has_planes(const struct experiment *experiment) {
    return experiment->topology.nic.planes > 1;
}

static bool has_usual_failover(const struct experiment *experiment) {
    return has_planes(experiment) && experiment->topology.nic.plane_failover_time_ps == 0;
}

static bool has_slow_host(const struct experiment *experiment) {
    for (uint32_t i = 0; i < experiment->n_failures; i++) {
        const enum experiment_action action = experiment->failures[i].action;
        if (action == EXPERIMENT_ACTION_SLOW_RECEIVE || action == EXPERIMENT_ACTION_STOP_RECEIVE) {
            return true;
        }
    }
    return experiment->topology.nic.receive_rate_bits_per_s > 0;
}

static bool has_spine_watchdog(const struct experiment *experiment) {
    return experiment->topology.spine.watchdog;
}

/* What the leaf has, the spine has too unless its section says otherwise. */
static bool has_watchdog(const struct experiment *experiment) {
    return experiment->topology.leaf.watchdog || has_spine_watchdog(experiment);
}

static bool has_packets(const struct experiment *experiment) {
    return experiment->network_model != EXPERIMENT_NETWORK_FLUID;
}

static bool has_packets_to_record(const struct experiment *experiment) {
    return has_packets(experiment) || !has_record(experiment);
}

static bool has_step(const struct experiment *experiment) {
    return experiment->training.global_batch > 0;
}

static bool has_model(const struct experiment *experiment) {
    return is_moe(experiment) || has_step(experiment);
}

/* Stragglers are looked for without a step, too. */
static bool has_training(const struct experiment *experiment) {
    return has_step(experiment) || experiment->training.stragglers.slow_gpus[0] != '\0' ||
           experiment->training.stragglers.clock_deviation > 0;
}

static bool has_virtual_stages(const struct experiment *experiment) {
    return has_step(experiment) && experiment->training.schedule != EXPERIMENT_SCHEDULE_1F1B;
}

static bool has_tensor(const struct experiment *experiment) {
    return has_step(experiment) && experiment->training.tensor_parallelism > 1;
}

static bool has_context(const struct experiment *experiment) {
    return has_step(experiment) && experiment->training.context_parallelism > 1;
}

static bool has_pipeline(const struct experiment *experiment) {
    return has_step(experiment) && experiment->training.pipeline_parallelism > 1;
}

static bool has_launches(const struct experiment *experiment) {
    return has_step(experiment) && !experiment->training.cuda_graphs;
}

static bool has_host(const struct experiment *experiment) {
    return has_launches(experiment) && experiment->model.experts > 0;
}

static bool has_skew(const struct experiment *experiment) {
    return has_step(experiment) && experiment->training.rank_skew_ps > 0;
}

static bool has_evaluation(const struct experiment *experiment) {
    return has_step(experiment) && experiment->training.evaluation_batch > 0;
}

static bool has_interruptions(const struct experiment *experiment) {
    return has_step(experiment) && reliability_check_fails(&experiment->training.failures);
}

static bool has_copies_to_hosts(const struct experiment *experiment) {
    return has_interruptions(experiment) && experiment->training.checkpoint.asynchronous;
}

static bool has_slow_gpus(const struct experiment *experiment) {
    return experiment->training.stragglers.slow_gpus[0] != '\0';
}

static bool has_slow_clock(const struct experiment *experiment) {
    return experiment->training.stragglers.slow_gpu_clock < 1;
}

static bool has_clocks(const struct experiment *experiment) {
    return experiment->training.stragglers.clock_deviation > 0;
}

static bool uses_sms(const struct experiment *experiment) {
    const struct topology_gpu *gpu = &experiment->topology.gpu;
    return experiment->traffic.kernel == EXPERIMENT_KERNEL_PLATFORM &&
           (gpu->sm_copy_bytes_per_s > 0 || gpu->sm_reduce_bytes_per_s > 0 || gpu->routing_map_ps > 0);
}

static bool has_kernels(const struct experiment *experiment) {
    const struct topology_gpu *gpu = &experiment->topology.gpu;
    return uses_sms(experiment) || gpu->base_latency_ps > 0 || gpu->kernel_floor_ps > 0 || gpu->message_cost_ps > 0;
}

static const struct rule rules[] = {
    {"training", has_training, "with training.global_batch"},
    {"training.failures", has_interruptions, "with rates, or a time between failures"},
    {"training.checkpoint", has_interruptions, "with training.failures"},
    {"training.checkpoint.copy_rate", has_copies_to_hosts, "with training.checkpoint.asynchronous"},
    {"training.stragglers.slow_gpus", has_slow_clock, "with training.stragglers.slow_gpu_clock below 1"},
    {"training.stragglers.slow_gpu_clock", has_slow_gpus, "with training.stragglers.slow_gpus"},
    {"training.stragglers.seed", has_clocks, "with training.stragglers.clock_deviation"},
    {"training.virtual_stages", has_virtual_stages, "under schedules interleaved and 1f1b_overlap"},
    {"training.overlap_tensor", has_tensor, "with training.tensor_parallelism"},
    {"training.context_exchange", has_context, "with training.context_parallelism"},
    {"training.group_order", has_pipeline, "with training.pipeline_parallelism"},
    {"training.launch", has_launches, "without training.cuda_graphs"},
    {"training.kernels_per_layer", training_check_counts_kernels,
     "with training.kernel_gap or without training.cuda_graphs"},
    {"training.kernel_gap", training_check_has_kernels, "with training.kernels_per_layer"},
    {"training.host_sync", has_host, "with experts and without training.cuda_graphs"},
    {"training.notify", has_skew, "with training.rank_skew"},
    {"training.contention", training_check_has_contention,
     "under schedule 1f1b_overlap, with defer_weight_gradients, or overlap_gradients and virtual_stages"},
    {"training.gradient_sms", training_check_has_gradient_sms,
     "with training.contention, overlap_gradients and virtual_stages"},
    {"training.evaluation_every", has_evaluation, "with training.evaluation_batch"},
    {"training.copied_tables", training_check_has_tables, "with a recommender"},
    {"traffic.kernel", has_kernels, "with a topology whose section gpu says what kernels take"},
    {"traffic.sms", uses_sms, "under kernel platform, with rates or a routing_map_cost in the topology's section gpu"},
    {"model", has_model, "under pattern moe or with training.global_batch"},
    {"model.groups", is_group_limited, "under gate group_limited"},
    {"model.groups_kept", is_group_limited, "under gate group_limited"},
    {"traffic.bytes", has_bytes, "under patterns other than moe, connection_matrix and workload_text"},
    {"traffic.matrix", has_matrix, "under pattern connection_matrix"},
    {"traffic.workload", has_workload, "under pattern workload_text"},
    {"traffic.source", has_source, "under pattern single"},
    {"traffic.destination", has_destination, "under patterns single and incast"},
    {"traffic.senders", has_senders, "under pattern incast"},
    {"traffic.tokens_per_gpu", is_moe, "under pattern moe"},
    {"traffic.expert_parallelism", is_moe, "under pattern moe"},
    {"traffic.group_placement", is_moe, "under pattern moe"},
    {"traffic.gate", is_moe, "under pattern moe"},
    {"traffic.zipf_exponent", is_zipf, "under gate zipf"},
    {"traffic.hot_expert_factor", is_hot_expert, "under gate hot_expert"},
    {"traffic.hot_expert", is_hot_expert, "under gate hot_expert"},
    {"traffic.nodes_kept", is_node_limited, "under gate node_limited"},
    {"traffic.node_gpus", is_node_limited, "under gate node_limited"},
    {"gate.file", has_gate_file, "under gates measured and trace"},
    {"gate.dataset", has_gate_file, "under gates measured and trace"},
    {"gate.layer", has_gate_layer, "under gates zipf, dirichlet, measured and trace"},
    {"gate.step", is_measured, "under gate measured"},
    {"gate.domain", is_measured, "under gate measured"},
    {"gate.alpha", is_dirichlet, "under gate dirichlet"},
    {"gate.domains", has_popularity, "under gates zipf and dirichlet"},
    {"gate.domain_ranks", has_domain_ranks, "with domains of gates zipf, dirichlet and measured"},
    {"gate.domain_strength", has_domains, "with domains of gates zipf and dirichlet"},
    {"gate.micro_batches", has_micro_batches, "under gates zipf, dirichlet and measured"},
    {"gate.persistence", has_persistence, "with micro_batches of gates zipf and dirichlet"},
    {"gate.capacity_factor", is_moe, "under pattern moe"},
    {"traffic.algorithm", is_moe, "under pattern moe"},
    {"traffic.phases", is_moe, "under pattern moe"},
    {"traffic.dispatch_type", has_dispatch, "with a dispatch phase"},
    {"traffic.combine_type", has_combine, "with a combine phase"},
    {"traffic.exchange_counts", has_dispatch, "with a dispatch phase"},
    {"traffic.combine_backward_type", has_combine_backward, "with a combine_backward phase"},
    {"traffic.dispatch_backward_type", has_dispatch_backward, "with a dispatch_backward phase"},
    {"traffic.turn_time", has_combine_backward, "with a combine_backward phase"},
    {"traffic.expert_backward_time", has_dispatch_backward, "with a dispatch_backward phase"},
    {"traffic.chunk_tokens", is_by_domain, "under algorithms two_hop and hybrid_ep"},
    {"traffic.channels", is_nccl, "under algorithm nccl_p2p"},
    {"traffic.chunk_bytes", has_chunk_bytes, "under algorithms pxn and nccl_p2p"},
    {"traffic.expert_time", has_combine, "with a combine phase"},
    {"traffic.popularity_seed", has_popularity, "under a gate that draws which experts are popular"},
    {"placement", is_moe, "under pattern moe"},
    {"placement.file", has_placement_file, "under placement file"},
    {"placement.layer", has_placement_file, "under placement file"},
    {"placement.redundant_experts", has_replicas, "under placements eplb, eplb_global and affinity"},
    {"placement.history_tokens", has_replicas, "under placements eplb, eplb_global and affinity"},
    {"placement.replica_choice", has_replica_choice, "where experts may have several replicas"},
    {"path.refresh_period", has_refreshes, "with a policy of path adaptive, two_choices or drill"},
    {"path.grade_scale", has_adaptive, "with a policy of path adaptive"},
    {"path.hash", has_hash, "with a policy of a path other than flowlet and d_mod_k"},
    {"path.round_robin_rounds", has_round_robin, "with a policy of path spray_round_robin"},
    {"path.flowlet_gap", has_flowlet, "with a policy of path flowlet"},
    {"path.flowlet_entries", has_flowlet, "with a policy of path flowlet"},
    {"path.remote_weights", has_weights, "with failures and the path policy adaptive"},
    {"path.exclusion", has_excluding, "with failures and a policy of a path other than ecmp, flowlet and d_mod_k"},
    {"path.convergence", has_failures, "with failures"},
    {"record", has_record, "with an interval above 0"},
    {"record", has_packets_to_record, "by packets (network_model)"},
    {"transport.recovery", has_packets, "by packets (network_model)"},
    {"transport.retransmit_timeout", has_packets, "by packets (network_model)"},
    {"transport.loss_distance", has_selective_repeat, "with selective repeat (transport.recovery)"},
    {"transport.bandwidth_delay_window", has_selective_repeat, "with selective repeat (transport.recovery)"},
    {"transport.short_timeout_packets", has_short_timeout, "with a short time-out (transport.short_timeout)"},
    {"congestion.dcqcn", has_dcqcn, "with a policy of controller dcqcn"},
    {"congestion.spectrum_x", has_spectrum_x, "with a policy of controller spectrum_x"},
    {"congestion.timely", has_timely, "with a policy of controller timely"},
    {"congestion.swift", has_swift, "with a policy of controller swift"},
    {"congestion.nscc", has_nscc, "with a policy of controller nscc"},
    {"congestion.hpcc", has_hpcc, "with a policy of controller hpcc"},
    {"congestion.receiver_credit", has_receiver_credit, "with a policy of controller receiver_credit"},
    {"topology.nic.plane_choice", has_planes, "with several planes (nic.planes)"},
    {"topology.nic.plane_failover", has_usual_failover, "with several planes and without nic.plane_failover_time"},
    {"topology.nic.plane_failover_time", has_planes, "with several planes (nic.planes)"},
    {"topology.nic.receive_buffer", has_slow_host, "with nic.receive_rate or a failure slow_receive or stop_receive"},
    {"topology.nic.receive_headroom", has_slow_host, "with nic.receive_rate or a failure slow_receive or stop_receive"},
    {"topology.leaf.watchdog_detection", has_watchdog, "with a watchdog (leaf.watchdog)"},
    {"topology.leaf.watchdog_action", has_watchdog, "with a watchdog (leaf.watchdog)"},
    {"topology.leaf.watchdog_restoration", has_watchdog, "with a watchdog (leaf.watchdog)"},
    {"topology.spine.watchdog_detection", has_spine_watchdog, "with a watchdog (spine.watchdog)"},
    {"topology.spine.watchdog_action", has_spine_watchdog, "with a watchdog (spine.watchdog)"},
    {"topology.spine.watchdog_restoration", has_spine_watchdog, "with a watchdog (spine.watchdog)"},
};

/** Is what a key holds also what it would hold if it were not given? offset: of what sections count from. */
static bool is_default(const struct search *search, size_t offset, const struct section *section,
                       const struct key *key) {
    char given[KEY_LINE_SIZE], otherwise[KEY_LINE_SIZE];
    key_print(given, key, (const char *)search->experiment + offset + section->offset);
    key_print(otherwise, key, (const char *)search->defaults + offset + section->offset);
    return strcmp(given, otherwise) == 0;
}

/** The same of a dotted path. */
static bool is_path_default(const struct search *search, size_t offset, const struct schema *schema, const char *path) {
    char parent[64];
    const char *dot = strrchr(path, '.');
    snprintf(parent, sizeof parent, "%.*s", (int)(dot - path), path);
    const struct section *section = key_section(schema, parent);
    return is_default(search, offset, section, key_find(section, dot + 1));
}

/** Is a path that is given worth a note? A section is, if one of its keys is. Hardware that is as usual is not. */
static bool is_notable(const struct search *search, const char *path, const struct tree_entry *entry) {
    static const char topology[] = "topology.";
    const struct section *section = key_section(experiment_keys(), path);
    if (strncmp(path, topology, strlen(topology)) == 0) {
        return !is_path_default(search, offsetof(struct experiment, topology), topology_keys(),
                                path + strlen(topology));
    }
    if (search->experiment->topology_path[0] != '\0') {
        return true;
    }
    if (section == NULL) {
        return !is_path_default(search, 0, experiment_keys(), path);
    }
    for (uint32_t i = 0; i < entry->value->n_entries; i++) {
        const struct key *key = key_find(section, entry->value->entries[i].key);
        if (key != NULL && !is_default(search, 0, section, key)) {
            return true;
        }
    }
    return false;
}

static void note(struct error_list *notes, const struct tree_entry *entry, const char *name, const char *when) {
    struct error note = {0};
    tree_locate(&note, entry->key_place);
    note.source[0] = '\0'; // one line a note is enough
    snprintf(note.message, sizeof note.message, "`%s` has no effect: it matters only %s", name, when);
    error_list_add(notes, &note);
}

/** Keys of failures that their actions do not know. */
static void note_failures(const struct experiment *experiment, const struct tree_node *root, struct error_list *notes) {
    const struct tree_entry *list = tree_find(root, "failures");
    struct experiment_failure defaults = {.count = 1};
    section_reader_section_defaults(key_section(experiment_keys(), "failures"), &defaults);
    for (uint32_t i = 0; i < experiment->n_failures; i++) {
        const struct experiment_failure *failure = &experiment->failures[i];
        const struct tree_node *node = list->value->entries[i].value;
        const struct tree_entry *rate = tree_find(node, "rate"), *loss = tree_find(node, "loss");
        const struct tree_entry *every = tree_find(node, "every");
        if (rate != NULL && failure->rate != defaults.rate && failure->action != EXPERIMENT_ACTION_SLOW &&
            failure->action != EXPERIMENT_ACTION_SLOW_RECEIVE) {
            note(notes, rate, "rate", "with the actions slow and slow_receive");
        }
        if (loss != NULL && failure->loss != defaults.loss && failure->action != EXPERIMENT_ACTION_LOSSY) {
            note(notes, loss, "loss", "with the action lossy");
        }
        if (every != NULL && failure->every_ps != defaults.every_ps && failure->count == 1) {
            note(notes, every, "every", "with a count above 1");
        }
    }
}

/** Keys of background traffic that its pattern does not know. */
static void note_backgrounds(const struct experiment *experiment, const struct tree_node *root,
                             struct error_list *notes) {
    const struct tree_entry *list = tree_find(root, "background");
    for (uint32_t i = 0; i < experiment->n_backgrounds; i++) {
        const struct experiment_background *item = &experiment->backgrounds[i];
        const struct tree_node *node = list->value->entries[i].value;
        const struct tree_entry *targets = tree_find(node, "targets"), *group = tree_find(node, "group");
        const struct tree_entry *placement = tree_find(node, "group_placement"), *every = tree_find(node, "every");
        const bool writes = item->pattern == EXPERIMENT_BACKGROUND_WRITES;
        if (targets != NULL && !writes) {
            note(notes, targets, "targets", "with the pattern writes");
        }
        if (group != NULL && item->group != 0 && writes) {
            note(notes, group, "group", "with a pattern other than writes");
        }
        if (placement != NULL && item->group_placement != EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE && item->group == 0) {
            note(notes, placement, "group_placement", "with a group");
        }
        if (every != NULL && item->every_ps != 0 && item->rounds == 1) {
            note(notes, every, "every", "with more than one of rounds");
        }
    }
}

/** A key is not noted again where its whole section was. */
static bool is_said(const struct search *search, const char *path) {
    return (strncmp(path, "model.", 6) == 0 || strncmp(path, "placement.", 10) == 0) && !is_moe(search->experiment);
}

static void follow(const struct search *search, const struct rule *rule) {
    const struct tree_entry *entry = tree_find_path(search->root, rule->path);
    if (entry != NULL && !rule->matters(search->experiment) && !is_said(search, rule->path) &&
        is_notable(search, rule->path, entry)) {
        note(search->notes, entry, rule->path, rule->when);
    }
}

void experiment_unused(const struct experiment *experiment, const struct tree_node *root, struct error_list *notes) {
    struct experiment defaults = {.model.preset = ""};
    section_reader_defaults(experiment_keys(), &defaults);
    section_reader_defaults(topology_keys(), &defaults.topology);
    defaults.topology.spine = experiment->topology.leaf;
    memcpy(defaults.model.preset, experiment->model.preset, sizeof defaults.model.preset);
    experiment_preset_fill(&defaults.model);
    const struct search search = {.experiment = experiment, .defaults = &defaults, .root = root, .notes = notes};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        follow(&search, &rules[i]);
    }
    for (size_t i = 0; training_check_of_layers[i] != NULL; i++) {
        follow(&search,
               &(struct rule){training_check_of_layers[i], training_check_has_layers, "for a model of layers"});
    }
    note_failures(experiment, root, notes);
    note_backgrounds(experiment, root, notes);
}
