// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Where topology files are looked up: beside the configuration, in ../topologies from there, in topologies/ of the source that the
 * program was built from, and where topologies are installed.
 */
#ifndef MOEFABRIC_CONFIG_TOPOLOGY_SEARCH_H
#define MOEFABRIC_CONFIG_TOPOLOGY_SEARCH_H

#include "config/tree.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Finds the file that a configuration calls name (an absolute path is taken as it is); the first place that has it counts. Writes its path, cut
 * at size bytes. False if no place has it. configuration is the configuration's own path.
 */
bool topology_search(const char *configuration, const char *name, char *path, size_t size);

/** The same for the value of the key `topology`; reports a file that is not there with the nearest name, what there is and where it was looked for, and a path that is too long. */
bool topology_search_value(const char *configuration, const struct tree_node *value, char *path, size_t size,
                           struct error_list *errors);

/** The folder of topologies of the source (installed = false), or of the installation, as the build knows them. */
const char *topology_search_folder(bool installed);

#endif
