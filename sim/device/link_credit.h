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

/** What a port knows of the buffers at both ends of its link, in blocks by lane. */
struct link_credit {
    uint32_t left[PACKET_CLASSES];     /**< of the buffer at the other end */
    uint32_t held[PACKET_CLASSES];     /**< of the buffer here */
    uint32_t gathered[PACKET_CLASSES]; /**< free again here, not told yet */
    uint32_t buffer;                   /**< of each lane, here */
    bool dead;                         /**< the link that leaves is down: what starts is lost, and needs no credit */
};

/** What a port begins with. link leaves it. */
void link_credit_init(struct link_credit *credit, const struct context *context, uint32_t link);

/** Blocks of a lane of the buffer of a port are free again, and are told once they make a grain. link leaves the port. */
void link_credit_return(struct link_credit *credit, const struct context *context, struct engine_worker *worker,
                        uint32_t link, enum packet_class lane, uint32_t blocks, uint64_t now_ps);

/** Tells the other end of a port what all lanes of its buffer have free: the link begins anew. */
void link_credit_renew(struct link_credit *credit, const struct context *context, struct engine_worker *worker,
                       uint32_t link, uint64_t now_ps);

struct endpoint;
struct switch_device;

/**
 * Where the blocks of all buffers are after a run, [links × lanes], by the link that enters a buffer: credit at its tail, and what
 * gathers at its head. Devices by number or ordinal; NULL where another rank runs them: sums over all ranks have everything.
 */
uint64_t *link_credit_books(const struct context *context, struct endpoint *const *endpoints,
                            struct switch_device *const *switches);

/** After a run that has delivered all: every link that never fails has the blocks of its buffers in the books; a bug if not. */
void link_credit_check(const struct context *context, const uint64_t *books);

#endif
