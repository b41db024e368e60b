// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Placement files in YAML (placement_file.h has the form).
 */
#ifndef MOEFABRIC_CONFIG_PLACEMENT_YAML_H
#define MOEFABRIC_CONFIG_PLACEMENT_YAML_H

#include "config/placement_file.h"

/** Does a name end with .yaml or .yml? */
bool placement_yaml_is_name(const char *name);

/** Adds the rows of a text; mistakes are appended to *errors with their places. */
void placement_yaml_read(const char *name, const char *text, struct placement_file *file, struct error_list *errors);

#endif
