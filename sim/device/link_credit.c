// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/link_credit.h"

#include "base/error.h"
#include "base/memory.h"
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

/* Blocks of the receive buffer of each virtual lane at the head of a link: the credit that its tail starts with. */
static uint32_t buffer_of(const struct context *context, uint32_t number) {
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

void link_credit_init(struct link_credit *credit, const struct context *context, uint32_t link) {
    *credit = (struct link_credit){.buffer = buffer_of(context, context->fabric->links[link].reverse)};
    for (int lane = 0; lane < PACKET_CLASSES; lane++) {
        credit->left[lane] = buffer_of(context, link);
    }
}

static void send(const struct context *context, struct engine_worker *worker, uint32_t link, enum packet_class lane,
                 uint32_t blocks, uint64_t now_ps) {
    const struct fabric_link *place = &context->fabric->links[link];
    context_send_credit(context, worker, link, now_ps, lane, blocks);
    if (context->trace) {
        trace_add_control(context->trace, TRACE_CREDIT, now_ps, place->tail_device, (uint16_t)place->tail_port,
                          (uint64_t)lane << 32 | blocks);
    }
}

void link_credit_return(struct link_credit *credit, const struct context *context, struct engine_worker *worker,
                        uint32_t link, enum packet_class lane, uint32_t blocks, uint64_t now_ps) {
    uint32_t *gathered = &credit->gathered[lane];
    *gathered += blocks;
    if (*gathered >= grain(context->parameters)) {
        send(context, worker, link, lane, *gathered, now_ps);
        *gathered = 0;
    }
}

void link_credit_renew(struct link_credit *credit, const struct context *context, struct engine_worker *worker,
                       uint32_t link, uint64_t now_ps) {
    for (int lane = 0; lane < PACKET_CLASSES; lane++) {
        credit->gathered[lane] = 0;
        send(context, worker, link, (enum packet_class)lane, credit->buffer - credit->held[lane], now_ps);
    }
}

/* What the port at the tail of a link knows; NULL: another rank runs its device. */
static const struct link_credit *credit_of(const struct context *context, struct endpoint *const *endpoints,
                                           struct switch_device *const *switches, const struct fabric_link *link) {
    const struct fabric_device *device = &context->fabric->devices[link->tail_device];
    if (device->kind == FABRIC_ENDPOINT) {
        const struct endpoint *endpoint = endpoints[link->tail_device];
        return endpoint != NULL ? nic_credit_of(endpoint, link->tail_port) : NULL;
    }
    const struct switch_device *at = switches[device->ordinal];
    return at != NULL ? switch_credit_of(at, link->tail_port) : NULL;
}

uint64_t *link_credit_books(const struct context *context, struct endpoint *const *endpoints,
                            struct switch_device *const *switches) {
    const struct fabric *fabric = context->fabric;
    uint64_t *books = memory_allocate((size_t)fabric->n_links * PACKET_CLASSES, sizeof(*books));
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const struct fabric_link *link = &fabric->links[l];
        const struct link_credit *credit =
            link->kind == FABRIC_ETHERNET ? credit_of(context, endpoints, switches, link) : NULL;
        for (size_t lane = 0; lane < PACKET_CLASSES && credit != NULL; lane++) {
            books[(size_t)l * PACKET_CLASSES + lane] += credit->left[lane];
            books[(size_t)link->reverse * PACKET_CLASSES + lane] += credit->gathered[lane];
        }
    }
    return books;
}

static bool fails(const struct context *context, uint32_t link) {
    const struct failure_plan *plan = context->failures;
    return plan != NULL &&
           (failure_plan_fails(plan, link) || failure_plan_fails(plan, context->fabric->links[link].reverse));
}

void link_credit_check(const struct context *context, const uint64_t *books) {
    for (uint32_t l = 0; l < context->fabric->n_links; l++) {
        if (context->fabric->links[l].kind != FABRIC_ETHERNET || fails(context, l)) {
            continue;
        }
        const uint32_t buffer = buffer_of(context, l);
        for (size_t lane = 0; lane < PACKET_CLASSES; lane++) {
            const uint64_t blocks = books[(size_t)l * PACKET_CLASSES + lane];
            REQUIRE(blocks == buffer, "link %u lane %zu: %llu blocks of credit instead of the %u of the buffer", l,
                    lane, (unsigned long long)blocks, buffer);
        }
    }
}
