// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Credits of InfiniBand links: what the receive buffer of a virtual lane holds, in blocks of 64 B, and how it is given back.
 *
 * A virtual lane is a packet class here: one of control, two of data. Rules: infiniband.md of this folder.
 */
#ifndef MOEFABRIC_DEVICE_LINK_CREDIT_H
#define MOEFABRIC_DEVICE_LINK_CREDIT_H

#include "device/context.h"

/** InfiniBand Architecture Specification, volume 1, 7.9.4.4: one flow control credit is 64 bytes. */
enum { LINK_CREDIT_BLOCK_BYTES = 64 };

/** Blocks that a packet takes in a buffer. */
static inline uint32_t link_credit_blocks(uint32_t size_bytes) {
    return (size_bytes + LINK_CREDIT_BLOCK_BYTES - 1) / LINK_CREDIT_BLOCK_BYTES;
}

/** Blocks of the largest packet. */
uint32_t link_credit_largest(const struct network_parameters *parameters);

/** Blocks of the receive buffer of each virtual lane at the head of a link: the credit that its tail starts with. */
uint32_t link_credit_buffer(const struct context *context, uint32_t link);

struct endpoint;
struct switch_device;

/** After a run that has delivered all: the credit of every link that never fails is at its tail, but for what gathers at its head; a bug if not.
 * Devices by number or ordinal; NULL where another rank runs them. */
void link_credit_check(const struct context *context, struct endpoint *const *endpoints,
                       struct switch_device *const *switches);

/** Blocks of a lane of the receive buffer behind a port are free again; *gathered holds what is still short of a grain. back_link leaves the port. */
void link_credit_return(const struct context *context, struct engine_worker *worker, uint32_t back_link,
                        enum packet_class lane, uint32_t *gathered, uint32_t blocks, uint64_t now_ps);

/** Tells the other end of a port what a lane of its receive buffer has free: the link begins anew. */
void link_credit_renew(const struct context *context, struct engine_worker *worker, uint32_t back_link,
                       enum packet_class lane, uint32_t blocks, uint64_t now_ps);

#endif
