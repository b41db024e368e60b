// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What an algorithm decides: which messages carry the token copies of a phase, in which order, and what a delivery sets free. A file each; moe.c tells
 * them of the moments, moe_send.h posts what they decide. README.md of this folder compares them.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_ALGORITHM_H
#define MOEFABRIC_WORKLOAD_MOE_ALGORITHM_H

#include "config/experiment.h"
#include "workload/moe_counts.h"
#include "workload/moe_phase.h"
#include "workload/moe_tag.h"
#include "workload/moe_totals.h"
#include "workload/traffic.h"

struct moe;

/** One algorithm. A call for a rank may write only that rank's own state. */
struct moe_algorithm {
    uint32_t header_bytes; /**< before each token copy that is dispatched */
    bool message_each;     /**< every token copy is handed to the NIC as a message of its own */
    bool contiguous;       /**< copies lie in one buffer: packets are cut without regard to them */
    bool acknowledges;     /**< each message with token copies is answered with a small one */
    bool mirrored;         /**< what goes back is what went out, the other way round, whatever the size of a copy */
    /** Adds to totals[n_ranks] what ranks send and receive in a phase. Of mirrored ones only phases that go out are asked for. */
    void (*sum)(const struct moe *moe, enum moe_phase phase, struct moe_totals *totals);
    /** Adds to copies[n_ranks] the token copies that a rank sends to each other on links in a phase. */
    void (*add_row)(const struct moe *moe, enum moe_phase phase, uint32_t rank, uint64_t *copies);
    /** Makes the state that the algorithm keeps of all ranks (moe->state), and frees it. NULL: none. */
    void *(*create)(const struct moe *moe);
    void (*destroy)(void *state);
    /** Sets back the state of a rank, before it begins. NULL: nothing to do. */
    void (*reset)(struct moe *moe, uint32_t rank);
    /** A phase begins at a rank. */
    void (*begin)(struct moe *moe, enum moe_phase phase, uint32_t rank, struct traffic_outbox *outbox);
    /** Token copies of a phase have arrived at a rank. NULL: that sets nothing free. */
    void (*delivered)(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t source, const struct moe_tag *tag,
                      struct traffic_outbox *outbox);
    /** Early pacing: a rank has been granted a remote destination of its dispatch. NULL: the algorithm knows no early pacing. */
    void (*granted)(const struct moe *moe, uint32_t rank, uint32_t destination, struct traffic_outbox *outbox);
    /** A message that a rank sent has been received by peer. NULL unless the algorithm acknowledges. */
    void (*acknowledged)(struct moe *moe, enum moe_phase phase, uint32_t rank, uint32_t peer,
                         struct traffic_outbox *outbox);
};

/** The one of a name. */
const struct moe_algorithm *moe_algorithm_of(enum experiment_algorithm algorithm);

extern const struct moe_algorithm moe_direct, moe_two_hop, moe_pxn, moe_nccl_p2p, moe_pairwise, moe_hybrid_ep;

#endif
