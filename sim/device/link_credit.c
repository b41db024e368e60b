// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/link_credit.h"

#include "base/error.h"
#include "device/nic_credit.h"
#include "device/switch_credit.h"
#include "fabric/failure_plan.h"

static uint32_t grain(const struct network_parameters *parameters) {
    return link_credit_blocks(parameters->infiniband.credit_grain_bytes);
}

uint32_t link_credit_largest(const struct network_parameters *parameters) {
    const struct nic_parameters *nic = &parameters->nic;
    const uint32_t data_bytes = nic->payload_bytes + nic->header_bytes;
    return link_credit_blocks(data_bytes > nic->control_bytes ? data_bytes : nic->control_bytes);
}

uint32_t link_credit_buffer(const struct context *context, uint32_t number) {
    const struct network_parameters *parameters = context->parameters;
    const struct fabric_link *link = &context->fabric->links[number];
    const struct fabric_link *back = &context->fabric->links[link->reverse];
    // with less, what has gathered short of a grain could hold the link for ever
    const uint64_t smallest = (uint64_t)link_credit_largest(parameters) + grain(parameters);
    uint64_t blocks = parameters->infiniband.buffer_bytes / LINK_CREDIT_BLOCK_BYTES;
    if (blocks == 0) {
        const uint64_t slower = link->ps_per_byte > back->ps_per_byte ? link->ps_per_byte : back->ps_per_byte;
        const uint32_t packet_bytes = link_credit_largest(parameters) * LINK_CREDIT_BLOCK_BYTES;
        const uint64_t round_trip_ps = link->latency_ps + back->latency_ps + 2 * rate_time_ps(slower, packet_bytes);
        const uint64_t bytes = (uint64_t)((rate_wide)round_trip_ps * link->rate_bits_per_s / UINT64_C(8000000000000));
        blocks = bytes / LINK_CREDIT_BLOCK_BYTES + smallest;
    }
    blocks = blocks < smallest ? smallest : blocks;
    return blocks > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)blocks;
}

static void send(const struct context *context, struct engine_worker *worker, uint32_t back_link,
                 enum packet_class lane, uint32_t blocks, uint64_t now_ps) {
    const struct fabric_link *link = &context->fabric->links[back_link];
    context_send_credit(context, worker, back_link, now_ps, lane, blocks);
    if (context->trace) {
        trace_add_control(context->trace, TRACE_CREDIT, now_ps, link->tail_device, (uint16_t)link->tail_port,
                          (uint64_t)lane << 32 | blocks);
    }
}

void link_credit_return(const struct context *context, struct engine_worker *worker, uint32_t back_link,
                        enum packet_class lane, uint32_t *gathered, uint32_t blocks, uint64_t now_ps) {
    *gathered += blocks;
    if (*gathered >= grain(context->parameters)) {
        send(context, worker, back_link, lane, *gathered, now_ps);
        *gathered = 0;
    }
}

void link_credit_renew(const struct context *context, struct engine_worker *worker, uint32_t back_link,
                       enum packet_class lane, uint32_t blocks, uint64_t now_ps) {
    send(context, worker, back_link, lane, blocks, now_ps);
}

/* Of one port and lane, in blocks. */
struct account {
    uint32_t left, gathered;
};

/* What a port has of a lane: credit of the buffer at the other end, or what has gathered of its own. False: another rank runs the device. */
static bool ask(const struct context *context, struct endpoint *const *endpoints, struct switch_device *const *switches,
                uint32_t link, enum packet_class lane, struct account *account) {
    const struct fabric_link *place = &context->fabric->links[link];
    const struct fabric_device *device = &context->fabric->devices[place->tail_device];
    if (device->kind == FABRIC_ENDPOINT) {
        const struct endpoint *endpoint = endpoints[place->tail_device];
        if (endpoint != NULL) {
            account->left = nic_credit_of(endpoint, place->tail_port)->left[lane];
            account->gathered = nic_credit_of(endpoint, place->tail_port)->gathered[lane];
        }
        return endpoint != NULL;
    }
    const struct switch_device *at = switches[device->ordinal];
    if (at != NULL) {
        account->left = switch_credit_left(at, place->tail_port, lane);
        account->gathered = switch_credit_gathered(at, place->tail_port, lane);
    }
    return at != NULL;
}

static bool fails(const struct context *context, uint32_t link) {
    const struct failure_plan *plan = context->failures;
    return plan != NULL &&
           (failure_plan_fails(plan, link) || failure_plan_fails(plan, context->fabric->links[link].reverse));
}

void link_credit_check(const struct context *context, struct endpoint *const *endpoints,
                       struct switch_device *const *switches) {
    for (uint32_t l = 0; l < context->fabric->n_links; l++) {
        const struct fabric_link *link = &context->fabric->links[l];
        for (int lane = 0; lane < PACKET_CLASSES && link->kind == FABRIC_ETHERNET && !fails(context, l); lane++) {
            struct account tail, head;
            if (ask(context, endpoints, switches, l, (enum packet_class)lane, &tail) &&
                ask(context, endpoints, switches, link->reverse, (enum packet_class)lane, &head)) {
                const uint32_t buffer = link_credit_buffer(context, l);
                REQUIRE(tail.left + head.gathered == buffer,
                        "link %u lane %d: credit of %u blocks and %u that gather are not the %u of the buffer", l, lane,
                        tail.left, head.gathered, buffer);
            }
        }
    }
}
