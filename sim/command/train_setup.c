// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_setup.h"

#include "base/error_id.h"
#include "base/number.h"
#include "command/interrupt.h"
#include "command/plan.h"
#include "command/train_recommender.h"
#include "config/experiment_place.h"
#include "results/summary.h"
#include "workload/moe_summary.h"

#include <math.h>
#include <string.h>

static bool refuse(struct error *error, const char *hint, const char *text) {
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC, "%s", text);
    error_hint(error, "%s", hint);
    return false;
}

/* Exchanges and computing must be of one model. */
static bool is_as_published(const struct experiment_model *model) {
    const struct experiment_preset *preset = experiment_preset_find(model->preset);
    return model->hidden == preset->hidden && model->experts == preset->experts && model->top_k == preset->top_k &&
           model->intermediate == preset->ffn_hidden;
}

/* "known are …": presets whose layers are known. */
static bool refuse_unknown(struct error *error) {
    char names[ERROR_MESSAGE_SIZE] = "known are";
    for (size_t i = 0; model_shape_names[i] != NULL; i++) {
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s %s", i > 0 ? "," : "", model_shape_names[i]);
    }
    for (size_t i = 0; recommender_shape_names[i] != NULL; i++) {
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, ", %s", recommender_shape_names[i]);
    }
    return refuse(error, names, "the layers of this model are not known: `model.preset` must be one that is");
}

/* The model must be one whose layers are known, and its exchanges those of the configuration. */
static bool check_model(const struct experiment *experiment, struct error *error) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    if (experiment->training.global_batch == 0) {
        return refuse(error, "for example training: {global_batch: 16384, pipeline_parallelism: 4}",
                      "the configuration describes no training step: `training.global_batch` is not given");
    }
    if (model_shape_find(experiment->model.preset) == NULL &&
        recommender_shape_find(experiment->model.preset) == NULL) {
        return refuse_unknown(error);
    }
    if (experiment_preset_find(experiment->model.preset)->experts > 0 &&
        (traffic->pattern != EXPERIMENT_PATTERN_MOE || !traffic->dispatch || !traffic->combine ||
         !traffic->combine_backward || !traffic->dispatch_backward)) {
        return refuse(error,
                      "traffic: {pattern: moe, phases: [dispatch, combine, combine_backward, dispatch_backward]}",
                      "a training step needs the exchanges of a layer with experts, forward and backward");
    }
    return is_as_published(&experiment->model) ||
           refuse(error, "take the changed figures out of section `model`",
                  "a training step takes its model's layers as published: section `model` changes them");
}

static void hint_precisions(const struct gpu *gpu, const char *const *names, struct error *error) {
    char known[ERROR_MESSAGE_SIZE] = "";
    for (int i = 0; i < EXPERIMENT_PRECISIONS; i++) {
        const size_t length = strlen(known);
        if (gpu->tflops[i] > 0) {
            snprintf(known + length, sizeof known - length, "%s%s", length > 0 ? ", " : "", names[i]);
        }
    }
    error_hint(error, "it does in %s", known);
}

/* Does the GPU compute in what the configuration says? */
static bool check_precisions(const struct gpu *gpu, const struct experiment_training *training, struct error *error) {
    static const char *const names[EXPERIMENT_PRECISIONS] = {"bf16", "fp8", "mxfp8", "nvfp4"};
    const struct {
        const char *name;
        enum experiment_training_key key;
        enum experiment_precision precision;
    } keys[] = {
        {"precision", EXPERIMENT_TRAINING_PRECISION, training->precision},
        {"expert_precision", EXPERIMENT_TRAINING_EXPERT_PRECISION, training->expert_precision},
        {"attention_precision", EXPERIMENT_TRAINING_ATTENTION_PRECISION, training->attention_precision},
        {"logits_precision", EXPERIMENT_TRAINING_LOGITS_PRECISION, training->logits_precision},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (gpu->tflops[keys[i].precision] == 0) {
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                      "training.%s: a GPU `%s` does not compute in %s", keys[i].name, gpu->name,
                      names[keys[i].precision]);
            hint_precisions(gpu, names, error);
            return experiment_place_blame(&training->key_places[keys[i].key], error);
        }
    }
    return true;
}

/* Of a message between stages, without its bytes: over NVLink, or by NICs, two leaves, a spine where there is one, and the cables. */
static uint64_t send_latency_ps(const struct topology *topology, bool in_domain) {
    const struct topology_fabric *fabric = &topology->fabric;
    if (in_domain) {
        return topology->nvlink.latency_up_ps + topology->nvlink.latency_down_ps;
    }
    const uint64_t cables_m = 2 * (fabric->host_cable_m + (fabric->spines > 0 ? fabric->spine_cable_m : 0));
    return 2 * topology->nic.latency_ps + (fabric->spines > 0 ? 2 : 1) * topology->leaf.latency_ps +
           (fabric->spines > 0 ? topology->spine.latency_ps : 0) + cables_m * fabric->cable_latency_ps_per_m;
}

static bool fill(struct training_setup *setup, const struct experiment *experiment, struct error *error) {
    const struct experiment_training *training = &experiment->training;
    const struct topology *topology = &experiment->topology;
    if (!check_model(experiment, error)) {
        return false;
    }
    *setup = (struct training_setup){.training = training,
                                     .preset = experiment_preset_find(experiment->model.preset),
                                     .shape = model_shape_find(experiment->model.preset),
                                     .recommender = recommender_shape_find(experiment->model.preset),
                                     .gpu = gpu_find(training->gpu),
                                     .exchange_sms = experiment->traffic.sms,
                                     .stop = interrupt_has_come,
                                     .exchange = {.expert_load = 1}};
    if (!check_precisions(setup->gpu, training, error) || !training_groups_fill(&setup->groups, experiment, error) ||
        (setup->recommender != NULL && !train_recommender_check(setup, experiment, error))) {
        return false;
    }
    setup->groups.nvlink_bytes_per_s = (double)topology->nvlink.link_rate_bits_per_s / 8 *
                                       topology->nvlink.links_per_gpu * topology->nvlink.usable_fraction;
    setup->send_latency_ps = send_latency_ps(topology, setup->groups.pipeline_in_domain);
    if (training->gradient_collective == EXPERIMENT_COLLECTIVE_SHARP &&
        topology->fabric.link_layer != TOPOLOGY_LINK_INFINIBAND) {
        return refuse(error, "training.gradient_collective: nvls reduces in the switches of NVLink alone",
                      "training.gradient_collective: sharp reduces in the switches of InfiniBand, and this fabric is "
                      "Ethernet");
    }
    if (training->contention && setup->exchange_sms + training->gradient_sms >= setup->gpu->sms) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "training.contention: exchanges keep traffic.sms = %u SMs and gradients gradient_sms = %u, a "
                         "GPU `%s` has %u",
                         setup->exchange_sms, training->gradient_sms, setup->gpu->name, setup->gpu->sms);
    }
    return topology->gpus_used % training->tensor_parallelism == 0 ||
           refuse(error, "tensor parallelism is simulated inside NVLink domains",
                  "training.tensor_parallelism does not divide the GPUs that are used of an NVLink domain");
}

bool train_setup_is_dense(const struct training_setup *setup) {
    return setup->preset->experts == 0 && setup->recommender == NULL;
}

void train_setup_locate(const struct experiment *experiment, struct error *error) {
    if (error->exit_code == EXIT_CODE_CONFIGURATION) {
        experiment_place_blame(&experiment->training.place, error);
    }
}

bool train_setup_init(struct training_setup *setup, const struct experiment *experiment, struct error *error) {
    if (fill(setup, experiment, error)) {
        return true;
    }
    train_setup_locate(experiment, error);
    return false;
}

/* A recommender's vectors forward, and their gradients: the same messages the other way round. */
static bool is_of_vectors(int phase) {
    return phase == TRAINING_COMBINE || phase == TRAINING_COMBINE_BACKWARD;
}

bool train_setup_take(const struct measurement *measurement, struct training_exchange *exchange) {
    struct summary *summary = summary_create(measurement);
    const bool finished = summary->outcome == MEASUREMENT_FINISHED;
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        exchange->phase_ps[phase] = 0;
        for (uint32_t i = 0; i < summary->n_phases; i++) {
            const double time_ps = summary->phases[i].time_ps; // NAN: nobody sent anything, as with one GPU a group
            if (strcmp(summary->phases[i].name, training_phase_names[phase]) == 0 && isfinite(time_ps)) {
                exchange->phase_ps[phase] = (uint64_t)(time_ps + 0.5);
            }
            if (strcmp(summary->phases[i].name, "transfer") == 0 && isfinite(time_ps) && is_of_vectors(phase)) {
                exchange->phase_ps[phase] = (uint64_t)(time_ps + 0.5);
            }
        }
    }
    summary_free(summary);
    return finished;
}

/* Of the busiest GPU. Exchanges have the same order there. */
static void take_bytes(const struct moe *moe, struct training_exchange *exchange) {
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        const struct moe_summary_volume most =
            moe_summary_extent(moe, (enum moe_summary_phase)(MOE_SUMMARY_DISPATCH + phase)).largest;
        exchange->nvlink_bytes[phase] = (double)number_larger(most.nvlink_sent.bytes, most.nvlink_received.bytes);
        exchange->nic_bytes[phase] = (double)number_larger(most.fabric_sent.bytes, most.fabric_received.bytes);
    }
}

bool train_setup_load(const struct experiment *experiment, uint64_t seed, struct training_exchange *exchange,
                      struct error *error) {
    struct plan plan;
    exchange->expert_load = 1;
    if (experiment->traffic.pattern != EXPERIMENT_PATTERN_MOE) {
        return true; // vectors of a recommender's tables
    }
    if (!plan_init(&plan, experiment, false, seed, error)) {
        return false;
    }
    const struct moe_summary_balance balance = moe_summary_rank_balance(plan.moe);
    exchange->expert_load = (double)balance.largest / balance.mean;
    take_bytes(plan.moe, exchange);
    plan_fini(&plan);
    return true;
}
