// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/parts.h"

#include "base/error.h"
#include "base/number.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BASEBOARD_GPUS = 8,   /* up to 8 GPUs share a baseboard (HGX): NVLink runs in the board */
    CABLES_PER_NVLINK = 4 /* NVL72: 5,184 copper cables a rack = 72 GPUs × 18 links × 4 pairs */
};

/** Largest power of a DR4-class optical module at a rate (NVIDIA MMS4X00 pages). */
struct module_power {
    uint64_t rate_bits_per_s;
    double maximum_watts;
};

static const struct module_power module_powers[] = {
    {UINT64_C(200000000000), 5},
    {UINT64_C(400000000000), 9},
    {UINT64_C(800000000000), 17},
};

/** Adds to the line of the same part, or starts one. */
static void add(struct parts *parts, const char *name, uint64_t count, double typical_watts, double maximum_watts) {
    if (count == 0) {
        return;
    }
    uint32_t i = 0;
    while (i < parts->n_lines &&
           (strcmp(parts->lines[i].name, name) != 0 || parts->lines[i].typical_watts != typical_watts ||
            parts->lines[i].maximum_watts != maximum_watts)) {
        i++;
    }
    REQUIRE(i < PARTS_LINES, "more kinds of parts than lines");
    struct parts_line *line = &parts->lines[i];
    if (i == parts->n_lines) {
        parts->n_lines++;
        snprintf(line->name, sizeof(line->name), "%s", name);
        line->typical_watts = typical_watts;
        line->maximum_watts = maximum_watts;
    }
    line->count += count;
    parts->typical_watts += (double)count * typical_watts;
    parts->maximum_watts += (double)count * maximum_watts;
}

static void add_switches(struct parts *parts, const struct topology *topology, const struct topology_switch *kind,
                         uint64_t count) {
    char name[PARTS_NAME_SIZE], rate[QUANTITY_TEXT_SIZE];
    quantity_print_short(rate, QUANTITY_RATE, (double)kind->port_rate_bits_per_s);
    snprintf(name, sizeof(name), "%s switch %s, %" PRIu32 " x %s",
             topology->fabric.link_layer == TOPOLOGY_LINK_INFINIBAND ? "InfiniBand" : "Ethernet",
             kind->model[0] != '\0' ? kind->model : "(no model given)", kind->ports, rate);
    add(parts, name, count, kind->power_typical_watts, kind->power_maximum_watts);
}

static void add_modules(struct parts *parts, uint64_t rate_bits_per_s, uint64_t count) {
    char name[PARTS_NAME_SIZE], rate[QUANTITY_TEXT_SIZE];
    double maximum_watts = 0;
    for (size_t i = 0; i < sizeof(module_powers) / sizeof(module_powers[0]); i++) {
        if (module_powers[i].rate_bits_per_s == rate_bits_per_s) {
            maximum_watts = module_powers[i].maximum_watts;
        }
    }
    quantity_print_short(rate, QUANTITY_RATE, (double)rate_bits_per_s);
    snprintf(name, sizeof(name), "optical module, %s", rate);
    add(parts, name, count, 0, maximum_watts);
    parts->modules += count;
}

/** Copper where it reaches, else fibre and two modules. A topology that gives latencies instead of lengths has cables of 0 m. */
static void add_cables(struct parts *parts, const char *where, uint64_t rate_bits_per_s, uint64_t metres,
                       uint64_t count) {
    char name[PARTS_NAME_SIZE], rate[QUANTITY_TEXT_SIZE];
    const bool copper = metres <= PARTS_COPPER_METRES;
    quantity_print_short(rate, QUANTITY_RATE, (double)rate_bits_per_s);
    if (metres == 0) {
        snprintf(name, sizeof(name), "cable of unstated length, %s, %s", rate, where);
    } else {
        snprintf(name, sizeof(name), "%s, %s, %" PRIu64 " m, %s", copper ? "copper cable (DAC)" : "fibre", rate, metres,
                 where);
    }
    add(parts, name, count, 0, 0);
    if (!copper) {
        add_modules(parts, rate_bits_per_s, 2 * count);
    }
}

static void add_nvlink(struct parts *parts, const struct topology *topology) {
    const struct topology_nvlink *nvlink = &topology->nvlink;
    if (nvlink->gpus <= 1) {
        return;
    }
    add(parts, "NVSwitch chip", (uint64_t)topology->racks * nvlink->chips, 0, 0);
    if (nvlink->gpus > BASEBOARD_GPUS) {
        const uint64_t links = (uint64_t)topology->racks * nvlink->gpus * nvlink->links_per_gpu;
        add(parts, "NVLink copper cable of the rack's backplane (4 a link)", CABLES_PER_NVLINK * links, 0, 0);
    }
}

static void add_nics(struct parts *parts, const struct topology *topology, uint64_t count) {
    char name[PARTS_NAME_SIZE], rate[QUANTITY_TEXT_SIZE];
    quantity_print_short(rate, QUANTITY_RATE, (double)topology->nic.rate_bits_per_s);
    snprintf(name, sizeof(name), "NIC, %" PRIu32 " x %s", topology->nic.planes, rate);
    add(parts, name, count, 0, 0);
}

void parts_list(const struct topology *topology, const struct describe_facts *facts, struct parts *parts) {
    const uint64_t planes = topology->nic.planes;
    const uint64_t leaf_rate = topology->leaf.port_rate_bits_per_s;
    *parts = (struct parts){0};
    add_switches(parts, topology, &topology->leaf, planes * facts->n_leaves);
    add_switches(parts, topology, &topology->spine, planes * (facts->n_spines + facts->n_super_spines));
    add_nics(parts, topology, facts->host.count);
    add_cables(parts, "NIC to leaf", number_smaller(topology->nic.rate_bits_per_s, leaf_rate),
               topology->fabric.host_cable_m, planes * facts->host.count);
    add_cables(parts, "leaf to spine", number_smaller(leaf_rate, topology->spine.port_rate_bits_per_s),
               topology->fabric.spine_cable_m, planes * facts->uplink.count);
    add_cables(parts, "spine to super-spine", topology->spine.port_rate_bits_per_s,
               topology->fabric.super_spine_cable_m, planes * facts->super_uplink.count);
    add_nvlink(parts, topology);
}
