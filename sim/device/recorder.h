// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Series: what links and queue pairs did, interval by interval.
 *
 * Nothing is recorded while devices run. The run stops at the end of each interval, as it may stop anywhere without changing a
 * result, and what devices count anyway is looked at: so a run without a recorder pays nothing, and no interval
 * depends on threads or windows. Rules: README.md of this folder, "Series".
 */
#ifndef MOEFABRIC_DEVICE_RECORDER_H
#define MOEFABRIC_DEVICE_RECORDER_H

#include "congestion/congestion.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What may be recorded of a link in an interval. */
enum recorder_quantity {
    RECORDER_QUEUE_BYTES,   /**< depth of the data classes in front of the link, at the end of the interval */
    RECORDER_DEEPEST_BYTES, /**< the deepest that it was in the interval */
    RECORDER_SENT_BYTES,    /**< put on the wire */
    RECORDER_PAUSED_PS,     /**< time that the transmitter was paused, or (InfiniBand) stalled for want of credit */
    RECORDER_MARKS,         /**< packets marked */
    RECORDER_DROPS,         /**< packets dropped in front of the link, all classes, by the watchdog too */
    RECORDER_QUANTITIES
};

/** What is recorded of a queue pair at the end of an interval. */
enum recorder_pair_quantity {
    RECORDER_PAIR_RATE_BITS_PER_S, /**< that its controller allows, at most the rate of the NIC; 0: not in use yet */
    RECORDER_PAIR_WINDOW_PACKETS,  /**< that may be unacknowledged; 0: any number, or not in use yet */
    RECORDER_PAIR_SENT_PACKETS,    /**< packets that it sent for the first time in the interval */
    RECORDER_PAIR_QUANTITIES
};

/** The queue pairs of a sender to a destination. */
struct recorder_pair {
    uint32_t source, destination; /**< ranks */
};

/** What is to be recorded. */
struct recorder_wishes {
    uint64_t interval_ps;  /**< at least 1 */
    uint64_t from_ps;      /**< beginning of the first interval */
    uint32_t n_intervals;  /**< so many at most, at least 1 */
    uint32_t quantities;   /**< bits 1 << enum recorder_quantity */
    const uint32_t *links; /**< numbers, ascending */
    uint32_t n_links;
    const struct recorder_pair *pairs;
    uint32_t n_pairs;
};

/** What a device knows of the transmitter and the queue of one of its ports, before the steps at a time. */
struct recorder_port {
    uint64_t depth_bytes;
    uint64_t free_ps;         /**< end of what is being sent, or a time that is over */
    uint64_t paused_since_ps; /**< or stalled for want of credit; TIME_NEVER: neither */
};

/** What a sender knows of a queue pair. */
struct recorder_pair_state {
    uint64_t rate_bits_per_s;
    uint32_t window_packets; /**< CONGESTION_UNLIMITED: any number */
    uint32_t sent_packets;   /**< so far, each once */
};

struct context;
struct switch_device;
struct chip;
struct endpoint;
struct recorder;

/** Devices by number or ordinal; NULL where another rank runs them. */
struct recorder_devices {
    struct endpoint *const *endpoints;
    struct switch_device *const *switches;
    struct chip *const *chips;
};

/** A recorder for a run that has not begun; context, wishes and devices must outlive it. Ends with recorder_free. */
struct recorder *recorder_create(const struct context *context, const struct recorder_wishes *wishes,
                                 const struct recorder_devices *devices);

/** Frees a recorder; NULL is allowed. */
void recorder_free(struct recorder *recorder);

/** When it has to be asked next, with all steps before that time done and none at it; TIME_NEVER: no more. NULL: never. */
uint64_t recorder_next_ps(const struct recorder *recorder);

/** That time has come. */
void recorder_take(struct recorder *recorder);

/**
 * The run is over, at now_ps; no device has been finished yet. The last interval of a run that has finished is a whole one, at the end
 * of which everything is at rest; that of another run ends with it.
 */
void recorder_finish(struct recorder *recorder, uint64_t now_ps, bool finished);

/** Drops intervals that begin at last_ps, when the last thing happened, or later: how far a run goes on after that depends on its windows. */
void recorder_trim(struct recorder *recorder, uint64_t last_ps);

struct exchange;

/** Collective, after recorder_finish: rank 0 gets what all ranks recorded. */
void recorder_gather(struct recorder *recorder, const struct exchange *exchange);

/** Intervals that were recorded. */
uint32_t recorder_intervals(const struct recorder *recorder);

/** Columns of pairs: a pair has one for each queue pair. */
uint32_t recorder_pair_columns(const struct recorder *recorder);

/** Gives the values away, [interval][link] or [interval][pair × queue pairs + queue pair], to be freed by the caller; NULL: not recorded. */
uint64_t *recorder_release(struct recorder *recorder, enum recorder_quantity quantity);
uint64_t *recorder_release_pairs(struct recorder *recorder, enum recorder_pair_quantity quantity);

/** Bytes that all values take if all intervals are used. */
uint64_t recorder_most_bytes(const struct recorder_wishes *wishes, uint32_t queue_pairs);

#endif
