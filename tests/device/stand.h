// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One switch alone: packets and pauses arrive at its ports at given times, and what leaves it is written down.
 */
#ifndef MOEFABRIC_TESTS_DEVICE_STAND_H
#define MOEFABRIC_TESTS_DEVICE_STAND_H

#include "device/context.h"
#include "device/switch.h"

#include <stdint.h>

enum { STAND_PORTS = 8, STAND_LATENCY_PS = 500000, STAND_PS_PER_BYTE = 20 };

/** Something that left the switch. */
struct stand_sight {
    uint64_t time_ps; /**< packets: when transmission began; control: when it was decided */
    uint32_t port;
    uint32_t control;     /**< 1: pause or resume */
    struct packet packet; /**< if it was a packet */
    uint32_t kind;        /**< enum control_kind, if it was not */
};

/** The switch, what surrounds it, and what was seen, by time. */
struct stand {
    struct fabric *fabric;
    struct network_parameters parameters; /**< to be changed before the first arrival; buffers plenty, PFC on */
    struct context context;
    struct engine *engine;
    struct switch_device *device;
    struct stand_sight *sights;
    uint32_t n_sights, capacity;
    uint32_t n_packets; /**< arrived: their numbers */
};

/** A switch of STAND_PORTS ports that stores and forwards. */
struct stand *stand_create(void);

/** Frees a stand. */
void stand_free(struct stand *stand);

/** A packet of a class arrives at a port at a time and is to leave by another. Arrivals at one port in order of time. Returns its number: 0, 1, … */
uint32_t stand_packet(struct stand *stand, uint64_t time_ps, uint32_t from, uint32_t to, enum packet_class class,
                      uint32_t size_bytes);

/** A pause or resume arrives at a port. In order of time. */
void stand_control(struct stand *stand, uint64_t time_ps, uint32_t port, enum control_kind kind);

/** Runs until nothing happens any more. */
void stand_run(struct stand *stand);

/** Counters of what leaves by a port. */
const struct link_counters *stand_counters(const struct stand *stand, uint32_t port);

/** When transmission of a packet (by number) began; TIME_NEVER if it did not leave. */
uint64_t stand_start_ps(const struct stand *stand, uint32_t number);

/** How many pauses (or resumes) left by a port, and the time of the last; TIME_NEVER if there was none. */
uint32_t stand_controls(const struct stand *stand, uint32_t port, enum control_kind kind, uint64_t *last_ps);

#endif
