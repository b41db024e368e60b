// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The sending side of one queue pair of the naive simulator: all its packets, and how far it has come.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_PAIR_H
#define MOEFABRIC_TESTS_REFERENCE_PAIR_H

#include "congestion/congestion.h"
#include "device/parameters.h"
#include "path/host_reps.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A message on a queue pair. */
struct reference_pair_message {
    uint32_t tag;
    uint32_t end; /**< one past the number of its last packet */
};

/** One queue pair. Words: sim/device/README.md. */
struct reference_pair {
    uint32_t source, destination;
    uint32_t number;
    uint16_t entropy;
    struct packet *packets; /**< all that were ever posted, by number */
    uint32_t n_packets;
    struct reference_pair_message *messages;
    size_t n_messages, completed;
    uint64_t *started_ps;          /**< [n_packets] when each was sent last … */
    uint8_t *started_as;           /**< … and with which transmission */
    uint32_t window;               /**< packets that the controller allows */
    uint32_t next, sent;           /**< next number and sent number */
    uint32_t cumulative, received; /**< as acknowledged */
    uint8_t transmission;
    uint64_t next_ps; /**< pacing: not before */
    bool queued;      /**< in the ready ring or paced */
    uint32_t repeats;
    uint64_t clock_setting; /**< how often the clock was set or stopped */
    bool probe_outstanding;
    uint32_t probe_number, probes;
    uint64_t probe_sent_ps;
    struct congestion_state congestion;
    struct host_reps recycled; /**< under path policies that recycle entropies */
};

/** An empty queue pair. index: number of the queue pair among those to the same peer. Freed by reference_pair_free. */
struct reference_pair *reference_pair_create(uint32_t source, uint32_t destination, uint32_t number, uint32_t index);

/** Frees a queue pair; NULL is allowed. */
void reference_pair_free(struct reference_pair *pair);

/** Appends the packets of a message. */
void reference_pair_add(struct reference_pair *pair, const struct traffic_message *message,
                        const struct nic_parameters *parameters);

/** What the window counts as acknowledged. */
uint32_t reference_pair_acknowledged(const struct reference_pair *pair, const struct nic_parameters *parameters);

/** Whether it may send a packet, pacing apart. */
bool reference_pair_has_work(const struct reference_pair *pair, const struct nic_parameters *parameters);

/** Whether anything that was sent is not acknowledged. */
bool reference_pair_outstanding(const struct reference_pair *pair);

/** The packet to send next. */
struct packet reference_pair_packet(const struct reference_pair *pair);

/** It starts now. */
void reference_pair_advance(struct reference_pair *pair, uint64_t now_ps);

/** An acknowledgement has arrived. */
void reference_pair_acknowledge(struct reference_pair *pair, uint32_t cumulative, uint32_t received);

/** Goes back to the first packet that is not acknowledged. */
void reference_pair_rewind(struct reference_pair *pair);

#endif
