// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/describe_print.h"

#include "base/quantity.h"
#include "base/table.h"
#include "fabric/names.h"
#include "fabric/wiring.h"

#include <inttypes.h>

enum { INDENT = 2, SMALL_PACKET_BYTES = 64 };

static void print_heading(FILE *stream, const struct topology *topology, const struct fabric *fabric) {
    fprintf(stream, "%s: %" PRIu32 " GPUs", topology->name, fabric->n_endpoints);
    if (fabric->n_domains > 0) {
        fprintf(stream, ", %" PRIu32 " of the %" PRIu32 " of each of %" PRIu32 " NVLink domains\n", topology->gpus_used,
                topology->nvlink.gpus, topology->racks);
    } else {
        fprintf(stream, " without NVLink\n");
    }
    char text[WIRING_TEXT_SIZE];
    const struct wiring wiring = wiring_of(topology, fabric);
    fprintf(stream, "wiring: %s\n", wiring_text(topology, &wiring, text));
    if (fabric->n_super_spines > 0) {
        fprintf(stream, "pods: %" PRIu32 " of %" PRIu32 " %s, joined by super-spines in %" PRIu32 " groups\n",
                fabric->n_pods, topology->fabric.pod_racks, fabric->n_domains > 0 ? "racks" : "hosts",
                topology->fabric.super_spine_groups);
    }
    if (topology->nic.planes > 1) {
        fprintf(stream, "%" PRIu32 " NIC planes, all alike: a GPU has a NIC port in each\n", topology->nic.planes);
    }
}

/** Fewest and most ports among consecutive devices. */
struct ports {
    uint32_t fewest, most;
};

static struct ports ports_of(const struct fabric *fabric, uint32_t first, uint32_t count) {
    struct ports ports = {0, 0};
    for (uint32_t device = first; device < first + count; device++) {
        const uint32_t here = fabric->devices[device].n_ports;
        ports.fewest = device == first || here < ports.fewest ? here : ports.fewest;
        ports.most = here > ports.most ? here : ports.most;
    }
    return ports;
}

/** `built` consecutive devices that stand for `count`. */
struct device_row {
    const char *name;
    uint64_t count;
    uint32_t first, built;
    const struct wiring_ports *ports; /* of all of them; NULL = not switches of the fabric */
    const char *forwarding;
};

static void device_row(struct table *table, const struct fabric *fabric, const struct device_row *row) {
    const struct ports ports = ports_of(fabric, row->first, row->built);
    if (row->built == 0) {
        return;
    }
    table_cell(table, "%s", row->name);
    table_cell(table, "%" PRIu64, row->count);
    if (ports.fewest == ports.most) {
        table_cell(table, "%" PRIu32, ports.most);
    } else {
        table_cell(table, "%" PRIu32 " to %" PRIu32, ports.fewest, ports.most);
    }
    if (row->ports != NULL && row->ports->bought > 0) {
        table_cell(table, "%.1f %%", 100.0 * (double)row->ports->in_use / (double)row->ports->bought);
    } else {
        table_cell(table, "%s", "");
    }
    table_cell(table, "%s", row->forwarding);
}

static const char *forwarding(bool cut_through) {
    return cut_through ? "cut-through" : "store and forward";
}

/** Ports that nothing is plugged into: fewer switches would have enough. */
static void note_least(FILE *stream, const char *name, const struct wiring_ports *ports) {
    if (ports->least < ports->switches) {
        fprintf(stream, "  These links fit the ports of %" PRIu64 " %s.\n", ports->least, name);
    }
}

static void print_devices(FILE *stream, const struct topology *topology, const struct fabric *fabric,
                          const struct describe_facts *facts) {
    const uint64_t planes = topology->nic.planes;
    const uint32_t leaf = fabric->n_endpoints, spine = leaf + facts->n_leaves, super_spine = spine + facts->n_spines;
    const struct wiring_ports leaves = wiring_ports(topology, fabric, FABRIC_TIER_LEAF),
                              spines = wiring_ports(topology, fabric, FABRIC_TIER_SPINE),
                              super_spines = wiring_ports(topology, fabric, FABRIC_TIER_SUPERSPINE);
    const char *of_leaf = forwarding(topology->leaf.cut_through), *of_spine = forwarding(topology->spine.cut_through);
    const struct device_row rows[] = {
        {"GPU with NIC", fabric->n_endpoints, 0, fabric->n_endpoints, NULL, ""},
        {"leaf", planes * facts->n_leaves, leaf, facts->n_leaves, &leaves, of_leaf},
        {"spine", planes * facts->n_spines, spine, facts->n_spines, &spines, of_spine},
        {"super-spine", planes * facts->n_super_spines, super_spine, facts->n_super_spines, &super_spines, of_spine},
        {"NVSwitch chip", facts->n_chips, super_spine + facts->n_super_spines, facts->n_chips, NULL, forwarding(false)},
    };
    struct table *table = table_create();
    table_column(table, planes > 1 ? "devices (all planes)" : "devices", TABLE_LEFT);
    table_column(table, "count", TABLE_RIGHT);
    table_column(table, planes > 1 ? "ports in use (a plane)" : "ports in use", TABLE_RIGHT);
    table_column(table, "of all ports", TABLE_RIGHT);
    table_column(table, "forwarding", TABLE_LEFT);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        device_row(table, fabric, &rows[i]);
    }
    table_print(table, stream, INDENT);
    table_free(table);
    note_least(stream, "spines", &spines);
    note_least(stream, "super-spines", &super_spines);
}

/** One value, or the two ends of a range. */
static void range_cell(struct table *table, enum quantity_kind kind, uint64_t lowest, uint64_t highest) {
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    quantity_print_short(low, kind, (double)lowest);
    quantity_print_short(high, kind, (double)highest);
    if (lowest == highest) {
        table_cell(table, "%s", low);
    } else {
        table_cell(table, "%s to %s", low, high);
    }
}

static void cable_row(struct table *table, const char *name, const struct describe_cables *cables, uint64_t planes) {
    if (cables->count > 0) {
        table_cell(table, "%s", name);
        table_cell(table, "%" PRIu64, planes * cables->count);
        range_cell(table, QUANTITY_RATE, cables->lowest_bits_per_s, cables->highest_bits_per_s);
        range_cell(table, QUANTITY_TIME, cables->lowest_up_ps, cables->highest_up_ps);
        range_cell(table, QUANTITY_TIME, cables->lowest_down_ps, cables->highest_down_ps);
    }
}

static void print_cables(FILE *stream, const struct topology *topology, const struct describe_facts *facts) {
    struct table *table = table_create();
    table_column(table, topology->nic.planes > 1 ? "links (all planes)" : "links", TABLE_LEFT);
    table_column(table, "count", TABLE_RIGHT);
    table_column(table, "usable rate each way", TABLE_RIGHT);
    table_column(table, "latency up", TABLE_RIGHT);
    table_column(table, "latency down", TABLE_RIGHT);
    cable_row(table, "GPU - leaf", &facts->host, topology->nic.planes);
    cable_row(table, "leaf - spine", &facts->uplink, topology->nic.planes);
    cable_row(table, "spine - super-spine", &facts->super_uplink, topology->nic.planes);
    cable_row(table, "GPU - NVSwitch chip", &facts->nvlink, 1);
    table_print(table, stream, INDENT);
    table_free(table);
}

static void rate_line(FILE *stream, const char *what, double bits_per_s) {
    char text[QUANTITY_TEXT_SIZE];
    fprintf(stream, "  %-44s %s\n", what, quantity_print_short(text, QUANTITY_RATE, bits_per_s));
}

/** A ratio or the two ends of a range; nothing if there is none. */
static void ratio_line(FILE *stream, const char *what, double lowest, double highest) {
    if (highest > 0) {
        fprintf(stream, "  %-44s %.4g : 1", what, lowest);
        if (lowest < highest) {
            fprintf(stream, " to %.4g : 1", highest);
        }
        fprintf(stream, "\n");
    }
}

static void print_capacity(FILE *stream, const struct topology *topology, const struct fabric *fabric,
                           const struct describe_facts *facts) {
    const double planes = topology->nic.planes;
    if (fabric->endpoints[0].n_nvlinks > 0) {
        rate_line(stream, "NVLink of a GPU, each way",
                  (double)fabric->endpoints[0].n_nvlinks * (double)facts->nvlink.lowest_bits_per_s);
    }
    rate_line(stream, "all NICs, each way", planes * (double)facts->nic_bits_per_s);
    if (facts->uplink.count > 0) {
        rate_line(stream, "all leaf uplinks, each way", planes * (double)facts->uplink_bits_per_s);
    }
    if (facts->super_uplink.count > 0) {
        rate_line(stream, "all spine uplinks, each way", planes * (double)facts->super_uplink_bits_per_s);
    }
    rate_line(stream, "scale-out bisection, each way", planes * (double)facts->bisection_bits_per_s);
    ratio_line(stream, "oversubscription of leaves (NICs : uplinks)", facts->lowest_oversubscription,
               facts->highest_oversubscription);
    ratio_line(stream, "oversubscription of spines (down : up)", facts->lowest_spine_oversubscription,
               facts->highest_spine_oversubscription);
    fprintf(stream, "  %-44s %" PRIu32 "\n",
            topology->fabric.link_layer == TOPOLOGY_LINK_INFINIBAND ? "switches to the farthest GPU (InfiniBand)"
                                                                    : "switches to the farthest GPU, over Ethernet",
            facts->farthest_switches);
}

/** A pair worth showing, from GPU 0. */
struct pair {
    const char *what;
    enum fabric_link_kind kind;
    uint32_t destination; /* FABRIC_NONE if there is none */
};

/** The first GPU at the end of a way from GPU 0 that passes so many switches. */
static uint32_t first_behind(const struct fabric *fabric, uint32_t switches) {
    struct describe_path path;
    for (uint32_t endpoint = 1; endpoint < fabric->n_endpoints; endpoint++) {
        if (describe_path(fabric, 0, endpoint, FABRIC_ETHERNET, 1, &path) && path.n_hops - 1 == switches) {
            return endpoint;
        }
    }
    return FABRIC_NONE;
}

static void latency_cell(struct table *table, const struct fabric *fabric, const struct pair *pair, uint64_t size) {
    struct describe_path path;
    char text[QUANTITY_TEXT_SIZE];
    if (size > 0 && size <= 65536 && describe_path(fabric, 0, pair->destination, pair->kind, size, &path)) {
        table_cell(table, "%s", quantity_print(text, QUANTITY_TIME, path.latency_ps));
    } else {
        table_cell(table, "-");
    }
}

static void pair_row(struct table *table, const struct topology *topology, const struct fabric *fabric,
                     const struct pair *pair) {
    const bool nvlink = pair->kind == FABRIC_NVLINK;
    const uint64_t full =
        nvlink ? topology->nvlink.record_bytes : topology->nic.payload_bytes + topology->nic.header_bytes;
    struct describe_path path;
    if (pair->destination == FABRIC_NONE || !describe_path(fabric, 0, pair->destination, pair->kind, 1, &path)) {
        return;
    }
    table_cell(table, "%s", pair->what);
    table_cell(table, "gpu0 → gpu%" PRIu32, pair->destination);
    table_cell(table, "%" PRIu32, path.n_hops - 1);
    latency_cell(table, fabric, pair, SMALL_PACKET_BYTES);
    table_cell(table, "%" PRIu64 " B", full);
    latency_cell(table, fabric, pair, full);
}

static void print_pairs(FILE *stream, const struct topology *topology, const struct fabric *fabric) {
    const struct pair pairs[] = {
        {"same domain, over NVLink", FABRIC_NVLINK, fabric->n_endpoints > 1 ? 1 : FABRIC_NONE},
        {"same leaf", FABRIC_ETHERNET, first_behind(fabric, 1)},
        {"another leaf, across a spine", FABRIC_ETHERNET, first_behind(fabric, 3)},
        {"another pod, across a super-spine", FABRIC_ETHERNET, first_behind(fabric, 5)},
    };
    struct table *table = table_create();
    table_column(table, "one packet, nothing else under way", TABLE_LEFT);
    table_column(table, "pair", TABLE_LEFT);
    table_column(table, "switches", TABLE_RIGHT);
    table_column(table, "64 B", TABLE_RIGHT);
    table_column(table, "full packet", TABLE_RIGHT);
    table_column(table, "takes", TABLE_RIGHT);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        pair_row(table, topology, fabric, &pairs[i]);
    }
    table_print(table, stream, INDENT);
    table_free(table);
}

void describe_print(FILE *stream, const struct topology *topology, const struct fabric *fabric) {
    struct describe_facts facts;
    describe_measure(fabric, &facts);
    print_heading(stream, topology, fabric);
    fprintf(stream, "\n");
    print_devices(stream, topology, fabric, &facts);
    fprintf(stream, "\n");
    print_cables(stream, topology, &facts);
    fprintf(stream, "\n");
    print_capacity(stream, topology, fabric, &facts);
    fprintf(stream, "\n");
    print_pairs(stream, topology, fabric);
}

static void hop_row(struct table *table, const struct fabric *fabric, const struct describe_hop *hop) {
    const struct fabric_link *link = &fabric->links[hop->link];
    char name[NAMES_LINK_SIZE], text[QUANTITY_TEXT_SIZE];
    table_cell(table, "%s", fabric_link_name(fabric, hop->link, name, sizeof(name)));
    table_cell(table, "%s", quantity_print_short(text, QUANTITY_RATE, (double)link->rate_bits_per_s));
    table_cell(table, "%s", quantity_print(text, QUANTITY_TIME, link->latency_ps));
    table_cell(table, "%s", quantity_print(text, QUANTITY_TIME, hop->start_ps));
    table_cell(table, "%s", quantity_print(text, QUANTITY_TIME, hop->end_ps));
    table_cell(table, "%s %s", quantity_print(text, QUANTITY_TIME, hop->arrival_ps),
               fabric->devices[link->head_device].cut_through ? "(first bit)" : "(last bit)");
}

void describe_print_path(FILE *stream, const struct fabric *fabric, const struct describe_path *path,
                         uint64_t size_bytes) {
    char text[QUANTITY_TEXT_SIZE];
    struct table *table = table_create();
    table_column(table, "link", TABLE_LEFT);
    table_column(table, "usable rate", TABLE_RIGHT);
    table_column(table, "latency", TABLE_RIGHT);
    table_column(table, "first bit leaves", TABLE_RIGHT);
    table_column(table, "last bit leaves", TABLE_RIGHT);
    table_column(table, "next device has it at", TABLE_LEFT);
    for (uint32_t i = 0; i < path->n_hops; i++) {
        hop_row(table, fabric, &path->hops[i]);
    }
    table_print(table, stream, INDENT);
    table_free(table);
    fprintf(stream, "  %" PRIu64 " B take %s without other traffic\n", size_bytes,
            quantity_print(text, QUANTITY_TIME, path->latency_ps));
}
