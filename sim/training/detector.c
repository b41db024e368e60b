// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/detector.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define SPREADS 3.5
#define MAD_TO_DEVIATION 1.4826 /* of a normal distribution */
/* Ours: less than this is not worth anybody's time. */
#define LEAST_SLOW_GPU 0.035 /* clocks of one model of GPU differ by 1 % */
#define LEAST_HOT 0.10
#define LEAST_SLOW_LINK 0.05
#define LEAST_SLOW_PAIR 0.08
#define LEAST_ERRORS 4.0 /* ports count a stray one now and then */
#define LEAST_PAUSES 10.0

const char *const detector_fault_names[DETECTOR_FAULTS] = {"slow GPU",          "hot expert", "slow NIC",  "slow host",
                                                           "NIC on wrong rail", "slow link",  "lossy link"};

/* Where most values are. */
struct middle {
    double median, deviation;
};

static int ascending(const void *first, const void *second) {
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static double median_of(double *values, uint32_t n) {
    qsort(values, n, sizeof *values, ascending);
    return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Values are put in order, then replaced. */
static struct middle middle_of(double *values, uint32_t n) {
    struct middle middle = {.median = median_of(values, n)};
    for (uint32_t i = 0; i < n; i++) {
        values[i] = fabs(values[i] - middle.median);
    }
    middle.deviation = MAD_TO_DEVIATION * median_of(values, n);
    return middle;
}

static double spreads(double value, const struct middle *middle) {
    const double away = fabs(value - middle->median);
    return away == 0 ? 0 : away / middle->deviation;
}

static void add(struct detector_report *report, struct detector_finding finding) {
    for (uint32_t i = 0; i < report->count; i++) {
        const struct detector_finding *there = &report->findings[i];
        if (there->fault == finding.fault && there->rank == finding.rank && there->cable == finding.cable) {
            report->findings[i].amount = fmax(there->amount, finding.amount); // both directions of a link
            return;
        }
    }
    if (report->count == DETECTOR_MOST) {
        report->more = true;
        return;
    }
    report->findings[report->count++] = finding;
}

static void add_rank(struct detector_report *report, enum detector_fault fault, uint32_t rank, double amount,
                     double away) {
    add(report, (struct detector_finding){fault, rank, TELEMETRY_NONE, amount, away});
}

/* ---- GPUs ---- */

/* A clock: time against the median, where fast ones are as usual as slow ones. */
static void look_at_computing(const struct telemetry *telemetry, double *values, struct detector_report *report) {
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        values[i] = telemetry->ranks[i].compute;
    }
    const struct middle middle = middle_of(values, telemetry->n_ranks);
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        const double more = telemetry->ranks[i].compute / middle.median - 1;
        const double away = spreads(telemetry->ranks[i].compute, &middle);
        if (more > LEAST_SLOW_GPU && away > SPREADS) {
            add_rank(report, DETECTOR_SLOW_GPU, i, more, away);
        }
    }
}

static void look_at_tokens(const struct telemetry *telemetry, double *values, struct detector_report *report) {
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        values[i] = telemetry->ranks[i].tokens;
    }
    const struct middle middle = middle_of(values, telemetry->n_ranks);
    for (uint32_t i = 0; i < telemetry->n_ranks && middle.median > 0; i++) {
        const double more = telemetry->ranks[i].tokens / middle.median - 1;
        const double away = spreads(telemetry->ranks[i].tokens, &middle);
        if (more > LEAST_HOT && away > SPREADS) {
            add_rank(report, DETECTOR_HOT_EXPERT, i, more, away);
        }
    }
}

/* ---- links ---- */

static uint32_t rank_of(const struct telemetry_link *link) {
    return link->from_rank != TELEMETRY_NONE ? link->from_rank : link->to_rank;
}

static bool is_slow(const struct telemetry_link *link) {
    return link->rate_bytes_per_s > 0 && link->rate_bytes_per_s < (1 - LEAST_SLOW_LINK) * link->nominal_bytes_per_s;
}

/* Rates while sending are those of the port; peers of its kind say how far they are measured apart. */
static void look_at_rates(const struct telemetry *telemetry, double *values, struct detector_report *report) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        const struct telemetry_link *link = &telemetry->links[i];
        if (link->rate_bytes_per_s > 0) {
            values[n++] = link->rate_bytes_per_s / link->nominal_bytes_per_s;
        }
    }
    const struct middle middle = middle_of(values, n);
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        const struct telemetry_link *link = &telemetry->links[i];
        const double share = link->rate_bytes_per_s / link->nominal_bytes_per_s, away = spreads(share, &middle);
        if (is_slow(link) && share < middle.median && away > SPREADS) {
            const uint32_t rank = rank_of(link);
            add(report, (struct detector_finding){rank == TELEMETRY_NONE ? DETECTOR_SLOW_LINK : DETECTOR_SLOW_NIC, rank,
                                                  rank == TELEMETRY_NONE ? link->cable : TELEMETRY_NONE,
                                                  middle.median / share - 1, away});
        }
    }
}

static void look_at_errors(const struct telemetry *telemetry, struct detector_report *report) {
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        const struct telemetry_link *link = &telemetry->links[i];
        if (link->errors >= LEAST_ERRORS) {
            const uint32_t rank = rank_of(link);
            add(report,
                (struct detector_finding){DETECTOR_LOSSY, rank, rank == TELEMETRY_NONE ? link->cable : TELEMETRY_NONE,
                                          link->errors / fmax(link->packets, 1), INFINITY});
        }
    }
}

/* ---- hosts and rails ---- */

static bool is_known(const struct detector_report *report, enum detector_fault fault, uint32_t rank) {
    for (uint32_t i = 0; i < report->count; i++) {
        if (report->findings[i].fault == fault && report->findings[i].rank == rank) {
            return true;
        }
    }
    return false;
}

/* Whoever pauses its leaf, or receives slowly from everybody by a NIC that is well. */
static void look_at_hosts(const struct telemetry *telemetry, double *values, struct detector_report *report) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        if (telemetry->ranks[i].receive_share > 0) {
            values[n++] = telemetry->ranks[i].receive_share;
        }
    }
    const struct middle middle = middle_of(values, n);
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        const struct telemetry_rank *rank = &telemetry->ranks[i];
        const double away = spreads(rank->receive_share, &middle);
        const bool slow =
            rank->receive_share > 0 && rank->receive_share < (1 - LEAST_SLOW_PAIR) * middle.median && away > SPREADS;
        if ((slow && !is_known(report, DETECTOR_SLOW_NIC, i) && !is_known(report, DETECTOR_LOSSY, i)) ||
            rank->receive_pauses >= LEAST_PAUSES) {
            add_rank(report, DETECTOR_SLOW_HOST, i, slow ? middle.median / rank->receive_share - 1 : 0, away);
        }
    }
}

/* A NIC is on the wrong rail if most of its leaf's other NICs are of another one. */
static void look_at_rails(const struct telemetry *telemetry, struct detector_report *report) {
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        uint32_t same = 0, other = 0;
        for (uint32_t j = 0; j < telemetry->n_ranks; j++) {
            if (j != i && telemetry->ranks[j].leaf == telemetry->ranks[i].leaf) {
                same += telemetry->ranks[j].rail == telemetry->ranks[i].rail;
                other += telemetry->ranks[j].rail != telemetry->ranks[i].rail;
            }
        }
        if (telemetry->ranks[i].rail != TELEMETRY_NONE && other > same) {
            add_rank(report, DETECTOR_WRONG_RAIL, i, 0, INFINITY);
        }
    }
}

static int worst_first(const void *first, const void *second) {
    const struct detector_finding *a = first, *b = second;
    if (a->amount != b->amount) {
        return a->amount < b->amount ? 1 : -1;
    }
    if (a->fault != b->fault) {
        return a->fault < b->fault ? -1 : 1;
    }
    const uint32_t place_a = a->rank != TELEMETRY_NONE ? a->rank : a->cable;
    const uint32_t place_b = b->rank != TELEMETRY_NONE ? b->rank : b->cable;
    return (place_a > place_b) - (place_a < place_b);
}

void detector_run(const struct telemetry *telemetry, struct detector_report *report) {
    const uint32_t most = telemetry->n_ranks > telemetry->n_links ? telemetry->n_ranks : telemetry->n_links;
    double *values = memory_allocate(most + 1, sizeof *values);
    *report = (struct detector_report){0};
    look_at_computing(telemetry, values, report);
    look_at_tokens(telemetry, values, report);
    look_at_rates(telemetry, values, report);
    look_at_errors(telemetry, report);
    look_at_hosts(telemetry, values, report);
    look_at_rails(telemetry, report);
    qsort(report->findings, report->count, sizeof report->findings[0], worst_first);
    free(values);
}
