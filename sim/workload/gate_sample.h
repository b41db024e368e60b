// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Picks k different experts so that each is picked with a probability that was given beforehand.
 *
 * Drawing experts one after the other in proportion to their popularity, without replacement, does not reproduce the popularities: a
 * popular expert can be picked only once a token. This is the classical problem of sampling with unequal probabilities; of the designs that solve it
 * this is the one of largest entropy, conditional Poisson sampling (Hájek, Annals of Mathematical Statistics 35(4), 1964): a set S has a
 * probability in proportion to the product of its members' odds. Given the shares nothing else is assumed of which experts go together; with equal
 * shares every set is equally likely. The odds that give the wanted shares are found by fixed-point iteration (Chen, Dempster and Liu,
 * Biometrika 81(3), 1994), with the shares of given odds computed from the law of the number of successes of independent trials.
 *
 * A set is drawn by rejection (k draws with replacement in proportion to the odds, until all differ: the same law), or, where
 * that would rarely succeed, expert by expert with exact conditional probabilities (Chen and Liu, Statistica Sinica 7, 1997, procedure 3).
 */
#ifndef MOEFABRIC_WORKLOAD_GATE_SAMPLE_H
#define MOEFABRIC_WORKLOAD_GATE_SAMPLE_H

#include <stdint.h>

struct gate_sample;

/**
 * Prepares draws of top_k of n experts. shares[n]: probability that a token picks the expert, 0 … 1, of sum top_k (to 1e-6; rounding is
 * spread). At least top_k shares are above 0. Shares are met to 1e-9. Freed by gate_sample_free. Memory: about 8 × n × top_k bytes.
 */
struct gate_sample *gate_sample_create(const double *shares, uint32_t n, uint32_t top_k);

/** Frees it; NULL is allowed. */
void gate_sample_free(struct gate_sample *sample);

/** Draws a set: top_k different experts in picks, from draws number *count on of a stream (hash_draw); *count is moved past those used. */
void gate_sample_draw(const struct gate_sample *sample, uint64_t stream, uint64_t *count, uint32_t *picks);

/** The share of an expert that draws have (not only by wish): for reports and tests. */
double gate_sample_share(const struct gate_sample *sample, uint32_t expert);

/**
 * Makes shares of weights: top_k × weight ÷ sum, where a share above 1 becomes 1 and what is beyond goes to the others in proportion to their
 * weights. Weights are not negative, and at least top_k of them above 0.
 */
void gate_sample_shares(const double *weights, uint32_t n, uint32_t top_k, double *shares);

#endif
