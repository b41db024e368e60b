// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/credit.h"

uint64_t credit_initial_bytes(const struct context *context, uint32_t number) {
    const struct nvlink_parameters *nvlink = &context->parameters->nvlink;
    const struct fabric_link *link = &context->fabric->links[number];
    const struct fabric_link *back = &context->fabric->links[link->reverse];
    uint64_t bytes = nvlink->buffer_bytes;
    if (bytes == 0) {
        const uint64_t slower = link->ps_per_byte > back->ps_per_byte ? link->ps_per_byte : back->ps_per_byte;
        const uint64_t round_trip_ps =
            link->latency_ps + back->latency_ps + 2 * rate_time_ps(slower, nvlink->record_bytes);
        bytes = (uint64_t)((rate_wide)2 * round_trip_ps * link->rate_bits_per_s / UINT64_C(8000000000000));
    }
    // with less, what has gathered short of a grain could hold the link for ever
    const uint64_t smallest = (uint64_t)nvlink->record_bytes + nvlink->credit_grain_bytes;
    return bytes < smallest ? smallest : bytes;
}

void credit_return(const struct context *context, struct engine_worker *worker, uint32_t device, uint32_t port,
                   uint32_t back_link, uint32_t *gathered_bytes, uint32_t size_bytes, uint64_t now_ps) {
    *gathered_bytes += size_bytes;
    if (*gathered_bytes < context->parameters->nvlink.credit_grain_bytes) {
        return;
    }
    context_send_control(context, worker, back_link, now_ps, CONTROL_CREDIT, *gathered_bytes);
    if (context->trace) {
        trace_add_control(context->trace, TRACE_CREDIT, now_ps, device, (uint16_t)port, *gathered_bytes);
    }
    *gathered_bytes = 0;
}
