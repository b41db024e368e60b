// SPDX-License-Identifier: GPL-3.0-or-later
/* Names of devices and links. */
#include "fabric/builder.h"
#include "fabric/names.h"
#include "fixture.h"
#include "run_suite.h"

#include <check.h>

static void device_is(const struct fabric *fabric, uint32_t device, const char *name) {
    char buffer[NAMES_DEVICE_SIZE];
    ck_assert_str_eq(fabric_device_name(fabric, device, buffer, sizeof(buffer)), name);
}

/** The link that leaves a port is called so. */
static void link_is(const struct fabric *fabric, uint32_t device, uint32_t port, const char *name) {
    char buffer[NAMES_LINK_SIZE];
    ck_assert_str_eq(fabric_link_name(fabric, fabric->devices[device].first_port + port, buffer, sizeof(buffer)), name);
}

START_TEST(planes_are_named_where_there_are_several) {
    struct topology topology = fixture_racks();
    topology.nic.planes = 2;
    struct fabric *fabric = fabric_build(&topology, NULL);
    char name[NAMES_LINK_SIZE];
    const uint32_t nic = fabric->devices[70].first_port + 1;
    ck_assert_str_eq(fabric_link_name(fabric, nic, name, sizeof(name)), "gpu70:plane1 → plane1.leaf1");
    ck_assert_str_eq(fabric_link_name(fabric, fabric->links[nic].reverse, name, sizeof(name)), "plane1.leaf1 → gpu70");
    const uint32_t spine = fabric->switch_devices[fabric->n_leaves];
    ck_assert_str_eq(fabric_device_name(fabric, spine, name, sizeof(name)), "plane0.spine0");
    ck_assert_str_eq(fabric_link_name(fabric, nic + 1, name, sizeof(name)), "gpu70:nvlink0 → rack1.nvswitch0");
    fabric_free(fabric);
}
END_TEST

START_TEST(devices_are_called_by_kind_and_number) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    device_is(fabric, 17, "gpu17");
    device_is(fabric, fabric->switch_devices[2], "leaf2");
    device_is(fabric, fabric->switch_devices[4], "spine0");
    device_is(fabric, fabric->domains[1].first_chip + 5, "rack1.nvswitch5");
    fabric_free(fabric);
}
END_TEST

START_TEST(links_name_their_ends_and_the_port_where_it_matters) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    link_is(fabric, 130, 0, "gpu130 → leaf2");
    link_is(fabric, fabric->switch_devices[2], 2, "leaf2 → gpu130");
    link_is(fabric, fabric->switch_devices[2], 64 + 17, "leaf2:up17 → spine0");
    link_is(fabric, fabric->switch_devices[2], 64 + 32, "leaf2:up32 → spine1");
    link_is(fabric, fabric->switch_devices[5], 2 * 32 + 1, "spine1:port65 → leaf2");
    link_is(fabric, 130, 1 + 3, "gpu130:nvlink3 → rack2.nvswitch3");
    link_is(fabric, fabric->domains[2].first_chip + 3, 2, "rack2.nvswitch3:port2 → gpu130");
    fabric_free(fabric);
}
END_TEST

START_TEST(a_short_buffer_cuts_the_name_and_nothing_else) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    char buffer[6] = {'?', '?', '?', '?', '?', '?'};
    ck_assert_str_eq(fabric_device_name(fabric, 117, buffer, 5), "gpu1");
    ck_assert_int_eq(buffer[5], '?');
    fabric_free(fabric);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("names");
    TCase *cases = tcase_create("names");
    tcase_add_test(cases, planes_are_named_where_there_are_several);
    tcase_add_test(cases, devices_are_called_by_kind_and_number);
    tcase_add_test(cases, links_name_their_ends_and_the_port_where_it_matters);
    tcase_add_test(cases, a_short_buffer_cuts_the_name_and_nothing_else);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
