// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The walker: fills a typed struct from a tree as the key tables say, and reports every mistake at its place.
 */
#ifndef MOEFABRIC_CONFIG_SECTION_READER_H
#define MOEFABRIC_CONFIG_SECTION_READER_H

#include "config/key.h"
#include "config/tree.h"

/** Sets all defaults of a schema in base (struct topology, struct experiment). Fields without default keep their value. */
void section_reader_defaults(const struct schema *schema, void *base);

/** Sets the defaults of one section; base is the section's own struct. */
void section_reader_section_defaults(const struct section *section, void *base);

/**
 * Reads the mapping `root` (a whole file) into base. Unknown and missing keys, wrong types, units and ranges are reported; good values
 * are stored in any case. Keys that key_is_special are left to the caller. file is where missing keys are reported.
 */
void section_reader_read(const struct schema *schema, const struct tree_node *root, void *base,
                         struct error_list *errors);

/** Reads one mapping into a section's struct: items of lists. */
void section_reader_read_section(const struct section *section, const struct tree_node *node, void *base,
                                 struct error_list *errors);

#endif
