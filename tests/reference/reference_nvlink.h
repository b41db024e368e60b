// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The NVLink side of an endpoint of the naive simulator: sends and receives records.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_NVLINK_H
#define MOEFABRIC_TESTS_REFERENCE_NVLINK_H

#include "reference_world.h"

struct reference_nvlink;

/** State of an endpoint; NULL if it has no NVLink port. Freed by reference_nvlink_free. */
struct reference_nvlink *reference_nvlink_create(struct reference_world *world, uint32_t endpoint);

/** Frees the state; NULL is allowed. */
void reference_nvlink_free(struct reference_nvlink *nvlink);

/** Cuts a message into records and hands them to the ports. */
void reference_nvlink_post(struct reference_world *world, struct reference_nvlink *nvlink,
                           const struct traffic_message *message);

/** A record is copied out, and joins its port. */
void reference_nvlink_copied(struct reference_world *world, struct reference_nvlink *nvlink,
                             const struct reference_step *step);

/** An idle transmitter of a port (number within the device) looks for a record. */
void reference_nvlink_choose(struct reference_world *world, struct reference_nvlink *nvlink, uint16_t port);

/** The transmission of a port has ended. */
void reference_nvlink_sent(struct reference_world *world, struct reference_nvlink *nvlink, uint16_t port);

/** A record has arrived at a port. True if its message is whole. */
bool reference_nvlink_receive(struct reference_world *world, struct reference_nvlink *nvlink, uint16_t port,
                              const struct packet *record);

#endif
