// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One NVSwitch chip: a store-and-forward crossbar with credits, oldest record first. Rules: README.md of this folder.
 */
#ifndef MOEFABRIC_DEVICE_CHIP_H
#define MOEFABRIC_DEVICE_CHIP_H

#include "device/context.h"
#include "device/recorder.h"

struct chip;

/** A chip for a device number of the fabric. Ends with chip_free. */
struct chip *chip_create(const struct context *context, uint32_t device);

/** Frees a chip; NULL is allowed. */
void chip_free(struct chip *chip);

/** Runs a chip for a window: engine_advance. */
uint64_t chip_advance(void *chip, struct engine_worker *worker, uint64_t begin_ps, uint64_t end_ps);

/** What the recorder asks between windows. */
struct recorder_port chip_recorder_port(const struct chip *chip, uint32_t port);

/** Bytes held in queues (0 after a finished run). */
uint64_t chip_buffered_bytes(const struct chip *chip);

/** Bytes of memory. */
size_t chip_bytes(const struct chip *chip);

#endif
