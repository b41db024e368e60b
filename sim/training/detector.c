// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/detector.h"

#include "base/memory.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPREADS 3.5
/* Ours: less than this is not worth anybody's time. */
#define LEAST_SLOW_GPU 0.035 /* clocks of one model of GPU differ by 1 % */
#define LEAST_HOT 0.10
#define LEAST_SLOW_LINK 0.05
#define LEAST_SLOW_PAIR 0.08
#define LEAST_ERRORS 4.0 /* ports count a stray one now and then */
#define LEAST_PAUSES 10.0

/* At most: of a rank slow GPU, hot expert, slow host and wrong rail; of a direction of a link slow and lossy. */
enum { RANK_FINDINGS = 4, LINK_FINDINGS = 2 };

const char *const detector_fault_names[DETECTOR_FAULTS] = {"slow GPU",          "hot expert", "slow NIC",  "slow host",
                                                           "NIC on wrong rail", "slow link",  "lossy link"};

/* Where most values are. */
struct middle {
    double median, deviation;
};

/* One look: all that it finds, and room for values of all parts. */
struct look {
    const struct telemetry *telemetry;
    struct detector_finding *findings; /* as many as there may be */
    uint32_t count;
    double *values, *work; /* of ranks or links, whichever are more */
};

/* Changes the order of the first n values. */
static struct middle middle_of(struct look *look, uint32_t n) {
    const double deviation = gsl_stats_mad(look->values, 1, n, look->work);
    return (struct middle){.median = gsl_stats_median(look->values, 1, n), .deviation = deviation};
}

static double spreads(double value, const struct middle *middle) {
    const double away = fabs(value - middle->median);
    return away == 0 ? 0 : away / middle->deviation;
}

static void add(struct look *look, struct detector_finding finding) {
    for (uint32_t i = 0; i < look->count; i++) {
        struct detector_finding *there = &look->findings[i];
        if (there->fault == finding.fault && there->rank == finding.rank && there->cable == finding.cable) {
            there->amount = fmax(there->amount, finding.amount); // both directions of a link
            return;
        }
    }
    look->findings[look->count++] = finding;
}

static void add_rank(struct look *look, enum detector_fault fault, uint32_t rank, double amount, double away) {
    add(look, (struct detector_finding){fault, rank, TELEMETRY_NONE, amount, away});
}

/* ---- GPUs ---- */

/* A clock: time against the median, where fast ones are as usual as slow ones. */
static void look_at_computing(struct look *look) {
    const struct telemetry *telemetry = look->telemetry;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        look->values[i] = telemetry->ranks[i].compute;
    }
    const struct middle middle = middle_of(look, telemetry->n_ranks);
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        const double more = telemetry->ranks[i].compute / middle.median - 1;
        const double away = spreads(telemetry->ranks[i].compute, &middle);
        if (more > LEAST_SLOW_GPU && away > SPREADS) {
            add_rank(look, DETECTOR_SLOW_GPU, i, more, away);
        }
    }
}

static void look_at_tokens(struct look *look) {
    const struct telemetry *telemetry = look->telemetry;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        look->values[i] = telemetry->ranks[i].tokens;
    }
    const struct middle middle = middle_of(look, telemetry->n_ranks);
    for (uint32_t i = 0; i < telemetry->n_ranks && middle.median > 0; i++) {
        const double more = telemetry->ranks[i].tokens / middle.median - 1;
        const double away = spreads(telemetry->ranks[i].tokens, &middle);
        if (more > LEAST_HOT && away > SPREADS) {
            add_rank(look, DETECTOR_HOT_EXPERT, i, more, away);
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
static void look_at_rates(struct look *look) {
    const struct telemetry *telemetry = look->telemetry;
    uint32_t n = 0;
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        const struct telemetry_link *link = &telemetry->links[i];
        if (link->rate_bytes_per_s > 0) {
            look->values[n++] = link->rate_bytes_per_s / link->nominal_bytes_per_s;
        }
    }
    const struct middle middle = middle_of(look, n);
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        const struct telemetry_link *link = &telemetry->links[i];
        const double share = link->rate_bytes_per_s / link->nominal_bytes_per_s, away = spreads(share, &middle);
        if (is_slow(link) && share < middle.median && away > SPREADS) {
            const uint32_t rank = rank_of(link);
            add(look, (struct detector_finding){rank == TELEMETRY_NONE ? DETECTOR_SLOW_LINK : DETECTOR_SLOW_NIC, rank,
                                                rank == TELEMETRY_NONE ? link->cable : TELEMETRY_NONE,
                                                middle.median / share - 1, away});
        }
    }
}

static void look_at_errors(struct look *look) {
    const struct telemetry *telemetry = look->telemetry;
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        const struct telemetry_link *link = &telemetry->links[i];
        if (link->errors >= LEAST_ERRORS) {
            const uint32_t rank = rank_of(link);
            add(look,
                (struct detector_finding){DETECTOR_LOSSY, rank, rank == TELEMETRY_NONE ? link->cable : TELEMETRY_NONE,
                                          link->errors / fmax(link->packets, 1), INFINITY});
        }
    }
}

/* ---- hosts and rails ---- */

static bool is_known(const struct look *look, enum detector_fault fault, uint32_t rank) {
    for (uint32_t i = 0; i < look->count; i++) {
        if (look->findings[i].fault == fault && look->findings[i].rank == rank) {
            return true;
        }
    }
    return false;
}

/* Whoever pauses its leaf, or receives slowly from everybody by a NIC that is well. */
static void look_at_hosts(struct look *look) {
    const struct telemetry *telemetry = look->telemetry;
    uint32_t n = 0;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        if (telemetry->ranks[i].receive_share > 0) {
            look->values[n++] = telemetry->ranks[i].receive_share;
        }
    }
    const struct middle middle = middle_of(look, n);
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        const struct telemetry_rank *rank = &telemetry->ranks[i];
        const double away = spreads(rank->receive_share, &middle);
        const bool slow =
            rank->receive_share > 0 && rank->receive_share < (1 - LEAST_SLOW_PAIR) * middle.median && away > SPREADS;
        if ((slow && !is_known(look, DETECTOR_SLOW_NIC, i) && !is_known(look, DETECTOR_LOSSY, i)) ||
            rank->receive_pauses >= LEAST_PAUSES) {
            add_rank(look, DETECTOR_SLOW_HOST, i, slow ? middle.median / rank->receive_share - 1 : 0, away);
        }
    }
}

/* A NIC is on the wrong rail if most of its leaf's other NICs are of another one. */
static void look_at_rails(struct look *look) {
    const struct telemetry *telemetry = look->telemetry;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        uint32_t same = 0, other = 0;
        for (uint32_t j = 0; j < telemetry->n_ranks; j++) {
            if (j != i && telemetry->ranks[j].leaf == telemetry->ranks[i].leaf) {
                same += telemetry->ranks[j].rail == telemetry->ranks[i].rail;
                other += telemetry->ranks[j].rail != telemetry->ranks[i].rail;
            }
        }
        if (telemetry->ranks[i].rail != TELEMETRY_NONE && other > same) {
            add_rank(look, DETECTOR_WRONG_RAIL, i, 0, INFINITY);
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
    const size_t ranks = telemetry->n_ranks, links = telemetry->n_links, most = (ranks > links ? ranks : links) + 1;
    struct look look = {.telemetry = telemetry,
                        .findings =
                            memory_allocate(RANK_FINDINGS * ranks + LINK_FINDINGS * links + 1, sizeof *look.findings),
                        .values = memory_allocate(most, sizeof *look.values),
                        .work = memory_allocate(most, sizeof *look.work)};
    look_at_computing(&look);
    look_at_tokens(&look);
    look_at_rates(&look);
    look_at_errors(&look);
    look_at_hosts(&look);
    look_at_rails(&look);
    qsort(look.findings, look.count, sizeof *look.findings, worst_first);
    *report = (struct detector_report){.more = look.count > DETECTOR_MOST};
    report->count = report->more ? DETECTOR_MOST : look.count;
    memcpy(report->findings, look.findings, report->count * sizeof *look.findings);
    free(look.findings);
    free(look.values);
    free(look.work);
}
