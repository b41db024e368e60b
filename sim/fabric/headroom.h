// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * PFC headroom of a port: what vendors reserve for its speed and cable, and what can still come after a pause.
 */
#ifndef MOEFABRIC_FABRIC_HEADROOM_H
#define MOEFABRIC_FABRIC_HEADROOM_H

#include "fabric/fabric.h"

#include <stdint.h>

/**
 * What SONiC reserves for a port of a Spectrum-4 switch (sonic-buildimage device/mellanox/x86_64-nvidia_sn5600-r0,
 * pg_profile_lookup.ini, column xoff): rows for 200, 400 and 800 Gb/s and cables of 5, 40 and 300 m. The next speed up and the
 * next cable length up are taken; a longer cable goes on along the line through the rows of 40 m and 300 m, a faster port than
 * 800 Gb/s has those rows times its speed ÷ 800. A cable's length is its propagation time at 5 ns a metre (light in fibre).
 */
uint64_t headroom_table_bytes(uint64_t rate_bits_per_s, uint64_t propagation_ps);

/** What can come beyond what the rate brings: the packet that did not fit, the one that had just been started, and what rounding may add. */
enum { HEADROOM_PACKETS = 3 };

/**
 * The most that can still come by a link after the switch that it enters has decided to pause it: what its rate brings while the
 * pause goes back and what was under way before arrives, and HEADROOM_PACKETS.
 */
uint64_t headroom_in_flight_bytes(const struct fabric *fabric, uint32_t link, uint64_t packet_bytes);

/** Headroom of the port that a link enters, if it is chosen automatically: the table's, or what is in flight if that is more. */
uint64_t headroom_automatic_bytes(const struct fabric *fabric, uint32_t link, uint64_t packet_bytes);

/** A link of each kind that enters a switch: NIC to leaf, spine to leaf, leaf to spine, super-spine to spine, spine to super-spine. FABRIC_NONE where there is none. */
struct headroom_links {
    uint32_t links[5];
};

enum { HEADROOM_KINDS = 5 };

/** The links, of each kind that with most in flight. */
struct headroom_links headroom_worst_links(const struct fabric *fabric);

/** A kind in words: "leaf, from NICs"; static. */
const char *headroom_kind_name(int kind);

#endif
