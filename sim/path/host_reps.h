// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * REPS: the sender sprays, and recycles what has proved good. Switches hash each packet's entropy as under `ecmp`; the NIC gives every
 * packet an entropy of its own: the oldest that came back on an unmarked ACK and was not used since, else a random one.
 *
 * Bonato and others: REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure Mitigation (arXiv 2407.21625);
 * figures as in htsim's buffer_reps (8 entries, 16 random explorations after a freeze, freeze of 10 ms).
 *
 * - An unmarked ACK puts the entropy of the packet that it answers into a ring of 8, over the oldest entry.
 * - Where switches trim packets, so that full queues lose none, a retransmission time-out freezes the queue pair, unless it explores: for 10 ms the entries of the ring are used in turn, fresh or
 *   not, since paths that worked before a failure probably still do. The first ACK after that ends the freeze; then 16 packets
 *   explore with random entropies before recycling begins anew.
 * - At first there is nothing to recycle, so packets explore until ACKs come back.
 *
 * Where one ACK answers several packets it returns the entropy of the one that caused it. Packets that must stay in order (NICs without
 * out-of-order placement) keep the entropy of their queue pair.
 */
#ifndef MOEFABRIC_PATH_HOST_REPS_H
#define MOEFABRIC_PATH_HOST_REPS_H

#include "path/path.h"

enum { HOST_REPS_ENTRIES = 8, HOST_REPS_EXPLORATIONS = 16 };
#define HOST_REPS_FREEZE_PS UINT64_C(10000000000)

/** What a NIC keeps for a queue pair. Zero-initialise, then set stream. */
struct host_reps {
    uint64_t stream; /**< of random entropies: host_reps_stream */
    uint64_t draws;
    uint64_t frozen_until_ps; /**< while frozen: when the freeze may end */
    uint16_t entropies[HOST_REPS_ENTRIES];
    uint8_t fresh;    /**< a bit an entry: not used since it came back */
    uint8_t next;     /**< entry to be written next: the oldest */
    uint8_t turn;     /**< frozen: entry to be used next */
    uint8_t explores; /**< packets that still take random entropies */
    uint8_t filled;   /**< entries that were ever written */
    bool frozen;
};

/** The stream of draws of a queue pair. */
uint64_t host_reps_stream(uint64_t seed, uint32_t endpoint, uint32_t queue_pair);

/** Entropy of the packet that starts now. */
uint16_t host_reps_next(struct host_reps *reps);

/** An ACK came back: entropy of the packet that caused it, and whether that was marked. */
void host_reps_acknowledged(struct host_reps *reps, uint16_t entropy, bool marked, uint64_t now_ps);

/** The retransmission timer ran out. */
void host_reps_timed_out(struct host_reps *reps, uint64_t now_ps);

/** What switches do under this policy: hash the entropy. */
extern const struct path_policy host_reps_policy;

#endif
