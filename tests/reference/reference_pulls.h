// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pulls that a receiver owes to senders, in the naive simulator.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_PULLS_H
#define MOEFABRIC_TESTS_REFERENCE_PULLS_H

#include "congestion/receiver_credit.h"
#include "device/packet.h"
#include "device/parameters.h"
#include "reference_list.h"

#include <stddef.h>
#include <stdint.h>

/** A queue pair that sends here, and what it is owed. */
struct reference_owed {
    uint32_t source;
    uint16_t queue_pair, entropy;
    uint32_t packets, pulled;
    uint64_t bytes; /**< of what is owed */
};

/** All that a receiver owes. Zero-initialise, then reference_pulls_begin. */
struct reference_pulls {
    struct reference_owed *owed; /**< all that have ever sent */
    size_t n_owed;
    struct reference_list turns; /**< those that are owed, by index */
    uint64_t next_ps;            /**< the next pull, not before */
    struct receiver_credit_pace pace;
};

/** Nothing has come yet. */
void reference_pulls_begin(struct reference_pulls *pulls);

/** Frees what it owns. */
void reference_pulls_free(struct reference_pulls *pulls);

/** One more packet of so many bytes is owed to the queue pair of a packet. */
void reference_pulls_owe(struct reference_pulls *pulls, const struct packet *packet, uint64_t bytes);

/** The pull whose turn it is; there must be one. */
struct packet reference_pulls_take(struct reference_pulls *pulls, const struct network_parameters *parameters,
                                   uint32_t endpoint, uint64_t line_bits_per_s, uint64_t now_ps);

#endif
