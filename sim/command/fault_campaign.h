// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Faults drawn at random into a cluster, and how well a detector finds them.
 *
 * Of the cases a quarter are healthy, 45 % have one fault and 30 % two, each of a kind drawn evenly: a clock of 70 to 96 %, a NIC of 50 to 95 % or a cable between
 * switches of 30 to 90 % of its rate, a loss of 1e-4 to 1e-2 on a NIC's cable or one between switches, a host that takes 30 to 90 % of the
 * NIC's rate, two NICs of a node on each other's rail, an expert 2 to 6 times as popular as the mean. All clocks differ by 1 % (standard deviation).
 */
#ifndef MOEFABRIC_COMMAND_FAULT_CAMPAIGN_H
#define MOEFABRIC_COMMAND_FAULT_CAMPAIGN_H

#include "config/experiment.h"
#include "fabric/fabric.h"
#include "training/detector.h"

enum { FAULT_CAMPAIGN_MOST = 4 };

/** One case. */
struct fault_campaign_case {
    struct experiment experiment; /**< with its faults */
    struct detector_finding truth[FAULT_CAMPAIGN_MOST];
    uint32_t n_truth;
};

/** Draws a case into the cluster of a configuration, whose own faults are left out. fabric: of that cluster. gate: experts may be hot, too, where each has one rank in all the cluster. */
void fault_campaign_draw(struct fault_campaign_case *drawn, const struct experiment *experiment,
                         const struct fabric *fabric, uint64_t seed, uint32_t number, bool gate);

/** How often a kind of fault was there, and was named. */
struct fault_campaign_score {
    uint32_t there[DETECTOR_FAULTS], found[DETECTOR_FAULTS], wrong[DETECTOR_FAULTS];
    uint32_t cases, healthy,
        healthy_named;            /**< cases without a fault, and those of them in which something was named */
    uint32_t faulty, first_right; /**< cases with faults, and those whose first finding is one of them */
};

/** Adds a case: a finding is right if a fault of that kind is there, at that place. */
void fault_campaign_add(struct fault_campaign_score *score, const struct fault_campaign_case *drawn,
                        const struct detector_report *report);

/** Right findings ÷ all findings; NAN if there are none. DETECTOR_FAULTS: of all kinds. */
double fault_campaign_precision(const struct fault_campaign_score *score, uint32_t fault);

/** Faults found ÷ faults that are there; NAN if there are none. DETECTOR_FAULTS: of all kinds. */
double fault_campaign_recall(const struct fault_campaign_score *score, uint32_t fault);

#endif
