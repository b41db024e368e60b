// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a topology of htsim. */
#include "fuzz.h"

#include "config/htsim_topology.h"
#include "foreign_topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    foreign_topology_check(htsim_topology_read_text, "input.topo", data, size);
    return 0;
}
