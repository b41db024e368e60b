// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What differs between two resolved configurations, key by key.
 */
#ifndef MOEFABRIC_CONFIG_CONFIGURATION_DIFFERENCE_H
#define MOEFABRIC_CONFIG_CONFIGURATION_DIFFERENCE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/** One key that differs. */
struct configuration_change {
    char *key;            /**< dotted path, with [n] for the nth entry of a list, from 1 */
    char *before, *after; /**< its values; of lists and mappings as one line of YAML; NULL = the key is not there */
};

/** All of them, in the order of the first configuration, those that only the second has behind their neighbours. */
struct configuration_difference {
    struct configuration_change *changes;
    uint32_t count;
};

/**
 * Compares two YAML texts as result files hold them. Lists of single values are compared as wholes, others entry by entry. False, with
 * *error set, if one cannot be parsed; else the caller ends it with configuration_difference_free.
 */
bool configuration_difference_find(const char *before, const char *after, struct configuration_difference *difference,
                                   struct error *error);

/** Frees the changes. */
void configuration_difference_free(struct configuration_difference *difference);

#endif
