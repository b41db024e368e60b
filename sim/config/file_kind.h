// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a file is, by its keys: so that a topology given in place of a configuration is called one, not a list of unknown keys.
 */
#ifndef MOEFABRIC_CONFIG_FILE_KIND_H
#define MOEFABRIC_CONFIG_FILE_KIND_H

#include "config/tree.h"

#include <stdbool.h>

/** Kinds of files that are told apart. */
enum file_kind { FILE_KIND_UNKNOWN, FILE_KIND_CONFIGURATION, FILE_KIND_TOPOLOGY, FILE_KIND_TABLE };

/** What the keys of a file's mapping say it is; FILE_KIND_UNKNOWN where they fit none, or several. */
enum file_kind file_kind_of(const struct tree_node *root);

/** False, with a report that says what the file is and which command takes it, if it is certainly of another kind than wanted. */
bool file_kind_check(const struct tree_node *root, const char *path, enum file_kind wanted, struct error_list *errors);

#endif
