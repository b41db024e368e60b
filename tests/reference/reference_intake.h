// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The receive buffer of an endpoint of the naive simulator, where its host does not take data as it arrives.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_INTAKE_H
#define MOEFABRIC_TESTS_REFERENCE_INTAKE_H

#include "reference_world.h"

struct reference_intake;

/** The buffer of an endpoint, empty; there always is one. Freed by reference_intake_free. */
struct reference_intake *reference_intake_create(uint32_t endpoint);

/** Frees a buffer; NULL is allowed. */
void reference_intake_free(struct reference_intake *intake);

/** A packet has arrived at a port of the NIC. False: it is to be handled now. True: later, or never. */
bool reference_intake_keeps(struct reference_world *world, struct reference_intake *intake, uint16_t port,
                            const struct packet *packet);

/** The host has taken the oldest packet, which is returned; *port: by which it had come. */
struct packet reference_intake_taken(struct reference_world *world, struct reference_intake *intake, uint16_t *port);

/** The link of a port to its leaf has come up: a pause is told again. */
void reference_intake_come_up(struct reference_world *world, struct reference_intake *intake, uint16_t port);

#endif
