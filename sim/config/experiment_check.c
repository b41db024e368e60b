// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_check.h"

#include "base/quantity.h"
#include "config/background_reader.h"
#include "config/experiment_preset.h"
#include "config/experiment_split.h"
#include "config/gate_check.h"
#include "config/gpu_list.h"
#include "config/reliability_check.h"
#include "config/size_check.h"
#include "config/topology_check.h"
#include "config/training_check.h"

#include <inttypes.h>
#include <string.h>

/** Reports with the shared argument left out. */
#define CONFLICT(id, first, second, ...) contradiction_report(scope, id, first, second, __VA_ARGS__)

static void check_model(const struct experiment_model *model, const struct contradiction_scope *scope) {
    if (model->top_k > model->experts) {
        CONFLICT(ERROR_ID_CONFLICT_MODEL, "model.top_k", "model.experts",
                 "a token picks %" PRIu32 " experts, but there are only %" PRIu32, model->top_k, model->experts);
    }
    if (model->groups_kept > model->groups) {
        CONFLICT(ERROR_ID_CONFLICT_MODEL, "model.groups_kept", "model.groups",
                 "%" PRIu32 " groups are kept, but there are only %" PRIu32, model->groups_kept, model->groups);
    }
    if (model->experts % model->groups != 0) {
        CONFLICT(ERROR_ID_CONFLICT_MODEL, "model.groups", "model.experts",
                 "%" PRIu32 " groups do not divide %" PRIu32 " experts", model->groups, model->experts);
    } else if ((uint64_t)model->experts / model->groups * model->groups_kept < model->top_k) {
        CONFLICT(ERROR_ID_CONFLICT_MODEL, "model.groups_kept", "model.top_k",
                 "%" PRIu32 " groups of %" PRIu32 " experts hold fewer than the %" PRIu32 " experts that a token picks",
                 model->groups_kept, model->experts / model->groups, model->top_k);
    }
}

static void check_hot_expert(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const struct experiment_model *model = &experiment->model;
    if (traffic->gate != EXPERIMENT_GATE_HOT_EXPERT) {
        return;
    }
    if (traffic->hot_expert >= model->experts) {
        CONFLICT(ERROR_ID_CONFLICT_MODEL, "traffic.hot_expert", "model.experts",
                 "the hot expert is number %" PRIu32 ", but numbers end at %" PRIu32, traffic->hot_expert,
                 model->experts - 1);
    }
    if (traffic->hot_expert_factor * model->top_k > model->experts) {
        char factor[QUANTITY_TEXT_SIZE];
        CONFLICT(ERROR_ID_CONFLICT_MODEL, "traffic.hot_expert_factor", "model.top_k",
                 "a hot expert of %s × the mean would be picked by more than every token (at %" PRIu32 " of %" PRIu32
                 " experts a token)",
                 quantity_print_real(factor, QUANTITY_REAL, traffic->hot_expert_factor), model->top_k, model->experts);
    }
}

/** Groups are scored by their best two experts (DeepSeek-V3). */
static void check_gate_groups(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_model *model = &experiment->model;
    if (experiment->traffic.gate == EXPERIMENT_GATE_GROUP_LIMITED && model->experts % model->groups == 0 &&
        model->experts / model->groups < 2) {
        CONFLICT(ERROR_ID_CONFLICT_MODEL, "model.groups", "model.experts",
                 "groups are scored by their best two experts, but %" PRIu32 " groups of %" PRIu32
                 " experts have one each",
                 model->groups, model->experts);
    }
}

static void check_placement(const struct experiment_placement *placement, const struct contradiction_scope *scope) {
    if (placement->kind == EXPERIMENT_PLACEMENT_FILE && placement->file[0] == '\0') {
        CONFLICT(ERROR_ID_CONFLICT_EXPERTS, "placement.kind", "placement.file",
                 "the placement file needs the name of a file, `file`");
    }
}

static void check_moe(const struct experiment *experiment, uint64_t gpus, const struct contradiction_scope *scope) {
    const struct experiment_model *model = &experiment->model;
    const struct experiment_preset *preset = experiment_preset_find(model->preset);
    if (preset != NULL && preset->experts == 0 && (model->experts == 0 || model->top_k == 0)) {
        CONFLICT(ERROR_ID_MODEL_INCOMPLETE, "model.preset", "traffic.pattern",
                 "`%s` is a dense model: it has no experts that tokens could be sent to", preset->name);
        return;
    }
    if (model->hidden == 0 || model->experts == 0 || model->top_k == 0) {
        CONFLICT(
            ERROR_ID_MODEL_INCOMPLETE, "model", "model",
            "the traffic pattern moe needs a model: a `preset`, or `hidden`, `experts` and `top_k` in section `model`");
        return;
    }
    check_model(model, scope);
    if (gpus > 0) {
        experiment_split_check(experiment, gpus, scope);
    }
    check_placement(&experiment->placement, scope);
    check_hot_expert(experiment, scope);
    check_gate_groups(experiment, scope);
    gate_check(experiment, scope);
}

static void check_rank(const struct contradiction_scope *scope, const char *key, uint32_t rank, uint64_t gpus) {
    if (rank >= gpus) {
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, key, "gpus_used",
                 "rank %" PRIu32 " does not exist: %" PRIu64 " GPUs have the ranks 0 to %" PRIu64, rank, gpus,
                 gpus - 1);
    }
}

/* A queue pair numbers its packets with 32 bits. */
static void check_packets(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const uint64_t bytes = experiment->traffic.bytes, payload = experiment->topology.nic.payload_bytes;
    if (scope->topology != NULL && experiment->traffic.pattern != EXPERIMENT_PATTERN_MOE &&
        experiment->traffic.pattern != EXPERIMENT_PATTERN_CONNECTION_MATRIX &&
        experiment->traffic.pattern != EXPERIMENT_PATTERN_WORKLOAD_TEXT && payload > 0 &&
        bytes / payload >= UINT32_MAX) {
        char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.bytes", "nic.payload",
                 "a message of %s in packets of %s has more than 2^32 packets",
                 quantity_print(first, QUANTITY_BYTES, bytes), quantity_print(second, QUANTITY_BYTES, payload));
    }
}

/** Senders of an incast are of other NVLink domains than the receiver, unless there is one domain only. */
static void check_senders(const struct experiment *experiment, uint64_t gpus, const struct contradiction_scope *scope) {
    const uint32_t senders = experiment->traffic.senders, domain = experiment->topology.gpus_used;
    if (senders >= gpus) {
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.senders", "gpus_used",
                 "%" PRIu32 " senders and a receiver do not fit the %" PRIu64 " GPUs of the cluster", senders, gpus);
    } else if (domain < gpus && senders > gpus - domain) {
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.senders", "gpus_used",
                 "%" PRIu32 " senders: outside the receiver's NVLink domain there are %" PRIu64 " GPUs", senders,
                 gpus - domain);
    }
}

static void check_traffic(const struct experiment *experiment, uint64_t gpus, const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    switch (traffic->pattern) {
    case EXPERIMENT_PATTERN_SINGLE:
        check_rank(scope, "traffic.source", traffic->source, gpus);
        check_rank(scope, "traffic.destination", traffic->destination, gpus);
        if (traffic->source == traffic->destination) {
            CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.destination", "traffic.source",
                     "rank %" PRIu32 " would send to itself", traffic->source);
        }
        break;
    case EXPERIMENT_PATTERN_INCAST:
        check_rank(scope, "traffic.destination", traffic->destination, gpus);
        check_senders(experiment, gpus, scope);
        break;
    case EXPERIMENT_PATTERN_PERMUTATION:
    case EXPERIMENT_PATTERN_RING:
    case EXPERIMENT_PATTERN_ALL_TO_ALL:
        if (gpus < 2) {
            CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.pattern", "gpus_used",
                     "this pattern needs 2 GPUs, the cluster has %" PRIu64, gpus);
        }
        break;
    case EXPERIMENT_PATTERN_CONNECTION_MATRIX:
        if (traffic->matrix[0] == '\0') {
            CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.pattern", "traffic.matrix",
                     "the pattern connection_matrix needs the name of a file, `matrix`");
        }
        break;
    case EXPERIMENT_PATTERN_WORKLOAD_TEXT:
        if (traffic->workload[0] == '\0') {
            CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.pattern", "traffic.workload",
                     "the pattern workload_text needs the name of a file, `workload`");
        }
        break;
    case EXPERIMENT_PATTERN_MOE:
        break;
    }
}

/** Who takes part. */
static void check_gpus(const struct experiment *experiment, uint64_t gpus, const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const bool chosen = traffic->gpus[0] != '\0' && strcmp(traffic->gpus, "all") != 0;
    char problem[ERROR_MESSAGE_SIZE];
    struct gpu_list list;
    if (!chosen || gpus == 0 || gpus > UINT32_MAX) {
        return;
    }
    if (traffic->pattern != EXPERIMENT_PATTERN_PERMUTATION && traffic->pattern != EXPERIMENT_PATTERN_RING &&
        traffic->pattern != EXPERIMENT_PATTERN_ALL_TO_ALL && traffic->pattern != EXPERIMENT_PATTERN_MOE) {
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.gpus", "traffic.pattern",
                 "only moe, permutation, ring and all_to_all can be among some of the GPUs");
    } else if (!gpu_list_read(&list, traffic->gpus, (uint32_t)gpus, problem, sizeof problem)) {
        CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.gpus", "gpus_used", "%.300s", problem);
    } else {
        if (list.n_gpus < 2 && traffic->pattern != EXPERIMENT_PATTERN_MOE) {
            CONFLICT(ERROR_ID_CONFLICT_TRAFFIC, "traffic.gpus", "traffic.pattern", "this pattern needs 2 GPUs");
        }
        gpu_list_fini(&list);
    }
}

/** Queue pairs of a GPU are numbered with 16 bits, as packets carry them. */
static void check_queue_pairs(const struct experiment *experiment, const struct experiment_policy *policy,
                              const char *place, const struct contradiction_scope *scope) {
    enum { MOST = 65535 };
    const uint64_t gpus = topology_check_gpus(&experiment->topology);
    const uint64_t peers =
        (gpus > 0 ? experiment_split_peers(experiment, gpus) : 0) + background_reader_peers(experiment);
    if (peers * policy->queue_pairs > MOST) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, "traffic.pattern",
                 "policy `%s`: %" PRIu64 " peers a GPU × %" PRIu32
                 " queue pairs a peer are more than %d queue pairs a GPU",
                 policy->name, peers, policy->queue_pairs, MOST);
    }
}

/** One policy against what its parts can do. */
static void check_policy(const struct experiment *experiment, const struct experiment_policy *policy, const char *place,
                         const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    if (policy->early_pacing && strcmp(policy->congestion, "spectrum_x") != 0) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, place, "policy `%s`: early pacing is part of spectrum_x, not of %s",
                 policy->name, policy->congestion);
    }
    if (policy->early_pacing && traffic->pattern != EXPERIMENT_PATTERN_MOE) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, "traffic.pattern",
                 "policy `%s`: early pacing acts on what a dispatch announces; this traffic announces nothing",
                 policy->name);
    } else if (policy->early_pacing && !experiment_algorithm_needs[traffic->algorithm].grants) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, "traffic.algorithm",
                 "policy `%s`: early pacing is known to algorithms direct and two_hop, not to %s", policy->name,
                 experiment_algorithm_names[traffic->algorithm]);
    } else if (policy->early_pacing && !(traffic->exchange_counts && traffic->dispatch)) {
        CONFLICT(
            ERROR_ID_CONFLICT_POLICIES, place, traffic->dispatch ? "traffic.exchange_counts" : "traffic.phases",
            "policy `%s`: early pacing needs a dispatch with the exchange of counts, which announces what will come",
            policy->name);
    }
    if (scope->topology != NULL) {
        check_queue_pairs(experiment, policy, place, scope);
    }
    const struct topology_nic *nic = &experiment->topology.nic;
    if (policy->global_context && (nic->planes == 1 || nic->plane_choice != TOPOLOGY_PLANE_PACKET)) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, nic->planes == 1 ? "nic.planes" : "nic.plane_choice",
                 "policy `%s`: a queue pair has one congestion context anyway where it uses one plane", policy->name);
    }
    if (policy->split_messages && policy->queue_pairs == 1) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, place,
                 "policy `%s`: split_messages splits over the queue pairs to a peer, and there is one", policy->name);
    }
    if (policy->polarised && strcmp(policy->path, "ecmp") != 0) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, place, "policy `%s`: polarised is an option of ecmp, not of %s",
                 policy->name, policy->path);
    }
    if (scope->topology != NULL && strcmp(policy->congestion, "dcqcn") == 0 && !experiment->topology.leaf.ecn &&
        !experiment->topology.spine.ecn) {
        CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, "leaf.ecn",
                 "policy `%s`: dcqcn would never act, no switch marks packets (ECN)", policy->name);
    }
}

static void check_policies(const struct experiment *experiment, const struct contradiction_scope *scope) {
    char place[32], before[32];
    for (uint32_t i = 0; i < experiment->n_policies; i++) {
        snprintf(place, sizeof place, "policies.%" PRIu32, i);
        check_policy(experiment, &experiment->policies[i], place, scope);
        for (uint32_t j = 0; j < i; j++) {
            snprintf(before, sizeof before, "policies.%" PRIu32, j);
            if (strcmp(experiment->policies[i].name, experiment->policies[j].name) == 0) {
                CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, before, "two policies are called `%s`",
                         experiment->policies[i].name);
            }
        }
    }
}

static void check_seeds(const struct experiment *experiment, const struct contradiction_scope *scope) {
    char place[32], before[32];
    for (uint32_t i = 0; i < experiment->n_seeds; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (experiment->seeds[i] == experiment->seeds[j]) {
                snprintf(place, sizeof place, "seeds.%" PRIu32, i);
                snprintf(before, sizeof before, "seeds.%" PRIu32, j);
                CONFLICT(ERROR_ID_CONFLICT_POLICIES, place, before,
                         "seed %" PRIu64 " is given twice: it would count double in every mean", experiment->seeds[i]);
            }
        }
    }
}

static void check_control(const struct experiment *experiment, const struct contradiction_scope *scope) {
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    const struct experiment_spectrum_x *spectrum_x = &experiment->spectrum_x;
    if (spectrum_x->delay_threshold_ps > spectrum_x->largest_delay_ps) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, "congestion.spectrum_x.delay_threshold",
                 "congestion.spectrum_x.largest_delay", "the delay threshold of %s is above the largest delay of %s",
                 quantity_print(first, QUANTITY_TIME, spectrum_x->delay_threshold_ps),
                 quantity_print(second, QUANTITY_TIME, spectrum_x->largest_delay_ps));
    }
    if (experiment->timely.low_ps > experiment->timely.high_ps) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, "congestion.timely.low_round_trip", "congestion.timely.high_round_trip",
                 "the low round trip of %s is above the high one of %s",
                 quantity_print(first, QUANTITY_TIME, experiment->timely.low_ps),
                 quantity_print(second, QUANTITY_TIME, experiment->timely.high_ps));
    }
    if (experiment->swift.scaling_least_window >= experiment->swift.scaling_most_window) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, "congestion.swift.scaling_least_window",
                 "congestion.swift.scaling_most_window", "scaling from a window of %g packets to one of %g",
                 experiment->swift.scaling_least_window, experiment->swift.scaling_most_window);
    }
    const uint64_t window = experiment->transport.window_bytes, payload = experiment->topology.nic.payload_bytes;
    if (scope->topology != NULL && window != 0 && window < payload) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, "transport.window", "nic.payload",
                 "a window of %s does not hold one packet of %s", quantity_print(first, QUANTITY_BYTES, window),
                 quantity_print(second, QUANTITY_BYTES, payload));
    }
    if (window != 0 && experiment->transport.acknowledge_bytes > window) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, "transport.acknowledge", "transport.window",
                 "an ACK every %s never comes within a window of %s",
                 quantity_print(first, QUANTITY_BYTES, experiment->transport.acknowledge_bytes),
                 quantity_print(second, QUANTITY_BYTES, window));
    }
}

static void check_record(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_record *record = &experiment->record;
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    if (record->until_ps != 0 && record->until_ps <= record->from_ps) {
        CONFLICT(ERROR_ID_CONFLICT_RECORD, "record.until", "record.from", "recording ends at %s, but begins at %s",
                 quantity_print(first, QUANTITY_TIME, record->until_ps),
                 quantity_print(second, QUANTITY_TIME, record->from_ps));
    } else if (record->interval_ps != 0 && record->until_ps / record->interval_ps > UINT32_MAX) {
        CONFLICT(ERROR_ID_CONFLICT_RECORD, "record.until", "record.interval", "intervals of %s until %s are too many",
                 quantity_print(first, QUANTITY_TIME, record->interval_ps),
                 quantity_print(second, QUANTITY_TIME, record->until_ps));
    }
}

static void check_recovery(const struct experiment *experiment, const struct contradiction_scope *scope) {
    char first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    const struct experiment_transport *transport = &experiment->transport;
    if (scope->topology == NULL) {
        return;
    }
    if (transport->recovery == EXPERIMENT_RECOVERY_SELECTIVE_REPEAT && !experiment->topology.nic.out_of_order) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, "transport.recovery", "nic.out_of_order",
                 "selective repeat keeps what comes after a gap, which this NIC cannot place");
    }
    const bool leaf = experiment->topology.leaf.trim;
    if ((leaf || experiment->topology.spine.trim) && transport->recovery != EXPERIMENT_RECOVERY_SELECTIVE_REPEAT) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, leaf ? "leaf.trim" : "spine.trim", "transport.recovery",
                 "a trimmed packet is asked for again by a NACK of its own, which go-back-N does not know: trimming "
                 "needs selective_repeat");
    }
    const bool own = transport->retransmit_timeout_ps != 0;
    const uint64_t timeout_ps = own ? transport->retransmit_timeout_ps : experiment->topology.nic.retransmit_timeout_ps;
    if (transport->short_timeout_ps > timeout_ps) {
        CONFLICT(ERROR_ID_CONFLICT_CONTROL, "transport.short_timeout",
                 own ? "transport.retransmit_timeout" : "nic.retransmit_timeout",
                 "the short time-out of %s is longer than the time-out of %s",
                 quantity_print(first, QUANTITY_TIME, transport->short_timeout_ps),
                 quantity_print(second, QUANTITY_TIME, timeout_ps));
    }
}

/* The result is called after the experiment: a name is no path. */
static void check_name(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct tree_entry *name = scope->experiment == NULL ? NULL : tree_find(scope->experiment, "name");
    if (name != NULL && strchr(experiment->name, '/') != NULL) {
        tree_report(scope->errors, name->value->place, ERROR_ID_VALUE_NAME, "results are called after the experiment",
                    "a name cannot hold a slash");
    }
}

void experiment_check(const struct experiment *experiment, const struct contradiction_scope *scope) {
    check_name(experiment, scope);
    const uint64_t gpus = scope->topology == NULL ? 0 : topology_check_gpus(&experiment->topology);
    if (experiment->traffic.pattern == EXPERIMENT_PATTERN_MOE) {
        check_moe(experiment, gpus, scope);
    } else if (gpus > 0) {
        check_packets(experiment, scope);
        check_traffic(experiment, gpus, scope);
    }
    check_gpus(experiment, gpus, scope);
    if (gpus > 0 && gpus <= UINT32_MAX) {
        background_reader_check(experiment, gpus, scope);
    }
    check_policies(experiment, scope);
    check_seeds(experiment, scope);
    check_control(experiment, scope);
    check_record(experiment, scope);
    check_recovery(experiment, scope);
    training_check(experiment, scope);
    size_check(experiment, scope);
    reliability_check(experiment, scope);
}
