// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Equal-cost multi-path: a hash of the packet's header picks the port, so that a queue pair keeps one path.
 */
#ifndef MOEFABRIC_PATH_ECMP_H
#define MOEFABRIC_PATH_ECMP_H

#include "path/path.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * The policy `ecmp`.
 *
 * The header fields that RoCEv2 varies are the two addresses and the UDP source port (the destination port is always
 * 4791), so the hash is over (source, destination, entropy) with a seed of the switch; the choice does not depend on
 * load. Switches differ in their seeds, as with the per-node seed of the HPCC simulator (alibaba-edu/
 * High-Precision-Congestion-Control, switch-node.cc), unless `polarised` gives all the same one.
 *
 * Approximations: a 64-bit mix in place of the switch's CRC (Cumulus Linux, cl-ecmpcalc: crc16-ccitt), so
 * collisions are those of a good hash; no hash buckets (resilient hashing), which are off by default there.
 */
extern const struct path_policy ecmp_policy;

/** Hash seed of a switch (device number) in a run with this seed: its own, or that of device 0 where polarised. */
uint64_t ecmp_switch_seed(uint64_t seed, uint32_t device, bool polarised);

/** 64 uniform bits for a header at a switch with this seed. */
uint64_t ecmp_hash(uint64_t switch_seed, uint32_t source, uint32_t destination, uint16_t entropy);

/** The port that a packet takes among first_port … first_port + count - 1 (count ≥ 1). Pure: reports replay the path of a flow with it. */
uint16_t ecmp_choose_port(uint64_t switch_seed, const struct path_request *request);

#endif
