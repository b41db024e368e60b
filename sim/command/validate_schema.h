// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The JSON Schema of tables of reference values (configs/validation), made from the keys that read them.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_SCHEMA_H
#define MOEFABRIC_COMMAND_VALIDATE_SCHEMA_H

#include <stdio.h>

/** Prints the schema, draft-07: which keys a table and its rows may have follows from the kind of check that the table names. */
void validate_schema(FILE *stream);

#endif
