// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Names of devices and links for people: the same in every table, message and report.
 */
#ifndef MOEFABRIC_FABRIC_NAMES_H
#define MOEFABRIC_FABRIC_NAMES_H

#include "fabric/fabric.h"

#include <stddef.h>

enum {
    NAMES_DEVICE_SIZE = 48, /**< holds any name of a device */
    NAMES_LINK_SIZE = 128,  /**< holds any name of a link */
};

/** "gpu17", "leaf2", "spine0", "rack1.nvswitch5"; with several NIC planes "plane0.leaf2". Returns buffer; a name that does not fit is cut off. */
const char *fabric_device_name(const struct fabric *fabric, uint32_t device, char *buffer, size_t size);

/**
 * A directed link: "gpu17 → leaf2", "leaf2 → gpu17", "leaf2:up17 → spine0" (its uplinks counted from 0), "spine0:port5 → leaf2",
 * with several NIC planes "gpu17:plane1 → plane1.leaf2"; "gpu17:nvlink3 → rack0.nvswitch3", "rack0.nvswitch3:port17 → gpu17". UTF-8. Returns buffer; a name that does not fit is cut off.
 */
const char *fabric_link_name(const struct fabric *fabric, uint32_t link, char *buffer, size_t size);

#endif
