// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What switches tell packets of their ports: utilisation as HPCC defines it, the highest on the way, in one byte.
 */
#ifndef MOEFABRIC_CONGESTION_TELEMETRY_H
#define MOEFABRIC_CONGESTION_TELEMETRY_H

#include <stdint.h>

/** What a port remembers. Zero-initialise, but for the stream. */
struct telemetry_port {
    uint64_t stream; /**< of the draws that settle rounding, one a picosecond (hash_draw) */
    double utilisation;
    uint64_t start_ps;  /**< of the packet before */
    uint64_t packet_ps; /**< how long that one takes; 0: there was none */
};

/**
 * A packet starts at a port at now_ps. Returns the code of the port's utilisation (1 … 255).
 *
 *   t = min(time since the packet before started, T)
 *   U = U × (T - t) / T + (queue / T) × (t / T) + packet before / T
 *
 * with queue and packet as times at the port's rate: HPCC's q / (B T) + tx rate / B, as a mean over a base round trip T
 * (Ben Basat and others, PINT: Probabilistic In-band Network Telemetry, SIGCOMM 2020; HPCC's simulator, switch-node.cc,
 * mode HPCC-PINT). queue_ps: what waits, this packet included; packet_ps: this packet.
 */
uint8_t telemetry_tell(struct telemetry_port *port, uint64_t queue_ps, uint64_t packet_ps, uint64_t now_ps,
                       uint64_t round_trip_ps);

/**
 * The utilisation that a code stands for: (16 + low 4 bits) × 2^(high 4 bits) / 1024, so 1/64 … 992; what lies between two
 * codes is rounded up with the probability that makes the mean right. (PINT: powers of 1.05 from 1/64 on.) 0 for code 0: nothing was told.
 */
double telemetry_utilisation(uint8_t code);

#endif
