// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/detect_run.h"

#include "base/memory.h"
#include "command/failures.h"
#include "command/interrupt.h"
#include "command/simulation.h"
#include "command/telemetry_take.h"
#include "fabric/builder.h"
#include "training/straggler.h"

#include <stdio.h>
#include <stdlib.h>

#define PROBE_BYTES (UINT64_C(1) << 22) /* of a message: 84 us of a port of 400 Gb/s, well above latencies */
#define INTERVAL_PS UINT64_C(2000000)   /* 25 packets of it */

/* A round of pairwise tests, as nccl-tests' sendrecv would run it between NICs. */
static void make_probe(struct experiment *experiment) {
    experiment->traffic.pattern = EXPERIMENT_PATTERN_PERMUTATION;
    experiment->traffic.bytes = PROBE_BYTES;
    experiment->traffic.gpus[0] = '\0';
    experiment->traffic.jitter_ps = 0;
}

/* Queues, rates and pauses of all ports over time. */
static void watch_ports(struct experiment_record *record) {
    *record = (struct experiment_record){
        .interval_ps = INTERVAL_PS, .n_links = 1, .queue = true, .rate = true, .pauses = true};
    snprintf(record->links[0], sizeof record->links[0], "fabric");
}

/* Adds what one simulation counts. */
static bool take(struct telemetry *telemetry, const struct experiment *experiment, const struct fabric *fabric,
                 const struct detect_run *how, uint64_t seed, struct error *error) {
    const struct simulation simulation = {.experiment = experiment,
                                          .policy = &experiment->policies[how->policy],
                                          .fabric = fabric,
                                          .seed = seed,
                                          .threads = 1};
    struct measurement *measurement = simulation_run(&simulation, error);
    if (measurement == NULL) {
        return false;
    }
    telemetry_take_run(telemetry, fabric, measurement, how->probe);
    measurement_free(measurement);
    return true;
}

/* GPUs of the cluster are the first ones of those that train. */
static double *clocks_of(const struct experiment *experiment, const struct fabric *fabric, struct error *error) {
    const struct experiment_training *training = &experiment->training;
    const uint32_t gpus = training->gpus > fabric->n_endpoints ? training->gpus : fabric->n_endpoints;
    return straggler_clocks(&training->stragglers, gpus, error);
}

bool detect_run_look(struct detector_report *report, const struct experiment *experiment, const struct detect_run *how,
                     struct telemetry **seen, struct error *error) {
    struct experiment *changed = memory_allocate(1, sizeof *changed);
    struct telemetry *telemetry = NULL;
    *changed = *experiment;
    changed->n_backgrounds = how->probe ? 0 : changed->n_backgrounds;
    watch_ports(&changed->record);
    if (how->probe) {
        make_probe(changed);
    }
    struct fabric *fabric = fabric_build(&changed->topology, error);
    double *clocks = fabric == NULL ? NULL : clocks_of(changed, fabric, error);
    bool done = clocks != NULL && failures_check(changed, fabric, error);
    if (done) {
        telemetry = telemetry_take_create(changed, fabric);
        for (uint32_t round = 0; round < (how->probe ? DETECT_RUN_ROUNDS : 1) && done; round++) {
            done = take(telemetry, changed, fabric, how, how->seed + round, error);
        }
    }
    if (done) {
        telemetry_take_finish(telemetry, clocks, how->seed);
        detector_run(telemetry, report);
    }
    if (done && seen != NULL) {
        *seen = telemetry;
    } else {
        telemetry_take_free(telemetry);
    }
    free(clocks);
    fabric_free(fabric);
    free(changed);
    return done;
}

bool detect_run_campaign(struct fault_campaign_score *score, const struct experiment *experiment,
                         const struct detect_run *how, uint32_t cases, const struct detect_run_watch *watch,
                         struct error *error) {
    struct fault_campaign_case *drawn = memory_allocate(1, sizeof *drawn);
    struct experiment *healthy = memory_allocate(1, sizeof *healthy);
    *score = (struct fault_campaign_score){0};
    *healthy = *experiment;
    healthy->topology.fabric.crossed_gpus[0] = '\0';
    struct fabric *fabric = fabric_build(&healthy->topology, error);
    bool done = fabric != NULL;
    for (uint32_t number = 0; number < cases && done && !interrupt_has_come(); number++) {
        struct detector_report report;
        struct detect_run one = *how;
        fault_campaign_draw(drawn, healthy, fabric, how->seed, number, !how->probe);
        one.seed = how->seed + (uint64_t)number * DETECT_RUN_ROUNDS;
        done = detect_run_look(&report, &drawn->experiment, &one, NULL, error);
        if (done) {
            fault_campaign_add(score, drawn, &report);
        }
        if (watch != NULL) {
            watch->show(watch->context, number + 1, cases);
        }
    }
    fabric_free(fabric);
    free(healthy);
    free(drawn);
    return done;
}
