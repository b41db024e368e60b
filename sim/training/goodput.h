// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Goodput: what share of its time a job makes progress that lasts, with interruptions, checkpoints, restarts and spares.
 *
 * Interruptions come at a constant rate 1/M. Training computes for an interval τ, then stands still for δ while a checkpoint is taken; written
 * behind training (asynchronous), it is good only w later. An interruption throws training back to the last good checkpoint and stops it for an
 * outage (detection, waiting for GPUs where no spare is left, restart), in which the next interruption begins another outage. With q_c the share of
 * interruptions by part c and R_c its outage, an outage takes in the mean A = M Q ÷ (1 − Q), Q = Σ q_c (1 − exp(−R_c/M)), and from one good checkpoint to the next
 *
 *     E(τ) = (M + A) exp(w/M) (exp((τ + δ)/M) − 1).
 *
 * With one outage R, M + A is M exp(R/M), and with w = 0 this is the complete cost of Daly, "A higher order estimate of the optimum checkpoint
 * interval for restart dumps" (Future Generation Computer Systems 22, 2006, 303-312). The interval that makes E(τ) ÷ τ least is found by Brent's
 * method (GSL); first-order estimates beside it: sqrt(2 δ M) (Young, Communications of the ACM 17, 1974) and Daly's.
 */
#ifndef MOEFABRIC_TRAINING_GOODPUT_H
#define MOEFABRIC_TRAINING_GOODPUT_H

#include "base/error.h"
#include "training/failure_rates.h"

/** What is to be known of a job. */
struct goodput_job {
    const struct experiment_interruptions *failures;
    const struct experiment_checkpoint *checkpoint;
    const struct topology *topology; /**< its clusters */
    uint32_t gpus;                   /**< that train, spares not counted */
    double parameters;               /**< that are trained; for checkpoints whose bytes are not given */
    uint32_t optimiser_state_bytes;  /**< of each of them */
    double work_s;                   /**< that training takes if nothing fails and nothing is written */
    bool from_start;    /**< all hosts are well when it begins; else it goes on for ever, and some are in repair */
    bool (*stop)(void); /**< asked after each simulated course: true ends them; NULL: never */
};

/** What follows from it. Times in seconds. */
struct goodput {
    struct failure_part parts[FAILURE_COMPONENTS];
    double mtbf_s;              /**< of the job: from one interruption to the next; INFINITY if nothing fails */
    double bytes;               /**< of a checkpoint */
    double cost_s;              /**< δ: training stands still */
    double write_s;             /**< w: from there until the checkpoint is good */
    double interval_s;          /**< τ that is used, the given one or the optimum */
    double optimum_s;           /**< τ with which training ends soonest; INFINITY if nothing fails */
    double young_s, daly_s;     /**< estimates of it, INFINITY if nothing fails */
    double outage_s;            /**< A */
    double share_without_spare; /**< of interruptions that take GPUs out: no spare is left for them */
    double expected_s;          /**< of all work; INFINITY: it never ends */
    double goodput;             /**< work ÷ expected */
};

/**
 * Works out the expected time of a job. Exact where spares are plenty, or where there are none and all that interrupts takes GPUs out. In between it is an estimate: hosts in
 * repair are taken as Poisson (as many as would fail while one is repaired, or since the start of a job that has one: the mean over its time), who finds no spare waits for the next of them, and what interrupts
 * a wait ends it; goodput_simulate does none of this. False with *error if checkpoints cannot be written as often as they are taken.
 */
bool goodput_fill(struct goodput *goodput, const struct goodput_job *job, struct error *error);

/** The expected time of so much work with an interval τ; INFINITY: it never ends. */
double goodput_expected_s(const struct goodput *goodput, double interval_s, double work_s);

/** Where the time of simulated courses went: means in seconds, and how far they vary. */
struct goodput_runs {
    uint32_t runs;
    double mean_s, half_width_s; /**< of the whole; 95 % confidence of the mean (Student's t) */
    double fastest_s, slowest_s; /**< 5 % of courses took less than fastest, 5 % more than slowest */
    double interruptions;        /**< of a course */
    double checkpoint_s,
        lost_s; /**< standing still for checkpoints; computed and thrown away, its checkpoints included */
    double detection_s, waiting_s, restart_s;
    bool ended; /**< false: some course did not come to its end in 1,000 times its work */
};

/** Simulates courses of training interruption by interruption, spares and repairs included. The same seed gives the same courses. False: job->stop has ended them. */
bool goodput_simulate(const struct goodput *goodput, const struct goodput_job *job, uint64_t seed,
                      struct goodput_runs *runs);

#endif
