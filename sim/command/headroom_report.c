// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/headroom_report.h"

#include "base/error.h"
#include "base/quantity.h"
#include "base/table.h"
#include "fabric/headroom.h"

enum { INDENT = 2 };

static uint64_t packet_bytes(const struct topology *topology) {
    return topology->nic.payload_bytes + topology->nic.header_bytes;
}

static const struct topology_switch *switch_of(const struct topology *topology, const struct fabric *fabric,
                                               uint32_t link) {
    const struct fabric_device *head = &fabric->devices[fabric->links[link].head_device];
    return head->tier == FABRIC_TIER_LEAF ? &topology->leaf : &topology->spine;
}

/* Whether the switch that a link enters pauses it. */
static bool pauses(const struct topology *topology, const struct fabric *fabric, uint32_t link) {
    return topology->fabric.link_layer == TOPOLOGY_LINK_ETHERNET && switch_of(topology, fabric, link)->pfc;
}

static uint64_t headroom_of(const struct topology *topology, const struct fabric *fabric, uint32_t link) {
    const uint64_t given_bytes = switch_of(topology, fabric, link)->headroom_bytes;
    return given_bytes != 0 ? given_bytes : headroom_automatic_bytes(fabric, link, packet_bytes(topology));
}

static const char *reason_of(const struct topology *topology, const struct fabric *fabric, uint32_t link) {
    const struct fabric_link *in = &fabric->links[link];
    if (switch_of(topology, fabric, link)->headroom_bytes != 0) {
        return "given";
    }
    return headroom_table_bytes(in->rate_bits_per_s, in->propagation_ps) >=
                   headroom_in_flight_bytes(fabric, link, packet_bytes(topology))
               ? "automatic: speed and cable"
               : "automatic: in flight";
}

void headroom_report_print(FILE *stream, const struct topology *topology, const struct fabric *fabric) {
    const struct headroom_links worst = headroom_worst_links(fabric);
    char text[QUANTITY_TEXT_SIZE];
    bool any = false;
    struct table *table = table_create();
    table_column(table, "PFC headroom of a port", TABLE_LEFT);
    table_column(table, "rate", TABLE_RIGHT);
    table_column(table, "cable", TABLE_RIGHT);
    table_column(table, "headroom", TABLE_RIGHT);
    table_column(table, "in flight at most", TABLE_RIGHT);
    table_column(table, "chosen", TABLE_LEFT);
    for (int kind = 0; kind < HEADROOM_KINDS; kind++) {
        const uint32_t link = worst.links[kind];
        if (link == FABRIC_NONE || !pauses(topology, fabric, link)) {
            continue;
        }
        any = true;
        table_cell(table, "%s", headroom_kind_name(kind));
        table_cell(table, "%s", quantity_print_short(text, QUANTITY_RATE, (double)fabric->links[link].rate_bits_per_s));
        table_cell(table, "%s", quantity_print(text, QUANTITY_TIME, fabric->links[link].propagation_ps));
        table_cell(table, "%s", quantity_print(text, QUANTITY_BYTES, headroom_of(topology, fabric, link)));
        table_cell(
            table, "%s",
            quantity_print(text, QUANTITY_BYTES, headroom_in_flight_bytes(fabric, link, packet_bytes(topology))));
        table_cell(table, "%s", reason_of(topology, fabric, link));
    }
    if (any) {
        fprintf(stream, "\n");
        table_print(table, stream, INDENT);
    }
    table_free(table);
}

static void doubt(FILE *stream, const struct topology *topology, const struct fabric *fabric, int kind, uint32_t link) {
    const uint64_t packet = packet_bytes(topology);
    const struct fabric_link *in = &fabric->links[link];
    struct error note = {0};
    char given[QUANTITY_TEXT_SIZE], needed[QUANTITY_TEXT_SIZE], back[QUANTITY_TEXT_SIZE], there[QUANTITY_TEXT_SIZE],
        rate[QUANTITY_TEXT_SIZE];
    snprintf(note.file, sizeof(note.file), "%s", topology->path);
    snprintf(
        note.message, sizeof(note.message),
        "%s: a headroom of %s may lose lossless packets: after a pause up to %s can come, (%s back + %s there) × %s + "
        "%d packets of %llu B",
        headroom_kind_name(kind), quantity_print(given, QUANTITY_BYTES, headroom_of(topology, fabric, link)),
        quantity_print(needed, QUANTITY_BYTES, headroom_in_flight_bytes(fabric, link, packet)),
        quantity_print(back, QUANTITY_TIME, fabric->links[in->reverse].latency_ps),
        quantity_print(there, QUANTITY_TIME, in->latency_ps),
        quantity_print_short(rate, QUANTITY_RATE, (double)in->rate_bits_per_s), HEADROOM_PACKETS,
        (unsigned long long)packet);
    error_print(stream, &note);
}

void headroom_report_doubt(FILE *stream, const struct topology *topology, const struct fabric *fabric) {
    const struct headroom_links worst = headroom_worst_links(fabric);
    for (int kind = 0; kind < HEADROOM_KINDS; kind++) {
        const uint32_t link = worst.links[kind];
        if (link != FABRIC_NONE && pauses(topology, fabric, link) &&
            headroom_of(topology, fabric, link) < headroom_in_flight_bytes(fabric, link, packet_bytes(topology))) {
            doubt(stream, topology, fabric, kind, link);
        }
    }
}
