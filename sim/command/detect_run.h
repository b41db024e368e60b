// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Looks at a cluster, simulated: a detector beside its traffic, or a probe before it.
 */
#ifndef MOEFABRIC_COMMAND_DETECT_RUN_H
#define MOEFABRIC_COMMAND_DETECT_RUN_H

#include "base/error.h"
#include "command/fault_campaign.h"
#include "training/detector.h"

/** How to look. */
struct detect_run {
    bool probe;      /**< pairwise tests instead of the configuration's traffic */
    uint32_t policy; /**< number of the configuration's */
    uint64_t seed;   /**< of traffic and noise */
};

/** Rounds of a probe, in each of which every GPU sends to one other. */
enum { DETECT_RUN_ROUNDS = 6 };

/** What a probe takes of wall clock on a real cluster, seconds: each round for ten seconds, and a minute of matrix multiplications. Ours. */
#define DETECT_RUN_PROBE_S (DETECT_RUN_ROUNDS * 10.0 + 60.0)

/** Simulates one look at a cluster as its configuration describes it; what was seen goes to *seen (telemetry_take_free), which may be NULL. False with *error if it cannot be simulated. */
bool detect_run_look(struct detector_report *report, const struct experiment *experiment, const struct detect_run *how,
                     struct telemetry **seen, struct error *error);

/** Who is told how many cases are done. */
struct detect_run_watch {
    void (*show)(void *context, uint32_t done, uint32_t of);
    void *context;
};

/** So many cases of a campaign, or fewer if a signal has come. watch may be NULL. */
bool detect_run_campaign(struct fault_campaign_score *score, const struct experiment *experiment,
                         const struct detect_run *how, uint32_t cases, const struct detect_run_watch *watch,
                         struct error *error);

#endif
