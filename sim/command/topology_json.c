// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/topology_json.h"

#include "fabric/parts_print.h"
#include "fabric/wiring.h"
#include "results/json.h"

#include <math.h>

static void put_tier(struct json *json, const char *name, const struct topology_json *given, enum fabric_tier tier) {
    const struct wiring_ports ports = wiring_ports(given->topology, given->fabric, tier);
    json_name(json, name);
    json_object(json);
    json_member_whole(json, "switches", ports.switches);
    json_member_whole(json, "ports_in_use", ports.in_use);
    json_member_whole(json, "ports", ports.bought);
    json_member_whole(json, "least_switches", ports.least);
    json_object_end(json);
}

static void put_parts(struct json *json, const struct topology_json *given) {
    json_name(json, "parts");
    json_array(json);
    for (uint32_t i = 0; i < given->parts->n_lines; i++) {
        const struct parts_line *line = &given->parts->lines[i];
        json_object(json);
        json_member_text(json, "part", line->name);
        json_member_whole(json, "count", line->count);
        json_member_number(json, "typical_watts", line->typical_watts > 0 ? line->typical_watts : NAN);
        json_member_number(json, "maximum_watts", line->maximum_watts > 0 ? line->maximum_watts : NAN);
        json_member_number(json, "price", given->cost != NULL ? given->cost->each[i] : NAN);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_cost(struct json *json, const struct topology_json *given) {
    const double energy = parts_print_energy(given->parts, given->prices, given->seconds);
    const bool priced = given->cost != NULL, has_time = given->seconds > 0;
    json_member_text(json, "currency", priced ? given->prices->currency : NULL);
    json_member_number(json, "cost", priced ? given->cost->total : NAN);
    json_member_whole(json, "parts_without_price", priced ? given->cost->n_without : given->parts->n_lines);
    json_member_number(json, "seconds", has_time ? given->seconds : NAN);
    json_member_number(json, "energy_kwh", has_time ? energy : NAN);
    json_member_number(json, "energy_cost",
                       has_time && priced && given->prices->energy > 0 ? energy * given->prices->energy : NAN);
}

void topology_json_print(FILE *stream, const struct topology_json *given) {
    char text[WIRING_TEXT_SIZE];
    const struct wiring wiring = wiring_of(given->topology, given->fabric);
    struct json json = json_begin(stream);
    json_object(&json);
    json_member_text(&json, "name", given->topology->name);
    json_member_whole(&json, "gpus", given->fabric->n_endpoints);
    json_member_whole(&json, "planes", given->topology->nic.planes);
    json_member_text(&json, "wiring", wiring_text(given->topology, &wiring, text));
    put_tier(&json, "leaves", given, FABRIC_TIER_LEAF);
    put_tier(&json, "spines", given, FABRIC_TIER_SPINE);
    put_tier(&json, "super_spines", given, FABRIC_TIER_SUPERSPINE);
    json_member_number(&json, "bisection_bits_per_s",
                       (double)given->topology->nic.planes * (double)given->facts->bisection_bits_per_s);
    json_member_number(&json, "oversubscription",
                       given->facts->highest_oversubscription > 0 ? given->facts->highest_oversubscription : NAN);
    put_parts(&json, given);
    json_member_number(&json, "typical_watts", given->parts->typical_watts);
    json_member_number(&json, "maximum_watts", given->parts->maximum_watts);
    put_cost(&json, given);
    json_object_end(&json);
    json_end(&json);
}
