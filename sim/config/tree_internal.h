// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What tree.c offers to the parser (tree_parse.c) and to nobody else.
 */
#ifndef MOEFABRIC_CONFIG_TREE_INTERNAL_H
#define MOEFABRIC_CONFIG_TREE_INTERNAL_H

#include "config/tree.h"

/** Zeroed memory that lives as long as the tree. */
void *tree_allocate(struct tree *tree, size_t size);

/** A copy of length bytes and a NUL that lives as long as the tree. */
char *tree_copy(struct tree *tree, const char *text, size_t length);

/** Adds a child at the end of a list or mapping. */
void tree_append(struct tree *tree, struct tree_node *node, struct tree_entry entry);

#endif
