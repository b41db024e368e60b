// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What waits for what when nothing moves any more: circles of paused links.
 *
 * A link waits if its transmitter has lossless packets and is paused. It was paused because packets that came by it fill the
 * switch at its head, so it waits for the links on which those packets are to leave. A circle of such links is a deadlock:
 * none can move before the next one does. Endpoints wait for their own host at most, and NVSwitch chips are joined to
 * endpoints only, so circles run through switches alone. On InfiniBand it is the same with links that stall for want of credit.
 */
#ifndef MOEFABRIC_DEVICE_WAIT_H
#define MOEFABRIC_DEVICE_WAIT_H

#include "device/switch.h"
#include "fabric/fabric.h"

/**
 * Looks for a circle among the links that leave these switches ([n_switches] by ordinal; NULL where another rank runs it).
 * Returns its length and writes its first `capacity` links in the order in which each waits for the next, beginning with the
 * lowest number; 0 = there is none.
 */
uint32_t wait_circle(const struct fabric *fabric, struct switch_device *const *switches, uint32_t *links,
                     uint32_t capacity);

/** How many links that leave these switches wait because they are paused. */
uint32_t wait_paused_links(const struct fabric *fabric, struct switch_device *const *switches);

#endif
