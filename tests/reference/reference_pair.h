// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The sending side of one queue pair of the naive simulator: all its packets, and how far it has come.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_PAIR_H
#define MOEFABRIC_TESTS_REFERENCE_PAIR_H

#include "congestion/congestion.h"
#include "device/parameters.h"
#include "device/recorder.h"
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

enum { REFERENCE_PAIR_CAUSE_UNIT = 1 << 20 }; /**< of an ACK's message field: above it is the packet that caused it */

/** What is known of a packet under selective repeat. */
struct reference_pair_packet {
    bool there;     /**< an ACK says so */
    bool lost;      /**< it waits to be sent again */
    uint32_t again; /**< times sent again */
};

enum { REFERENCE_PLANES = 8 }; /**< at most, of a NIC */

/** What a queue pair has in a plane: where it waits, and a congestion context (of the plane, or in plane 0 that of the queue pair). */
struct reference_plane {
    bool queued;      /**< in the ready ring or paced */
    bool closed;      /**< takes none of its packets */
    uint64_t next_ps; /**< pacing: not before */
    uint64_t due_ps;  /**< where it is paced: when it may join the ring */
    uint32_t window;  /**< packets that the controller allows */
    uint32_t told;    /**< packets of the plane that the controller knows to have arrived */
    bool probe_outstanding;
    uint32_t probe_number, probes;
    uint64_t probe_sent_ps;
    uint64_t data_bytes; /**< sent since */
    struct congestion_state congestion;
    struct host_reps recycled; /**< under path policies that recycle entropies */
};

/** Where a packet that has started is. */
enum reference_whereabouts { REFERENCE_GIVEN_UP, REFERENCE_IN_FLIGHT, REFERENCE_ARRIVED };

/** One queue pair. Words: sim/device/README.md. */
struct reference_pair {
    uint32_t source, destination;
    uint32_t number;
    uint16_t entropy;
    struct packet *packets; /**< all that were ever posted, by number */
    uint32_t n_packets;
    struct reference_pair_message *messages;
    size_t n_messages, completed;
    uint64_t *started_ps;                    /**< [n_packets] when each was sent last … */
    uint8_t *started_as;                     /**< … and with which transmission */
    struct reference_pair_packet *known;     /**< [n_packets] */
    uint32_t n_lost, n_trimmed;              /**< packets that wait to be sent again; NACKs that were believed */
    uint32_t until;                          /**< a loss is recovered from up to this cumulative number */
    uint32_t cap;                            /**< packets that the way allows in flight */
    uint8_t *went_by;                        /**< [n_packets] by which plane each went last … */
    enum reference_whereabouts *whereabouts; /**< [n_packets] … and what is known of it; where book is kept only */
    uint32_t n_planes;
    bool separate;                 /**< a congestion context each plane */
    bool books;                    /**< keeps book of what went by which plane */
    uint32_t next, sent;           /**< next number and sent number */
    uint32_t cumulative, received; /**< as acknowledged */
    uint8_t transmission;
    uint32_t repeats;
    uint64_t clock_setting; /**< how often the clock was set or stopped */
    uint64_t clock_ps;      /**< when it was set last */
    struct reference_plane planes[REFERENCE_PLANES];
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

/** Its congestion context for a plane. */
struct reference_plane *reference_pair_context(struct reference_pair *pair, uint32_t plane);

/** Packets that went by a plane last, and are in flight or known to have arrived. */
uint32_t reference_pair_count(const struct reference_pair *pair, uint32_t plane, enum reference_whereabouts where);

/** Whether it may send a packet by a plane, pacing apart. */
bool reference_pair_has_work(const struct reference_pair *pair, uint32_t plane,
                             const struct nic_parameters *parameters);

/** Whether anything that was sent is not acknowledged. */
bool reference_pair_outstanding(const struct reference_pair *pair);

/** The packet to send next. */
struct packet reference_pair_packet(const struct reference_pair *pair);

/** Number of the packet to send next. */
uint32_t reference_pair_next(const struct reference_pair *pair);

/** It starts now, by a plane. */
void reference_pair_advance(struct reference_pair *pair, uint32_t plane, uint64_t now_ps);

/** An acknowledgement has arrived, which was caused by a packet (cause; from sent on or negative: not known). */
void reference_pair_acknowledge(struct reference_pair *pair, uint32_t cumulative, uint32_t received, int64_t cause);

/** What a recorder sees of it at a time; lines: of its congestion contexts. */
struct recorder_pair_state reference_pair_state(const struct reference_pair *pair,
                                                const struct network_parameters *parameters,
                                                const uint64_t *lines_bits_per_s, uint64_t now_ps);

/** The number of the packet that caused an ACK; -1: it does not tell. */
int64_t reference_pair_cause(const struct packet *ack);

/** Time since the packet that caused an ACK started; 0 if that is not known. oldest: cumulative number before the ACK. */
uint64_t reference_pair_round_trip_ps(const struct reference_pair *pair, const struct packet *ack, uint32_t oldest,
                                      uint64_t now_ps);

/** Selective repeat: a packet is there, by the word of an ACK. Returns whether it was sent again without need. */
bool reference_pair_arrived(struct reference_pair *pair, uint32_t number, uint8_t transmission);

/** Selective repeat: what is missing below what is there gets lost. Returns whether that begins a recovery. */
bool reference_pair_infer(struct reference_pair *pair, uint32_t distance);

/** Selective repeat: a packet was trimmed. Returns whether it is lost now. */
bool reference_pair_trimmed(struct reference_pair *pair, uint32_t number, uint8_t transmission);

/** Selective repeat: all that is not known to be there is lost. */
void reference_pair_lose_all(struct reference_pair *pair);

/** Counts what is known of single packets: received, and lost. */
void reference_pair_recount(struct reference_pair *pair);

/** Goes back to the first packet that is not acknowledged. */
void reference_pair_rewind(struct reference_pair *pair);

#endif
