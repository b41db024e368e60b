// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/goodput.h"

#include "base/error_id.h"
#include "config/experiment_place.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#define LEAST_INTERVAL_S 1e-3 /* ours: no training takes checkpoints more often */
#define TOLERANCE 1e-10
#define SPAN_TOLERANCE 1e-6
#define ROUNDING 1e-12 /* of an interval that has been a logarithm */
enum { MOST_ITERATIONS = 500, MEAN_POINTS = 32, WEIGHT_BYTES = 2 /* BF16 */ };

/* ---- outages ---- */

/* Hosts that fail in a second. */
static double fail_per_s(const struct goodput *goodput, const struct goodput_job *job) {
    double gpus_per_s = 0;
    for (int i = 0; i < FAILURE_COMPONENTS; i++) {
        const struct failure_part *part = &goodput->parts[i];
        gpus_per_s += part->interrupts ? (double)part->count * part->per_s * part->out_gpus : 0;
    }
    return gpus_per_s / job->failures->host_gpus;
}

/* The probability that more hosts than so many are in repair: as many as fail while one is repaired. After the start they become more until the first come back: the mean over the span of a job. */
static double more_in_repair(const struct goodput_job *job, uint32_t hosts, double per_s, double span_s) {
    const double rise_s = fmin(job->failures->repair_s, span_s), most = per_s * rise_s;
    double rising = 0;
    if (most <= 0) {
        return 0;
    }
    for (int i = 0; i < MEAN_POINTS && isfinite(span_s); i++) {
        rising += gsl_cdf_poisson_Q(hosts, most * (i + 0.5) / MEAN_POINTS) / MEAN_POINTS;
    }
    const double share = isfinite(span_s) ? rise_s / span_s : 0;
    return share * rising + (1 - share) * gsl_cdf_poisson_Q(hosts, most);
}

/* The probability that fewer than `needed` GPUs of the spares are left. */
static double without_spare(const struct goodput_job *job, double per_s, double span_s, uint32_t needed) {
    const uint32_t spares = job->failures->warm_spares, host = job->failures->host_gpus;
    return spares < needed ? 1 : more_in_repair(job, (spares - needed) / host, per_s, span_s);
}

/* Who needs more than all spares waits for its own repair; else for the next of those that are in repair, at least as many as spares, none of them older than the job. */
static double wait_s(const struct goodput_job *job, double span_s, uint32_t needed) {
    const struct experiment_interruptions *failures = job->failures;
    const double next_s = failures->repair_s / (1 + failures->warm_spares / failures->host_gpus);
    return failures->warm_spares < needed ? failures->repair_s : fmax(next_s, failures->repair_s - span_s);
}

/* 1 − exp(−R/M), the mean over what may interrupt and whether there is a spare: Q. */
static double outage_share(struct goodput *goodput, const struct goodput_job *job, double span_s) {
    const struct experiment_interruptions *failures = job->failures;
    const double per_s = fail_per_s(goodput, job), sum = failure_rates_sum(goodput->parts);
    double share = 0, out = 0, waiting = 0;
    for (int i = 0; i < FAILURE_COMPONENTS; i++) {
        const struct failure_part *part = &goodput->parts[i];
        const double weight = part->interrupts ? (double)part->count * part->per_s / sum : 0;
        const double none = part->out_gpus > 0 ? without_spare(job, per_s, span_s, part->out_gpus) : 0;
        const double at_once_s =
            failures->detection_s + (part->out_gpus > 0 ? failures->warm_restart_s : failures->restart_s);
        const double late_s = failures->detection_s + wait_s(job, span_s, part->out_gpus) + failures->restart_s;
        share -= weight * ((1 - none) * expm1(-at_once_s / goodput->mtbf_s) + none * expm1(-late_s / goodput->mtbf_s));
        out += part->out_gpus > 0 ? weight : 0;
        waiting += part->out_gpus > 0 ? weight * none : 0;
    }
    goodput->share_without_spare = out > 0 ? waiting / out : 0;
    return share;
}

/* ---- the optimum ---- */

/* log(E(τ) ÷ τ) but for what does not depend on τ, of log τ. */
static double overhead(double log_interval, void *context) {
    const struct goodput *goodput = context;
    const double interval_s = exp(log_interval), all = (interval_s + goodput->cost_s) / goodput->mtbf_s;
    return all + log(-expm1(-all)) - log_interval;
}

static double minimise(const struct goodput *goodput, double least_s) {
    gsl_function function = {.function = overhead, .params = (void *)goodput};
    /* The optimum is between Young's less δ and M: E(τ)/τ rises beyond M whatever δ is. */
    double low = log(fmax(least_s, LEAST_INTERVAL_S)), high = log(fmax(goodput->mtbf_s * 1.01, 2 * exp(low)));
    double middle = fmin(fmax(log(goodput->daly_s), low + 1e-6 * (high - low)), high - 1e-6 * (high - low));
    if (overhead(middle, (void *)goodput) >= overhead(low, (void *)goodput)) {
        return exp(low); // as often as can be
    }
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    gsl_min_fminimizer *search = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
    int status = gsl_min_fminimizer_set(search, &function, middle, low, high);
    for (int i = 0; i < MOST_ITERATIONS && status == GSL_SUCCESS; i++) {
        status = gsl_min_fminimizer_iterate(search);
        low = gsl_min_fminimizer_x_lower(search);
        high = gsl_min_fminimizer_x_upper(search);
        if (status != GSL_SUCCESS || high - low < TOLERANCE) {
            break;
        }
    }
    middle = gsl_min_fminimizer_x_minimum(search);
    gsl_min_fminimizer_free(search);
    gsl_set_error_handler(before);
    return exp(middle);
}

static void find_optimum(struct goodput *goodput) {
    const double cost_s = goodput->cost_s, mtbf_s = goodput->mtbf_s, half = cost_s / (2 * mtbf_s);
    goodput->young_s = sqrt(2 * cost_s * mtbf_s);
    goodput->daly_s = half < 1 ? goodput->young_s * (1 + sqrt(half) / 3 + half / 9) - cost_s : mtbf_s;
    goodput->optimum_s = isfinite(mtbf_s) ? minimise(goodput, goodput->write_s - cost_s) : INFINITY;
}

/* ---- expected time ---- */

double goodput_expected_s(const struct goodput *goodput, double interval_s, double work_s) {
    const double mtbf_s = goodput->mtbf_s, write_s = goodput->write_s;
    const double intervals = fmax(ceil(work_s / interval_s - 1e-9), 1), last_s = work_s - (intervals - 1) * interval_s;
    const double whole_s = interval_s + goodput->cost_s;
    if (!isfinite(mtbf_s)) {
        return work_s + (intervals - 1) * goodput->cost_s;
    }
    /* The last checkpoint is of no use if training ends before it is good. */
    const bool good = last_s >= write_s;
    const double checkpoints = intervals - (good ? 1 : 2), end_s = good ? last_s : last_s + whole_s;
    const double once = mtbf_s + goodput->outage_s;
    if (checkpoints <= 0) {
        return once * expm1((intervals > 1 ? end_s : work_s) / mtbf_s);
    }
    const double to_first = expm1((whole_s + write_s) / mtbf_s);
    const double to_next = exp(write_s / mtbf_s) * expm1(whole_s / mtbf_s);
    const double to_end = exp(end_s / mtbf_s) - exp(write_s / mtbf_s);
    return once * (to_first + (checkpoints - 1) * to_next + to_end);
}

/* The optimum may be where one is written as soon as the next begins, but for rounding. */
static bool check_writing(const struct goodput *goodput, const struct goodput_job *job, struct error *error) {
    if (goodput->write_s <= (goodput->interval_s + goodput->cost_s) * (1 + ROUNDING)) {
        return true;
    }
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
              "a checkpoint of %.4g GB takes %.4g s to write, but the next comes after %.4g s", goodput->bytes / 1e9,
              goodput->write_s, goodput->interval_s + goodput->cost_s);
    error_hint(error, "a longer interval, or more of storage_rate");
    return experiment_place_blame(&job->checkpoint->place, error);
}

static void fill_checkpoint(struct goodput *goodput, const struct goodput_job *job) {
    const struct experiment_checkpoint *checkpoint = job->checkpoint;
    goodput->bytes =
        checkpoint->bytes > 0 ? checkpoint->bytes : job->parameters * (WEIGHT_BYTES + job->optimiser_state_bytes);
    const double store_s = goodput->bytes / (double)checkpoint->storage_bytes_per_s;
    const double copy_s = goodput->bytes / job->gpus / (double)checkpoint->copy_bytes_per_s;
    goodput->cost_s = checkpoint->cost_s > 0 ? checkpoint->cost_s : checkpoint->asynchronous ? copy_s : store_s;
    goodput->write_s = checkpoint->asynchronous ? store_s : 0;
}

/* How long a job takes says how many hosts are in repair, and these how long it takes: from its work upwards. */
static void expect(struct goodput *goodput, const struct goodput_job *job) {
    double span_s = job->from_start ? job->work_s : INFINITY;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        const double share = isfinite(goodput->mtbf_s) ? outage_share(goodput, job, span_s) : 0;
        goodput->outage_s = share > 0 ? goodput->mtbf_s * share / (1 - share) : 0;
        goodput->expected_s = goodput_expected_s(goodput, goodput->interval_s, job->work_s);
        if (!(goodput->expected_s > span_s * (1 + SPAN_TOLERANCE))) {
            break;
        }
        span_s = goodput->expected_s;
    }
}

bool goodput_fill(struct goodput *goodput, const struct goodput_job *job, struct error *error) {
    *goodput = (struct goodput){0};
    failure_rates_fill(goodput->parts, job->failures, job->topology, job->gpus);
    const double sum = failure_rates_sum(goodput->parts);
    goodput->mtbf_s = sum > 0 ? 1 / sum : INFINITY;
    fill_checkpoint(goodput, job);
    find_optimum(goodput);
    const double given_s = job->checkpoint->interval_s;
    goodput->interval_s = given_s > 0 ? given_s : fmin(goodput->optimum_s, fmax(job->work_s, goodput->write_s));
    if (!check_writing(goodput, job, error)) {
        return false;
    }
    expect(goodput, job);
    goodput->goodput = job->work_s / goodput->expected_s;
    return true;
}
