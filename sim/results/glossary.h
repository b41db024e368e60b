// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the rows of tables, the metrics of JSON and the columns of result files are called, and what they mean.
 */
#ifndef MOEFABRIC_RESULTS_GLOSSARY_H
#define MOEFABRIC_RESULTS_GLOSSARY_H

#include <stdbool.h>
#include <stdio.h>

/**
 * Explains a metric by its name in JSON ("rank_time.p99", "rank_time") or by that of its row ("rank time p99", "rank time"), and a column
 * of result files ("deepest_bytes", "links/deepest_bytes"), whichever there are. False, with nothing printed, if there is none.
 */
bool glossary_explain(FILE *stream, const char *name);

/** Writes all metrics with unit and meaning as a table in Markdown. */
void glossary_reference(FILE *stream);

/** The name that a typing mistake was probably meant to be; NULL if there is none. */
const char *glossary_nearest(const char *name);

#endif
