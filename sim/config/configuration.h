// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the key tables say, for people (`explain`), for editors (JSON Schema), and for result files (the resolved
 * configuration).
 */
#ifndef MOEFABRIC_CONFIG_CONFIGURATION_H
#define MOEFABRIC_CONFIG_CONFIGURATION_H

#include "base/error.h"
#include "config/experiment.h"

#include <stdbool.h>
#include <stdio.h>

/** Files that a JSON Schema can be written for. */
enum configuration_kind { CONFIGURATION_EXPERIMENT, CONFIGURATION_TOPOLOGY };

/**
 * Explains a key ("traffic.gate", "nvlink.chips"), a section ("traffic"), a value of a key ("ecmp"), an error number ("MF-012"), or, if name is NULL or empty,
 * lists all sections and keys. Returns false with *error set (exit code 2, nearest name as hint) if there is no such name.
 */
bool configuration_explain(FILE *stream, const char *name, struct error *error);

/** Writes the JSON Schema (draft-07) of configuration or topology files. */
void configuration_schema(FILE *stream, enum configuration_kind kind);

/** Writes all sections and keys of a kind of file as tables in Markdown. */
void configuration_reference(FILE *stream, enum configuration_kind kind);

/** Writes the dotted names of all keys of a kind of file, but for those of items of lists, one a line, each after a prefix. */
void configuration_print_names(FILE *stream, enum configuration_kind kind, const char *prefix);

/**
 * Writes a configuration with all its defaults and its topology inline, as YAML that experiment_read reads back to the same
 * values (but for the two paths, which are empty then). Lines are the same on every machine and in every locale.
 */
void configuration_write_resolved(FILE *stream, const struct experiment *experiment);

/** The same as a text; ends with free(). *size (may be NULL) receives its length. */
char *configuration_resolved_text(const struct experiment *experiment, size_t *size);

#endif
