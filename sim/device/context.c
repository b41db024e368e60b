// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/context.h"

void context_send_control(const struct context *context, struct engine_worker *worker, uint32_t link, uint64_t now_ps,
                          uint32_t kind, uint32_t amount) {
    const struct control control = {
        .time_ps = now_ps + context->fabric->links[link].latency_ps, .kind = kind, .amount = amount};
    engine_send(worker, context->rings, link, ENGINE_CONTROL, &control);
}
