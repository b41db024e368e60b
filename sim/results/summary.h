// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A measurement in a few numbers. A number that is not defined (nothing finished, no ideal known) is NAN.
 */
#ifndef MOEFABRIC_RESULTS_SUMMARY_H
#define MOEFABRIC_RESULTS_SUMMARY_H

#include "results/measurement.h"

#include <stddef.h>
#include <stdint.h>

/** Exact quantiles of a sample: interpolated between neighbours in order, as numpy.quantile and gsl_stats_quantile do. */
struct summary_quantiles {
    uint64_t count;
    double mean, p50, p90, p99, p999, max;
};

/** One phase. Bandwidths are bytes per second and participant over time_ps; their definitions differ, so each says which it is. */
struct summary_phase {
    char name[MEASUREMENT_NAME_SIZE];
    enum measurement_phase_kind kind;
    struct summary_quantiles rank_time_ps; /**< of one rank: from its start to its last byte */
    double time_ps;                        /**< from the first rank's start to the last rank's finish */
    struct summary_quantiles slowdown;     /**< of a background's flows; all NAN for other kinds */
    double ideal_ps;                       /**< least time that this traffic could take */
    double ideal_share;    /**< ideal ÷ time, for every bandwidth of this phase the share of what could be reached */
    double algbw;          /**< logical: buffer of a rank, own part included, ÷ time (NCCL) */
    double busbw;          /**< busbw: algbw × (n - 1) ÷ n for n participants (NCCL, PERFORMANCE.md) */
    double rdma_logical;   /**< logical: tokens × distinct destination nodes, the local one included (DeepEP) */
    double nvl_received;   /**< logical: tokens × distinct destination ranks, itself included (DeepEP) */
    double fabric_payload; /**< payload that crossed the fabric, without headers */
};

/** One run. Owns its arrays; freed by summary_free. */
struct summary {
    char policy[MEASUREMENT_NAME_SIZE];
    uint64_t seed;
    enum measurement_model model;
    enum measurement_outcome outcome;
    double simulated_ps;
    double undelivered;                       /**< messages of any phase */
    struct summary_quantiles message_time_ps; /**< payload messages: posted to delivered */
    struct summary_quantiles flow_time_ps;    /**< payload flows: active time */
    struct summary_quantiles slowdown;        /**< payload flows: active ÷ ideal */
    struct summary_quantiles victim_slowdown; /**< the same, of flows that do not go to the hot rank */
    struct summary_quantiles
        rank_time_ps; /**< of one rank: from its first start to its last finish over all measured phases */
    uint32_t
        hot_rank; /**< in one phase, receives the largest multiple of what ranks receive over the fabric in the mean (the first of equals); MEASUREMENT_NONE = no payload */
    uint32_t hot_phase;  /**< that phase */
    double hot_load;     /**< in that phase: its payload ÷ mean payload of those that take part */
    double hot_time_ps;  /**< in that phase: first message to it posted to last one delivered */
    double hot_ideal_ps; /**< in that phase: least time of its received bytes at its own port */
    double
        worst_queue_bytes; /**< deepest queue of a port of the fabric. This and the counts below: NAN where nothing crossed the fabric, and under the fluid model */
    char worst_queue[MEASUREMENT_NAME_SIZE]; /**< the link that leaves it; empty if all were empty */
    double marks, pauses, paused_ps, drops_lossless, drops_lossy;  /**< sums over links */
    double trims;                                                  /**< packets, sum over links */
    double credit_stalls, credit_stalled_ps;                       /**< InfiniBand, sums over links */
    double lost, unrouted;                                         /**< packets, sums over links */
    double retransmitted, duplicates, out_of_order, notifications; /**< packets, sums over endpoints */
    double watchdog_storms, watchdog_drops;                        /**< sums over links */
    double receive_pauses, receive_discards;                       /**< of receive buffers, sums over endpoints */
    double spurious, nacks;                                        /**< packets, sums over endpoints */
    double reordering;                                             /**< packets, largest of any endpoint */
    double data_hops, control_hops;
    uint64_t traffic_digest;
    uint32_t n_phases;
    struct summary_phase *phases;
    uint32_t n_explanations;
    struct measurement_explanation *explanations; /**< copies */
};

/** Quantiles of values, which are sorted in place. All NAN for an empty sample. */
struct summary_quantiles summary_quantiles(double *values, size_t count);

/** Summarises a finished measurement; the caller owns the result. */
struct summary *summary_create(const struct measurement *measurement);

/** Frees a summary; NULL is allowed. */
void summary_free(struct summary *summary);

#endif
