// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Packets in flight: data and control packets that have left their sender's NIC or GPU and have not arrived.
 *
 * They are counted from what links carried, between windows. On the last link of their way packets are counted by their
 * bytes and the mean size of what that link carried, since links count arrivals in bytes.
 */
#ifndef MOEFABRIC_BENCH_FLIGHT_H
#define MOEFABRIC_BENCH_FLIGHT_H

#include "device/network.h"
#include "fabric/fabric.h"

/** What a run is watched with. */
struct bench_flight {
    const struct fabric *fabric;
    const struct network *network;
    uint64_t most_packets; /**< largest number in flight of all looks */
    uint64_t looks;
};

/** A network_observer: context is a struct bench_flight. Only for runs of one thread. */
bool bench_flight_look(void *context, uint64_t now_ps, uint64_t hops);

#endif
