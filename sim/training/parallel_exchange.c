// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/parallel_exchange.h"

#include "training/layer_time.h"

#define PS_PER_S 1e12

enum { ELEMENT_BYTES = LAYER_TIME_STATE_BYTES };

uint64_t parallel_exchange_tensor_ps(const struct training_groups *groups, int n_cut, uint32_t hidden,
                                     uint64_t hidden_by_ps) {
    const double n = groups->tensor, collectives = 2;
    const double bytes = groups->tokens * n * hidden * ELEMENT_BYTES;
    if (groups->tensor == 1) {
        return 0;
    }
    const double whole_s = collectives * n_cut * (1 - 1 / n) * bytes / groups->nvlink_bytes_per_s;
    const double hidden_by_s = (double)hidden_by_ps / PS_PER_S;
    if (hidden_by_ps == 0) {
        return layer_time_ps(whole_s);
    }
    const double longer_s = whole_s > hidden_by_s ? whole_s - hidden_by_s : 0;
    return layer_time_ps(whole_s / n + longer_s * (n - 1) / n);
}

/* Of a token: a GPU has tokens ÷ (tensor × context), and heads ÷ tensor of tensor as many. */
static double key_value_bytes(const struct model_shape *shape) {
    return shape->kv_heads * ((double)shape->key_width + shape->value_width) * ELEMENT_BYTES;
}

static double query_output_bytes(const struct model_shape *shape) {
    return shape->heads * ((double)shape->key_width + shape->value_width) * ELEMENT_BYTES;
}

bool parallel_exchange_context_in_domain(const struct training_groups *groups) {
    return training_groups_in_domain(groups, groups->tensor * groups->context, 1);
}

uint64_t parallel_exchange_context_ps(const struct training_groups *groups, const struct model_shape *shape,
                                      enum experiment_context_exchange exchange, bool backward, uint64_t attention_ps) {
    if (groups->context == 1 || shape == NULL) {
        return 0;
    }
    const double n = groups->context, kinds = backward ? 2 : 1; // keys and values; and their gradients
    const double rate =
        parallel_exchange_context_in_domain(groups) ? groups->nvlink_bytes_per_s : groups->nic_bytes_per_s;
    const double own_s = groups->tokens * key_value_bytes(shape) / rate;
    switch (exchange) {
    case EXPERIMENT_CONTEXT_RING: {
        const double turn_s = (double)attention_ps / PS_PER_S / n, pass_s = kinds * own_s;
        return layer_time_ps(pass_s > turn_s ? (n - 1) * (pass_s - turn_s) : 0);
    }
    case EXPERIMENT_CONTEXT_ALL_GATHER:
        return layer_time_ps(kinds * (n - 1) * own_s);
    case EXPERIMENT_CONTEXT_ALL_TO_ALL:
        return layer_time_ps((1 - 1 / n) * (own_s + groups->tokens * query_output_bytes(shape) / rate));
    }
    BUG("context exchange %d", (int)exchange);
}
