// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/gate_sample.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "workload/gate_alias.h"
#include "workload/portable_math.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Shares nearer to 1 than this are certain. */
static const double certain = 1 - 1e-9;
/* Smaller shares are none: no run has so many tokens, and their odds would vanish in rounding. */
static const double never = 1e-15;
/* Below this chance of k different draws, a set is drawn expert by expert. */
static const double least_acceptance = 0.05;

struct gate_sample {
    uint32_t n_always,
        n_others; /* experts that are always picked, and those that are drawn: the first picks, and k of the others */
    uint32_t k;   /* of the others */
    uint32_t n;
    uint32_t *always, *others; /* their numbers */
    double *chance;            /* [n_others] of a trial: odds / (1 + odds) */
    double *tail;              /* [n_others + 1][k + 1]: probability of j successes in the trials i, i + 1, … */
    double *share;             /* [n_others] of each */
    struct gate_alias_column *aliases;
    bool by_rejection;
};

/* tail[i][j] = chance[i] tail[i+1][j-1] + (1 - chance[i]) tail[i+1][j]. */
static void fill_tail(struct gate_sample *sample) {
    const uint32_t width = sample->k + 1;
    double *row = sample->tail + (size_t)sample->n_others * width;
    memset(row, 0, width * sizeof *row);
    row[0] = 1;
    for (uint32_t i = sample->n_others; i-- > 0;) {
        const double *after = row;
        const double chance = sample->chance[i];
        row -= width;
        row[0] = (1 - chance) * after[0];
        for (uint32_t j = 1; j < width; j++) {
            row[j] = chance * after[j - 1] + (1 - chance) * after[j];
        }
    }
}

/* Share of expert i: it succeeds, and the trials before and after it have k - 1 successes, of all ways to have k. head: [k + 1] working space. */
static void fill_shares(struct gate_sample *sample, double *head) {
    const uint32_t width = sample->k + 1, k = sample->k;
    const double all = sample->tail[k];
    memset(head, 0, width * sizeof *head);
    head[0] = 1;
    for (uint32_t i = 0; i < sample->n_others; i++) {
        const double *after = sample->tail + (size_t)(i + 1) * width, chance = sample->chance[i];
        double ways = 0;
        for (uint32_t j = 0; j < k; j++) {
            ways += head[j] * after[k - 1 - j];
        }
        sample->share[i] = chance * ways / all;
        for (uint32_t j = k; j > 0; j--) {
            head[j] = chance * head[j - 1] + (1 - chance) * head[j];
        }
        head[0] *= 1 - chance;
    }
}

/* Largest distance of a share from what is wanted. */
static double distance(const struct gate_sample *sample, const double *wanted) {
    double worst = 0;
    for (uint32_t i = 0; i < sample->n_others; i++) {
        const double apart = sample->share[i] - wanted[i];
        worst = apart > worst ? apart : worst;
        worst = -apart > worst ? -apart : worst;
    }
    return worst;
}

/*
 * Moves every expert's odds by what the odds of its share lack, until none lacks anything. The full step may swing to and fro where few experts
 * hold most of the odds (the others' steps move its share as far again); half of it, in logarithms, cannot. Returns the largest distance.
 */
static double solve(struct gate_sample *sample, const double *wanted) {
    enum { MOST_ROUNDS = 2000 };
    double *head = memory_allocate(sample->k + 1, sizeof *head), worst = 1;
    bool halved = false;
    memcpy(sample->chance, wanted, sample->n_others * sizeof *wanted);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double before = worst;
        fill_tail(sample);
        fill_shares(sample, head);
        worst = distance(sample, wanted);
        if (worst < 1e-12 || (halved && worst < 1e-9 && worst >= before)) {
            break;
        }
        halved = halved || worst > 0.7 * before;
        for (uint32_t i = 0; i < sample->n_others; i++) {
            const double share = sample->share[i];
            const double step = wanted[i] / (1 - wanted[i]) * ((1 - share) / share);
            const double odds = sample->chance[i] / (1 - sample->chance[i]) * (halved ? sqrt(step) : step);
            sample->chance[i] = odds / (1 + odds);
        }
    }
    free(head);
    return worst;
}

/* Chance that k draws in proportion to the odds all differ: k! × (sum over sets of the product of odds) ÷ (sum of odds)^k. */
static double acceptance(const struct gate_sample *sample) {
    double logarithm = portable_math_log(sample->tail[sample->k]), sum = 0;
    for (uint32_t i = 0; i < sample->n_others; i++) {
        logarithm -= portable_math_log(1 - sample->chance[i]);
        sum += sample->chance[i] / (1 - sample->chance[i]);
    }
    for (uint32_t j = 1; j <= sample->k; j++) {
        logarithm += portable_math_log(j);
    }
    logarithm -= sample->k * portable_math_log(sum);
    return logarithm < -700 ? 0 : portable_math_exp(logarithm);
}

static void prepare_draws(struct gate_sample *sample) {
    sample->by_rejection = acceptance(sample) >= least_acceptance;
    if (sample->by_rejection) {
        double *odds = memory_allocate(sample->n_others, sizeof *odds);
        for (uint32_t i = 0; i < sample->n_others; i++) {
            odds[i] = sample->chance[i] / (1 - sample->chance[i]);
        }
        sample->aliases = gate_alias_create(odds, sample->n_others);
        free(odds);
    }
}

/* Parts the experts, and returns what the others' shares are to be: scaled to their exact sum. */
static double *part(struct gate_sample *sample, const double *shares, uint32_t top_k) {
    double *wanted = memory_allocate(sample->n, sizeof *wanted), sum = 0;
    for (uint32_t expert = 0; expert < sample->n; expert++) {
        if (shares[expert] >= certain) {
            REQUIRE(sample->n_always < top_k, "more than %u experts are always picked", top_k);
            sample->always[sample->n_always++] = expert;
        } else if (shares[expert] > never) {
            sum += wanted[sample->n_others] = shares[expert];
            sample->others[sample->n_others++] = expert;
        }
    }
    sample->k = top_k - sample->n_always;
    REQUIRE(sample->n_others >= sample->k, "%u experts can be picked, %u are to be", sample->n_others, sample->k);
    for (uint32_t i = 0; i < sample->n_others; i++) {
        wanted[i] = sample->k == 0 ? 0 : wanted[i] * sample->k / sum;
        wanted[i] = wanted[i] > certain ? certain : wanted[i];
    }
    return wanted;
}

struct gate_sample *gate_sample_create(const double *shares, uint32_t n, uint32_t top_k) {
    struct gate_sample *sample = memory_allocate(1, sizeof *sample);
    sample->n = n;
    sample->always = memory_allocate(top_k, sizeof *sample->always);
    sample->others = memory_allocate(n, sizeof *sample->others);
    double *wanted = part(sample, shares, top_k);
    if (sample->k == sample->n_others) { // no choice is left
        for (uint32_t i = 0; i < sample->n_others; i++) {
            sample->always[sample->n_always++] = sample->others[i];
        }
        sample->k = sample->n_others = 0;
    }
    if (sample->k > 0) {
        sample->chance = memory_allocate(sample->n_others, sizeof *sample->chance);
        sample->share = memory_allocate(sample->n_others, sizeof *sample->share);
        sample->tail = memory_allocate((size_t)(sample->n_others + 1) * (sample->k + 1), sizeof *sample->tail);
        const double worst = solve(sample, wanted);
        REQUIRE(worst < 1e-6, "shares are met to %g only", worst);
        prepare_draws(sample);
    }
    free(wanted);
    return sample;
}

void gate_sample_free(struct gate_sample *sample) {
    if (sample) {
        free(sample->always);
        free(sample->others);
        free(sample->chance);
        free(sample->tail);
        free(sample->share);
        free(sample->aliases);
        free(sample);
    }
}

static bool draw_once(const struct gate_sample *sample, uint64_t stream, uint64_t *count, uint32_t *picks) {
    for (uint32_t n = 0; n < sample->k; n++) {
        picks[n] = sample->others[gate_alias_draw(sample->aliases, sample->n_others, hash_draw(stream, (*count)++))];
        for (uint32_t i = 0; i < n; i++) {
            if (picks[i] == picks[n]) {
                return false;
            }
        }
    }
    return true;
}

/* Expert by expert: with `left` still to be picked, the share of ways in which this one is among them. */
static void draw_exactly(const struct gate_sample *sample, uint64_t stream, uint64_t *count, uint32_t *picks) {
    const uint32_t width = sample->k + 1;
    uint32_t left = sample->k;
    for (uint32_t i = 0; left > 0; i++) {
        const double *here = sample->tail + (size_t)i * width, *after = here + width;
        const bool must = sample->n_others - i == left;
        if (must || hash_unit(hash_draw(stream, (*count)++)) * here[left] < sample->chance[i] * after[left - 1]) {
            picks[sample->k - left] = sample->others[i];
            left--;
        }
    }
}

void gate_sample_draw(const struct gate_sample *sample, uint64_t stream, uint64_t *count, uint32_t *picks) {
    enum { PATIENCE = 256 };
    memcpy(picks, sample->always, sample->n_always * sizeof *picks);
    picks += sample->n_always;
    for (int attempt = 0; sample->by_rejection && attempt < PATIENCE; attempt++) {
        if (draw_once(sample, stream, count, picks)) {
            return;
        }
    }
    draw_exactly(sample, stream, count, picks);
}

double gate_sample_share(const struct gate_sample *sample, uint32_t expert) {
    for (uint32_t i = 0; i < sample->n_always; i++) {
        if (sample->always[i] == expert) {
            return 1;
        }
    }
    for (uint32_t i = 0; i < sample->n_others; i++) {
        if (sample->others[i] == expert) {
            return sample->share[i];
        }
    }
    return 0;
}

void gate_sample_shares(const double *weights, uint32_t n, uint32_t top_k, double *shares) {
    memset(shares, 0, n * sizeof *shares);
    uint32_t n_full = 0, n_before;
    do { // each round fills at least one expert, so there are at most top_k
        double sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            sum += shares[i] < 1 ? weights[i] : 0;
        }
        n_before = n_full;
        const uint32_t left = top_k - n_full;
        for (uint32_t i = 0; i < n; i++) {
            if (shares[i] < 1) {
                const double share = left == 0 || sum == 0 ? 0 : weights[i] / sum * left;
                shares[i] = share < 1 ? share : 1;
                n_full += share >= 1;
            }
        }
    } while (n_full > n_before);
}
