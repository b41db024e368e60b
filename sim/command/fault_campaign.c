// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/fault_campaign.h"

#include "base/hash.h"
#include "config/gpu_groups.h"
#include "fabric/names.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEALTHY 0.25
#define ONE_FAULT 0.70 /* healthy cases counted */
#define CLOCK_DEVIATION 0.01

/* Draws of one case, in turn. */
struct draws {
    uint64_t stream, count;
};

static double between(struct draws *draws, double low, double high) {
    return low + (high - low) * hash_unit(hash_draw(draws->stream, draws->count++));
}

static uint32_t below(struct draws *draws, uint32_t bound) {
    return hash_below(hash_draw(draws->stream, draws->count++), bound);
}

static void tell(struct fault_campaign_case *drawn, enum detector_fault fault, uint32_t rank, uint32_t cable) {
    drawn->truth[drawn->n_truth++] = (struct detector_finding){.fault = fault, .rank = rank, .cable = cable};
}

static bool is_taken(const struct fault_campaign_case *drawn, uint32_t rank) {
    for (uint32_t i = 0; i < drawn->n_truth; i++) {
        if (drawn->truth[i].rank == rank) {
            return true;
        }
    }
    return false;
}

/* A link of switches; FABRIC_NONE: there is none. */
static uint32_t draw_link(struct draws *draws, const struct fabric *fabric) {
    uint32_t n = 0;
    for (uint32_t pass = 0, wanted = 0; pass < 2; pass++) {
        n = 0;
        for (uint32_t link = 0; link < fabric->n_links; link++) {
            const struct fabric_link *place = &fabric->links[link];
            if (place->kind == FABRIC_ETHERNET && place->tail_device >= fabric->n_endpoints &&
                place->head_device >= fabric->n_endpoints && n++ == wanted && pass == 1) {
                return link;
            }
        }
        wanted = n > 0 ? below(draws, n) : 0;
    }
    return FABRIC_NONE;
}

static void add_failure(struct fault_campaign_case *drawn, enum experiment_action action, double amount,
                        const char *what) {
    struct experiment_failure *failure = &drawn->experiment.failures[drawn->experiment.n_failures++];
    *failure = (struct experiment_failure){.action = action, .count = 1, .rate = amount, .loss = amount};
    snprintf(failure->what, sizeof failure->what, "%s", what);
}

static void fail_rank(struct fault_campaign_case *drawn, enum detector_fault fault, enum experiment_action action,
                      double amount, const char *device, uint32_t rank) {
    char name[NAMES_DEVICE_SIZE];
    snprintf(name, sizeof name, "%s%" PRIu32, device, rank);
    add_failure(drawn, action, amount, name);
    tell(drawn, fault, rank, TELEMETRY_NONE);
}

static void fail_link(struct fault_campaign_case *drawn, struct draws *draws, const struct fabric *fabric,
                      enum detector_fault fault, enum experiment_action action, double amount) {
    char name[NAMES_LINK_SIZE];
    const uint32_t link = draw_link(draws, fabric);
    if (link != FABRIC_NONE) {
        const uint32_t reverse = fabric->links[link].reverse;
        add_failure(drawn, action, amount, fabric_link_name(fabric, link, name, sizeof name));
        tell(drawn, fault, TELEMETRY_NONE, link < reverse ? link : reverse);
    }
}

static void cross(struct fault_campaign_case *drawn, struct draws *draws, const struct fabric *fabric, uint32_t rank) {
    const struct topology_fabric *given = &drawn->experiment.topology.fabric;
    const struct fabric_domain *domain = &fabric->domains[fabric->endpoints[rank].domain];
    const uint32_t other = domain->first_endpoint + below(draws, domain->n_endpoints);
    if (given->wiring == TOPOLOGY_WIRING_RAIL &&
        (rank - domain->first_endpoint) % given->rails != (other - domain->first_endpoint) % given->rails &&
        !is_taken(drawn, other)) {
        snprintf(drawn->experiment.topology.fabric.crossed_gpus, sizeof drawn->experiment.topology.fabric.crossed_gpus,
                 "%" PRIu32 ", %" PRIu32, rank, other);
        tell(drawn, DETECTOR_WRONG_RAIL, rank, TELEMETRY_NONE);
        tell(drawn, DETECTOR_WRONG_RAIL, other, TELEMETRY_NONE);
    }
}

/* Is there one rank that an expert makes hot, and does its number follow from the expert's? */
static bool has_one_hot_rank(const struct experiment *experiment) {
    const uint32_t ranks = experiment->topology.racks * experiment->topology.gpus_used;
    const uint32_t group = experiment->traffic.expert_parallelism;
    return (group == 0 || group == ranks) && experiment->model.experts % ranks == 0 &&
           experiment->placement.kind == EXPERIMENT_PLACEMENT_CONTIGUOUS && gpu_groups_plain(&experiment->traffic);
}

static void heat(struct fault_campaign_case *drawn, struct draws *draws) {
    struct experiment_traffic *traffic = &drawn->experiment.traffic;
    const uint32_t experts = drawn->experiment.model.experts;
    const uint32_t ranks = drawn->experiment.topology.racks * drawn->experiment.topology.gpus_used;
    if (!has_one_hot_rank(&drawn->experiment)) {
        return;
    }
    traffic->gate = EXPERIMENT_GATE_HOT_EXPERT;
    traffic->hot_expert = below(draws, experts);
    traffic->hot_expert_factor = between(draws, 2, 6);
    tell(drawn, DETECTOR_HOT_EXPERT, traffic->hot_expert / (experts / ranks), TELEMETRY_NONE);
}

static void draw_fault(struct fault_campaign_case *drawn, struct draws *draws, const struct fabric *fabric,
                       enum detector_fault fault) {
    const uint32_t rank = below(draws, fabric->n_endpoints);
    const double loss = pow(10, between(draws, -4, -2)), share = between(draws, 0.3, 0.9);
    struct experiment_stragglers *stragglers = &drawn->experiment.training.stragglers;
    if (is_taken(drawn, rank)) {
        return;
    }
    switch (fault) {
    case DETECTOR_SLOW_GPU:
        snprintf(stragglers->slow_gpus, sizeof stragglers->slow_gpus, "%" PRIu32, rank);
        stragglers->slow_gpu_clock = between(draws, 0.7, 0.96);
        tell(drawn, fault, rank, TELEMETRY_NONE);
        break;
    case DETECTOR_HOT_EXPERT:
        heat(drawn, draws);
        break;
    case DETECTOR_SLOW_NIC:
        fail_rank(drawn, fault, EXPERIMENT_ACTION_SLOW, between(draws, 0.5, 0.95), "nic", rank);
        break;
    case DETECTOR_SLOW_HOST:
        fail_rank(drawn, fault, EXPERIMENT_ACTION_SLOW_RECEIVE, share, "gpu", rank);
        break;
    case DETECTOR_WRONG_RAIL:
        cross(drawn, draws, fabric, rank);
        break;
    case DETECTOR_SLOW_LINK:
        fail_link(drawn, draws, fabric, fault, EXPERIMENT_ACTION_SLOW, share);
        break;
    default:
        if (below(draws, 2) == 0) {
            fail_rank(drawn, DETECTOR_LOSSY, EXPERIMENT_ACTION_LOSSY, loss, "nic", rank);
        } else {
            fail_link(drawn, draws, fabric, DETECTOR_LOSSY, EXPERIMENT_ACTION_LOSSY, loss);
        }
    }
}

void fault_campaign_draw(struct fault_campaign_case *drawn, const struct experiment *experiment,
                         const struct fabric *fabric, uint64_t seed, uint32_t number, bool gate) {
    struct draws draws = {.stream = hash_stream(seed, HASH_PURPOSE_CAMPAIGN, number, 0)};
    drawn->experiment = *experiment;
    drawn->n_truth = 0;
    drawn->experiment.n_failures = 0;
    drawn->experiment.topology.fabric.crossed_gpus[0] = '\0';
    drawn->experiment.traffic.gate = EXPERIMENT_GATE_BALANCED;
    drawn->experiment.training.stragglers = (struct experiment_stragglers){
        .slow_gpu_clock = 1, .clock_deviation = CLOCK_DEVIATION, .seed = hash_draw(draws.stream, 1000)};
    const double how_many = between(&draws, 0, 1);
    const uint32_t faults = how_many < HEALTHY ? 0 : how_many < ONE_FAULT ? 1 : 2;
    int before = -1;
    for (uint32_t i = 0; i < faults; i++) {
        const int fault = (int)below(&draws, DETECTOR_FAULTS);
        if (fault != before && (gate || fault != DETECTOR_HOT_EXPERT)) {
            draw_fault(drawn, &draws, fabric, (enum detector_fault)fault);
        }
        before = fault;
    }
}

static bool is_true(const struct fault_campaign_case *drawn, const struct detector_finding *finding) {
    for (uint32_t i = 0; i < drawn->n_truth; i++) {
        const struct detector_finding *truth = &drawn->truth[i];
        if (truth->fault == finding->fault && truth->rank == finding->rank && truth->cable == finding->cable) {
            return true;
        }
    }
    return false;
}

void fault_campaign_add(struct fault_campaign_score *score, const struct fault_campaign_case *drawn,
                        const struct detector_report *report) {
    score->cases++;
    score->healthy += drawn->n_truth == 0;
    score->healthy_named += drawn->n_truth == 0 && report->count > 0;
    score->faulty += drawn->n_truth > 0;
    score->first_right += drawn->n_truth > 0 && report->count > 0 && is_true(drawn, &report->findings[0]);
    for (uint32_t i = 0; i < drawn->n_truth; i++) {
        score->there[drawn->truth[i].fault]++;
    }
    for (uint32_t i = 0; i < report->count; i++) {
        const struct detector_finding *finding = &report->findings[i];
        if (is_true(drawn, finding)) {
            score->found[finding->fault]++;
        } else {
            score->wrong[finding->fault]++;
        }
    }
}

static uint32_t sum(const uint32_t *counts, uint32_t fault) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < DETECTOR_FAULTS; i++) {
        all += fault == DETECTOR_FAULTS || i == fault ? counts[i] : 0;
    }
    return all;
}

double fault_campaign_precision(const struct fault_campaign_score *score, uint32_t fault) {
    const uint32_t found = sum(score->found, fault), wrong = sum(score->wrong, fault);
    return found + wrong > 0 ? (double)found / (found + wrong) : NAN;
}

double fault_campaign_recall(const struct fault_campaign_score *score, uint32_t fault) {
    const uint32_t there = sum(score->there, fault);
    return there > 0 ? (double)sum(score->found, fault) / there : NAN;
}
