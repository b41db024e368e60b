// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The one list of all steps to come, earliest first.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_HEAP_H
#define MOEFABRIC_TESTS_REFERENCE_HEAP_H

#include "device/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a step is. */
enum reference_step_kind {
    REFERENCE_STEP_DOWN,     /**< the cable at port goes down */
    REFERENCE_STEP_UP,       /**< … and comes up again */
    REFERENCE_STEP_FAILOVER, /**< a NIC of several planes looks which of them lead where */
    REFERENCE_STEP_WATCHDOG, /**< the watchdog looks at port, unless value is no longer its last setting there */
    REFERENCE_STEP_SENT,     /**< a transmission ends at port */
    REFERENCE_STEP_WAKE,     /**< an idle transmitter at port may choose again */
    REFERENCE_STEP_REFRESH,  /**< a switch looks at its ports */
    REFERENCE_STEP_PAUSE,    /**< control records: they arrive at port */
    REFERENCE_STEP_RESUME,
    REFERENCE_STEP_CREDIT,  /**< value = bytes; InfiniBand: blocks, and the lane from bit 32 on */
    REFERENCE_STEP_PACKET,  /**< a packet arrives at port */
    REFERENCE_STEP_TAKEN,   /**< the host has taken a packet from the receive buffer */
    REFERENCE_STEP_COPIED,  /**< an NVLink record is copied out at port; value = its channel */
    REFERENCE_STEP_START,   /**< a message may start; value = number of arming */
    REFERENCE_STEP_TIMEOUT, /**< the clock of queue pair place; value = setting of the clock that it belongs to */
};

/** One step of one device. Order: time, device, phase, tie, place, order of pushing. */
struct reference_step {
    uint64_t time_ps;
    uint32_t device;
    int phase; /**< 0 … 5 */
    uint64_t tie;
    uint64_t place;
    uint64_t pushed; /**< set by reference_heap_push */
    enum reference_step_kind kind;
    uint16_t port;
    uint64_t value;
    struct packet packet;
};

/** Zero-initialise. */
struct reference_heap {
    struct reference_step *steps;
    size_t count, capacity;
    uint64_t pushes;
};

/** Adds a copy of a step. */
void reference_heap_push(struct reference_heap *heap, const struct reference_step *step);

/** Takes the first step; false if there is none. */
bool reference_heap_pop(struct reference_heap *heap, struct reference_step *step);

/** Frees the steps. */
void reference_heap_free(struct reference_heap *heap);

#endif
