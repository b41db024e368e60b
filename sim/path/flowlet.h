// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Flowlets: a flow may take another path after a pause.
 */
#ifndef MOEFABRIC_PATH_FLOWLET_H
#define MOEFABRIC_PATH_FLOWLET_H

#include "path/path.h"

/**
 * The policy `flowlet`, after LetFlow.
 *
 * A switch keeps a table of `flowlet_entries` places. A flow (source, destination, entropy; in other words a queue pair in one direction) has
 * the place `hash_below(ecmp_hash(the switch's seed, flow), flowlet_entries)`, which holds when a packet passed last and a random number. A packet
 * that comes more than `flowlet_gap_ps` after the one before, or first, draws a new number: the n-th of the switch is
 * `hash_draw(hash_stream(seed, HASH_PURPOSE_PATH, device, 0), n)`. The number picks the port, uniformly among the candidates. Load does not
 * matter, but a congested path makes more gaps, so flows leave it sooner.
 *
 * Packets stay in order as long as the gap is longer than paths differ in delay: NICs need not mark them, all packets are treated alike, and
 * `path_request.adaptive` is not looked at. Flows whose places coincide share number and gaps, as in hardware, which keeps no keys.
 *
 * Sources: Vanini, Pan, Alizadeh, Taheri, Edsall: Let It Flow: Resilient Asymmetric Load Balancing with Flowlet Switching, NSDI 2017 (a random
 * port at each flowlet); a gap of 100 us, also in CONGA (SIGCOMM 2014), as in the simulators of ConWeave (conweave-project/conweave-ns3).
 * Number of places: estimate.
 *
 * Approximations: gaps are measured to the picosecond, where hardware checks an age bit at times (a gap between one and two periods). CONGA's
 * choice by remote congestion is not there. RDMA NICs send without pauses as long as they have something to send, so that flowlets are
 * between messages, or where congestion control has slowed a queue pair to a packet a gap (Lu et al., Multi-Path Transport for RDMA in
 * Datacenters, NSDI 2018): one long message keeps its path, as under `ecmp`.
 */
extern const struct path_policy flowlet_policy;

#endif
