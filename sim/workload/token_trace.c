// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/token_trace.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "workload/tensor.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_TOKENS = 4096 };

struct token_trace {
    uint64_t n_tokens;
    uint32_t top_k;
    uint16_t *picks; /* [n_tokens × top_k] */
};

/* A trace while it is read. */
struct reading {
    const struct gate_parameters *parameters;
    const char *path;
    struct tensor *tensor;
    struct error *error;
    uint64_t lengths[TENSOR_LARGEST_DIMENSIONS];
    uint32_t n_dimensions;
};

#define REFUSE(...)                                                                                                    \
    error_set_file(reading->error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, reading->path, __VA_ARGS__)

static bool check_shape(struct reading *reading) {
    const struct gate_parameters *parameters = reading->parameters;
    const uint64_t needed = (uint64_t)parameters->ranks * parameters->tokens;
    const uint32_t n = reading->n_dimensions = tensor_shape(reading->tensor, reading->lengths);
    if (n != 2 && n != 3) {
        return REFUSE("a trace is [token, k] or [token, layer, k], the array has %u dimension%s", n, n == 1 ? "" : "s");
    }
    const uint64_t layers = n == 3 ? reading->lengths[1] : 1, top_k = reading->lengths[n - 1];
    if (top_k != parameters->top_k) {
        return REFUSE("tokens of the trace pick %llu experts, those of the model %u", (unsigned long long)top_k,
                      parameters->top_k);
    }
    if (parameters->routing.layer >= layers) {
        return REFUSE("there is no layer %u (gate.layer): the trace has the layers 0 to %llu",
                      parameters->routing.layer, (unsigned long long)layers - 1);
    }
    return reading->lengths[0] >= needed || REFUSE("the trace ends after %llu tokens, %u ranks of %u tokens need %llu",
                                                   (unsigned long long)reading->lengths[0], parameters->ranks,
                                                   parameters->tokens, (unsigned long long)needed);
}

/* Takes a token's picks over; each is an expert, and no two are the same. */
static bool take_token(const struct reading *reading, uint64_t token, const double *values, uint16_t *picks) {
    const uint32_t top_k = reading->parameters->top_k, layer = reading->parameters->routing.layer;
    for (uint32_t i = 0; i < top_k; i++) {
        if (!(values[i] >= 0 && values[i] < reading->parameters->experts) || values[i] != (uint32_t)values[i]) {
            return REFUSE("[token %llu, layer %u, %u] is %g: experts have the numbers 0 to %u",
                          (unsigned long long)token, layer, i, values[i], reading->parameters->experts - 1);
        }
        picks[i] = (uint16_t)values[i];
        for (uint32_t j = 0; j < i; j++) {
            if (picks[j] == picks[i]) {
                return REFUSE("[token %llu, layer %u, %u] is expert %u, which the token has picked before",
                              (unsigned long long)token, layer, i, picks[i]);
            }
        }
    }
    return true;
}

static bool read_picks(const struct reading *reading, struct token_trace *trace) {
    const uint32_t top_k = trace->top_k, last = reading->n_dimensions - 1;
    double *values = memory_allocate((size_t)BLOCK_TOKENS * top_k, sizeof *values);
    bool good = true;
    for (uint64_t token = 0; good && token < trace->n_tokens; token += BLOCK_TOKENS) {
        const uint64_t left = trace->n_tokens - token, block = left < BLOCK_TOKENS ? left : BLOCK_TOKENS;
        uint64_t first[3] = {token, last == 2 ? reading->parameters->routing.layer : 0, 0}, count[3] = {block, 1, 1};
        count[last] = top_k;
        good = tensor_read(reading->tensor, first, count, values, reading->error);
        for (uint64_t i = 0; good && i < block; i++) {
            good = take_token(reading, token + i, values + i * top_k, trace->picks + (token + i) * top_k);
        }
    }
    free(values);
    return good;
}

struct token_trace *token_trace_read(const struct gate_parameters *parameters, struct error *error) {
    const struct experiment_routing *routing = &parameters->routing;
    struct reading reading = {.parameters = parameters, .error = error};
    struct token_trace *trace = NULL;
    reading.path = routing->path[0] ? routing->path : routing->file;
    if (!tensor_is_named(reading.path)) {
        error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, reading.path,
                       "a trace is a file that ends with .npy, .h5 or .hdf5");
        return NULL;
    }
    reading.tensor = tensor_open(reading.path, routing->dataset, error);
    if (reading.tensor && check_shape(&reading)) {
        trace = memory_allocate(1, sizeof *trace);
        trace->top_k = parameters->top_k;
        trace->n_tokens = (uint64_t)parameters->ranks * parameters->tokens;
        trace->picks = memory_allocate(trace->n_tokens * trace->top_k, sizeof *trace->picks);
        if (!read_picks(&reading, trace)) {
            token_trace_free(trace);
            trace = NULL;
        }
    }
    tensor_close(reading.tensor);
    return trace;
}

void token_trace_free(struct token_trace *trace) {
    if (trace) {
        free(trace->picks);
        free(trace);
    }
}

void token_trace_take(const struct token_trace *trace, uint64_t token, uint32_t *picks) {
    for (uint32_t i = 0; i < trace->top_k; i++) {
        picks[i] = trace->picks[token % trace->n_tokens * trace->top_k + i];
    }
}
