// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Loads of experts from text: lines `layer,expert,VALUE[,VALUE…]` below a heading that names the domain of each column of values.
 *
 * Lines that begin with # and empty lines are passed over. Rows may come in any order; layers are numbered without gaps from any number
 * on, experts from 0, and every layer has every expert once. Values are shares of tokens or counts.
 */
#ifndef MOEFABRIC_WORKLOAD_EXPERT_LOAD_CSV_H
#define MOEFABRIC_WORKLOAD_EXPERT_LOAD_CSV_H

#include "workload/expert_load.h"

/** Reads a file. NULL with *error (file:line:column) at the first mistake. Freed by expert_load_free. */
struct expert_load *expert_load_csv_read(const char *path, struct error *error);

/** The same from NUL-terminated text; name stands for the path in messages. */
struct expert_load *expert_load_csv_parse(const char *name, const char *text, struct error *error);

#endif
