// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NVLink credits: the receive buffer of a link, and the grains in which it is given back.
 */
#ifndef MOEFABRIC_DEVICE_CREDIT_H
#define MOEFABRIC_DEVICE_CREDIT_H

#include "device/context.h"

/** Credit that the tail of a link starts with: the receive buffer at its head (rule: README.md). */
uint64_t credit_initial_bytes(const struct context *context, uint32_t link);

/** size_bytes of the receive buffer behind a link are free again; *gathered_bytes holds what is still short of a grain. back_link runs to the sender. */
void credit_return(const struct context *context, struct engine_worker *worker, uint32_t device, uint32_t port,
                   uint32_t back_link, uint32_t *gathered_bytes, uint32_t size_bytes, uint64_t now_ps);

#endif
