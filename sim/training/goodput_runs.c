// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/goodput.h"

#include "base/hash.h"
#include "base/memory.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_FACTOR 1000.0 /* ours: a course that takes so many times its work is given up */
enum { MOST_INTERRUPTIONS = 200000, HELD = 16 };

/* GPUs that are out until they are repaired. */
struct repair {
    double until_s;
    uint32_t gpus;
};

/* One course of training. */
struct course {
    const struct goodput *goodput;
    const struct goodput_job *job;
    uint64_t stream, draws;
    double now_s, done_s;   /* wall clock; work up to the last good checkpoint */
    struct repair *repairs; /* in order of time, past ones too */
    size_t n_repairs, capacity;
    size_t n_needed;      /* of them: with these over, spares stand in for all the others, */
    uint64_t others_gpus; /* whose GPUs are so many */
    uint64_t interruptions;
    double checkpoint_s, lost_s, detection_s, waiting_s, restart_s;
};

static double unit(struct course *course) {
    return hash_unit(hash_draw(course->stream, course->draws++));
}

static const struct failure_part *draw_part(struct course *course) {
    const struct failure_part *parts = course->goodput->parts, *last = parts;
    double left = unit(course) * failure_rates_sum(parts);
    for (int i = 0; i < FAILURE_COMPONENTS; i++) {
        if (parts[i].interrupts && parts[i].count > 0 && parts[i].per_s > 0) {
            last = &parts[i];
            left -= (double)parts[i].count * parts[i].per_s;
            if (left < 0) {
                break;
            }
        }
    }
    return last;
}

/* ---- spares ---- */

static void add_repair(struct course *course, double until_s, uint32_t gpus) {
    if (course->n_repairs == course->capacity) {
        const size_t capacity = course->capacity ? 2 * course->capacity : HELD;
        struct repair *larger = memory_allocate(capacity, sizeof *larger);
        if (course->n_repairs > 0) {
            memcpy(larger, course->repairs, course->n_repairs * sizeof *larger);
        }
        free(course->repairs);
        course->repairs = larger;
        course->capacity = capacity;
    }
    course->repairs[course->n_repairs++] =
        (struct repair){until_s, gpus}; // all repairs last as long: later ones end later
    course->others_gpus += gpus;
    while (course->others_gpus > course->job->failures->warm_spares) {
        course->others_gpus -= course->repairs[course->n_needed++].gpus;
    }
}

/* When enough GPUs are there again; no sooner than at_s. */
static double wait_for_gpus(const struct course *course, double at_s) {
    return course->n_needed > 0 ? fmax(at_s, course->repairs[course->n_needed - 1].until_s) : at_s;
}

/* ---- interruptions ---- */

/* What of the time until an interruption lasts: whole intervals whose checkpoint is good. */
static void keep(struct course *course, double until_s) {
    const struct goodput *goodput = course->goodput;
    const double whole_s = goodput->interval_s + goodput->cost_s, span_s = until_s - course->now_s;
    const double good = fmax(floor((span_s - goodput->write_s) / whole_s), 0);
    course->done_s += good * goodput->interval_s;
    course->checkpoint_s += good * goodput->cost_s;
    course->lost_s += span_s - good * whole_s;
}

/* An outage, and those that begin in it. Returns when the next interruption comes. */
static double sit_out(struct course *course, double next_s) {
    const struct experiment_interruptions *failures = course->job->failures;
    for (;;) {
        const double failed_s = next_s, known_s = failed_s + failures->detection_s;
        const struct failure_part *part = draw_part(course);
        if (part->out_gpus > 0) {
            add_repair(course, known_s + failures->repair_s, part->out_gpus);
        }
        const double there_s = wait_for_gpus(course, known_s);
        const bool warm = part->out_gpus > 0 && there_s <= known_s;
        const double back_s = there_s + (warm ? failures->warm_restart_s : failures->restart_s);
        next_s = failed_s - course->goodput->mtbf_s * log1p(-unit(course));
        course->interruptions++;
        const double until_s = fmin(next_s, back_s);
        course->detection_s += fmin(until_s, known_s) - failed_s;
        course->waiting_s += fmin(until_s, there_s) - fmin(until_s, known_s);
        course->restart_s += until_s - fmin(until_s, there_s);
        course->now_s = until_s;
        if (back_s <= next_s || course->interruptions >= MOST_INTERRUPTIONS) {
            return next_s;
        }
    }
}

/* False if the course is given up. */
static bool run(struct course *course) {
    const struct goodput *goodput = course->goodput;
    const double work_s = course->job->work_s;
    double next_s = isfinite(goodput->mtbf_s) ? -goodput->mtbf_s * log1p(-unit(course)) : INFINITY;
    for (;;) {
        const double left_s = work_s - course->done_s;
        const double checkpoints = fmax(ceil(left_s / goodput->interval_s - 1e-9), 1) - 1;
        const double end_s = course->now_s + left_s + checkpoints * goodput->cost_s;
        if (end_s <= next_s) {
            course->checkpoint_s += checkpoints * goodput->cost_s;
            course->now_s = end_s;
            return true;
        }
        keep(course, next_s);
        next_s = sit_out(course, next_s);
        if (course->now_s > LONGEST_FACTOR * work_s || course->interruptions >= MOST_INTERRUPTIONS) {
            return false;
        }
    }
}

/* ---- all courses ---- */

static void add(struct goodput_runs *sum, const struct course *course) {
    sum->interruptions += (double)course->interruptions / sum->runs;
    sum->checkpoint_s += course->checkpoint_s / sum->runs;
    sum->lost_s += course->lost_s / sum->runs;
    sum->detection_s += course->detection_s / sum->runs;
    sum->waiting_s += course->waiting_s / sum->runs;
    sum->restart_s += course->restart_s / sum->runs;
}

static void spread(struct goodput_runs *runs, double *times_s) {
    const uint32_t n = runs->runs;
    runs->mean_s = gsl_stats_mean(times_s, 1, n);
    runs->half_width_s = gsl_cdf_tdist_Pinv(0.975, n - 1) * gsl_stats_sd_m(times_s, 1, n, runs->mean_s) / sqrt(n);
    gsl_sort(times_s, 1, n);
    runs->fastest_s = times_s[(n - 1) / 20];
    runs->slowest_s = times_s[n - 1 - (n - 1) / 20];
}

bool goodput_simulate(const struct goodput *goodput, const struct goodput_job *job, uint64_t seed,
                      struct goodput_runs *runs) {
    const uint32_t n = job->failures->runs;
    double *times_s = memory_allocate(n, sizeof *times_s);
    bool stopped = false;
    *runs = (struct goodput_runs){.runs = n, .ended = true};
    for (uint32_t i = 0; i < n && runs->ended && !stopped; i++) {
        struct course course = {
            .goodput = goodput, .job = job, .stream = hash_stream(seed, HASH_PURPOSE_INTERRUPTION, i, 0)};
        runs->ended = run(&course);
        times_s[i] = course.now_s;
        add(runs, &course);
        free(course.repairs);
        stopped = job->stop != NULL && job->stop();
    }
    if (runs->ended && !stopped) {
        spread(runs, times_s);
    }
    free(times_s);
    return !stopped;
}
