// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of the endpoint share; nobody else includes it. */
#ifndef MOEFABRIC_DEVICE_ENDPOINT_INTERNAL_H
#define MOEFABRIC_DEVICE_ENDPOINT_INTERNAL_H

#include "device/echo.h"
#include "device/endpoint.h"
#include "device/failover.h"
#include "device/heap.h"
#include "device/lane.h"
#include "device/missing.h"
#include "device/nic_credit.h"
#include "device/pieces.h"
#include "device/plane.h"
#include "device/pull.h"
#include "device/queue.h"
#include "device/receive_buffer.h"
#include "device/recovery.h"
#include "device/table.h"
#include "path/host_reps.h"

#define NO_MESSAGE UINT32_MAX

/** Where a queue pair waits for its turn. */
enum pair_place { PAIR_NOWHERE, PAIR_IN_RING, PAIR_IN_HEAP };

/** What a queue pair has in a plane of its NIC. */
struct pair_plane {
    uint8_t place; /**< enum pair_place: where it waits at the port of the plane */
    bool closed;   /**< nothing of it is sent here */
    /* The rest is one congestion context: of the plane, or, in plane 0, the only one of the queue pair. */
    bool probing;            /**< a probe is outstanding */
    uint32_t probes;         /**< sent so far */
    uint32_t window;         /**< packets that may be in flight in the plane; contexts of planes only */
    uint32_t told;           /**< of the acknowledged packets of the plane, those that the controller knows of */
    uint64_t next_ps;        /**< pacing: not before */
    uint64_t unprobed_bytes; /**< of data packets that started since the last probe */
    uint64_t probe_ps;       /**< when the last probe was queued */
    struct congestion_state congestion;
};

/** A message on a queue pair, or the part of one: a node of a chain in order of posting. */
struct pair_message {
    uint32_t row; /**< in endpoint.sent: what it is */
    uint32_t unit_bytes;
    uint64_t bytes;        /**< of what is on this queue pair */
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
    uint8_t transmission; /**< rewinds, mod 16 */
    uint8_t repeats;      /**< time-outs since the last progress */
    bool started;
    uint32_t window;         /**< packets that may be unacknowledged; CONGESTION_UNLIMITED */
    uint32_t n_lost;         /**< selective repeat: packets that wait to be sent again */
    uint64_t clock_ps;       /**< of the retransmission timer */
    uint64_t timer_ps;       /**< of its entry in the timer heap that counts; TIME_NEVER: none */
    struct pair_plane plane; /**< plane 0; the others: nic.more_planes */
};

/** An urgent message that is sent again until it is acknowledged. */
struct urgent_sent {
    struct packet packet;
    uint8_t repeats; /**< time-outs so far */
    bool acknowledged;
};

/** Of entries in the timer heap: from here on they are of urgent messages, by number; below, of queue pairs. */
#define URGENT_TIE (UINT64_C(1) << 16)

/** What selective repeat adds to a queue pair. */
struct pair_recovery {
    struct recovery packets;
    uint32_t cap; /**< packets in flight that the way allows at most; 0: it does not limit them */
};

/** A port of the NIC: the transmitter of a plane. */
struct nic_port {
    uint64_t free_ps; /**< end of what is being sent */
    uint64_t ps_per_byte, latency_ps, line_bits_per_s;
    uint64_t message_gap_ps;        /**< a data packet takes at least so long */
    uint64_t arrival_mask;          /**< all ones if a record arrives with its last bit, 0 if with its first */
    struct ring_writer *out;        /**< of the link that leaves the port */
    struct link_counters *counters; /**< of that link */
    uint32_t carry;
    uint32_t link; /**< that leaves the port */
    uint16_t number;
    bool paused;               /**< lossless class; InfiniBand: the data lane has no credit for a full packet */
    bool control_held;         /**< InfiniBand: the control lane has no credit for a full packet */
    bool watched;              /**< starts are more than a packet on a link: it may fail, takes credit, or is traced */
    struct nic_credit *credit; /**< NULL: its link is Ethernet */
    uint64_t paused_since_ps;
    struct queue control, probes;
    uint16_t *ring; /**< queue pairs that may send, circular */
    uint32_t ring_first, ring_count, ring_capacity;
    struct heap paced; /**< (next_ps, queue pair) */
};

/** The sending side of the NIC, but for its ports. */
struct nic {
    uint64_t free_ps;         /**< of its ports, of the one that is free first */
    uint64_t line_bits_per_s; /**< of what a congestion context sends through: a port, or all of them */
    uint32_t n_planes;        /**< ports */
    bool separate;            /**< a congestion context each plane; else one a queue pair */
    bool by_pair;             /**< a queue pair keeps to a plane; else the plane is chosen packet by packet */
    bool holds_data;          /**< the data class is lossless, so a pause holds it; or links are InfiniBand */
    bool out_of_order;        /**< of the parameters, as the next one */
    bool selective;           /**< selective repeat */
    uint32_t window_packets;  /**< of the parameters: the transport's own; CONGESTION_UNLIMITED: none */
    bool plain;               /**< no packet is followed on its own: none of what *_fully in pair.c does is asked for */
    uint8_t data_class;
    uint8_t reply_plane;       /**< by which the packet that is being handled has come */
    uint64_t least_timeout_ps; /**< no retransmission time-out is shorter */
    struct heap timers;        /**< (deadline, queue pair, or URGENT_TIE + number of an urgent message) */
    struct queue_pair *pairs;
    struct pair_plane
        *more_planes; /**< [pair_capacity × (n_planes - 1)] planes 1, 2, … of each queue pair; NULL with one plane */
    struct plane_ledger *ledgers;     /**< [pair_capacity] which packet went by which plane; NULL: nobody asks */
    struct pull_desk *pulls;          /**< as a receiver; NULL: the controller wants none */
    struct echo_store *echoes;        /**< [pair_capacity]; NULL: the controller takes none */
    struct pair_recovery *recoveries; /**< [pair_capacity] under selective repeat; else NULL */
    struct host_reps *recycled; /**< [pair_capacity × n_planes] under path policies that recycle entropies; else NULL */
    uint32_t n_pairs, pair_capacity;
    struct table peers;      /**< destination → index of peer */
    uint32_t *peer_messages; /**< [peer] messages posted so far */
    uint32_t n_peers, peer_capacity;
    struct pair_message *messages; /**< nodes; free ones are chained from free_message */
    uint32_t n_messages, message_capacity, free_message;
    uint32_t n_parts;        /**< queue pairs that a message is split over; 1: messages stay whole */
    struct table parts_sent; /**< row of endpoint.sent → parts that are not acknowledged; split messages under way */
    uint32_t urgent_count, urgent_capacity;
    struct urgent_sent *urgents;          /**< [urgent_count] by number, where they are acknowledged; else NULL */
    const struct failure_change *changes; /**< when its links go down and come up */
    uint32_t n_changes, n_changes_taken;
    uint64_t failover_ps; /**< when planes are looked at next; TIME_NEVER: no more */
    uint32_t n_failovers; /**< times that they were */
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
    uint64_t nack_ps; /**< TIME_NEVER: none sent */
    union {
        uint64_t notified_ps;         /**< TIME_NEVER: none sent */
        uint64_t *notified_planes_ps; /**< [n_planes] if nic.separate: the same for each plane; NULL: none sent yet */
    };
    uint64_t *early;     /**< a bit a packet beyond expected, circular by number; NULL until one comes out of order */
    uint32_t early_bits; /**< 0 or a power of two */
    uint32_t n_lasts, last_capacity;
    struct receiver_last *lasts; /**< message ends among them */
};

static_assert(sizeof(struct receiver) == 64, "a receiver is one line of a processor's cache");

struct endpoint {
    const struct context *context;
    struct link_counters *links; /**< that leave it, by port */
    uint32_t device;
    uint32_t n_nics, n_lanes;
    struct nic nic;
    bool
        fails; /**< its NIC's link goes down and comes up, or it has a receive buffer: steps of these may precede any arrival */
    bool sends_late;     /**< its GPU starts no messages at some times */
    bool holds_arrivals; /**< what arrives by the NIC is held in a receive buffer, or its links take credit */
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
    struct table
        urgent_seen;        /**< source << 32 | number of urgent messages that are here, where they are acknowledged */
    struct table parts;     /**< source << 32 | tag → parts of a split message that are not whole yet */
    struct missing missing; /**< NVLink messages that have arrived in part */
    struct heap starts;     /**< (start, order of arming) → armed message */
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
    struct nic_port ports[]; /**< [n_nics] */
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

/** Sets up the sending side and its ports. */
void nic_init(struct endpoint *endpoint);
/** Frees what the sending side owns. */
void nic_fini(struct endpoint *endpoint);
/** Starts everything that starts up to and including now_ps. Called by nic_drain only. */
void nic_catch_up(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps);
/** When a transmitter next starts something as things stand. */
uint64_t nic_next_ps(const struct endpoint *endpoint);
/** Something became eligible at now_ps: idle transmitters start. nic_drain up to now_ps must have been called. */
void nic_kick(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps);
/** A queue pair with a packet joins those who wait at the ports where it does not wait yet. Called by nic_line_up only. */
void nic_join(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint64_t now_ps);
/** Queues a control packet at the port of a plane. */
void nic_send_control(struct endpoint *endpoint, struct engine_worker *worker, uint32_t plane,
                      const struct packet *packet, uint64_t now_ps);
/** The plane whose transmitter is free first. */
uint32_t nic_first_free(const struct endpoint *endpoint);
/** A pause or resume record has arrived at a port. */
void nic_handle_control(struct endpoint *endpoint, struct engine_worker *worker, uint32_t port,
                        const struct control *control, uint64_t now_ps);

/** Whether a port is paused. */
bool nic_is_paused(const struct endpoint *endpoint);
/** When a link of the NIC next goes down or comes up; TIME_NEVER: no more. */
uint64_t nic_next_change_ps(const struct nic *nic);
/** The same, if something waits for it. */
uint64_t nic_awaited_change_ps(const struct endpoint *endpoint);
/** It does: a pause is forgotten. */
void nic_handle_change(struct endpoint *endpoint, struct engine_worker *worker);

/** Starts everything that starts up to and including now_ps. */
static inline void nic_drain(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    if (endpoint->nic.free_ps <= now_ps) {
        nic_catch_up(endpoint, worker, now_ps);
    }
}

/* urgent.c: urgent messages */

/** Puts an urgent message in the control queue. */
void urgent_post(struct endpoint *endpoint, struct engine_worker *worker, const struct traffic_message *message,
                 uint64_t now_ps);
/** One has been acknowledged. */
void urgent_handle_reply(struct endpoint *endpoint, const struct packet *packet);
/** Whether the one of an entry in the timer heap is not acknowledged yet. */
bool urgent_waits(const struct nic *nic, uint64_t tie);
/** The time of an entry in the timer heap has come: the message is sent again, unless it is acknowledged. */
void urgent_handle_timer(struct endpoint *endpoint, struct engine_worker *worker, const struct heap_entry *entry);
/** One has arrived: whether for the first time. */
bool urgent_is_new(struct endpoint *endpoint, const struct packet *packet);

/* pair_post.c and pair.c: queue pairs */

/** How what is on a queue pair is cut into packets. */
static inline struct pieces pair_pieces(const struct endpoint *endpoint, uint64_t bytes, uint32_t unit_bytes) {
    return (struct pieces){
        .bytes = bytes, .unit_bytes = unit_bytes, .largest_bytes = endpoint->context->parameters->nic.payload_bytes};
}
/** Puts a message on its queue pair or queue pairs (or an urgent one in the control queue). */
void pair_post(struct endpoint *endpoint, struct engine_worker *worker, const struct traffic_message *message,
               uint64_t now_ps);
/** Packets of it that are acknowledged (README.md). */
static inline uint32_t pair_acknowledged(const struct endpoint *endpoint, const struct queue_pair *pair) {
    return endpoint->nic.out_of_order ? pair->received : pair->cumulative;
}
/** Whether each packet gets an entropy of its own. */
static inline bool pair_recycles(const struct endpoint *endpoint) {
    return endpoint->context->path->recycles && endpoint->context->parameters->nic.adaptive_marking;
}
/** What it has in a plane. */
static inline struct pair_plane *pair_plane(const struct nic *nic, struct queue_pair *pair, uint32_t plane) {
    return plane == 0 ? &pair->plane : &nic->more_planes[pair->number * (nic->n_planes - 1) + plane - 1];
}
/** Its congestion context for a plane. */
static inline struct pair_plane *pair_context(const struct nic *nic, struct queue_pair *pair, uint32_t plane) {
    return pair_plane(nic, pair, nic->separate ? plane : 0);
}
/** Whether a plane may take a packet of it, as far as the plane decides. */
static inline bool pair_is_open(const struct nic *nic, struct queue_pair *pair, uint32_t plane) {
    const struct pair_plane *in = pair_plane(nic, pair, plane);
    return !in->closed && (!nic->ledgers || in->window == CONGESTION_UNLIMITED ||
                           nic->ledgers[pair->number].planes[plane].in_flight < in->window);
}
/** Whether a packet of it may be sent, pacing and planes apart. */
static inline bool pair_has_packet(const struct endpoint *endpoint, const struct queue_pair *pair) {
    if (pair->next_number >= pair->posted_number && pair->n_lost == 0) {
        return false;
    }
    return pair->window == CONGESTION_UNLIMITED || pair->next_number < pair->sent_number ||
           (int64_t)pair->next_number - (int64_t)pair_acknowledged(endpoint, pair) - (int64_t)pair->n_lost <
               (int64_t)pair->window;
}
/** Whether a packet of it may be sent by a plane, pacing apart. */
static inline bool pair_has_work(const struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane) {
    return pair_has_packet(endpoint, pair) &&
           (endpoint->nic.n_planes == 1 || pair_is_open(&endpoint->nic, pair, plane));
}
/** A queue pair is looked at for work. */
static inline void nic_line_up(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair,
                               uint64_t now_ps) {
    if (endpoint->nic.n_planes > 1 || (pair->plane.place == PAIR_NOWHERE && pair_has_packet(endpoint, pair))) {
        nic_join(endpoint, worker, pair, now_ps);
    }
}
/** Fills in its next packet, which a plane takes, and moves on. */
void pair_next_packet(struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane, struct packet *packet,
                      uint64_t now_ps);
/** Whether the next probe of a context that has none outstanding may go. */
static inline bool pair_probe_is_due(const struct endpoint *endpoint, const struct pair_plane *in) {
    return in->probes == 0 || in->unprobed_bytes >= endpoint->context->parameters->congestion.spectrum_x.probe_bytes;
}
/** Queues a probe of the congestion context for a plane. */
void pair_probe(struct endpoint *endpoint, struct engine_worker *worker, struct queue_pair *pair, uint32_t plane,
                uint64_t now_ps);
/** An ACK, NACK, notification or probe reply has arrived by nic.reply_plane. */
void pair_handle_reply(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
                       uint64_t now_ps);
/** Time of the next retransmission timer that matters; forgets those that do not. */
uint64_t pair_next_timer_ps(struct endpoint *endpoint);
/** Handles the earliest retransmission timer. */
void pair_handle_timer(struct endpoint *endpoint, struct engine_worker *worker);
/** Puts the deadline of a queue pair into the heap if it is before the one that is there. Called by pair_arm_timer only. */
void pair_set_timer(struct endpoint *endpoint, struct queue_pair *pair);
/** Starts or moves the retransmission timer of a queue pair. One entry in the heap counts; it may be early, never late. */
static inline void pair_arm_timer(struct endpoint *endpoint, struct queue_pair *pair) {
    if (pair->timer_ps > pair->clock_ps + endpoint->nic.least_timeout_ps) {
        pair_set_timer(endpoint, pair);
    }
}
/** Completes the oldest message and those after it. Called by pair_complete_messages only. */
void pair_complete_oldest(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps);
/** Whether all packets of the oldest message are below the cumulative number. */
static inline bool pair_completes(const struct nic *nic, const struct queue_pair *pair) {
    const struct pair_message *message = &nic->messages[pair->oldest];
    return message->first_number + message->n_packets <= pair->cumulative;
}
/** Messages all of whose packets are below the cumulative number are complete. */
static inline void pair_complete_messages(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps) {
    if (pair->oldest != NO_MESSAGE && pair_completes(&endpoint->nic, pair)) {
        pair_complete_oldest(endpoint, pair, now_ps);
    }
}

/** A time-out, or a plane that has died: all that is on its way is sent again. */
void pair_give_up_flight(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps);

/* pair_recovery.c: selective repeat */

/** Books an ACK or a selective one. Returns whether it begins a recovery from a loss. */
bool pair_recovery_acknowledge(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *ack,
                               uint64_t now_ps);
/** A NACK has come: a packet was trimmed. */
void pair_recovery_trimmed(struct endpoint *endpoint, struct queue_pair *pair, const struct packet *nack,
                           uint64_t now_ps);
/** The retransmission clock ran out. */
void pair_recovery_time_out(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps);

/* pair_plane.c: congestion contexts and planes */

/** Asks the controller for its window, of the queue pair, which the transport may limit further, or of a plane. */
void pair_ask_window(const struct endpoint *endpoint, struct queue_pair *pair, uint32_t plane);
/** What the next queue pair (number n_pairs) has in the planes beyond the first one. grown: pair_capacity has changed. */
void pair_add_planes(struct nic *nic, bool grown);
/** Opens the planes that a queue pair may use: all, or the one that it keeps to. */
void pair_open_planes(struct endpoint *endpoint, struct queue_pair *pair, uint64_t now_ps);
/** The first message of a queue pair: its congestion contexts start. */
void pair_start(struct endpoint *endpoint, struct queue_pair *pair, uint32_t share, uint64_t now_ps);
/** A later message has a share of its own. */
void pair_announce(struct endpoint *endpoint, struct queue_pair *pair, uint32_t share, uint64_t now_ps);
/** The message that a packet belongs to, among those that are not acknowledged; NO_MESSAGE: none yet. */
uint32_t pair_message_of(const struct nic *nic, const struct queue_pair *pair, uint32_t number);
/** Moves the next number over what is known to have arrived. There is a ledger. */
void pair_skip_arrived(const struct nic *nic, struct queue_pair *pair);
/** The plane that the next probe of a congestion context goes by. plane: of what gives rise to it. */
uint32_t pair_plane_of_probe(const struct nic *nic, struct queue_pair *pair, uint32_t plane);
/** Books that the packet which caused an ACK has arrived. There is a ledger. */
void pair_note_cause(const struct nic *nic, const struct queue_pair *pair, const struct packet *ack);
/** Books that all packets below a number have. There is a ledger. */
void pair_note_below(const struct nic *nic, const struct queue_pair *pair, uint32_t cumulative);
/** Turns the numbers of an ACK into those of the packets of its plane. */
void pair_count_of_plane(const struct nic *nic, struct queue_pair *pair, struct congestion_acknowledgement *told);

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
/** Acknowledges an urgent message, where that is asked for, and delivers it once. */
void receiver_handle_urgent(struct endpoint *endpoint, struct engine_worker *worker, const struct packet *packet,
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
void series_count(struct endpoint *endpoint, const struct traffic_message *series, uint64_t now_ps);
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
