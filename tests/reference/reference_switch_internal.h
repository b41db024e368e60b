// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The state of a switch of the naive simulator, for the files that it is split over.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_SWITCH_INTERNAL_H
#define MOEFABRIC_TESTS_REFERENCE_SWITCH_INTERNAL_H

#include "congestion/telemetry.h"
#include "reference_switch.h"

/** One port: egress queues, and what is counted for it as an ingress. */
struct reference_switch_port {
    struct reference_queue queues[PACKET_CLASSES];
    uint64_t depth[PACKET_CLASSES]; /* accepted and not fully sent */
    uint64_t deficit[PACKET_CLASSES];
    enum packet_class turn;
    uint64_t draws; /* of the marking stream */
    uint64_t trim_draws;
    uint64_t control_run; /* control packets in a row that started while data waited */
    struct telemetry_port telemetry;
    /* as an ingress */
    uint64_t shared, headroom;
    bool pausing; /* the other end has been told to pause */
    /* the PFC watchdog */
    bool storm;
    bool held; /* in a storm: told to pause, and sending all the same */
    uint64_t setting;
};

/** A switch. */
struct reference_switch {
    uint32_t device;
    const struct switch_parameters *parameters;
    bool weighs; /**< the policy is told the capacity behind each port */
    uint16_t n_ports;
    struct reference_switch_port *ports;
    uint64_t lossy_used;
    const struct path_policy *policy;
    struct path_state *path;
};

/** Marks a packet that starts, if its queue is deep enough. */
void reference_switch_mark(struct reference_world *world, struct reference_switch *device, uint16_t port,
                           struct packet *packet);

/** What the port tells a data packet that starts, if that is more than others have told it. */
void reference_switch_tell(struct reference_world *world, struct reference_switch *device, uint16_t port,
                           struct packet *packet);

#endif
