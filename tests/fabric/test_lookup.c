// SPDX-License-Identifier: GPL-3.0-or-later
/* From names back to devices and links. */
#include "fabric/builder.h"
#include "fabric/lookup.h"
#include "fabric/names.h"
#include "fixture.h"
#include "run_suite.h"

#include <check.h>

START_TEST(every_name_leads_back_to_what_it_names) {
    const struct topology topology = fixture_pods();
    struct fabric *fabric = fabric_build(&topology, NULL);
    struct lookup_place place;
    char name[NAMES_LINK_SIZE];
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        FIXTURE_EXPECT(lookup_find(fabric, fabric_device_name(fabric, d, name, sizeof(name)), &place));
        FIXTURE_EXPECT(place.device == d && place.link == FABRIC_NONE);
    }
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        FIXTURE_EXPECT(lookup_find(fabric, fabric_link_name(fabric, l, name, sizeof(name)), &place));
        FIXTURE_EXPECT(place.link == l && place.device == fabric->links[l].tail_device);
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(arrows_may_be_plain_or_left_out) {
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    const uint32_t link = fabric->devices[fabric->switch_devices[2]].first_port + 64 + 17;
    const char *const names[] = {"leaf2:up17 → spine0", "leaf2:up17 -> spine0", "leaf2:up17->spine0", "leaf2:up17"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct lookup_place place;
        ck_assert(lookup_find(fabric, names[i], &place));
        ck_assert_uint_eq(place.link, link);
    }
    fabric_free(fabric);
}
END_TEST

START_TEST(what_is_not_there_is_not_found_and_the_nearest_is_told) {
    static const struct {
        const char *wrong, *nearest;
    } names[] = {{"leaf2:up71", "leaf2:up1"},
                 {"spien1", "spine1"},

                 {"leaf2:upp17 -> spine0", "leaf2:up17 → spine0"}};
    const struct topology topology = fixture_racks();
    struct fabric *fabric = fabric_build(&topology, NULL);
    struct lookup_place place;
    char nearest[NAMES_LINK_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert(!lookup_find(fabric, names[i].wrong, &place));
        ck_assert(lookup_nearest(fabric, names[i].wrong, nearest, sizeof(nearest)));
        ck_assert_str_eq(nearest, names[i].nearest);
    }
    ck_assert(!lookup_find(fabric, "leaf2:up", &place));
    ck_assert(!lookup_find(fabric, "", &place));
    ck_assert(!lookup_nearest(fabric, "elsewhere", nearest, sizeof(nearest)));
    fabric_free(fabric);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("lookup");
    TCase *cases = tcase_create("lookup");
    tcase_add_test(cases, every_name_leads_back_to_what_it_names);
    tcase_add_test(cases, arrows_may_be_plain_or_left_out);
    tcase_add_test(cases, what_is_not_there_is_not_found_and_the_nearest_is_told);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
