// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which packet of a queue pair went by which plane of its NIC, and which of them the other side is known to have: what a sender
 * needs that has a congestion context each plane. Rules: README.md of this folder, "Planes".
 */
#ifndef MOEFABRIC_DEVICE_PLANE_H
#define MOEFABRIC_DEVICE_PLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLANE_MOST = 8 }; /**< planes of a NIC */

/** Packets of a queue pair in a plane. */
struct plane_count {
    uint32_t in_flight;    /**< started there last, neither known to have arrived nor given up */
    uint32_t acknowledged; /**< known to have arrived, started there last */
};

/** The packets of a queue pair from the oldest unacknowledged one on. Zero-initialise; ends with plane_ledger_fini. */
struct plane_ledger {
    uint8_t *packets;  /**< circular by number: plane and what is known */
    uint32_t capacity; /**< 0 or a power of two */
    struct plane_count planes[PLANE_MOST];
};

/** Frees what a ledger owns. */
void plane_ledger_fini(struct plane_ledger *ledger);

/** A packet starts in a plane, for the first time or again. oldest: all packets below it are acknowledged. */
void plane_ledger_start(struct plane_ledger *ledger, uint32_t oldest, uint32_t number, uint32_t plane);

/** A packet that has started is known to have arrived. */
void plane_ledger_arrived(struct plane_ledger *ledger, uint32_t number);

/** Whether a packet that has started is known to have arrived. */
bool plane_ledger_knows(const struct plane_ledger *ledger, uint32_t number);

/** Plane by which a packet that has started went last. */
uint32_t plane_ledger_plane(const struct plane_ledger *ledger, uint32_t number);

/** Packets from..until-1 that are not known to have arrived are in flight no longer: they will be sent again. */
void plane_ledger_give_up(struct plane_ledger *ledger, uint32_t from, uint32_t until);

/** Bytes of memory that it owns. */
size_t plane_ledger_bytes(const struct plane_ledger *ledger);

#endif
