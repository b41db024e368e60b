// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One value of a file into one field of a struct, checked against its key.
 */
#ifndef MOEFABRIC_CONFIG_VALUE_READER_H
#define MOEFABRIC_CONFIG_VALUE_READER_H

#include "config/key.h"
#include "config/tree.h"

/** Stores the value of node in base (the section's struct). On any mistake reports it at the value's place, stores nothing and returns false. */
bool value_reader_store(const struct key *key, const struct tree_node *node, void *base, struct error_list *errors);

#endif
