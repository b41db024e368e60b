// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The PFC watchdog of a switch: a lossless queue that has been paused for too long is emptied, and takes nothing until the
 * storm is over; or sends all the same; or is only reported. For the files of the switch alone. Rules: README.md of this folder, "PFC watchdog".
 */
#ifndef MOEFABRIC_DEVICE_WATCHDOG_H
#define MOEFABRIC_DEVICE_WATCHDOG_H

#include "device/switch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct switch_port;
struct watchdog;

/** The watchdog of a switch; NULL where it has none. Ends with watchdog_free. */
struct watchdog *watchdog_create(const struct switch_parameters *parameters, uint32_t n_ports);

/** Frees it; NULL is allowed. */
void watchdog_free(struct watchdog *watchdog);

/** Bytes of memory; of NULL too. */
size_t watchdog_bytes(const struct watchdog *watchdog);

/** When it next has something to do, or earlier; TIME_NEVER: never, or NULL. */
uint64_t watchdog_next_ps(const struct watchdog *watchdog);

/** The lossless class of a port has been paused, or is no longer. watchdog may be NULL. */
void watchdog_paused(struct watchdog *watchdog, uint32_t port, uint64_t now_ps);
void watchdog_resumed(struct watchdog *watchdog, uint32_t port, uint64_t now_ps);

/**
 * A pause or resume for a port whose storm is met with WATCHDOG_FORWARD: notes it and returns true, and the port goes on sending.
 * A link that goes down is a resume. False, and nothing is done, in all other cases, of NULL too.
 */
bool watchdog_overrides(struct watchdog *watchdog, uint32_t port, bool paused, uint64_t now_ps);

/** Whether a port takes no lossless packets; false of NULL. */
bool watchdog_is_dropping(const struct watchdog *watchdog, uint32_t port);

/** At watchdog_next_ps, before all else of that time: takes the steps that are due, by port. */
void watchdog_step(struct switch_device *device, struct engine_worker *worker);

/** Books a lossless packet that came in by `ingress` and was to leave by a port which takes none. */
void watchdog_drop(const struct switch_device *device, const struct switch_port *egress, const struct packet *packet,
                   uint32_t ingress, uint64_t now_ps);

#endif
