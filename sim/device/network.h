// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One simulation: the devices of a fabric, wired to the engine, carrying a traffic plan to its end.
 */
#ifndef MOEFABRIC_DEVICE_NETWORK_H
#define MOEFABRIC_DEVICE_NETWORK_H

#include "device/counters.h"
#include "device/endpoint.h"
#include "device/parameters.h"
#include "device/trace.h"
#include "fabric/fabric.h"
#include "workload/traffic.h"

/** How a run ended. */
enum network_status {
    NETWORK_FINISHED, /**< everything posted was delivered */
    NETWORK_STALLED, /**< something was not delivered, and nothing is due any more or nothing was accepted for stall_ps */
    NETWORK_LIMIT,   /**< the limit of simulated time was reached */
    NETWORK_INTERRUPTED, /**< the observer said stop */
};

/** Asked between windows, every 64 of them: simulated time and packet-hops so far. Returns false to stop. */
typedef bool network_observer(void *context, uint64_t now_ps, uint64_t hops);

struct network;

/** Devices for a fabric. Fabric, parameters, traffic and trace (NULL: none kept) must outlive it. Ends with network_free. */
struct network *network_create(const struct fabric *fabric, const struct network_parameters *parameters,
                               const struct traffic *traffic, struct trace *trace);

/** Frees a network; NULL is allowed. */
void network_free(struct network *network);

/** Runs once, to the end. observer may be NULL. Checks at the end that every byte put on a link arrived, and that no buffer holds anything.
 * With several ranks every rank calls it; afterwards rank 0 answers for all, the status of the others means nothing. */
enum network_status network_run(struct network *network, network_observer *observer, void *context);

/** After the run, for large ones: frees all that only a running network needs. What was counted and noted, and network_end_ps, stay; nothing else may be asked. */
void network_release(struct network *network);

/** Counters of a link. */
const struct link_counters *network_link(const struct network *network, uint32_t link);

/** What was recorded, by the wishes of the parameters; NULL without. Over several ranks: at rank 0. */
struct recorder *network_recorder(const struct network *network);

/** Endpoint number rank. */
const struct endpoint *network_endpoint(const struct network *network, uint32_t rank);

/** Time of the last delivery or acknowledgement. */
uint64_t network_end_ps(const struct network *network);

/** Simulated time that the run has come to; of a finished run no better than the end of its last window. */
uint64_t network_now_ps(const struct network *network);

/** Packet-hops: packets put on links; all, and data alone. */
uint64_t network_hops(const struct network *network);
uint64_t network_data_hops(const struct network *network);

/** Messages posted and delivered, all kinds. */
uint64_t network_posted_messages(const struct network *network);
uint64_t network_delivered_messages(const struct network *network);

/** Windows that the engine ran. */
uint64_t network_windows(const struct network *network);

/** After a stall: links that wait on each other in a circle, see wait.h. Over several ranks: of the switches that run here. */
uint32_t network_circle(const struct network *network, uint32_t *links, uint32_t capacity);

/** After a stall: links of switches (of this rank) that are paused and have something to send. */
uint32_t network_paused_links(const struct network *network);

/** After a stall: the first queue pair (of the senders of this rank) that is not done; false if there is none. */
bool network_stuck_pair(const struct network *network, struct endpoint_stuck *stuck);

/** Bytes of memory that the network holds. */
size_t network_bytes(const struct network *network);

#endif
