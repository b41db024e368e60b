// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Keys by their dotted path, as overrides and sweeps name them: "traffic.tokens_per_gpu", "topology.nic.rate".
 */
#ifndef MOEFABRIC_CONFIG_KEY_PATH_H
#define MOEFABRIC_CONFIG_KEY_PATH_H

#include "config/key.h"

#include <stdbool.h>
#include <stddef.h>

/** Where a dotted path leads. */
struct key_path {
    const struct section *section;
    const struct key *key;
    bool of_topology; /**< the section's base is struct topology, else struct experiment */
};

/** Finds the key of a configuration that a path names. False if there is none: unknown, a section, or a key of items of a list. */
bool key_path_find(const char *path, struct key_path *found);

/** What to say of a path that names no key: the nearest path, the same key in another section, or keys of the section that it names. Returns buffer. */
char *key_path_hint(const char *path, char *buffer, size_t size);

#endif
