// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A configuration file, its topology and the command line's overrides into struct experiment.
 */
#ifndef MOEFABRIC_CONFIG_EXPERIMENT_FILE_H
#define MOEFABRIC_CONFIG_EXPERIMENT_FILE_H

#include "base/error.h"
#include "config/experiment.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Reads and checks a configuration. overrides are n texts `key=value` with dotted keys, which replace what the files say
 * ("traffic.tokens_per_gpu=256", "topology.nic.rate=200 Gb/s"); lists are replaced as a whole. Returns false with all
 * mistakes appended to *errors (an override's place is --set:1:column); *experiment is then not to be used.
 */
bool experiment_read(const char *path, const char *const *overrides, size_t n, struct experiment *experiment,
                     struct error_list *errors);

/**
 * The same; where there are no mistakes, a note for each setting that is given but changes nothing (experiment_unused.h), and for each
 * policy that hardly does what it is for (experiment_doubt.h), is appended to *notes. notes may be NULL.
 */
bool experiment_read_noting(const char *path, const char *const *overrides, size_t n, struct experiment *experiment,
                            struct error_list *notes, struct error_list *errors);

enum { EXPERIMENT_AXES = 32, EXPERIMENT_AXIS_SIZE = 128 };

/** What a point of a sweep sets. Ends with experiment_labels_fini. */
struct experiment_labels {
    uint32_t n_axes; /**< the same for all points of a sweep */
    char keys[EXPERIMENT_AXES][EXPERIMENT_AXIS_SIZE];
    char *values[EXPERIMENT_AXES]; /**< as one line of YAML; empty where the point leaves the key alone */
};

/**
 * One point of the configuration's section `sweep` or design of its section `size` (sweep.h), numbered from 0, as a configuration of its own; n_points of
 * that section is how many there are. *labels are set, and must be freed, whenever the section itself is good, also where the point has mistakes.
 * Mistakes in what a point sets have their place in the section. A configuration without that section is a mistake here. notes may be NULL.
 */
bool experiment_read_point(const char *path, const char *section, const char *const *overrides, size_t n,
                           uint64_t point, struct experiment *experiment, struct experiment_labels *labels,
                           struct error_list *notes, struct error_list *errors);

/** Frees the texts. */
void experiment_labels_fini(struct experiment_labels *labels);

/** The same as experiment_read for a text in memory, which errors call name; topology files are looked up as if it were a file of that name. */
bool experiment_read_text(const char *name, const char *text, size_t size, const char *const *overrides, size_t n,
                          struct experiment *experiment, struct error_list *errors);

/** Prints all mistakes and returns the exit code that they ask for: 4 if a file could not be read, else 3; 0 if there are none. */
enum exit_code experiment_report(FILE *stream, const struct error_list *errors);

#endif
