// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/size_step.h"

#include "base/error_id.h"
#include "base/number.h"
#include "command/train_goodput.h"
#include "command/train_report.h"
#include "command/train_setup.h"
#include "command/train_stragglers.h"
#include "config/experiment_place.h"
#include "fabric/builder.h"
#include "sizing/rings.h"
#include "training/goodput.h"
#include "training/training_memory.h"

#include <inttypes.h>
#include <math.h>

#define SECONDS_PER_DAY 86400.0

/* A step of more GPUs than the design has would be one of another design. */
static bool check_gpus(const struct training_setup *setup, const struct experiment *experiment, struct error *error) {
    const struct topology *topology = &experiment->topology;
    const uint32_t racks = experiment->design.worked_out ? experiment->design.racks : topology->racks;
    const uint64_t has = (uint64_t)racks * topology->gpus_used;
    if (setup->groups.gpus <= has) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
              "training.gpus: %" PRIu32 " GPUs train, the design has %" PRIu64, setup->groups.gpus, has);
    error_hint(error, "design.gpus says how many a design has; training.gpus: 0 trains on all of them");
    return experiment_place_blame(&experiment->training.key_places[EXPERIMENT_TRAINING_GPUS], error);
}

/* The setup, with GPUs that are slow. Copies end with straggler_copies_fini in any case. */
static bool init_setup(struct training_setup *setup, struct straggler_copies *copies,
                       const struct experiment *experiment, struct error *error) {
    *copies = (struct straggler_copies){0};
    if (!train_setup_init(setup, experiment, error)) {
        return false;
    }
    if (setup->recommender != NULL) {
        error_set(
            error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
            "clusters are sized for models of layers: what GPUs of a recommender send depends on how many there are");
        return experiment_place_blame(&experiment->size.place, error);
    }
    return check_gpus(setup, experiment, error) && train_stragglers_init(copies, experiment, setup, error);
}

double size_step_memory(const struct experiment *experiment) {
    return gpu_find(experiment->training.gpu)->memory_gb * 1e9;
}

/* ---- interruptions ---- */

/* GPUs of a rack that are not used stand by, in whole hosts. */
static uint32_t spares_of(const struct topology *whole, uint32_t host_gpus) {
    return whole->racks * ((whole->nvlink.gpus - whole->gpus_used) / host_gpus * host_gpus);
}

static bool fill_goodput(const struct experiment *experiment, const struct training_setup *setup, double *share,
                         double *mtbf_s, struct error *error) {
    struct experiment_interruptions failures = experiment->training.failures;
    struct topology whole = experiment->topology;
    struct goodput goodput;
    whole.racks = experiment->design.worked_out ? experiment->design.racks : whole.racks;
    failures.warm_spares += spares_of(&whole, failures.host_gpus);
    const struct goodput_job job = {.failures = &failures,
                                    .checkpoint = &experiment->training.checkpoint,
                                    .topology = &whole,
                                    .gpus = setup->groups.gpus,
                                    .parameters = train_goodput_parameters(setup),
                                    .optimiser_state_bytes = experiment->training.optimiser_state_bytes,
                                    .work_s = SECONDS_PER_DAY};
    if (!goodput_fill(&goodput, &job, error)) {
        return false;
    }
    const bool known = isfinite(goodput.mtbf_s); // else nothing is said to fail
    *share = known ? goodput.goodput : NAN;
    *mtbf_s = known ? goodput.mtbf_s : NAN;
    return true;
}

bool size_step_state(const struct experiment *experiment, double *bytes, double *goodput, double *mtbf_s,
                     struct error *error) {
    struct training_setup setup;
    struct training_result result;
    *goodput = *mtbf_s = NAN;
    struct straggler_copies copies;
    const bool done = init_setup(&setup, &copies, experiment, error);
    straggler_copies_fini(&copies);
    setup.copies = NULL; // what a GPU holds does not depend on clocks: here they are only read
    if (!done || !training_step(&setup, NULL, NULL, &result, error)) {
        return false;
    }
    *bytes = training_memory_sum(&result.memory);
    training_result_fini(&result);
    return fill_goodput(experiment, &setup, goodput, mtbf_s, error);
}

/* ---- time ---- */

/* Gradients of copies run in rings over domains; of experts over groups that hold the same ones. All of a stage, at the same time. */
static double gradient_share(const struct experiment *experiment, const struct training_setup *setup,
                             struct error *error) {
    struct topology whole = experiment->topology;
    const struct training_groups *groups = &setup->groups;
    const uint32_t stage = groups->gpus / groups->pipeline;
    struct rings rings = {
        .stride = groups->stage_in_domain, .block = stage, .stages = groups->pipeline, .stage = stage};
    whole.racks = experiment->design.worked_out ? experiment->design.racks : whole.racks;
    if (experiment->training.group_order == EXPERIMENT_GROUP_ORDER_PIPELINE_DATA) {
        rings.block = groups->block;
    }
    struct fabric *fabric = fabric_build_plane(&whole, error);
    if (fabric == NULL) {
        return NAN;
    }
    double share = rings_share(&whole, fabric, &rings);
    if (groups->expert_data > 1 && groups->expert > rings.stride) {
        rings.stride = groups->expert;
        share = fmin(share, rings_share(&whole, fabric, &rings));
    }
    fabric_free(fabric);
    return share;
}

bool size_step_value(const struct experiment *experiment, const struct training_exchange *exchange,
                     enum size_target target, double *value, double *bytes, struct error *error) {
    struct training_setup setup;
    struct training_result result;
    struct straggler_copies copies;
    bool done = init_setup(&setup, &copies, experiment, error);
    if (done) {
        const double share = gradient_share(experiment, &setup, error);
        setup.exchange = *exchange;
        setup.groups.nic_bytes_per_s *= share;
        done = !isnan(share) && training_step(&setup, NULL, NULL, &result, error);
    }
    straggler_copies_fini(&copies);
    if (!done) {
        return false;
    }
    const struct train_figures figures = train_report_figures(&setup, &result);
    *value = target == SIZE_TARGET_TIME_TO_TRAIN  ? train_report_run_s(setup.training, &figures)
             : target == SIZE_TARGET_TOKENS_PER_S ? figures.tokens_per_s_gpu * setup.groups.gpus
                                                  : figures.step_s;
    *bytes = training_memory_sum(&result.memory);
    training_result_fini(&result);
    return true;
}
