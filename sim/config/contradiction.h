// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Two values, each good on its own, that cannot both be: reported with both numbers and both places.
 */
#ifndef MOEFABRIC_CONFIG_CONTRADICTION_H
#define MOEFABRIC_CONFIG_CONTRADICTION_H

#include "config/tree.h"

/** Where values may have come from. */
struct contradiction_scope {
    const struct tree_node *topology;   /**< mapping of the topology; NULL = unknown, its values must not be judged */
    const struct tree_node *experiment; /**< mapping of the configuration; NULL when a topology file is read alone */
    struct error_list *errors;
};

/**
 * Reports a contradiction between two settings, named by dotted paths: those of a topology ("nvlink.gpus"), overridden by the cluster section
 * or not, or those of a configuration ("traffic.senders", "policies.2" for an item of a list). It is shown at the one that is in a file (the first if both
 * are); the hint names the other's place. Nothing is reported if one of them was found wrong before, or is not there
 * while the file has mistakes: that may be why they contradict.
 */
void contradiction_report(const struct contradiction_scope *scope, enum error_id id, const char *first,
                          const char *second, const char *format, ...) __attribute__((format(printf, 5, 6)));

/** The same with a hint that says what would do, in place of the other's place. */
void contradiction_report_hint(const struct contradiction_scope *scope, enum error_id id, const char *first,
                               const char *second, const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
