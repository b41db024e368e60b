// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/parts.h"

#include "base/error.h"
#include "base/number.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BASEBOARD_GPUS = 8, /* up to 8 GPUs share a baseboard (HGX): NVLink runs in the board */
    TRAY_CHIPS = 2,     /* NVSwitch chips of an NVLink switch tray of an NVL72 (NVIDIA Base Command Manager, NVLink) */
    CABLES_PER_NVLINK = 4, /* NVL72: 5,184 copper cables a rack = 72 GPUs × 18 links × 4 pairs */
};
static const uint64_t cage_bits_per_s = UINT64_C(800000000000); /* of an OSFP cage of these switches and NICs */

/** How light gets across: the kind of module that its reach asks for. */
struct reach {
    uint64_t most_metres;
    const char *name;
};

/* MMA4Z00 (SR4): 50 m; MMS4X00-NS (DR4): 100 m, -NM: 500 m; MMS4X50-NM (FR4): 2 km (docs.nvidia.com). */
static const struct reach reaches[] = {
    {50, "SR, multimode"},
    {500, "DR, single mode"},
    {2000, "FR, single mode"},
    {UINT64_MAX, "LR, single mode"},
};

/** Power of an optical module that serves a rate in all. */
struct module_power {
    uint64_t rate_bits_per_s;
    const char *reach;
    double typical_watts, maximum_watts;
};

/*
 * docs.nvidia.com: MMA4Z00-NS-T "15 W for all configurations", MMA4Z00-NS400-T 8 W typical, 9 W maximum, at 200 Gb/s 5 and 6.5 W;
 * MMS4X00-NS 17 W maximum, MMS4X00-NS400 9 W typical and maximum, at 200 Gb/s 5 W maximum. Where only a maximum is published it is
 * taken for typical as well. Of longer reaches no figure was found.
 */
static const struct module_power module_powers[] = {
    {UINT64_C(800000000000), "SR, multimode", 15, 15}, {UINT64_C(400000000000), "SR, multimode", 8, 9},
    {UINT64_C(200000000000), "SR, multimode", 5, 6.5}, {UINT64_C(800000000000), "DR, single mode", 17, 17},
    {UINT64_C(400000000000), "DR, single mode", 9, 9}, {UINT64_C(200000000000), "DR, single mode", 5, 5},
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

static const char *reach_of(uint64_t metres) {
    size_t i = 0;
    while (metres > reaches[i].most_metres) {
        i++;
    }
    return reaches[i].name;
}

/** Modules at one end of fibres, each for so many ports of a rate. */
static void add_modules(struct parts *parts, const char *where, const char *reach, uint64_t rate_bits_per_s,
                        uint64_t ports, uint64_t count) {
    char name[PARTS_NAME_SIZE], rate[QUANTITY_TEXT_SIZE];
    double typical_watts = 0, maximum_watts = 0;
    for (size_t i = 0; i < sizeof(module_powers) / sizeof(module_powers[0]); i++) {
        const struct module_power *power = &module_powers[i];
        if (power->rate_bits_per_s == ports * rate_bits_per_s && strcmp(power->reach, reach) == 0) {
            typical_watts = power->typical_watts;
            maximum_watts = power->maximum_watts;
        }
    }
    quantity_print_short(rate, QUANTITY_RATE, (double)rate_bits_per_s);
    snprintf(name, sizeof(name), "optical module of a %s, %" PRIu64 " x %s, %s", where, ports, rate, reach);
    add(parts, name, count, typical_watts, maximum_watts);
    parts->modules += count;
}

/** Ports that share a module: as many as fill a cage, where the rate is one that cages of 800 Gb/s are split into. */
static uint64_t ports_of_module(uint64_t rate_bits_per_s, uint64_t most) {
    const uint64_t ports = cage_bits_per_s / rate_bits_per_s;
    return cage_bits_per_s % rate_bits_per_s == 0 && ports <= 4 ? number_smaller(ports, most) : 1;
}

/** Cables of one kind. */
struct run {
    const char *where;
    uint64_t rate_bits_per_s, metres, count;
    uint64_t copper_metres, active_metres; /* that passive and active copper reach */
    uint64_t nics, planes;                 /* at the lower end; 0: there are switches at both */
};

static void add_fibre_ends(struct parts *parts, const struct run *run) {
    const char *reach = reach_of(run->metres);
    const uint64_t ports = ports_of_module(run->rate_bits_per_s, UINT64_MAX);
    const uint64_t switch_ends = run->count * (run->nics > 0 ? 1 : 2);
    add_modules(parts, "switch", reach, run->rate_bits_per_s, ports, number_divide_up(switch_ends, ports));
    if (run->nics > 0) {
        const uint64_t nic_ports = ports_of_module(run->rate_bits_per_s, run->planes);
        add_modules(parts, "NIC", reach, run->rate_bits_per_s, nic_ports,
                    run->nics * number_divide_up(run->planes, nic_ports));
    }
}

/** Copper where it reaches, else fibre and modules. A topology that gives latencies instead of lengths has cables of 0 m. */
static void add_cables(struct parts *parts, const struct run *run) {
    char name[PARTS_NAME_SIZE], rate[QUANTITY_TEXT_SIZE];
    const bool passive = run->metres <= run->copper_metres, active = run->metres <= run->active_metres;
    quantity_print_short(rate, QUANTITY_RATE, (double)run->rate_bits_per_s);
    if (run->metres == 0) {
        snprintf(name, sizeof(name), "cable of unstated length, %s, %s", rate, run->where);
    } else {
        snprintf(name, sizeof(name), "%s, %s, %" PRIu64 " m, %s",
                 passive  ? "copper cable (DAC)"
                 : active ? "active copper cable (ACC)"
                          : "fibre",
                 rate, run->metres, run->where);
    }
    add(parts, name, run->count, 0, 0);
    if (!passive && !active) {
        add_fibre_ends(parts, run);
    }
}

static void add_nvlink(struct parts *parts, const struct topology *topology) {
    const struct topology_nvlink *nvlink = &topology->nvlink;
    if (nvlink->gpus <= 1) {
        return;
    }
    if (nvlink->gpus <= BASEBOARD_GPUS || nvlink->chips % TRAY_CHIPS != 0) {
        add(parts, "NVSwitch chip", (uint64_t)topology->racks * nvlink->chips, 0, 0);
    } else {
        add(parts, "NVLink switch tray, 2 NVSwitch chips", (uint64_t)topology->racks * nvlink->chips / TRAY_CHIPS, 0,
            0);
    }
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
    add_cables(parts, &(struct run){.where = "NIC to leaf",
                                    .rate_bits_per_s = number_smaller(topology->nic.rate_bits_per_s, leaf_rate),
                                    .metres = topology->fabric.host_cable_m,
                                    .count = planes * facts->host.count,
                                    .copper_metres = PARTS_COPPER_METRES,
                                    .active_metres = PARTS_ACTIVE_COPPER_METRES,
                                    .nics = facts->host.count,
                                    .planes = planes});
    add_cables(parts, &(struct run){.where = "leaf to spine",
                                    .rate_bits_per_s = number_smaller(leaf_rate, topology->spine.port_rate_bits_per_s),
                                    .metres = topology->fabric.spine_cable_m,
                                    .count = planes * facts->uplink.count,
                                    .copper_metres = PARTS_SWITCH_COPPER_METRES});
    add_cables(parts, &(struct run){.where = "spine to super-spine",
                                    .rate_bits_per_s = topology->spine.port_rate_bits_per_s,
                                    .metres = topology->fabric.super_spine_cable_m,
                                    .count = planes * facts->super_uplink.count,
                                    .copper_metres = PARTS_SWITCH_COPPER_METRES});
    add_nvlink(parts, topology);
}

void parts_add_racks(struct parts *parts, const struct topology *topology, double watts) {
    char name[PARTS_NAME_SIZE];
    snprintf(name, sizeof(name), "rack of %" PRIu32 " GPUs", topology->nvlink.gpus);
    add(parts, name, topology->racks, watts, watts);
}
