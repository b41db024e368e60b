// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A plan that is an explicit list of messages, each of which may wait for deliveries at its source. For tests and small cases.
 */
#ifndef MOEFABRIC_WORKLOAD_TRAFFIC_LIST_H
#define MOEFABRIC_WORKLOAD_TRAFFIC_LIST_H

#include "workload/traffic.h"

#include <stdbool.h>
#include <stdint.h>

struct traffic_list;

/** An empty list for ranks 0 … n_ranks-1 (at least 1). Freed by traffic_list_free. */
struct traffic_list *traffic_list_create(uint32_t n_ranks);

/** Frees the list; NULL is allowed. */
void traffic_list_free(struct traffic_list *list);

/**
 * Adds a copy of a message that source sends. A source's messages are released in the order in which they were added.
 * Returns its number (0, 1, …) for traffic_list_after. Not after traffic_list_traffic.
 */
uint32_t traffic_list_add(struct traffic_list *list, uint32_t source, const struct traffic_message *message);

/** Message (a number from traffic_list_add) is released only once (source, tag) has been delivered to its own source rank. May be called several times: all are awaited. */
void traffic_list_after(struct traffic_list *list, uint32_t message, uint32_t source, uint32_t tag);

/**
 * Closes the list and gives the plan; the list stays the owner. `begin` of a rank sets that rank back to its start, so the
 * same list can be run many times. A repeated (source, destination, tag), a message to itself or an awaited
 * delivery that nobody sends is a bug of the caller.
 */
struct traffic traffic_list_traffic(struct traffic_list *list);

/** How many messages the list holds. */
uint32_t traffic_list_count(const struct traffic_list *list);

/** How many messages have been delivered to a rank since its `begin`. A delivery that the list does not hold, or a second one, is a bug. */
uint32_t traffic_list_delivered(const struct traffic_list *list, uint32_t rank);

/** True if every message has been delivered. */
bool traffic_list_finished(const struct traffic_list *list);

#endif
