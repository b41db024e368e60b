// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/wire.h"

#include "base/hash.h"
#include "base/rate.h"
#include "fabric/failure_plan.h"

static bool is_unlucky(const struct context *context, uint32_t link, uint64_t loss_fxp32, uint64_t now_ps) {
    if (loss_fxp32 == 0) {
        return false;
    }
    const uint64_t stream = hash_stream(context->parameters->seed, HASH_PURPOSE_LOSS, link, 0);
    return hash_draw(stream, now_ps) >> 32 < loss_fxp32;
}

struct wire_start wire_start(const struct context *context, uint32_t link, uint32_t size_bytes, uint32_t *carry,
                             uint64_t now_ps) {
    const struct failure_state state = failure_plan_state(context->failures, link, now_ps);
    const uint64_t duration_ps = rate_next_ps(state.ps_per_byte, size_bytes, carry);
    const uint64_t arrival_ps = now_ps + duration_ps + context->fabric->links[link].latency_ps;
    return (struct wire_start){.duration_ps = duration_ps,
                               .lost = failure_plan_is_down(context->failures, link, now_ps, arrival_ps) ||
                                       is_unlucky(context, link, state.loss_fxp32, now_ps)};
}

void wire_lose(const struct context *context, uint32_t link, const struct packet *packet, uint64_t now_ps) {
    const struct fabric_link *place = &context->fabric->links[link];
    context->links[link].lost_packets++;
    context->links[link].lost_bytes += packet->size_bytes;
    if (context->trace) {
        trace_add_packet(context->trace, TRACE_LOSE, now_ps, place->tail_device, (uint16_t)place->tail_port, packet, 0);
    }
}
