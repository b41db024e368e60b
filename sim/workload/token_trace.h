// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What each token of a recording picked in one layer.
 */
#ifndef MOEFABRIC_WORKLOAD_TOKEN_TRACE_H
#define MOEFABRIC_WORKLOAD_TOKEN_TRACE_H

#include "workload/gate.h"

#include <stdint.h>

struct token_trace;

/**
 * Reads numbers of experts [token, layer, k] (or [token, k]: one layer) from routing.path (else routing.file): layer routing.layer of the first
 * ranks × tokens tokens. NULL with *error, which names the index, if the trace is shorter, k is not top_k, a number is no expert, or a token picks
 * one twice. Freed by token_trace_free. Memory: 2 bytes a pick.
 */
struct token_trace *token_trace_read(const struct gate_parameters *parameters, struct error *error);

/** Frees it; NULL is allowed. */
void token_trace_free(struct token_trace *trace);

/** Copies the picks of a token; after the last the first follows. */
void token_trace_take(const struct token_trace *trace, uint64_t token, uint32_t *picks);

#endif
