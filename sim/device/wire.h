// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A packet put on a link in a run with failures: how long it takes, and whether it gets across. Rules: failures.md.
 */
#ifndef MOEFABRIC_DEVICE_WIRE_H
#define MOEFABRIC_DEVICE_WIRE_H

#include "device/context.h"

/** What becomes of a packet that starts. */
struct wire_start {
    uint64_t duration_ps; /**< of its transmission */
    bool lost;
};

/** A packet of size_bytes starts on a link at now_ps; *carry as in base/rate.h. context->failures is set. */
struct wire_start wire_start(const struct context *context, uint32_t link, uint32_t size_bytes, uint32_t *carry,
                             uint64_t now_ps);

/** Books a packet as lost on a link. */
void wire_lose(const struct context *context, uint32_t link, const struct packet *packet, uint64_t now_ps);

#endif
