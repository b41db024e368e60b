// SPDX-License-Identifier: GPL-3.0-or-later
/* Fabrics that are worked out: by hand, against every other fabric of small switches, and built from a configuration. */
#include "config/design.h"
#include "config/experiment_file.h"
#include "fabric/builder.h"
#include "fabric/describe.h"
#include "fabric/shape.h"
#include "fabric/wiring.h"
#include "run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Reads a configuration of GB300 racks with this section `design`; false with *errors. */
static bool read_design(const char *design, struct experiment *experiment, struct error_list *errors) {
    char text[2048];
    const int length =
        snprintf(text, sizeof text,
                 "name: a\ntopology: gb300-nvl72-spectrumx.yaml\ntraffic: {pattern: ring, bytes: 1 KiB}\n"
                 "policies: [adaptive+none]\ndesign: {%s}\n",
                 design);
    *errors = (struct error_list){0};
    return experiment_read_text(SOURCE_DIRECTORY "/configs/a.yaml", text, (size_t)length, NULL, 0, experiment, errors);
}

/* facts of NVIDIA's NVL72 and Spectrum-4, worked out on paper: 1,152 GPUs at 800 Gb/s on switches of 128 × 400 Gb/s. */
static const struct {
    const char *design;
    uint32_t leaves, spines, super_spines; /* of all planes */
} by_hand[] = {
    /* a plane has 1,152 ports; 20 leaves of 58 GPUs and 60 uplinks, 10 spines with 6 links to each leaf (18 leaves would need 9 spines, which do not divide 64) */
    {"gpus: 1152, leaves: shared", 40, 20, 0},
    /* 288 ports a rail on leaves of 58: 5 leaves a rail, 4 rails */
    {"gpus: 1152, leaves: rail", 40, 20, 0},
    /* 18 GPUs of a rack and rail, 3 racks a leaf: 16 ÷ 3 = 6 leaves a rail, 24 in all; 55 uplinks go to 11 spines, 5 each */
    {"gpus: 1152, leaves: rack_rail", 48, 22, 0},
    /* 64 downlinks and 64 uplinks, as large as two tiers get */
    {"gpus: 8192, leaves: shared, planes: 2, nic_rate: 800 Gb/s", 0, 0, 0},
    {"gpus: 72, planes: 1, nic_rate: 400 Gb/s, leaves: shared", 1, 0, 0},
};

START_TEST(switches_are_what_one_works_out_by_hand) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct error_list errors;
    struct describe_facts facts;
    ck_assert_msg(read_design(by_hand[_i].design, experiment, &errors), "%s", errors.errors[0].message);
    struct fabric *fabric = fabric_build_plane(&experiment->topology, NULL);
    const uint32_t planes = experiment->topology.nic.planes;
    ck_assert_ptr_nonnull(fabric);
    describe_measure(fabric, &facts);
    if (by_hand[_i].leaves > 0) {
        ck_assert_uint_eq(planes * facts.n_leaves, by_hand[_i].leaves);
        ck_assert_uint_eq(planes * facts.n_spines, by_hand[_i].spines);
        ck_assert_uint_eq(planes * facts.n_super_spines, by_hand[_i].super_spines);
    } else { /* 114 racks of 72 are more than 8,192 ports */
        ck_assert_uint_gt(facts.n_super_spines, 0);
    }
    fabric_free(fabric);
    free(experiment);
}
END_TEST

/* Every two-tier fabric of switches with few ports: none that reaches all has fewer switches than the one found. */
static uint32_t fewest_of_all(const struct design_task *task) {
    uint32_t fewest = 0;
    for (uint32_t down = 1; down < task->leaf_ports; down++) {
        for (uint32_t up = 1; down + up <= task->leaf_ports; up++) {
            for (uint32_t spines = 1; spines <= up; spines++) {
                const uint32_t of_rack = task->gpus_used / task->rails, of_rail = task->racks * of_rack;
                const uint32_t leaves = task->rails * ((of_rail + down - 1) / down);
                const bool fits = up % spines == 0 && leaves * (up / spines) <= task->spine_ports;
                if (fits && down <= task->oversubscription * up && (!task->whole || down % of_rack == 0) &&
                    (fewest == 0 || leaves + spines < fewest)) {
                    fewest = leaves + spines;
                }
            }
        }
    }
    return fewest;
}

START_TEST(no_other_fabric_has_fewer_switches) {
    static const double ratios[] = {1, 1.5, 2, 4};
    uint32_t found_some = 0;
    for (uint32_t number = 0; number < 2000; number++) {
        const struct design_task task = {.racks = 1 + number % 13,
                                         .gpus_used = 4 * (1 + number / 13 % 4),
                                         .rails = number / 52 % 2 ? 4 : 1,
                                         .whole = number / 104 % 2,
                                         .leaf_ports = 8 + 4 * (number / 208 % 3),
                                         .spine_ports = 8 + 8 * (number / 624 % 2),
                                         .oversubscription = ratios[number % 4],
                                         .tiers = 2};
        struct design_fabric fabric;
        const bool found = design_find(&task, &fabric);
        const uint32_t fewest = fewest_of_all(&task);
        if (found != (fewest > 0) || (found && fabric.switches != fewest)) {
            ck_abort_msg("case %u: %u switches, %u are enough", number, (unsigned)fabric.switches, fewest);
        }
        found_some += found;
    }
    ck_assert_uint_gt(found_some, 500);
}
END_TEST

static const char *const leaves_names[] = {"shared", "rail", "rack_rail"};

/* Whatever is worked out can be built, keeps what was asked, and more oversubscription never needs more switches. */
START_TEST(what_is_worked_out_is_built_as_asked) {
    static const unsigned planes[] = {1, 2, 4}, gpus[] = {1, 300, 1152, 2048, 8192, 20000};
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct error_list errors;
    for (size_t p = 0; p < sizeof planes / sizeof planes[0]; p++) {
        uint64_t before = UINT64_MAX;
        for (unsigned ratio = 1; ratio <= 4; ratio++) {
            char text[256];
            struct shape shape;
            struct error error;
            snprintf(text, sizeof text, "gpus: %u, planes: %u, oversubscription: %u, leaves: %s", gpus[_i / 3],
                     planes[p], ratio, leaves_names[_i % 3]);
            ck_assert_msg(read_design(text, experiment, &errors), "%s: %s", text, errors.errors[0].message);
            const struct topology *topology = &experiment->topology;
            ck_assert_msg(shape_measure(topology, &shape, &error), "%s: %s", text, error.message);
            ck_assert_uint_ge(shape.endpoints, gpus[_i / 3]);
            ck_assert_uint_lt(shape.endpoints, gpus[_i / 3] + 72);
            ck_assert(topology->fabric.spines == 0 ||
                      topology->fabric.leaf_downlinks <= ratio * topology->fabric.leaf_uplinks);
            const uint64_t switches = shape.leaves + shape.spines + shape.super_spines;
            ck_assert_msg(switches <= before, "%s: more switches than with less oversubscription", text);
            before = switches;
        }
    }
    free(experiment);
}
END_TEST

START_TEST(a_racks_rail_stays_on_one_leaf_where_asked) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct error_list errors;
    ck_assert(read_design("gpus: 1152, leaves: rack_rail", experiment, &errors));
    struct fabric *fabric = fabric_build_plane(&experiment->topology, NULL);
    ck_assert_uint_eq(wiring_of(&experiment->topology, fabric).most_leaves, 1);
    fabric_free(fabric);
    ck_assert(read_design("gpus: 1152, leaves: rail", experiment, &errors));
    fabric = fabric_build_plane(&experiment->topology, NULL);
    ck_assert_uint_eq(wiring_of(&experiment->topology, fabric).most_leaves, 2);
    ck_assert(wiring_of(&experiment->topology, fabric).rails_apart);
    fabric_free(fabric);
    free(experiment);
}
END_TEST

/* What is read back from the resolved configuration is the same fabric, without the section. */
START_TEST(the_rate_of_a_plane_gives_the_ports) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct error_list errors;
    ck_assert(read_design("gpus: 1152, planes: 4", experiment, &errors));
    ck_assert_uint_eq(experiment->topology.nic.rate_bits_per_s, UINT64_C(200000000000));
    ck_assert_uint_eq(experiment->topology.leaf.ports, 256);
    ck_assert_uint_eq(experiment->topology.spine.ports, 256);
    ck_assert(read_design("gpus: 1152, planes: 1", experiment, &errors));
    ck_assert_uint_eq(experiment->topology.leaf.ports, 64);
    free(experiment);
}
END_TEST

static const struct {
    const char *design, *message;
} bad[] = {
    {"gpus: 8192, tiers: 1", "no fabric of 1 tier of switches with 128 ports reaches 8208 GPUs at 1 : 1"},
    {"gpus: 40000, tiers: 2", "no fabric of 2 tiers of switches with 128 ports reaches 40032 GPUs at 1 : 1"},
    {"planes: 3", "3 planes do not divide a NIC of 800 Gb/s"},
    {"planes: 8", "switches of 51.2 Tb/s with ports of 100 Gb/s would have 512 ports, and can have 256"},
    {"nic_rate: 700 Gb/s, planes: 1", "switches of 51.2 Tb/s cannot have ports of 700 Gb/s"},
};

START_TEST(what_cannot_be_says_why) {
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct error_list errors;
    ck_assert(!read_design(bad[_i].design, experiment, &errors));
    ck_assert_str_eq(errors.errors[0].message, bad[_i].message);
    ck_assert_uint_eq(errors.errors[0].line, 5);
    free(experiment);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("design");
    TCase *tests = tcase_create("design");
    tcase_add_loop_test(tests, switches_are_what_one_works_out_by_hand, 0, sizeof by_hand / sizeof by_hand[0]);
    tcase_add_test(tests, no_other_fabric_has_fewer_switches);
    tcase_add_loop_test(tests, what_is_worked_out_is_built_as_asked, 0, 18);
    tcase_add_test(tests, a_racks_rail_stays_on_one_leaf_where_asked);
    tcase_add_test(tests, the_rate_of_a_plane_gives_the_ports);
    tcase_add_loop_test(tests, what_cannot_be_says_why, 0, sizeof bad / sizeof bad[0]);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
