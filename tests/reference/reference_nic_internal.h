// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the files of the sending side of a naive NIC share: what is posted and sent (reference_nic.c), and what replies and the
 * clock do (reference_replies.c). Nobody else includes it.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_NIC_INTERNAL_H
#define MOEFABRIC_TESTS_REFERENCE_NIC_INTERNAL_H

#include "reference_list.h"
#include "reference_nic.h"
#include "reference_pair.h"
#include "reference_parts.h"
#include "reference_pulls.h"

/** Somebody this endpoint has queue pairs to. */
struct reference_peer {
    uint32_t destination;
    uint64_t messages;
};

enum { PHASE_TIMER = 5, TIE_TIMER = 2, REPEATS_MOST = 7 }; /**< of retransmission timers */

/** An urgent message that is sent again until it is acknowledged. */
struct reference_urgent {
    struct packet packet;
    uint32_t repeats;
    bool acknowledged;
};

/** What waits at the port of a plane. */
struct reference_nic_port {
    struct reference_queue control, probes;
    struct reference_list ring, paced;
};

struct reference_nic {
    struct reference_pulls pulls; /* that it owes as a receiver */
    uint32_t endpoint;
    uint32_t n_planes;
    bool by_pair;             /* a queue pair keeps to a plane */
    bool shared;              /* a queue pair has one congestion context for several planes */
    uint64_t line_bits_per_s; /* of all planes */
    uint16_t arrival;         /* port by which the packet that is looked at has come */
    const struct congestion_controller *controller;
    struct reference_nic_port ports[REFERENCE_PLANES];
    struct reference_peer *peers;
    size_t n_peers;
    struct reference_pair **pairs; /* NULL where not used yet */
    uint32_t n_pairs;
    uint32_t urgent;                  /* urgent packets posted */
    struct reference_urgent *urgents; /* all of them */
    struct reference_parts completed; /* parts of split messages */
};

/** The plane itself if it leads to a destination, else the next one in turn that does. */
uint16_t reference_nic_next_plane(const struct reference_world *world, const struct reference_nic *nic,
                                  uint32_t destination, uint16_t plane);

/** Since when the transmitter of a plane is free, or when it will be. */
uint64_t reference_nic_free_ps(struct reference_world *world, const struct reference_nic *nic, uint16_t plane);

/** Appends a packet to the control FIFO of a plane. */
void reference_nic_send_control(struct reference_world *world, struct reference_nic *nic, uint16_t plane,
                                const struct packet *packet);

/** Sends an urgent message. */
void reference_urgent_post(struct reference_world *world, struct reference_nic *nic,
                           const struct traffic_message *message);

/** A queue pair joins those that wait at the ports where it does not wait yet, if it has work; idle transmitters choose. */
void reference_nic_look_for_work(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair);

/** Asks a controller for its window, for a plane. */
void reference_nic_ask_window(const struct reference_world *world, const struct reference_nic *nic,
                              struct reference_pair *pair, uint32_t plane);

/** Sets the retransmission clock of a queue pair anew. */
void reference_nic_set_clock(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair);

/** Whether the retransmission clock of a queue pair runs out now. */
bool reference_nic_runs_out(const struct reference_world *world, const struct reference_pair *pair);

/** Whether a context that has no probe outstanding may send the next one. */
bool reference_nic_may_probe(const struct reference_world *world, const struct reference_plane *context);

/** A probe of the congestion context for a plane joins a probe FIFO. */
void reference_nic_join_probes(struct reference_world *world, struct reference_nic *nic, struct reference_pair *pair,
                               uint16_t plane);

/** Opens the planes that a queue pair may use now. */
void reference_nic_open(const struct reference_world *world, const struct reference_nic *nic,
                        struct reference_pair *pair);

/** Whether packets carry entropies that are recycled. */
bool reference_nic_recycles(const struct reference_world *world);

#endif
