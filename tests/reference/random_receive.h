// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Hosts of random cases that do not take data as it arrives.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_RECEIVE_H
#define MOEFABRIC_TESTS_RANDOM_RECEIVE_H

#include "device/parameters.h"
#include "fabric/fabric.h"
#include "fabric/failure.h"

/** Receive buffers, a rate of all hosts, and hosts that fail, for some cases; others are left as they are. */
void random_receive_draw(uint64_t number, const struct fabric *fabric, struct network_parameters *parameters,
                         struct failure_list *list);

#endif
