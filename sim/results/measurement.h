// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What one run measured, as plain rows: the product that a simulation hands to this room.
 *
 * Nothing here knows how the numbers came about. The simulation allocates a measurement, fills its rows in any
 * order that suits it, and calls measurement_finish, which puts the rows in id order and gathers messages into flows.
 * Times are picoseconds of simulated time from the start of the run. Rows become columns of the result file
 * (names, units and meaning: column.c and results/README.md).
 */
#ifndef MOEFABRIC_RESULTS_MEASUREMENT_H
#define MOEFABRIC_RESULTS_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

/** No such rank, rack or expert. */
#define MEASUREMENT_NONE UINT32_MAX

enum {
    MEASUREMENT_NAME_SIZE = 64,
    MEASUREMENT_EXPLANATION_SIZE = 512,
    MEASUREMENT_RACKS =
        2048, /**< clusters of more racks (hosts) have no matrix of racks: it would grow with their square */
};

/** After a policy's name, where its run by the fluid model stands beside that by packets. */
#define MEASUREMENT_FLUID_SUFFIX " (fluid)"

/** What simulated the network. Values are stored in the result file: never renumber. */
enum measurement_model {
    MEASUREMENT_MODEL_PACKET = 0,
    MEASUREMENT_MODEL_FLUID = 1, /**< knows no packets, queues, marks, drops: what counts them is 0 and means nothing */
};

/** How a run ended. Values are stored in the result file: never renumber. */
enum measurement_outcome {
    MEASUREMENT_FINISHED = 0,    /**< all messages delivered */
    MEASUREMENT_LIMIT = 1,       /**< the stated limit of simulated time was reached */
    MEASUREMENT_STALLED = 2,     /**< nothing could move any more */
    MEASUREMENT_INTERRUPTED = 3, /**< the user stopped it */
    MEASUREMENT_WALL_TIME = 4,   /**< the stated limit of wall time was reached */
    MEASUREMENT_MEMORY = 5,      /**< the stated limit of memory was reached */
};

/** What the messages of a phase are. Values are stored in the result file: never renumber. */
enum measurement_phase_kind {
    MEASUREMENT_PHASE_DATA = 0, /**< payload; counts in every statistic */
    MEASUREMENT_PHASE_CONTROL =
        1, /**< receive counts, grants: left out of completion times and slow-downs; sent as control packets, they have no rows of messages */
    MEASUREMENT_PHASE_BACKGROUND =
        2, /**< traffic beside what is measured: rows of messages and flows, but only its own statistics */
};

/** Kind of a link. Values are stored in the result file: never renumber. */
enum measurement_link_kind { MEASUREMENT_LINK_ETHERNET = 0, MEASUREMENT_LINK_NVLINK = 1 };

/** One phase (dispatch, combine, exchange of counts …); its number is the phase id of messages and flows. */
struct measurement_phase {
    char name[MEASUREMENT_NAME_SIZE];
    enum measurement_phase_kind kind;
    uint32_t participants;     /**< ranks that take part; bandwidths are per participant */
    uint32_t collective_ranks; /**< ranks of one collective (an expert-parallel group), n of busbw; 0 = participants */
    uint64_t
        collective_bytes; /**< sum over ranks of what an all-to-all buffer holds, own part included (NCCL's algbw); 0 = not defined */
    uint64_t
        rdma_logical_bytes; /**< sum over tokens of distinct destination nodes, the local one included, × bytes a token; 0 = not defined */
    uint64_t
        nvl_received_bytes; /**< sum over tokens of distinct destination ranks, itself included, × bytes a token; 0 = not defined */
    uint64_t
        ideal_ps; /**< least time that this traffic could take: the fullest port's bytes ÷ rate + latency; 0 = unknown */
};

/** One message that crossed the fabric. (source, destination, tag) is unique in a run. */
struct measurement_message {
    uint32_t source, destination; /**< ranks */
    uint32_t tag;                 /**< as in the traffic plan */
    uint32_t phase;               /**< number of its phase */
    uint64_t bytes;               /**< payload */
    uint64_t posted_ps;           /**< handed to the sender's NIC */
    uint64_t completed_ps;        /**< wholly delivered at the receiver; 0 = not delivered when the run ended */
    uint64_t acknowledged_ps;     /**< completion known to the sender; 0 = none */
};

/** All messages of one (source, destination, phase). Made by measurement_finish. */
struct measurement_flow {
    uint32_t source, destination;
    uint32_t phase;
    uint32_t messages; /**< delivered and not */
    uint64_t bytes;    /**< payload of all of them */
    uint64_t first_posted_ps;
    uint64_t last_completed_ps; /**< 0 = some message was not delivered */
    uint64_t
        active_ps; /**< time during which at least one of its messages was posted and not delivered; 0 if unfinished */
    uint64_t ideal_ps; /**< the same bytes on an idle fabric, said by the caller; 0 = unknown */
    double
        slowdown; /**< active ÷ ideal; 0 = unknown or unfinished. Waiting for data that did not exist yet does not count */
};

/** One rank in one phase. */
struct measurement_rank_phase {
    uint32_t rank;
    uint32_t phase;
    uint64_t start_ps; /**< its own first message could start; where it only receives: the first one to it was posted */
    uint64_t finish_ps; /**< its last byte of this phase has arrived; 0 = never */
    uint64_t ideal_ps;  /**< least time that its own received bytes take at its own port; 0 = unknown */
};

/** One directed link, with the queue of the port that it leaves. Row number = id of the link. */
struct measurement_link {
    char name[MEASUREMENT_NAME_SIZE]; /**< UTF-8, e.g. leaf2:up17 */
    enum measurement_link_kind kind;
    uint32_t tail_device, head_device; /**< device numbers of the fabric */
    uint64_t rate_bits_per_s;
    uint64_t bytes;             /**< on the wire, headers included */
    uint64_t packets;           /**< data packets */
    uint64_t control_packets;   /**< ACK, NACK, notification, probe */
    uint64_t marks;             /**< packets that left with a congestion mark set here */
    uint64_t drops_lossless;    /**< packets of the lossless class dropped at this port; a correct set-up has none */
    uint64_t drops_lossy;       /**< packets of the other classes dropped at this port */
    uint64_t trims;             /**< packets that were cut to their header at this port for want of buffer */
    uint64_t lost_packets;      /**< put on it and lost: it was dead, died, or is lossy */
    uint64_t unrouted;          /**< packets that came in by the port which it leaves, and knew no way on */
    uint64_t watchdog_drops;    /**< lossless packets that the PFC watchdog discarded at this port */
    uint64_t watchdog_storms;   /**< times that it declared a storm there */
    uint64_t pauses;            /**< pause records that the transmitter of this link obeyed */
    uint64_t paused_ps;         /**< time that the transmitter was paused */
    uint64_t credit_stalls;     /**< InfiniBand: times that packets waited for it and none had credit */
    uint64_t credit_stalled_ps; /**< for how long in all */
    uint64_t deepest_bytes;     /**< deepest queue of the port, all classes */
    uint64_t busy_ps;           /**< time that the transmitter was sending */
};

/** One endpoint (rank). Row number = rank. */
struct measurement_endpoint {
    uint32_t rack;                  /**< MEASUREMENT_NONE where it is in none */
    uint64_t fabric_sent_bytes;     /**< payload of fabric messages posted */
    uint64_t fabric_received_bytes; /**< payload of fabric messages delivered */
    uint64_t nvlink_sent_bytes;     /**< on its own NVLink ports */
    uint64_t nvlink_received_bytes;
    uint64_t retransmitted_packets; /**< sent again by this sender */
    uint64_t duplicate_packets;     /**< received although already there */
    uint64_t
        spurious_packets; /**< selective repeat: sent again by this sender although they had arrived, as it found out */
    uint64_t nacks;       /**< negative acknowledgements sent as receiver */
    uint64_t out_of_order_packets;   /**< received with a number other than the next one */
    uint64_t reordering_packets;     /**< largest distance between a received number and the next expected one */
    uint64_t notifications_sent;     /**< congestion notifications as receiver */
    uint64_t notifications_received; /**< congestion notifications as sender */
    uint64_t receive_discards;       /**< packets that found the receive buffer of its NIC full */
    uint64_t receive_pauses;         /**< pauses that its NIC sent to its leaf */
    uint64_t receive_deepest_bytes;  /**< most that its receive buffer held of a data class */
    uint64_t expert_tokens;          /**< (token, expert) pairs that experts on this rank work on */
};

/** One expert. Row number = expert. */
struct measurement_expert {
    uint32_t rank;   /**< that holds it; MEASUREMENT_NONE = several (replicas) */
    uint64_t tokens; /**< that chose it */
};

/** One short text for people, e.g. why the slowest flow was slow. */
struct measurement_explanation {
    char text[MEASUREMENT_EXPLANATION_SIZE]; /**< UTF-8, no newline */
};

/** A flow on a link, of those with most bytes there. */
struct measurement_crossing {
    uint32_t link;
    uint64_t flow; /**< row of the flows table */
    uint64_t
        bytes; /**< payload that crossed it; where packets are spread over several ways, what is expected of that */
};

/** One of the flows with the largest slow-down, and why. */
struct measurement_slow_flow {
    uint64_t flow;                           /**< row of the flows table */
    uint32_t link;                           /**< that had most to carry for others meanwhile; MEASUREMENT_NONE: none */
    uint64_t sharers;                        /**< other flows on it while this one was active */
    char text[MEASUREMENT_EXPLANATION_SIZE]; /**< UTF-8, no newline */
};

/** Sums over the run. */
struct measurement_totals {
    uint64_t
        simulated_ps; /**< time of the last delivery or acknowledgement; of a run that did not finish, when it was ended. What is still on its way after that (a packet sent twice) is not waited for */
    uint64_t data_hops;       /**< data packets put on a link */
    uint64_t control_hops;    /**< control packets put on a link (pause and credit are no packets) */
    uint64_t traffic_digest;  /**< of the traffic plan: equal under every policy with the same seed */
    uint64_t sent_bytes;      /**< wire bytes of packets put into the fabric by endpoints */
    uint64_t delivered_bytes; /**< wire bytes that reached their endpoint */
    uint64_t
        dropped_bytes; /**< wire bytes dropped on the way, lost on links included: sent = delivered + dropped when a run has finished */
};

struct series;

/** One run: everything measured under one policy with one seed. Owns its arrays; freed by measurement_free. */
struct measurement {
    char policy[MEASUREMENT_NAME_SIZE]; /**< name of the column, e.g. adaptive+dcqcn */
    uint64_t seed;
    enum measurement_model model;
    enum measurement_outcome outcome;
    char diagnosis
        [MEASUREMENT_EXPLANATION_SIZE]; /**< stalled, or at the limit of simulated time in a deadlock: why, as far as is known; else empty. UTF-8, no newline */
    uint32_t n_ranks, n_racks, n_phases, n_links, n_experts;
    struct measurement_totals totals;
    struct measurement_phase *phases;       /**< [n_phases] */
    struct measurement_endpoint *endpoints; /**< [n_ranks] */
    struct measurement_rank_phase *
        rank_phases; /**< [n_ranks × n_phases], [rank × n_phases + phase]; rank and phase are set by measurement_create */
    struct measurement_link *links;     /**< [n_links] */
    struct measurement_expert *experts; /**< [n_experts] */
    uint64_t *
        rack_bytes; /**< [n_racks × n_racks], none (n_racks = 0) beyond MEASUREMENT_RACKS, payload from the row's rack to the column's; made by measurement_finish from endpoints' racks */
    struct measurement_message *messages; /**< added with measurement_add_message */
    uint64_t n_messages, messages_capacity;
    struct measurement_flow *flows; /**< made by measurement_finish */
    uint64_t n_flows;
    struct measurement_explanation *explanations; /**< added with measurement_explain */
    uint32_t n_explanations;
    struct measurement_crossing
        *crossings; /**< in order of links, and of bytes for each; none where they would be too many to find out */
    uint64_t n_crossings;
    struct measurement_slow_flow *slow_flows; /**< in order of slow-downs, the largest first */
    uint32_t n_slow_flows;
    struct series *series; /**< series.h; NULL: none were recorded */
};

/** Sizes of a measurement. n_racks and n_experts may be 0. */
struct measurement_shape {
    uint32_t n_ranks, n_racks, n_phases, n_links, n_experts;
};

/** Unloaded time of a flow: what bytes from source to destination take when nothing else is on the fabric; 0 = unknown. */
typedef uint64_t (*measurement_ideal)(const void *context, uint32_t source, uint32_t destination, uint32_t phase,
                                      uint64_t bytes);

/** A zeroed measurement of this shape (more racks than MEASUREMENT_RACKS count as none); endpoints' racks and experts' ranks are MEASUREMENT_NONE. The caller fills the arrays. */
struct measurement *measurement_create(const struct measurement_shape *shape);

/** Makes room for so many messages in all, no more: worth it where they are millions. */
void measurement_reserve_messages(struct measurement *measurement, uint64_t n_messages);

/** Appends a copy of a message, in any order. Those that come in order of their sources are sorted in little memory. */
void measurement_add_message(struct measurement *measurement, const struct measurement_message *message);

/**
 * Puts messages in order of (source, destination, tag), gathers them into flows in order of (source, destination, phase),
 * and fills rack_bytes. The result does not depend on the order in which messages were added. Call once, after filling.
 * ideal may be NULL (no slow-downs). A number out of range is a bug and aborts.
 */
void measurement_finish(struct measurement *measurement, measurement_ideal ideal, const void *ideal_context);

/** Appends one explanation from a printf format; cut at a character's boundary if too long. */
void measurement_explain(struct measurement *measurement, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Whether the messages of a phase count in statistics: neither exchanges of counts nor background. */
static inline bool measurement_carries_payload(const struct measurement *measurement, uint32_t phase) {
    return measurement->phases[phase].kind == MEASUREMENT_PHASE_DATA;
}

/** Frees a measurement and all it owns; NULL is allowed. */
void measurement_free(struct measurement *measurement);

#endif
