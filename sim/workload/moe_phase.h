// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Phases of a mixture-of-experts layer that move token copies. Two of them go out, from the tokens' sources to their experts, and two back; what goes
 * back takes the way out in the other direction, or a way of its own (pxn). The gradient of combine's input is dispatched as tokens are, that of
 * dispatch's input is combined (DeepSeek-V3 technical report, arXiv 2412.19437, 3.3.3; DeepEP, README, example of training).
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_PHASE_H
#define MOEFABRIC_WORKLOAD_MOE_PHASE_H

#include <stdbool.h>

enum moe_phase {
    MOE_PHASE_DISPATCH,
    MOE_PHASE_COMBINE,
    MOE_PHASE_COMBINE_BACKWARD,  /**< gradients from sources to experts, on the layout that the forward pass has made */
    MOE_PHASE_DISPATCH_BACKWARD, /**< gradients from experts back to sources */
    MOE_PHASES
};

/** From sources to experts? */
static inline bool moe_phase_outward(enum moe_phase phase) {
    return phase % 2 == 0;
}

/** Of the backward pass? */
static inline bool moe_phase_backward(enum moe_phase phase) {
    return phase >= MOE_PHASE_COMBINE_BACKWARD;
}

#endif
