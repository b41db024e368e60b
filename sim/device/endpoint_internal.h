// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of the endpoint share; nobody else includes it. */
#ifndef MOEFABRIC_DEVICE_ENDPOINT_INTERNAL_H
#define MOEFABRIC_DEVICE_ENDPOINT_INTERNAL_H

#include "device/echo.h"
#include "device/endpoint.h"
#include "device/heap.h"
#include "device/lane.h"
#include "device/missing.h"
#include "device/pieces.h"
#include "device/pull.h"
#include "device/queue.h"
#include "device/receive_buffer.h"
#include "device/recovery.h"
#include "device/table.h"
#include "path/host_reps.h"

#define NO_MESSAGE UINT32_MAX

/** Where a queue pair waits for its turn. */
enum pair_place { PAIR_NOWHERE, PAIR_IN_RING, PAIR_IN_HEAP };

/** A message on a queue pair: a node of a chain in order of posting. */
struct pair_message {
    uint32_t row; /**< in endpoint.sent: what it is */
    uint32_t unit_bytes;
    uint32_t first_number; /**< of its packets on the queue pair */
    uint32_t n_packets;
    uint32_t next; /**< node, or NO_MESSAGE */
};

/** The sender's side of a queue pair. Packet numbers count from 0 and do not wrap: 2^32 packets are 17 TB. */
struct queue_pair {
    uint32_t destination;
    uint32_t next_number;   /**< of the packet to send next */
    uint32_t sent_number;   /**< one past the highest ever sent */
    uint32_t cumulative;    /**< below it all is acknowledged */
    uint32_t received;      /**< packets that the receiver says it has (out of order only) */
    uint32_t posted_number; /**< one past the last packet of all posted messages */
    uint32_t oldest, current,
        newest; /**< messages: first not acknowledged, that of next_number (NO_MESSAGE if all is sent), last */
    uint16_t entropy;
    uint16_t number;
    uint8_t place;        /**< enum pair_place */
    uint8_t transmission; /**< rewinds, mod 16 */
    uint8_t repeats;      /**< time-outs since the last progress */
    bool started;
    bool probing;      /**< a probe is outstanding */
    uint32_t probes;   /**< sent so far */
    uint32_t window;   /**< packets that may be unacknowledged; CONGESTION_UNLIMITED */
    uint32_t n_lost;   /**< selective repeat: packets that wait to be sent again */
    uint64_t next_ps;  /**< pacing: not before */
    uint64_t clock_ps; /**< of the retransmission timer */
    uint64_t timer_ps; /**< of its entry in the timer heap that counts; TIME_NEVER: none */
    uint64_t probe_ps; /**< when the last probe was queued */
    struct congestion_state congestion;
};

/** What selective repeat adds to a queue pair. */
struct pair_recovery {
    struct recovery packets;
    uint32_t cap; /**< packets in flight that the way allows at most; 0: it does not limit them */
};

/** The sending side of the NIC. */
struct nic {
    uint64_t free_ps; /**< end of what is being sent */
    uint64_t ps_per_byte, latency_ps, line_bits_per_s;
    uint64_t arrival_mask;          /**< all ones if a record arrives with its last bit, 0 if with its first */
    struct ring_writer *out;        /**< of the link that leaves the NIC */
    struct link_counters *counters; /**< of that link */
    uint32_t carry;
    uint32_t link;   /**< that leaves the NIC */
    bool paused;     /**< lossless class */
    bool holds_data; /**< the data class is lossless, so a pause holds it */
    uint8_t data_class;
    uint64_t paused_since_ps;
    struct queue control, probes;
    uint16_t *ring; /**< queue pairs that may send, circular */
    uint32_t ring_first, ring_count, ring_capacity;
    struct heap paced;  /**< (next_ps, queue pair) */
    struct heap timers; /**< (deadline, queue pair) */
    struct queue_pair *pairs;
    struct pull_desk *pulls;          /**< as a receiver; NULL: the controller wants none */
    struct echo_store *echoes;        /**< [pair_capacity]; NULL: the controller takes none */
    struct pair_recovery *recoveries; /**< [pair_capacity] under selective repeat; else NULL */
    struct host_reps *recycled;       /**< [pair_capacity] under path policies that recycle entropies; else NULL */
    uint32_t n_pairs, pair_capacity;
    struct table peers;      /**< destination → index of peer */
    uint32_t *peer_messages; /**< [peer] messages posted so far */
    uint32_t n_peers, peer_capacity;
    struct pair_message *messages; /**< nodes; free ones are chained from free_message */
    uint32_t n_messages, message_capacity, free_message;
    uint32_t urgent_count;
    const struct failure_change *changes; /**< when its link goes down and comes up */
    uint32_t n_changes, n_changes_taken;
};

/** A packet that came out of order and ends a message. */
struct receiver_last {
    uint32_t number, tag;
};

/** The receiver's side of a queue pair. */
struct receiver {
    uint32_t expected; /**< all below it are here */
    uint32_t received;
    uint32_t unacknowledged_bytes; /**< payload since the last ACK */
    uint32_t nack_number;
    uint64_t nack_ps;     /**< TIME_NEVER: none sent */
    uint64_t notified_ps; /**< TIME_NEVER: none sent */
    uint64_t *early;      /**< a bit a packet beyond expected, circular by number; NULL until one comes out of order */
    uint32_t early_bits;  /**< 0 or a power of two */
    uint32_t n_lasts, last_capacity;
    struct receiver_last *lasts; /**< message ends among them */
};

struct endpoint {
    const struct context *context;
    struct link_counters *links; /**< that leave it, by port */
    uint32_t device;
    uint32_t n_nics, n_lanes;
    struct nic nic;
    bool
        fails; /**< its NIC's link goes down and comes up, or it has a receive buffer: steps of these may precede any arrival */
    struct receive_buffer *receive; /**< NULL: the host takes everything as it arrives */
    uint64_t take_ps;            /**< when the host will have taken the packet at its head; TIME_NEVER: none is due */
    struct table receiver_index; /**< source << 16 | queue pair → receiver */
    uint64_t last_source;        /**< the key of receiver_index that was looked for last; UINT64_MAX: none */
    uint32_t last_receiver;      /**< what it led to */
    struct receiver *receivers;
    uint32_t n_receivers, receiver_capacity;
    struct lane *lanes;
    struct channel channels[TRAFFIC_CHANNELS];
    struct lane_numbers lane_numbers;   /**< of the next NVLink message to be posted */
    struct series_block *series_blocks; /**< that ports work on */
    uint32_t n_series;                  /**< posted so far */
    uint64_t records_left;              /**< posted and not started */
    struct missing missing;             /**< NVLink messages that have arrived in part */
    struct heap starts;                 /**< (start, order of arming) → armed message */
    struct traffic_message *armed;
    uint32_t *free_armed;
    uint32_t n_armed, n_free_armed, armed_capacity;
    uint64_t n_armings;
    uint32_t *completed; /**< scratch: tags of messages that one packet completed */
    uint32_t completed_capacity;
    struct endpoint_sent *sent;
    uint32_t n_sent, sent_capacity;
    struct endpoint_received *delivered;
    uint32_t n_delivered, delivered_capacity;
    uint64_t last_ps;
    struct endpoint_counters counters;
};

/** Makes room for one more element in a growing array. Steps are small: every endpoint has such arrays, and what is beyond their ends adds up. */
#define ENDPOINT_RESERVE(array, count, capacity)                                                                       \
    do {                                                                                                               \
        if ((count) == (capacity)) {                                                                                   \
            (capacity) += (capacity) / 4 + 8;                                                                          \
            (array) = memory_resize((array), (capacity), sizeof(*(array)));                                            \
        }                                                                                                              \
    } while (0)

/* nic.c: the transmitter */

/** Sets up the sending side for port 0. */
void nic_init(struct endpoint *endpoint);
/** Frees what the sending side owns. */
void nic_fini(struct nic *nic);
/** Starts everything that starts up to and including now_ps. Called by nic_drain only. */
void nic_catch_up(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps);
/** When the transmitter next starts something as things stand. */
uint64_t nic_next_ps(const struct nic *nic);
/** Something became eligible at now_ps: an idle transmitter starts. nic_drain up to now_ps must have been called. */
void nic_kick(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps);
/** A queue pair that waits nowhere is looked at for work. */
void nic_line_up(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint64_t now_ps);
/** Queues a control packet. */
void nic_send_control(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                      uint64_t now_ps);
/** A pause or resume record has arrived. */
void nic_handle_control(struct endpoint *endpoint, struct engine_worker *worker, const struct control *control,
                        uint64_t now_ps);

/** When the link of the NIC next goes down or comes up; TIME_NEVER: no more. */
uint64_t nic_next_change_ps(const struct nic *nic);
/** It does: a pause is forgotten. */
void nic_handle_change(struct endpoint *endpoint, struct engine_worker *worker);

/** Starts everything that starts up to and including now_ps. */
static inline void nic_drain(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    if (endpoint->nic.free_ps <= now_ps) {
        nic_catch_up(endpoint, worker, now_ps);
    }
}

/* pair.c: queue pairs */

/** Puts a message on its queue pair (or an urgent one in the control queue). */
void pair_post(struct endpoint *endpoint, struct engine_worker *worker, const struct traffic_message *message,
               uint64_t now_ps);
/** Packets of it that are acknowledged (README.md). */
static inline uint32_t pair_acknowledged(const struct endpoint *endpoint, const struct queue_pair *pair) {
    return endpoint->context->parameters->nic.out_of_order ? pair->received : pair->cumulative;
}
/** Whether a packet of it may be sent, pacing apart. */
static inline bool pair_has_work(const struct endpoint *endpoint, const struct queue_pair *pair) {
    if (pair->next_number >= pair->posted_number && pair->n_lost == 0) {
        return false;
    }
    return pair->window == CONGESTION_UNLIMITED || pair->next_number < pair->sent_number ||
           (int64_t)pair->next_number - (int64_t)pair_acknowledged(endpoint, pair) - (int64_t)pair->n_lost <
               (int64_t)pair->window;
}
/** Fills in its next packet and moves on. */
void pair_next_packet(struct endpoint *endpoint, struct queue_pair *pair, struct packet *packet, uint64_t now_ps);
/** Queues a probe. */
void pair_probe(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint64_t now_ps);
/** An ACK, NACK, notification or probe reply has arrived. */
void pair_handle_reply(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                       uint64_t now_ps);
/** Time of the next retransmission timer that matters; forgets those that do not. */
uint64_t pair_next_timer_ps(struct endpoint *endpoint);
/** Handles the earliest retransmission timer. */
void pair_handle_timer(struct endpoint *endpoint, struct engine_worker *worker);
/** Asks the controller for the window, which the transport may limit further. */
void pair_ask_window(const struct endpoint *endpoint, struct queue_pair *pair);
/** Starts or moves the retransmission timer of a queue pair. One entry in the heap counts; it may be early, never late. */
void pair_arm_timer(struct endpoint *endpoint, struct queue_pair *pair);
/** Messages all of whose packets are below the cumulative number are complete. */
void pair_complete_messages(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps);

/* pair_recovery.c: selective repeat */

/** Books an ACK or a selective one. Returns whether it begins a recovery from a loss. */
bool pair_recovery_acknowledge(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *ack,
                               uint64_t now_ps);
/** A NACK has come: a packet was trimmed. */
void pair_recovery_trimmed(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *nack,
                           uint64_t now_ps);
/** The retransmission clock ran out. */
void pair_recovery_time_out(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps);

/* receiver.c */

/** A data packet has arrived. */
void receiver_handle_data(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                          uint64_t now_ps);
/** What is left of a data packet that a switch has trimmed has arrived. */
void receiver_handle_trimmed(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                             uint64_t now_ps);
/** Echoes a probe. */
void receiver_handle_probe(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                           uint64_t now_ps);
/** Frees all receivers. */
void receiver_fini(struct endpoint *endpoint);

/* endpoint.c */

/** A packet that came in by a NIC is handled: it has arrived, or the host has taken it. */
void endpoint_handle_packet(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                            uint32_t port, uint64_t now_ps);

/* lane.c: NVLink */

/** Sets up the NVLink ports. */
void lane_init(struct endpoint *endpoint);
/** Frees the NVLink ports. */
void lane_fini(struct endpoint *endpoint);
/** Puts a message, or a series of them, on its channel; counts them. */
void lane_post(struct endpoint *endpoint, const struct traffic_message *message, uint64_t now_ps);
/** Starts everything that all ports start up to and including now_ps; returns the next start. */
uint64_t lane_drain_all(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps);
/** A record has arrived. */
void lane_handle_record(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port,
                        const struct packet *packet, uint64_t now_ps);
/** A credit has arrived. */
void lane_handle_credit(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port,
                        const struct control *control, uint64_t now_ps);

/** Puts a message into its form on a channel, with the next numbers; moves these on. */
struct lane_message lane_number(const struct endpoint *endpoint, const struct traffic_message *message,
                                uint64_t posted_ps, struct lane_numbers *numbers);
/** The first record of a message that goes to a port; n_records or more: there is none. */
uint32_t lane_first_record(const struct endpoint *endpoint, const struct lane_message *message, uint32_t port);

/* series.c */

/** Counts the messages and records of a series that is posted now: moves the numbers of the endpoint on. */
void series_count(struct endpoint *endpoint, const struct traffic_message *series);
/** The next message of the series at the head of a queue that has a record for this port; NULL once there is none. Valid until the port moves on. */
struct lane_message *series_head(struct endpoint *endpoint, uint32_t port, struct lane_queue *queue,
                                 const struct lane_message *series);
/** Frees what is left of all series. */
void series_fini(struct endpoint *endpoint);
/** Bytes of what ports work on. */
size_t series_bytes(const struct endpoint *endpoint);

/* endpoint.c */

/** A message has wholly arrived: tells the traffic and takes what it answers. */
void endpoint_deliver(struct endpoint *endpoint, struct engine_worker *worker, enum packet_kind kind, uint32_t source,
                      uint32_t tag, uint16_t queue_pair, uint64_t now_ps);

#endif
