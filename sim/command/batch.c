// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/batch.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/progress.h"
#include "command/interrupt.h"
#include "command/watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One run, and what it says of itself while it goes. */
struct job {
    struct simulation simulation;
    struct measurement *measurement;
    struct error error;
    _Atomic uint64_t hops;
    _Atomic uint64_t simulated_ps;
    _Atomic bool done;
    bool failed;
};

struct crew {
    struct job *jobs;
    uint32_t n_jobs;
    _Atomic uint32_t next;
    _Atomic uint32_t done;
    pthread_mutex_t progress_lock; /* guards progress only: never held by a simulation for long */
    struct progress progress;
    double expected_hops; /* of one run; 0 = unknown */
    struct watch watch;
    _Atomic uint64_t *thousandths; /* NULL, or told how much is done */
};

struct look {
    struct crew *crew;
    struct job *job;
};

/* How much of a run is done. Where the estimate was short, the last twentieth takes as long as it takes. */
static double share_of(const struct crew *crew, const struct job *job) {
    const double share = (double)job->hops / crew->expected_hops;
    return job->done ? 1 : share < 0.95 ? share : 0.95;
}

static struct progress_sample sample_of(struct crew *crew) {
    struct progress_sample sample = {.share_done = crew->expected_hops > 0 ? 0 : -1,
                                     .parts = crew->n_jobs,
                                     .parts_done = crew->done,
                                     .part_name = crew->n_jobs > 1 ? "runs" : NULL};
    for (uint32_t i = 0; i < crew->n_jobs; i++) {
        sample.packet_hops += crew->jobs[i].hops;
        sample.simulated_ps += crew->jobs[i].simulated_ps; // shown of a single run only
        sample.share_done += crew->expected_hops > 0 ? share_of(crew, &crew->jobs[i]) / crew->n_jobs : 0;
    }
    return sample;
}

static bool look(void *context, uint64_t now_ps, uint64_t hops) {
    struct look *at = context;
    at->job->hops = hops;
    at->job->simulated_ps = now_ps;
    if (pthread_mutex_trylock(&at->crew->progress_lock) == 0) {
        const struct progress_sample sample = sample_of(at->crew);
        progress_update(&at->crew->progress, &sample);
        if (at->crew->thousandths && sample.share_done >= 0) {
            atomic_store(at->crew->thousandths, (uint64_t)(1000 * sample.share_done));
        }
        pthread_mutex_unlock(&at->crew->progress_lock);
    }
    return !interrupt_has_come() && !watch_is_exceeded(&at->crew->watch);
}

/* Whether to stop before a run; over several ranks all must come to the same answer. */
static bool is_called_off(struct crew *crew, const struct job *job) {
    const struct exchange *exchange = job->simulation.exchange;
    const bool here = interrupt_has_come() || watch_is_exceeded(&crew->watch);
    if (!exchange) {
        return here;
    }
    struct exchange_verdict verdict = {.stop = here};
    struct exchange_buffer *nothing = memory_allocate(2 * (size_t)exchange->n_ranks, sizeof(*nothing));
    exchange->end_window(exchange->context, nothing, nothing + exchange->n_ranks, &verdict);
    free(nothing);
    return verdict.stop;
}

static void *work(void *context) {
    struct crew *crew = context;
    for (;;) {
        const uint32_t number = atomic_fetch_add(&crew->next, 1);
        if (number >= crew->n_jobs || is_called_off(crew, &crew->jobs[number])) {
            return NULL;
        }
        struct job *job = &crew->jobs[number];
        struct look at = {.crew = crew, .job = job};
        job->simulation.observer = look;
        job->simulation.observer_context = &at;
        job->measurement = simulation_run(&job->simulation, &job->error);
        job->failed = !job->measurement;
        if (job->measurement) {
            const bool stopped = job->measurement->outcome == MEASUREMENT_INTERRUPTED && !interrupt_has_come();
            job->measurement->outcome = stopped ? watch_outcome(&crew->watch) : job->measurement->outcome;
            job->hops = job->measurement->totals.data_hops + job->measurement->totals.control_hops;
            job->simulated_ps = job->measurement->totals.simulated_ps;
        }
        job->done = true;
        atomic_fetch_add(&crew->done, 1);
    }
}

static void run_crew(struct crew *crew, unsigned threads) {
    pthread_t *workers = memory_allocate(threads, sizeof(*workers));
    unsigned started = 0;
    while (started + 1 < threads && pthread_create(&workers[started], NULL, work, crew) == 0) {
        started++;
    }
    work(crew); // this thread is one of them, and all of them if no other could be had
    for (unsigned i = 0; i < started; i++) {
        pthread_join(workers[i], NULL);
    }
    free(workers);
}

/* Independent runs share the threads first: they wait for nobody. What is left over goes into each run. */
static uint32_t threads_of_run(const struct batch *batch) {
    const uint32_t runs = batch->exchange ? 1 : batch->n_policies * batch->experiment->n_seeds;
    return batch->threads > runs ? batch->threads / runs : 1;
}

static struct job *jobs_of(const struct batch *batch) {
    const struct experiment *experiment = batch->experiment;
    struct job *jobs = memory_allocate((size_t)batch->n_policies * experiment->n_seeds, sizeof(*jobs));
    for (uint32_t p = 0; p < batch->n_policies; p++) {
        for (uint32_t s = 0; s < experiment->n_seeds; s++) {
            jobs[p * experiment->n_seeds + s].simulation = (struct simulation){
                .experiment = experiment,
                .policy = &experiment->policies[batch->policies[p]],
                .fluid = batch_is_fluid(experiment, p),
                .fabric = batch->fabric,
                .seed = experiment->seeds[s],
                .threads = threads_of_run(batch),
                .exchange = batch->exchange,
            };
        }
    }
    return jobs;
}

static enum exit_code exit_code_of(enum measurement_outcome outcome) {
    switch (outcome) {
    case MEASUREMENT_FINISHED:
        return EXIT_CODE_OK;
    case MEASUREMENT_INTERRUPTED:
        return EXIT_CODE_INTERRUPTED;
    default:
        return EXIT_CODE_LIMIT;
    }
}

/* Takes the results over. False with *error if a run could not start. */
static bool collect(struct crew *crew, struct batch_result *result, struct error *error) {
    bool good = true, cut_short = false;
    *result = (struct batch_result){.count = crew->n_jobs,
                                    .measurements = memory_allocate(crew->n_jobs, sizeof(*result->measurements))};
    for (uint32_t i = 0; i < crew->n_jobs; i++) {
        struct job *job = &crew->jobs[i];
        result->measurements[i] = job->measurement;
        cut_short = cut_short || !job->measurement || job->measurement->outcome == MEASUREMENT_INTERRUPTED;
        result->hops += job->hops;
        if (job->failed && good) {
            *error = job->error;
            good = false;
        }
        const enum exit_code code = job->measurement ? exit_code_of(job->measurement->outcome) : EXIT_CODE_OK;
        result->exit_code = code > result->exit_code ? code : result->exit_code;
    }
    if (interrupt_has_come() && cut_short) {
        result->exit_code = EXIT_CODE_INTERRUPTED;
    } else if (atomic_load(&crew->watch.exceeded) != MEASUREMENT_FINISHED) {
        result->stopped = watch_outcome(&crew->watch);
        result->exit_code = EXIT_CODE_LIMIT; // also if it was reached between two runs
    }
    return good;
}

bool batch_run(const struct batch *batch, struct batch_result *result, struct error *error) {
    struct crew crew = {.jobs = jobs_of(batch),
                        .n_jobs = batch->n_policies * batch->experiment->n_seeds,
                        .expected_hops = batch->expected_hops,
                        .thousandths = batch->thousandths};
    interrupt_listen();
    watch_begin(&crew.watch, batch->experiment->wall_time_limit_ps, batch->experiment->memory_limit_bytes);
    pthread_mutex_init(&crew.progress_lock, NULL);
    progress_init(&crew.progress, stderr, batch->experiment->name, batch->quiet);
    const unsigned at_once = batch->exchange ? 1 : batch->threads;
    run_crew(&crew, at_once < crew.n_jobs ? at_once : crew.n_jobs);
    struct progress_sample last = sample_of(&crew);
    last.share_done = interrupt_has_come() || watch_is_exceeded(&crew.watch) ? last.share_done : 1;
    progress_finish(&crew.progress, &last);
    pthread_mutex_destroy(&crew.progress_lock);
    const bool good = collect(&crew, result, error);
    free(crew.jobs);
    if (!good) {
        batch_result_fini(result);
    }
    return good;
}

void batch_result_fini(struct batch_result *result) {
    for (uint32_t i = 0; i < result->count; i++) {
        measurement_free(result->measurements[i]);
    }
    free(result->measurements);
    *result = (struct batch_result){0};
}
