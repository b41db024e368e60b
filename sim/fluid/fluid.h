// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A traffic plan on a fabric as flows instead of packets: max-min fair rates, and the latency of idle links. See README.md for what that means.
 */
#ifndef MOEFABRIC_FLUID_FLUID_H
#define MOEFABRIC_FLUID_FLUID_H

#include "fabric/fabric.h"
#include "fabric/failure.h"
#include "path/path.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/** What a run needs besides fabric and plan. */
struct fluid_parameters {
    uint64_t seed;
    struct path_parameters path;
    uint32_t payload_bytes, header_bytes; /**< of a full packet: what a message is on the wire */
    uint32_t control_bytes;               /**< an ACK */
    uint32_t acknowledge_bytes;           /**< payload between two ACKs; at least one a packet */
    uint32_t queue_pairs;                 /**< per peer */
    uint64_t window_bytes;                /**< unacknowledged payload of a queue pair; 0 = unlimited */
    bool
        by_offer; /**< no congestion control: where a link is full, queue pairs have of it in the proportion of what their NICs offer */
    bool plane_by_pair;           /**< several planes: a queue pair keeps to one */
    bool planes_alike;            /**< several planes: all get the same from a queue pair, whatever they can carry */
    uint64_t receive_ps_per_byte; /**< at which a host takes its data; 0 = as fast as it comes */
    uint32_t record_bytes;        /**< of NVLink */
    const struct failure_list *failures; /**< for good from time 0, as fluid_refuses asks; may be NULL */
    uint64_t limit_ps;                   /**< of simulated time */
    uint64_t
        resolution_ps; /**< where very much happens at once, rates are looked at no more often; 0 = at each change */
};

/** Of a message that crossed the fabric, urgent ones left out. Time 0: has not happened. */
struct fluid_message {
    uint32_t source, destination, tag;
    uint32_t next; /**< free for the model */
    uint64_t bytes, wire_bytes;
    uint64_t posted_ps, delivered_ps;
    uint32_t packet_bytes; /**< its largest packet on the wire */
};

enum fluid_status {
    FLUID_FINISHED,    /**< everything posted was delivered */
    FLUID_STALLED,     /**< something has no way, or a link on it carries nothing */
    FLUID_LIMIT,       /**< the limit of simulated time was reached */
    FLUID_INTERRUPTED, /**< the observer said stop */
};

/** Asked now and then: simulated time and deliveries so far. Returns false to stop. */
typedef bool fluid_observer(void *context, uint64_t now_ps, uint64_t deliveries);

struct fluid;

/** Why a list of failures is more than the model knows, or NULL: a link that is down, slow, or enters a slow host, from time 0 and for good, is within it. */
const char *fluid_refuses(const struct failure_list *failures);

/** Prepares a run. Everything referred to must outlive it. Ends with fluid_free. */
struct fluid *fluid_create(const struct fabric *fabric, const struct fluid_parameters *parameters,
                           const struct traffic *traffic);

/** Frees it; NULL is allowed. */
void fluid_free(struct fluid *fluid);

/** Runs once, to the end. observer may be NULL. */
enum fluid_status fluid_run(struct fluid *fluid, fluid_observer *observer, void *context);

/** Time of the last delivery; of a run that did not finish, where it was ended. */
uint64_t fluid_end_ps(const struct fluid *fluid);

/** All messages over the fabric, in order of posting; *count says how many. */
const struct fluid_message *fluid_messages(const struct fluid *fluid, uint64_t *count);

/** When the sender of a delivered message knows of it: one control packet later. */
uint64_t fluid_acknowledged_ps(const struct fluid *fluid, const struct fluid_message *message);

/** Wire bytes that a link has carried, ACKs included; NVLink: records. */
uint64_t fluid_link_bytes(const struct fluid *fluid, uint32_t link);

/** Payload that a rank has sent and received over NVLink. */
uint64_t fluid_nvlink_sent(const struct fluid *fluid, uint32_t rank);
uint64_t fluid_nvlink_received(const struct fluid *fluid, uint32_t rank);

/** How often rates were worked out, all networks together. */
uint64_t fluid_solutions(const struct fluid *fluid);

/** After a stall: a message that was not delivered; NULL if none crossed the fabric. */
const struct fluid_message *fluid_stuck(const struct fluid *fluid);

#endif
