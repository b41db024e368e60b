// SPDX-License-Identifier: GPL-3.0-or-later
/* The parts list, and the tables that people read. */
#include "fabric/builder.h"
#include "fabric/describe_print.h"
#include "fabric/parts.h"
#include "fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    ck_assert_uint_eq(line_of(&parts, "optical module, 400 Gb/s")->count, 512);
    ck_assert_uint_eq(line_of(&parts, "NVSwitch chip")->count, 72);
    ck_assert_uint_eq(line_of(&parts, "NVLink copper cable of the rack's backplane (4 a link)")->count, 4 * 5184);
    ck_assert_uint_eq(parts.modules, 512);
    ck_assert_double_eq(parts.typical_watts, 6 * 1700);
    ck_assert_double_eq(parts.maximum_watts, 6 * 2300 + 512 * 9);
}
END_TEST

START_TEST(one_metre_beyond_copper_needs_two_modules_a_fibre) {
    struct topology topology = fixture_racks();
    topology.fabric.host_cable_m = PARTS_COPPER_METRES + 1;
    const struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "fibre, 400 Gb/s, 4 m, NIC to leaf")->count, 256);
    ck_assert_uint_eq(line_of(&parts, "optical module, 400 Gb/s")->count, 1024);
}
END_TEST

START_TEST(modules_of_two_rates_are_two_parts) {
    struct topology topology = fixture_racks();
    topology.fabric.host_cable_m = 10;
    topology.nic.rate_bits_per_s = 200000000000;
    const struct parts parts = parts_of(&topology);
    ck_assert_uint_eq(line_of(&parts, "optical module, 200 Gb/s")->count, 512);
    ck_assert_uint_eq(line_of(&parts, "optical module, 400 Gb/s")->count, 512);
    ck_assert_double_eq(parts.maximum_watts, 6 * 2300 + 512 * 9 + 512 * 5);
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
    ck_assert_uint_eq(line_of(&parts, "optical module, 400 Gb/s")->count, 1024);
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
    describe_print(stream, topology, fabric);
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
    says(text, "18408 W");
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
    tcase_add_test(cases, one_metre_beyond_copper_needs_two_modules_a_fibre);
    tcase_add_test(cases, modules_of_two_rates_are_two_parts);
    tcase_add_test(cases, planes_multiply_the_fabric_but_not_the_nics);
    tcase_add_test(cases, baseboards_have_no_nvlink_cables);
    tcase_add_test(cases, the_description_states_figures_with_units);
    tcase_add_test(cases, planes_are_described_and_multiplied);
    tcase_add_test(cases, a_printed_path_names_every_link_and_ends_with_the_total);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
