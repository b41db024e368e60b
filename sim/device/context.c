// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/context.h"

#include "fabric/failure_plan.h"

void context_send_control(const struct context *context, struct engine_worker *worker, uint32_t link, uint64_t now_ps,
                          uint32_t kind, uint32_t amount) {
    const uint64_t arrival_ps = now_ps + context->fabric->links[link].latency_ps;
    const struct control control = {.time_ps = arrival_ps, .kind = kind, .amount = amount};
    if (context->failures != NULL && failure_plan_is_down(context->failures, link, now_ps, arrival_ps)) {
        return;
    }
    engine_send(worker, context->rings, link, ENGINE_CONTROL, &control);
}
