// SPDX-License-Identifier: GPL-3.0-or-later
/* The parts list, and the tables that people read. */
#include "fabric/builder.h"
#include "fabric/describe_print.h"
#include "fabric/parts_print.h"
#include "fabric/wiring.h"
#include "fixture.h"
#include "run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct parts parts_of(const struct topology *topology) {
    struct fabric *fabric = fabric_build_plane(topology, NULL);
    struct describe_facts facts;
    struct parts parts;
    ck_assert_ptr_nonnull(fabric);
    describe_measure(fabric, &facts);
    parts_list(topology, &facts, &parts);
    fabric_free(fabric);
    return parts;
}

static const struct parts_line *line_of(const struct parts *parts, const char *name) {
    for (uint32_t i = 0; i < parts->n_lines; i++) {
        if (strcmp(parts->lines[i].name, name) == 0) {
            return &parts->lines[i];
        }
    }
    ck_abort_msg("no %s", name);
    return NULL;
}

START_TEST(parts_of_four_racks) {
    const struct topology topology = fixture_racks();
    const struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "Ethernet switch SN5600, 128 x 400 Gb/s")->count, 6);
    ck_assert_uint_eq(line_of(&parts, "NIC, 1 x 400 Gb/s")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "copper cable (DAC), 400 Gb/s, 3 m, NIC to leaf")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "fibre, 400 Gb/s, 30 m, leaf to spine")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "optical module of a switch, 2 x 400 Gb/s, SR, multimode")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "NVLink switch tray, 2 NVSwitch chips")->count, 36);
    ck_assert_uint_eq(line_of(&parts, "NVLink copper cable of the rack's backplane (4 a link)")->count, 4 * 5184);
    ck_assert_uint_eq(parts.modules, 256);
    ck_assert_double_eq(parts.typical_watts, 6 * 1700 + 256 * 15);
    ck_assert_double_eq(parts.maximum_watts, 6 * 2300 + 256 * 15);
}
END_TEST

START_TEST(beyond_copper_there_is_active_copper_and_then_fibre_with_modules) {
    struct topology topology = fixture_racks();
    topology.fabric.host_cable_m = PARTS_COPPER_METRES + 1;
    struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "active copper cable (ACC), 400 Gb/s, 4 m, NIC to leaf")->count, 256);
    ck_assert_uint_eq(parts.modules, 256);
    topology.fabric.host_cable_m = PARTS_ACTIVE_COPPER_METRES + 1;
    parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "fibre, 400 Gb/s, 6 m, NIC to leaf")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "optical module of a NIC, 1 x 400 Gb/s, SR, multimode")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "optical module of a switch, 2 x 400 Gb/s, SR, multimode")->count, 256 + 128);
}
END_TEST

START_TEST(distance_decides_the_kind_of_module) {
    static const struct {
        uint64_t metres;
        const char *module;
        double watts;
    } runs[] = {{50, "optical module of a switch, 2 x 400 Gb/s, SR, multimode", 15},
                {51, "optical module of a switch, 2 x 400 Gb/s, DR, single mode", 17},
                {500, "optical module of a switch, 2 x 400 Gb/s, DR, single mode", 17},
                {501, "optical module of a switch, 2 x 400 Gb/s, FR, single mode", 0},
                {2001, "optical module of a switch, 2 x 400 Gb/s, LR, single mode", 0}};
    struct topology topology = fixture_racks();
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        topology.fabric.spine_cable_m = runs[i].metres;
        const struct parts parts = parts_of(&topology);
        ck_assert_uint_eq(line_of(&parts, runs[i].module)->count, 256);
        ck_assert_double_eq(line_of(&parts, runs[i].module)->maximum_watts, runs[i].watts);
    }
}
END_TEST

START_TEST(switches_side_by_side_are_joined_by_copper) {
    struct topology topology = fixture_racks();
    topology.fabric.spine_cable_m = 2;
    const struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "copper cable (DAC), 400 Gb/s, 2 m, leaf to spine")->count, 256);
    ck_assert_uint_eq(parts.modules, 0);
}
END_TEST

START_TEST(modules_of_two_rates_are_two_parts) {
    struct topology topology = fixture_racks();
    topology.fabric.host_cable_m = 10;
    topology.nic.rate_bits_per_s = 200000000000;
    const struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "optical module of a NIC, 1 x 200 Gb/s, SR, multimode")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "optical module of a switch, 4 x 200 Gb/s, SR, multimode")->count, 64);
    ck_assert_uint_eq(line_of(&parts, "optical module of a switch, 2 x 400 Gb/s, SR, multimode")->count, 256);
    ck_assert_double_eq(parts.maximum_watts, 6 * 2300 + (256 + 64) * 15 + 256 * 6.5);
}
END_TEST

/* 16 NVL72 racks with 800 Gb/s a GPU as two planes of 400 Gb/s, on switches of 128 ports of 400 Gb/s. */
static struct topology racks_1152(enum topology_wiring wiring, uint32_t downlinks, uint32_t uplinks, uint32_t spines) {
    struct topology topology = fixture_racks();
    topology.racks = 16;
    topology.gpus_used = 72;
    topology.nic.planes = 2;
    topology.fabric.wiring = wiring;
    topology.fabric.rails = 4;
    topology.fabric.leaf_downlinks = downlinks;
    topology.fabric.leaf_uplinks = uplinks;
    topology.fabric.spines = spines;
    return topology;
}

static const struct {
    enum topology_wiring wiring;
    uint32_t downlinks, uplinks, spines; /* of a plane */
    uint32_t leaves, all_spines;         /* of both planes */
    uint32_t leaf_ports, spine_ports;    /* in use, of both planes */
    uint32_t least_spines;
    uint32_t most_leaves; /* of a rack and rail */
    const char *text;
} wirings[] = {
    /* 1152 ÷ 64 = 18 leaves a plane; 18 × 63 uplinks on 9 spines of 126 */
    {TOPOLOGY_WIRING_RACK, 64, 63, 9, 36, 18, 36 * 63 + 2304, 18 * 126, 18, 2,
     "consecutive GPUs share a leaf, whatever their rail"},
    /* as many uplinks as downlinks need 16 spines if they are spread evenly, of which 9 would have the ports */
    {TOPOLOGY_WIRING_RACK, 64, 64, 16, 36, 32, 2 * 2304, 32 * 72, 18, 2,
     "consecutive GPUs share a leaf, whatever their rail"},
    /* a rail's 288 GPUs on 5 leaves, 20 a plane; 20 × 60 uplinks on 10 spines of 120 */
    {TOPOLOGY_WIRING_RAIL, 58, 60, 10, 40, 20, 40 * 60 + 2304, 20 * 120, 20, 2,
     "4 rails, each on leaves of its own; a rack's GPUs of a rail are on up to 2 leaves"},
    {TOPOLOGY_WIRING_RAIL, 64, 64, 16, 40, 32, 40 * 64 + 2304, 32 * 80, 20, 2,
     "4 rails, each on leaves of its own; a rack's GPUs of a rail are on up to 2 leaves"},
    /* three racks of 18 to a leaf: 6 leaves a rail, 24 a plane; 24 × 60 uplinks on 12 spines of 120 */
    {TOPOLOGY_WIRING_RAIL, 54, 60, 12, 48, 24, 48 * 60 + 2304, 24 * 120, 24, 1,
     "4 rails, each on leaves of its own; a rack's GPUs of a rail share a leaf"},
};

START_TEST(of_1152_gpus_each_wiring_has_its_switches) {
    const struct topology topology =
        racks_1152(wirings[_i].wiring, wirings[_i].downlinks, wirings[_i].uplinks, wirings[_i].spines);
    struct fabric *fabric = fabric_build_plane(&topology, NULL);
    char text[WIRING_TEXT_SIZE];
    ck_assert_ptr_nonnull(fabric);
    const struct wiring_ports leaves = wiring_ports(&topology, fabric, FABRIC_TIER_LEAF),
                              spines = wiring_ports(&topology, fabric, FABRIC_TIER_SPINE);
    const struct wiring wiring = wiring_of(&topology, fabric);
    ck_assert_uint_eq(leaves.switches, wirings[_i].leaves);
    ck_assert_uint_eq(leaves.in_use, wirings[_i].leaf_ports);
    ck_assert_uint_eq(leaves.bought, wirings[_i].leaves * 128);
    ck_assert_uint_eq(spines.switches, wirings[_i].all_spines);
    ck_assert_uint_eq(spines.in_use, wirings[_i].spine_ports);
    ck_assert_uint_eq(spines.least, wirings[_i].least_spines);
    ck_assert_uint_eq(wiring.most_leaves, wirings[_i].most_leaves);
    ck_assert_int_eq(wiring.rails_apart, wirings[_i].wiring == TOPOLOGY_WIRING_RAIL);
    ck_assert_str_eq(wiring_text(&topology, &wiring, text), wirings[_i].text);
    fabric_free(fabric);
}
END_TEST

START_TEST(the_optics_of_1152_gpus_are_as_counted_by_hand) {
    struct topology topology = racks_1152(TOPOLOGY_WIRING_RACK, 64, 64, 16);
    topology.fabric.host_cable_m = 20;
    const struct parts parts = parts_of(&topology);
    /* 2304 fibres between switches: a twin-port module for two of them at each end; NICs: one twin-port module each */
    ck_assert_uint_eq(line_of(&parts, "fibre, 400 Gb/s, 30 m, leaf to spine")->count, 2304);
    ck_assert_uint_eq(line_of(&parts, "optical module of a switch, 2 x 400 Gb/s, SR, multimode")->count, 2304 + 1152);
    ck_assert_uint_eq(line_of(&parts, "optical module of a NIC, 2 x 400 Gb/s, SR, multimode")->count, 1152);
}
END_TEST

/** A file of prices with this content, read. */
static bool read_prices(const char *text, struct parts_prices *prices, struct error_list *errors) {
    char path[] = "/tmp/moefabric-prices-XXXXXX";
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *stream = fdopen(descriptor, "w");
    fputs(text, stream);
    fclose(stream);
    const bool good = parts_prices_read(path, prices, errors);
    unlink(path);
    return good;
}

START_TEST(prices_are_summed_and_what_has_none_is_counted) {
    const struct topology topology = fixture_racks();
    const struct parts parts = parts_of(&topology);
    struct parts_prices prices;
    struct parts_cost cost;
    struct error_list errors = {0}, notes = {0};
    ck_assert(read_prices("currency: EUR\nprices:\n  \"Ethernet switch*\": 10000\n  \"*switch*\": 7.5\n"
                          "  \"nothing\": 1\noverhead: 1.5\nenergy: 0.2\n",
                          &prices, &errors));
    parts_prices_apply(&prices, &parts, &cost, &notes);
    /* the first pattern that fits counts; modules of switches and NVLink switch trays fit the second */
    ck_assert_double_eq(cost.total, 6 * 10000 + 256 * 7.5 + 36 * 7.5);
    ck_assert_uint_eq(cost.n_without, parts.n_lines - 3);
    ck_assert_uint_eq(notes.count, 1);
    ck_assert_uint_eq(notes.errors[0].line, 5);
    ck_assert_str_eq(prices.currency, "EUR");
    /* an hour at (6 × 1700 + 256 × 15) W × 1.5 */
    ck_assert_double_eq_tol(parts_print_energy(&parts, &prices, 3600), 14.04 * 1.5, 1e-9);
}
END_TEST

static const struct {
    const char *text;
    unsigned line, column;
    const char *message;
} bad_prices[] = {
    {"prices: {\"NIC*\": dear}\n", 1, 18, "\"dear\" is not a number"},
    {"prices:\n  \"NIC*\": -1\n", 2, 11, "\"-1\" is negative"},
    {"prices: {\"NIC*\": [1]}\n", 1, 18, "`NIC*` is a list"},
    {"prices: 5\n", 1, 9, "`prices` is a single value"},
    {"pricse: {}\nprices: {}\n", 1, 1, "unknown key `pricse` in a file of prices"},
    {"currency: USD\n", 0, 0, "key `prices` is missing"},
    {"prices: {}\noverhead: 0.5\n", 2, 11, "`overhead` is below 1"},
    {"- 5\n", 1, 1, "the file of prices is a list"},
};

START_TEST(mistakes_of_prices_are_told_at_their_place) {
    struct parts_prices prices;
    struct error_list errors = {0};
    ck_assert(!read_prices(bad_prices[_i].text, &prices, &errors));
    ck_assert_uint_eq(errors.errors[0].line, bad_prices[_i].line);
    ck_assert_uint_eq(errors.errors[0].column, bad_prices[_i].column);
    ck_assert_msg(strncmp(errors.errors[0].message, bad_prices[_i].message, strlen(bad_prices[_i].message)) == 0, "%s",
                  errors.errors[0].message);
}
END_TEST

START_TEST(planes_multiply_the_fabric_but_not_the_nics) {
    struct topology topology = fixture_racks();
    topology.nic.planes = 2;
    topology.nic.usable_fraction = 0.97; /* the medium has the full rate */
    const struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "Ethernet switch SN5600, 128 x 400 Gb/s")->count, 12);
    ck_assert_uint_eq(line_of(&parts, "NIC, 2 x 400 Gb/s")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "copper cable (DAC), 400 Gb/s, 3 m, NIC to leaf")->count, 512);
    ck_assert_uint_eq(line_of(&parts, "optical module of a switch, 2 x 400 Gb/s, SR, multimode")->count, 512);
}
END_TEST

START_TEST(baseboards_have_no_nvlink_cables) {
    const struct topology topology = fixture_rails();
    const struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "NVSwitch chip")->count, 64);
    for (uint32_t i = 0; i < parts.n_lines; i++) {
        ck_assert_ptr_null(strstr(parts.lines[i].name, "NVLink"));
    }
}
END_TEST

/** What describe_print writes; freed by the caller. */
static char *printed(const struct topology *topology) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct fabric *fabric = fabric_build_plane(topology, NULL);
    ck_assert_ptr_nonnull(stream);
    ck_assert_ptr_nonnull(fabric);
    const struct parts parts = parts_of(topology);
    describe_print(stream, topology, fabric);
    parts_print(stream, &parts, NULL, NULL, 3600);
    fabric_free(fabric);
    fclose(stream);
    return text;
}

static void says(const char *text, const char *line) {
    ck_assert_msg(strstr(text, line) != NULL, "\"%s\" is missing in:\n%s", line, text);
}

START_TEST(the_description_states_figures_with_units) {
    const struct topology topology = fixture_racks();
    char *text = printed(&topology);
    says(text, "racks: 256 GPUs, 64 of the 72 of each of 4 NVLink domains\n");
    says(text, "\n  scale-out bisection, each way                51.2 Tb/s\n");
    says(text, "\n  oversubscription of leaves (NICs : uplinks)  1 : 1\n");
    says(text, "1.63128 us");
    says(text, "3.21356 us");
    says(text, "17640 W");
    says(text, "Energy of 60 min at typical power: 14.04 kWh\n");
    free(text);
}
END_TEST

START_TEST(planes_are_described_and_multiplied) {
    struct topology topology = fixture_racks();
    topology.nic.planes = 2;
    char *text = printed(&topology);
    says(text, "\n2 NIC planes, all alike: a GPU has a NIC port in each\n");
    says(text, "\n  scale-out bisection, each way                102.4 Tb/s\n");
    free(text);
}
END_TEST

START_TEST(a_printed_path_names_every_link_and_ends_with_the_total) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    struct describe_path path;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert(describe_path(fabric, 3, 200, FABRIC_ETHERNET, 4178, &path));
    describe_print_path(stream, fabric, &path, 4178);
    fclose(stream);
    says(text, "gpu3 → leaf0");
    says(text, "leaf0:up0 → spine0");
    says(text, "spine0:port96 → leaf3");
    says(text, "leaf3 → gpu200");
    says(text, "3.21356 us (last bit)");
    says(text, "\n  4178 B take 3.21356 us without other traffic\n");
    free(text);
    fabric_free(fabric);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("parts");
    TCase *cases = tcase_create("parts");
    tcase_add_test(cases, parts_of_four_racks);
    tcase_add_test(cases, beyond_copper_there_is_active_copper_and_then_fibre_with_modules);
    tcase_add_test(cases, distance_decides_the_kind_of_module);
    tcase_add_test(cases, switches_side_by_side_are_joined_by_copper);
    tcase_add_loop_test(cases, of_1152_gpus_each_wiring_has_its_switches, 0, sizeof wirings / sizeof wirings[0]);
    tcase_add_test(cases, the_optics_of_1152_gpus_are_as_counted_by_hand);
    tcase_add_test(cases, prices_are_summed_and_what_has_none_is_counted);
    tcase_add_loop_test(cases, mistakes_of_prices_are_told_at_their_place, 0, sizeof bad_prices / sizeof bad_prices[0]);
    tcase_add_test(cases, modules_of_two_rates_are_two_parts);
    tcase_add_test(cases, planes_multiply_the_fabric_but_not_the_nics);
    tcase_add_test(cases, baseboards_have_no_nvlink_cables);
    tcase_add_test(cases, the_description_states_figures_with_units);
    tcase_add_test(cases, planes_are_described_and_multiplied);
    tcase_add_test(cases, a_printed_path_names_every_link_and_ends_with_the_total);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
