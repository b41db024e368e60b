// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/context.h"

#include "fabric/failure_plan.h"

/* Fills in when it arrives. */
static void send(const struct context *context, struct engine_worker *worker, uint32_t link, uint64_t now_ps,
                 struct control *control) {
    control->time_ps = now_ps + context->fabric->links[link].latency_ps;
    if (context->failures != NULL && failure_plan_is_down(context->failures, link, now_ps, control->time_ps)) {
        return;
    }
    engine_send(worker, context->rings, link, ENGINE_CONTROL, control);
}

void context_send_control(const struct context *context, struct engine_worker *worker, uint32_t link, uint64_t now_ps,
                          uint32_t kind, uint32_t amount) {
    struct control control = {.kind = kind, .amount = amount};
    send(context, worker, link, now_ps, &control);
}

void context_send_credit(const struct context *context, struct engine_worker *worker, uint32_t link, uint64_t now_ps,
                         enum packet_class lane, uint32_t blocks) {
    struct control control = {.kind = CONTROL_CREDIT, .amount = blocks, .lane = (uint32_t)lane};
    send(context, worker, link, now_ps, &control);
}
