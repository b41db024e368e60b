// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The name that a typing mistake was probably meant to be.
 */
#ifndef MOEFABRIC_BASE_NEAREST_H
#define MOEFABRIC_BASE_NEAREST_H

#include <stddef.h>

/**
 * Damerau-Levenshtein distance (optimal string alignment: insertions, deletions, substitutions and swaps of neighbours
 * count 1 each), letters compared without case. Words longer than 63 bytes count as infinitely far (returns 64).
 */
size_t nearest_distance(const char *left, const char *right);

/** The nearest of n names (the first of equals), or NULL if none is within a third of the word's length (at least 1, at most 4). NULL names are skipped. */
const char *nearest_name(const char *word, const char *const *names, size_t n);

#endif
