// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/progress.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/interrupt.h"
#include "command/place_report.h"
#include "command/spare.h"
#include "config/gpu_list.h"
#include "config/placement_keys.h"
#include "fabric/builder.h"
#include "workload/placement_choose.h"
#include "workload/placement_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNSEEN_BATCHES = 20, DEFAULT_BATCHES = 4, DEFAULT_STEPS = 5000 };

const struct arguments_grammar command_place_grammar = {
    .command = "place",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_OUTPUT | ARGUMENTS_SET | ARGUMENTS_SEED | ARGUMENTS_BATCHES | ARGUMENTS_STEPS |
               ARGUMENTS_LAYERS | ARGUMENTS_QUIET,
    .output = "where to write the placement (default: NAME.placement.csv here, NAME from the configuration)",
    .description =
        "Looks for a placement of experts and their replicas (placement.redundant_experts) on the GPUs of an "
        "expert-parallel\n"
        "group for the gate and the cluster of a configuration: simulated annealing from the best of the "
        "placements by rule, on\n"
        "tokens of earlier micro-batches. Compares all of them on micro-batches that none has seen, says "
        "what moving there costs,\n"
        "and writes a file for `placement: {kind: file, file: FILE}`, as YAML if its name ends with .yaml. With "
        "--layers a "
        "placement for\n"
        "each of these layers of the gate. Ctrl-C keeps the best so far.",
    .examples = "  moefabric place configs/placement-replicas.yaml\n"
                "  moefabric place configs/measured-gate.yaml --set placement.redundant_experts=32 --layers 0-3 -o "
                "layers.yaml\n",
};

/* What a search shows of itself while it goes. */
struct watching {
    struct progress progress;
    uint32_t steps;
};

static bool look(void *context, uint32_t steps, double energy) {
    struct watching *watching = context;
    const struct progress_sample sample = {.share_done = (double)steps / watching->steps,
                                           .parts = watching->steps,
                                           .parts_done = steps,
                                           .part_name = "placements",
                                           .without_packets = true};
    (void)energy;
    if (steps % 64 == 0) {
        progress_update(&watching->progress, &sample);
    }
    return interrupt_has_come();
}

/* The best by rule that fills all slots. */
static const struct place_candidate *best_start(const struct place_candidates *candidates,
                                                const struct placement_shape *shape) {
    const struct place_candidate *best = NULL;
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct place_candidate *candidate = &candidates->list[i];
        const bool fills = candidate->placement->replicas == shape->replicas &&
                           candidate->placement->largest_slots == shape->replicas / shape->ranks;
        if (fills && (!best || candidate->learnt.time_ps < best->learnt.time_ps)) {
            best = candidate;
        }
    }
    REQUIRE(best != NULL, "not even EPLB fills %u slots", shape->replicas);
    return best;
}

static struct placement *search(const struct arguments *given, const struct placement_site *site,
                                const struct placement_tokens *tokens, struct placement_traffic *traffic,
                                const struct placement *start) {
    struct watching watching = {.steps = given->steps ? given->steps : DEFAULT_STEPS};
    const struct placement_search wanted = {.shape = &site->shape,
                                            .tokens = tokens,
                                            .traffic = traffic,
                                            .steps = watching.steps,
                                            .seed = site->seed,
                                            .stop = look,
                                            .context = &watching};
    progress_init(&watching.progress, stderr, "place", given->quiet);
    struct placement *found = placement_search_run(&wanted, start);
    progress_clear(&watching.progress);
    return found;
}

/* What is in the works; every pointer may be NULL. */
struct work {
    struct placement_site site;
    struct placement_tokens *learnt, *unseen;
    struct placement_traffic *traffic, *trial;
    struct place_candidates candidates;
};

static void work_fini(struct work *work) {
    placement_traffic_free(work->traffic);
    placement_traffic_free(work->trial);
    placement_tokens_free(work->learnt);
    placement_tokens_free(work->unseen);
    place_candidates_free(&work->candidates);
    placement_site_fini(&work->site);
}

static struct moe_placement ranks_of(const struct experiment *experiment) {
    const struct topology *topology = &experiment->topology;
    return (struct moe_placement){.n_ranks = topology->racks * topology->gpus_used,
                                  .ranks_per_domain = topology->nvlink.gpus == 1 ? 1 : topology->gpus_used};
}

/* The configuration's own placement: one by rule is in the list already. */
static bool add_configured(struct work *work, const struct experiment *experiment, struct error *error) {
    const struct moe_placement ranks = ranks_of(experiment);
    struct placement *placement;
    if (experiment->placement.kind != EXPERIMENT_PLACEMENT_FILE) {
        return true;
    }
    if (!placement_choose(experiment, &ranks, experiment->seeds[0], &placement, error)) {
        return false;
    }
    place_candidate_add(&work->candidates, "file", placement);
    return true;
}

static bool prepare(struct work *work, const struct arguments *given, const struct experiment *experiment,
                    const struct fabric *fabric, struct error *error) {
    const struct moe_placement ranks = ranks_of(experiment);
    const uint64_t seed = experiment->seeds[0];
    if (experiment->traffic.pattern != EXPERIMENT_PATTERN_MOE) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "there are experts to be placed only under traffic.pattern moe");
    }
    if (!placement_site_init(&work->site, experiment, &ranks, seed, error)) {
        return false;
    }
    work->learnt = placement_site_history(&work->site, given->batches ? given->batches : DEFAULT_BATCHES, error);
    work->unseen = work->learnt ? placement_site_runs(&work->site, seed, UNSEEN_BATCHES, error) : NULL;
    if (!work->unseen) {
        return false;
    }
    const struct placement_costs costs = place_candidate_costs(experiment, &work->site, fabric);
    const struct placement_site *site = &work->site;
    work->traffic =
        placement_traffic_create(&site->shape, &site->layout, work->learnt, &costs, site->algorithm, site->even);
    work->trial =
        placement_traffic_create(&site->shape, &site->layout, work->unseen, &costs, site->algorithm, site->even);
    place_candidate_add_rules(&work->candidates, site, work->learnt);
    return add_configured(work, experiment, error);
}

/* All layers that are placed. */
struct job {
    const struct arguments *given;
    struct experiment *experiment;
    const struct fabric *fabric;
    struct place_layer *layers; /* [n_layers]; placement NULL: not yet */
    uint32_t n_layers;
    char heading[EXPERIMENT_NAME_SIZE + 128];
    struct table *table; /* NULL: one layer, of which all is told */
};

/* The found one's place in the list is kept by the list; what is written is a copy. */
static void tell(struct job *job, struct place_layer *layer, const struct work *work,
                 const struct place_candidate *start, const struct place_candidate *found) {
    const struct place_candidates *candidates = &work->candidates;
    const struct experiment *experiment = job->experiment;
    const struct place_candidate *configured =
        place_candidate_find(candidates, placement_keys_kinds[experiment->placement.kind]);
    const struct place_report report = {.experiment = experiment,
                                        .fabric = job->fabric,
                                        .site = &work->site,
                                        .candidates = candidates,
                                        .found = found,
                                        .configured = configured ? configured : start,
                                        .first_unseen_seed = experiment->seeds[0],
                                        .batches = work->learnt->batches,
                                        .interrupted = interrupt_has_come()};
    if (job->table) {
        place_report_layer(&report, layer->layer, job->table);
    } else {
        place_report_print(&report, stdout);
    }
    layer->placement = placement_copy(found->placement);
    snprintf(job->heading, sizeof job->heading, "%s: %u experts, %u replicas on %u ranks in NVLink domains of %u",
             experiment->name, work->site.shape.experts, work->site.shape.replicas, work->site.shape.ranks,
             work->site.shape.domain_ranks);
}

/* By rule, by the configuration, and by search: compared and told. */
static bool place_layer(struct job *job, struct place_layer *layer, struct error *error) {
    struct work work = {0};
    if (job->table) {
        job->experiment->traffic.routing.layer = layer->layer;
    }
    const bool good = prepare(&work, job->given, job->experiment, job->fabric, error);
    if (good) {
        place_candidate_learn(&work.candidates, work.traffic);
        const struct place_candidate *start = best_start(&work.candidates, &work.site.shape);
        struct placement *found = search(job->given, &work.site, work.learnt, work.traffic, start->placement);
        const struct place_candidate *best = place_candidate_add(&work.candidates, "found", found);
        place_candidate_learn(&work.candidates, work.traffic);
        place_candidate_try(&work.candidates, work.trial, UNSEEN_BATCHES);
        tell(job, layer, &work, start, best);
    }
    work_fini(&work);
    return good;
}

/* Which layers: those of --layers, or the one that the configuration is about. */
static bool find_layers(struct job *job, struct error *error) {
    enum { LAYERS = 65536 };
    char problem[ERROR_MESSAGE_SIZE];
    struct gpu_list list;
    if (job->given->layers == NULL) {
        job->layers = memory_allocate(1, sizeof *job->layers);
        job->layers[job->n_layers++] = (struct place_layer){.layer = job->experiment->placement.layer};
        return true;
    }
    if (strcmp(job->given->layers, "all") == 0 ||
        !gpu_list_read(&list, job->given->layers, LAYERS, problem, sizeof problem)) {
        return error_set(error, EXIT_CODE_USAGE, ERROR_ID_USAGE,
                         "--layers takes numbers and ranges such as 0-3, 7, up to 65535, not \"%s\"",
                         job->given->layers);
    }
    job->layers = memory_allocate(list.n_gpus, sizeof *job->layers);
    for (uint32_t i = 0; i < list.n_gpus; i++) {
        job->layers[job->n_layers++] = (struct place_layer){.layer = list.gpus[i]};
    }
    gpu_list_fini(&list);
    job->table = place_report_layers();
    return true;
}

static bool place_all(struct job *job, const char *path, struct error *error) {
    uint32_t done = 0;
    while (done < job->n_layers && (done == 0 || !interrupt_has_come())) {
        if (!place_layer(job, &job->layers[done], error)) {
            return false;
        }
        done++;
    }
    if (job->table) {
        printf("%s\ntimes of %u micro-batches that were not learnt from\n\n", job->heading, (unsigned)UNSEEN_BATCHES);
        table_print(job->table, stdout, 2);
    }
    if (!place_report_write(job->layers, done, job->heading, path, error)) {
        return false;
    }
    printf("\n  written to %s: placement: {kind: file, file: %s%s}\n", path, path,
           job->table ? ", layer: LAYER}, gate: {layer: LAYER" : "");
    return true;
}

static void job_fini(struct job *job) {
    for (uint32_t i = 0; i < job->n_layers; i++) {
        placement_free(job->layers[i].placement);
    }
    free(job->layers);
    table_free(job->table);
}

int command_place(int n_arguments, char **arguments) {
    struct arguments given;
    struct experiment experiment;
    struct error error = {0};
    struct job job = {.given = &given, .experiment = &experiment};
    char path[EXPERIMENT_NAME_SIZE + 32];
    int code;
    if (!arguments_read(&given, &command_place_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    code = (int)arguments_experiment(&given, &experiment);
    if (code != EXIT_CODE_OK) {
        return code;
    }
    snprintf(path, sizeof(path), "%s.placement.csv", experiment.name);
    const char *output = given.output ? given.output : path;
    interrupt_listen();
    struct fabric *fabric = fabric_build(&experiment.topology, &error);
    job.fabric = fabric;
    if (!fabric || !find_layers(&job, &error) ||
        !spare_inputs(given.operand, &experiment, output, "--output", &error) || !file_check_writable(output, &error) ||
        !place_all(&job, output, &error)) {
        error_print(stderr, &error);
        code = (int)error.exit_code;
    } else if (interrupt_has_come()) {
        code = EXIT_CODE_INTERRUPTED;
    }
    job_fini(&job);
    fabric_free(fabric);
    return code;
}
