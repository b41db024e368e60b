// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a NIC remembers for controllers that want acknowledgements: when each outstanding packet started.
 *
 * A NIC that stamps packets gets the stamp back in the ACK; ours keeps it, and the ACK says which packet, and which
 * sending of it, is its cause. The round trip is the same to the picosecond, and packets stay as small as they are.
 */
#ifndef MOEFABRIC_DEVICE_ECHO_H
#define MOEFABRIC_DEVICE_ECHO_H

#include "device/parameters.h"
#include "fabric/fabric.h"

#include <stdint.h>

/** Starts of the packets of a queue pair from the oldest unacknowledged one on. Zero-initialise; ends with echo_fini. */
struct echo_store {
    uint64_t *starts;  /**< circular by number: time in ps << 4 | transmission */
    uint32_t capacity; /**< 0 or a power of two */
};

/** Frees what a store owns. */
void echo_fini(struct echo_store *store);

/** A packet starts at now_ps, for the first time or again. oldest: all packets below it are acknowledged. */
void echo_note(struct echo_store *store, uint32_t oldest, uint32_t number, uint8_t transmission, uint64_t now_ps);

/**
 * Time since the start of the packet that caused an ACK. 0 if the ACK does not tell which, if that was below oldest (all
 * below were acknowledged when the ACK came), or if it has started again since, so that the ACK answers an earlier start.
 */
uint64_t echo_round_trip_ps(const struct echo_store *store, uint32_t oldest, uint32_t sent_number,
                            const struct packet *ack, uint64_t now_ps);

/** The way between two endpoints in a plane: a full packet there and a control packet back through an idle fabric (describe_path_of_plane). */
struct congestion_way echo_way(const struct fabric *fabric, const struct nic_parameters *nic, uint32_t source,
                               uint32_t destination, uint32_t plane);

#endif
