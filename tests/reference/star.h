// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The smallest fabrics whose times can be computed by hand: some GPUs under one leaf, or on NVSwitch chips.
 */
#ifndef MOEFABRIC_TESTS_STAR_H
#define MOEFABRIC_TESTS_STAR_H

#include "device/parameters.h"
#include "fabric/fabric.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    STAR_LATENCY_PS = 500000, /**< of every link */
    STAR_PAYLOAD_BYTES = 4096,
    STAR_HEADER_BYTES = 64,
    STAR_CONTROL_BYTES = 64,
    STAR_RECORD_BYTES = 1024,
};

/** Endpoints under one leaf; 8 Tb/s is 1 ps a byte. Freed by fabric_free. */
struct fabric *star_ethernet(uint32_t n_endpoints, uint64_t up_bits_per_s, uint64_t down_bits_per_s, bool cut_through);

/** One domain with n_chips chips and one link a GPU to each. Freed by fabric_free. */
struct fabric *star_nvlink(uint32_t n_endpoints, uint32_t n_chips, uint64_t rate_bits_per_s);

/** Figures with which nothing gets in the way: large buffers, no window, no controller, an ACK at the end of a message. */
struct network_parameters star_parameters(void);

/** A message that starts at 0. */
struct traffic_message star_message(uint32_t destination, uint32_t tag, uint64_t bytes);

#endif
