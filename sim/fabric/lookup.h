// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From a name (names.h) back to what it names.
 */
#ifndef MOEFABRIC_FABRIC_LOOKUP_H
#define MOEFABRIC_FABRIC_LOOKUP_H

#include "fabric/fabric.h"

#include <stdbool.h>
#include <stddef.h>

/** What a name stands for: a device, or (link not FABRIC_NONE) a link. */
struct lookup_place {
    uint32_t device, link;
};

/** Finds a device, or a link by its whole name or by what stands before the arrow; "->" is an arrow too. False if there is none. */
bool lookup_find(const struct fabric *fabric, const char *name, struct lookup_place *place);

/** Writes the nearest name of a device or Ethernet link to buffer (NAMES_LINK_SIZE). False if none is near. */
bool lookup_nearest(const struct fabric *fabric, const char *name, char *buffer, size_t size);

#endif
