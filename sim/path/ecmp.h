// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Equal-cost multi-path: a hash of the packet's header picks the port, so that a queue pair keeps one path.
 */
#ifndef MOEFABRIC_PATH_ECMP_H
#define MOEFABRIC_PATH_ECMP_H

#include "base/hash.h"
#include "path/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The policy `ecmp`.
 *
 * The header fields that RoCEv2 varies are the two addresses and the UDP source port (the destination port is always
 * 4791), so the hash is over (source, destination, entropy) with a seed of the switch; the choice does not depend on
 * load. Switches differ in their seeds, as with the per-node seed of the HPCC simulator (alibaba-edu/
 * High-Precision-Congestion-Control, switch-node.cc), unless `polarised` gives all the same one.
 *
 * The hash is a 64-bit mix, whose collisions are those of a good hash, or (PATH_HASH_CRC16) the CRC of a switch: CRC-16-CCITT
 * (Cumulus Linux, cl-ecmpcalc: crc16-ccitt) over the fields that Cumulus Linux hashes by default, started from the low 16 bits
 * of the switch's seed, modulo the number of candidates. A CRC is linear: seeds that differ change all CRCs by one
 * exclusive-or, so flows that met at one switch meet again at the next with as many ports where the number of ports is a power
 * of two. Switches with such a hash are polarised whatever their seeds (Zhang et al., Hashing Linearity Enables Relative Path
 * Control in Data Centers, USENIX ATC 2021, make use of that linearity).
 *
 * Approximations: addresses are 10.0.0.0 + the endpoint's number; in which order hardware feeds the fields in, how it uses its
 * seed and how it maps the CRC to a port is not public (our choice); no hash buckets (resilient hashing), which are off by
 * default in Cumulus Linux.
 */
extern const struct path_policy ecmp_policy;

/** Hash seed of a switch (device number) in a run with this seed: its own, or that of device 0 where polarised. */
uint64_t ecmp_switch_seed(uint64_t seed, uint32_t device, bool polarised);

/** 64 uniform bits for a header at a switch with this seed. */
static inline uint64_t ecmp_hash(uint64_t switch_seed, uint32_t source, uint32_t destination, uint16_t entropy) {
    const uint64_t pair = (uint64_t)source << 32 | destination;
    return hash_draw(hash_mix(switch_seed + pair), entropy);
}

/** How one switch hashes. */
struct ecmp_rule {
    uint64_t switch_seed;
    enum path_hash hash;
};

/** The rule of a switch (device number) in a run with this seed. */
struct ecmp_rule ecmp_rule_of(const struct path_parameters *parameters, uint64_t seed, uint32_t device);

/** The port that a packet takes among first_port … first_port + count - 1 (count ≥ 1). Pure: reports replay the path of a flow with it. */
uint16_t ecmp_rule_port(const struct ecmp_rule *rule, const struct path_request *request);

enum { ECMP_HEADER_BYTES = 13 };

/** What a switch's CRC reads of a packet: source and destination address, protocol, source and destination port, each with its high byte first. */
void ecmp_header(uint8_t bytes[ECMP_HEADER_BYTES], uint32_t source, uint32_t destination, uint16_t entropy);

/** CRC-16-CCITT (polynomial 0x1021, high bit first, no final exclusive-or) of n_bytes bytes, started from `first`. */
uint16_t ecmp_crc16(uint16_t first, const uint8_t *bytes, size_t n_bytes);

/** The port under PATH_HASH_MIX. */
uint16_t ecmp_choose_port(uint64_t switch_seed, const struct path_request *request);

#endif
