// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Messages split over queue pairs, in the naive simulator: how many parts of each are done.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_PARTS_H
#define MOEFABRIC_TESTS_REFERENCE_PARTS_H

#include "device/parameters.h"
#include "workload/traffic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A message, by who is at its other end. */
struct reference_parts_message {
    uint32_t peer, tag;
    uint32_t done;
};

/** All messages of which a part was ever done. Zero-initialise; freed by reference_parts_free. */
struct reference_parts {
    struct reference_parts_message *messages;
    size_t count;
};

/** Frees the list. */
void reference_parts_free(struct reference_parts *parts);

/** A part of a message is done. Whether all are; a message that is not split has one. */
bool reference_parts_done(struct reference_parts *parts, uint32_t peer, uint32_t tag,
                          const struct nic_parameters *parameters);

/** What a message puts on queue pair number `index` of the peer, if it is split. */
struct traffic_message reference_parts_of(const struct traffic_message *message, uint32_t index,
                                          const struct nic_parameters *parameters);

#endif
