// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The header field that tells the queue pairs of one peer apart for whoever hashes headers: RoCEv2's UDP source port.
 */
#ifndef MOEFABRIC_DEVICE_ENTROPY_H
#define MOEFABRIC_DEVICE_ENTROPY_H

#include "base/hash.h"

#include <stdint.h>

/** Of the queue pair number index (from 0) among those that a sender has with a destination: README.md of this folder, "Queue pair". */
static inline uint16_t entropy_of_pair(uint32_t destination, uint32_t index) {
    return (uint16_t)hash_mix(hash_mix(destination) + index);
}

#endif
