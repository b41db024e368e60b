// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/wiring.h"

#include "base/memory.h"
#include "base/number.h"
#include "fabric/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/** The rail of a GPU: its index in its domain, modulo rails. */
static uint32_t rail_of(const struct topology *topology, uint32_t rails, uint32_t endpoint) {
    return endpoint % topology->gpus_used % rails;
}

/** Notes the rail of every leaf; false if one has two. */
static bool are_rails_apart(const struct topology *topology, const struct fabric *fabric, uint32_t rails) {
    uint32_t *seen = memory_allocate((size_t)fabric->plane_leaves + 1, sizeof(*seen)); /* rail + 1 */
    bool apart = true;
    for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
        const uint32_t leaf = fabric->endpoints[endpoint].leaf, rail = rail_of(topology, rails, endpoint);
        if (leaf != FABRIC_NONE) {
            apart = apart && (seen[leaf] == 0 || seen[leaf] == rail + 1);
            seen[leaf] = rail + 1;
        }
    }
    free(seen);
    return apart;
}

/** Leaves over which one rail of one rack is spread. */
static uint32_t count_leaves(const struct topology *topology, const struct fabric *fabric, uint32_t rails,
                             uint32_t rack, uint32_t rail) {
    uint32_t count = 0;
    for (uint32_t index = rail; index < topology->gpus_used; index += rails) {
        const uint32_t first = rack * topology->gpus_used, leaf = fabric->endpoints[first + index].leaf;
        bool known = leaf == FABRIC_NONE;
        for (uint32_t other = rail; other < index; other += rails) {
            known = known || fabric->endpoints[first + other].leaf == leaf;
        }
        count += !known;
    }
    return count;
}

struct wiring wiring_of(const struct topology *topology, const struct fabric *fabric) {
    struct wiring wiring = {.rails = shape_has_rails(topology) ? topology->fabric.rails : 1};
    wiring.rails_apart = wiring.rails > 1 && are_rails_apart(topology, fabric, wiring.rails);
    for (uint32_t rack = 0; rack < topology->racks; rack++) {
        for (uint32_t rail = 0; rail < wiring.rails; rail++) {
            const uint32_t leaves = count_leaves(topology, fabric, wiring.rails, rack, rail);
            wiring.most_leaves = leaves > wiring.most_leaves ? leaves : wiring.most_leaves;
            wiring.fewest_leaves =
                wiring.fewest_leaves == 0 || leaves < wiring.fewest_leaves ? leaves : wiring.fewest_leaves;
        }
    }
    return wiring;
}

char *wiring_text(const struct topology *topology, const struct wiring *wiring, char buffer[WIRING_TEXT_SIZE]) {
    const char *rack = topology->nvlink.gpus > 1 ? "rack" : "host";
    if (wiring->rails == 1) {
        snprintf(buffer, WIRING_TEXT_SIZE, "consecutive GPUs share a leaf, whatever their rail");
    } else if (wiring->most_leaves == 1) {
        snprintf(buffer, WIRING_TEXT_SIZE,
                 "%" PRIu32 " rails, each on leaves of its own; a %s's GPUs of a rail share a leaf", wiring->rails,
                 rack);
    } else {
        snprintf(buffer, WIRING_TEXT_SIZE,
                 "%" PRIu32 " rails, each on leaves of its own; a %s's GPUs of a rail are on up to %" PRIu32 " leaves",
                 wiring->rails, rack, wiring->most_leaves);
    }
    return buffer;
}

struct wiring_ports wiring_ports(const struct topology *topology, const struct fabric *fabric, enum fabric_tier tier) {
    const struct topology_switch *kind = tier == FABRIC_TIER_LEAF ? &topology->leaf : &topology->spine;
    struct wiring_ports ports = {0};
    for (uint32_t device = 0; device < fabric->n_devices; device++) {
        if (fabric->devices[device].kind == FABRIC_SWITCH && fabric->devices[device].tier == tier) {
            ports.switches++;
            ports.in_use += fabric->devices[device].n_ports;
        }
    }
    ports.least = number_divide_up(ports.in_use, kind->ports > 0 ? kind->ports : 1) * topology->nic.planes;
    ports.switches *= topology->nic.planes;
    ports.in_use *= topology->nic.planes;
    ports.bought = ports.switches * kind->ports;
    return ports;
}
