// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Files of expert placements: which rank of an expert-parallel group holds which replica of which expert, layer by layer.
 *
 * CSV: lines that begin with # and empty lines are passed over; the first other line is `layer,expert,replica,rank`, each further one has
 * these four whole numbers. Lines may come in any order. Of a layer every expert has the replicas 0, 1, … without gaps, at least one.
 *
 * YAML, by the name's end (.yaml, .yml): `layers` maps the number of each layer to the ranks of its experts 0, 1, …: a number each, or a list of the ranks of
 * its replicas. `{layers: {0: [3, [0, 2], 1]}}` has two replicas of expert 1.
 */
#ifndef MOEFABRIC_CONFIG_PLACEMENT_FILE_H
#define MOEFABRIC_CONFIG_PLACEMENT_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { PLACEMENT_FILE_LARGEST = 16777215 }; /**< number of a layer, expert, replica or rank */

/** One line. */
struct placement_file_row {
    uint32_t layer, expert, replica, rank;
    unsigned line, column;
};

/** A whole file, rows ascending by layer, expert and replica. Zero-initialise; ends with placement_file_fini. */
struct placement_file {
    char name[ERROR_FILE_SIZE];
    struct placement_file_row *rows;
    uint32_t n_rows, capacity;
};

/** What a file must fit. */
struct placement_file_fit {
    uint32_t layer, experts;
    uint32_t ranks; /**< of an expert-parallel group */
};

/** Reads a file. False with all its mistakes appended to *errors; *file is then only to be ended. */
bool placement_file_read(const char *path, struct placement_file *file, struct error_list *errors);

/** The same from NUL-terminated text; name stands for the path in messages, and tells YAML from CSV. */
bool placement_file_read_text(const char *name, const char *text, struct placement_file *file,
                              struct error_list *errors);

/** Has the layer every expert of the model and no other, on ranks that exist? Else false with all that is wrong appended to *errors. */
bool placement_file_check(const struct placement_file *file, const struct placement_file_fit *fit,
                          struct error_list *errors);

/** The rows of a layer: *first is set to the number of the first, the number of them is returned. */
uint32_t placement_file_layer(const struct placement_file *file, uint32_t layer, uint32_t *first);

/** Takes a row over; readers of a format call it. */
void placement_file_add(struct placement_file *file, const struct placement_file_row *row);

/** Frees what it holds. */
void placement_file_fini(struct placement_file *file);

#endif
