// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The naive simulator: the rules of sim/device/README.md, one step after the other from one heap, for clarity only.
 *
 * It shares no code with sim/engine and sim/device besides packets, figures and the trace. What both agree on,
 * on many random cases, is taken to be what the rules say.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_H
#define MOEFABRIC_TESTS_REFERENCE_H

#include "device/parameters.h"
#include "device/recorder.h"
#include "device/trace.h"
#include "fabric/fabric.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/** What was counted on one directed link and the port that it leaves. */
struct reference_link_counts {
    uint64_t bytes;                    /**< on the wire, headers included */
    uint64_t arrived_bytes;            /**< that reached the head */
    uint64_t packets;                  /**< data, urgent and NVLink packets */
    uint64_t control_packets;          /**< ACK, NACK, notification, probe, probe reply */
    uint64_t marks;                    /**< marks set when a packet started here */
    uint64_t drops_lossless;           /**< packets of the lossless class that were meant for this port and dropped */
    uint64_t drops_lossy;              /**< the same for the other classes */
    uint64_t watchdog_drops;           /**< lossless packets that the watchdog discarded at this port */
    uint64_t watchdog_storms;          /**< storms that it declared there */
    uint64_t watchdog_forwards;        /**< … in which it went on sending */
    uint64_t watchdog_restorations;    /**< … and took back */
    uint64_t dropped_bytes;            /**< of both */
    uint64_t trims;                    /**< packets that were meant for this port and cut to their header … */
    uint64_t trimmed_bytes;            /**< … and what was cut off */
    uint64_t changed_places;           /**< of these, packets that had waited */
    uint64_t lost_packets, lost_bytes; /**< put on the link and lost there */
    uint64_t unrouted_packets, unrouted_bytes; /**< came in by the port that this link leaves, and knew no way on */
    uint64_t lost_at_random;                   /**< of those that were lost: not because of a dead link */
    uint64_t lengthened_packets;               /**< took as long as a message takes the NIC at least */
    uint64_t slowed_packets;                   /**< started at less than the rate of the whole link */
    uint64_t weighed;                          /**< packets for which ports of a switch weighed differently */
    uint64_t detours; /**< packets that had fewer ports to choose among than without failures */
    uint64_t forgotten_pauses, repeated_pauses; /**< paused when the link died; told again when it came up */
    uint64_t pauses;                            /**< pause records that the transmitter of this link received */
    uint64_t paused_ps;                         /**< time that it was paused */
    uint64_t deepest_bytes;                     /**< deepest queue of the data classes (switches and chips) */
    uint64_t busy_ps;                           /**< time that it was sending */
    uint64_t credit_stalls; /**< times that an NVLink transmitter had a record and too little credit */
    uint64_t lane_stalls;   /**< InfiniBand: times that packets waited and none had credit, and for how long in all */
    uint64_t lane_stalled_ps;
    uint64_t renewed_credits; /**< InfiniBand: the link came up and was told what is free */
    uint64_t held_back; /**< packets that could not start at once since they came in slower than they were to go out */
    uint64_t turns;     /**< packets of a data class chosen while the other one had a ready, unpaused head too */
    uint64_t ties;      /**< arrivals at the head at a time at which another had just arrived at that device */
};

/** What was counted at one endpoint. */
struct reference_endpoint_counts {
    uint64_t retransmitted_packets;  /**< data packets sent again */
    uint64_t duplicate_packets;      /**< data packets received although already there */
    uint64_t out_of_order_packets;   /**< data packets received with a number beyond the expected one */
    uint64_t reordering_packets;     /**< largest distance of a received number beyond the expected one */
    uint64_t notifications_sent;     /**< as receiver */
    uint64_t notifications_received; /**< as sender */
    uint64_t timeouts;               /**< rewinds by the retransmission clock */
    uint64_t nacks;                  /**< sent, as receiver */
    uint64_t spurious;               /**< packets that turned out to have arrived before they were sent again */
    uint64_t probes_held;            /**< replies that no probe followed at once, for want of data sent */
    uint64_t urgent_again;           /**< urgent messages sent again */
    uint64_t inferred;               /**< recoveries that later packets began */
    uint64_t paced_packets;          /**< data packets after which the controller made the queue pair wait */
    uint64_t round_trips;            /**< ACKs that told a controller a round trip */
    uint64_t pulls;                  /**< pulls that came to senders */
    uint64_t telemetry;              /**< ACKs that brought telemetry back */
    uint64_t untold_round_trips;     /**< ACKs that did not */
    uint64_t window_stalls;          /**< data packets after which the window held the next one */
    uint64_t probes_given_up;        /**< another probe was sent without the reply to the last one */
    uint64_t late_acknowledgements;  /**< that moved the next number up after a rewind */
    uint64_t probes;                 /**< that joined the probe FIFO */
    uint64_t posted_sum_ps;          /**< of the times at which messages were posted on queue pairs */
    uint64_t receive_discards;       /**< packets that found the receive buffer full */
    uint64_t receive_pauses;         /**< pauses sent to the leaf */
    uint64_t receive_deepest_bytes;  /**< most that one class held there */
    uint64_t copied_records;         /**< NVLink records that waited until they were copied out */
    uint64_t nvlink_bytes_posted, nvlink_bytes_received;
    uint64_t messages_posted, messages_delivered;
    uint64_t messages_held;                     /**< that started later, since the GPU started none */
    uint64_t messages_awaiting_acknowledgement; /**< posted on a queue pair and not complete when the run ended */
};

/** One run. Freed by reference_free. */
struct reference {
    struct trace trace; /**< sorted */
    uint32_t n_links, n_endpoints;
    struct reference_link_counts *links;                 /**< [n_links] */
    struct reference_endpoint_counts *endpoints;         /**< [n_endpoints] */
    uint64_t *series[RECORDER_QUANTITIES];               /**< [wished intervals][links]; NULL: none wished for */
    uint64_t *series_of_pairs[RECORDER_PAIR_QUANTITIES]; /**< [wished intervals][pairs × queue pairs] */
    uint64_t last_ps; /**< time of the last step that was handled, refreshes and void timers apart */
    bool finished; /**< every message that was posted or armed has been delivered and, on queue pairs, acknowledged */
};

/** Runs a plan until nothing is left to do, or to limit_ps (steps at that time or later are not handled). */
struct reference *reference_run(const struct fabric *fabric, const struct network_parameters *parameters,
                                const struct traffic *traffic);

/** Frees a run; NULL is allowed. */
void reference_free(struct reference *reference);

#endif
