// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a topology of HPCC's ns-3. */
#include "fuzz.h"

#include "config/hpcc_topology.h"
#include "foreign_topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    foreign_topology_check(hpcc_topology_read_text, "input.txt", data, size);
    return 0;
}
