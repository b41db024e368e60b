// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Random cases with a background beside their own messages: both simulators are given the same plan, and must produce the same trace.
 */
#include "base/memory.h"
#include "comparison.h"
#include "run_suite.h"
#include "workload/background.h"

#include <check.h>
#include <stdlib.h>

enum { CASES = 24 };

static struct experiment_background item_of(const char *name, enum experiment_background_pattern pattern,
                                            uint64_t bytes, uint32_t rounds, uint64_t every_ps) {
    struct experiment_background item = {
        .pattern = pattern, .gpus = "all", .bytes = bytes, .rounds = rounds, .every_ps = every_ps};
    snprintf(item.name, sizeof item.name, "%s", name);
    return item;
}

/** Names the endpoints with a NIC from number `first` of them on; returns how many they are in all. */
static uint32_t name_endpoints(const struct fabric *fabric, uint32_t first, char names[EXPERIMENT_GPUS_SIZE]) {
    uint32_t n = 0;
    size_t length = 0;
    for (uint32_t i = 0; i < fabric->n_endpoints; i++) {
        if (fabric->endpoints[i].n_nics > 0 && n++ >= first) {
            length += (size_t)snprintf(names + length, EXPERIMENT_GPUS_SIZE - length, length > 0 ? ", %u" : "%u", i);
        }
    }
    ck_assert_uint_lt(length, EXPERIMENT_GPUS_SIZE);
    return n;
}

/** The first endpoint with a NIC. */
static uint32_t first_endpoint(const struct fabric *fabric) {
    uint32_t first = 0;
    while (fabric->endpoints[first].n_nics == 0) {
        first++;
    }
    return first;
}

/** Among all endpoints of a case with a NIC, over its fabric; NULL if they are too few. */
static struct background *create(const struct random_case *random_case, struct experiment *experiment) {
    struct error error = {0};
    char names[EXPERIMENT_GPUS_SIZE];
    const struct fabric *fabric = random_case->fabric;
    const struct moe_placement placement = {.n_ranks = fabric->n_endpoints, .ranks_per_domain = 1};
    if (name_endpoints(fabric, 0, names) < 2) {
        return NULL;
    }
    experiment->backgrounds[0] = item_of("tenant", EXPERIMENT_BACKGROUND_ALL_TO_ALL, 3000, 2, 0);
    experiment->backgrounds[1] = item_of("ring", EXPERIMENT_BACKGROUND_RING, 9000, 2, 0);
    experiment->backgrounds[2] = item_of("stages", EXPERIMENT_BACKGROUND_PIPELINE, 5000, 3, 2000000);
    experiment->backgrounds[3] = item_of("writes", EXPERIMENT_BACKGROUND_WRITES, 7000, 3, 3000000);
    for (int i = 0; i < 3; i++) {
        snprintf(experiment->backgrounds[i].gpus, EXPERIMENT_GPUS_SIZE, "%s", names);
    }
    name_endpoints(fabric, 1, experiment->backgrounds[3].gpus);
    snprintf(experiment->backgrounds[3].targets, EXPERIMENT_GPUS_SIZE, "%u", first_endpoint(fabric));
    experiment->n_backgrounds = 4;
    struct background *background = background_create(experiment, &placement, &error);
    ck_assert_msg(background != NULL, "%s", error.message);
    return background;
}

START_TEST(both_simulators_agree_on_a_background) {
    const struct random_case_recipe recipe = {.number = (uint64_t)_i, .simpler = RANDOM_CASE_NO_FAILURES};
    struct random_case *random_case = random_case_create(&recipe);
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    struct background *background = create(random_case, experiment);
    if (background != NULL) {
        const struct traffic alone = random_case->traffic;
        random_case->traffic = background_traffic(background, &alone);
        ck_assert(comparison_equal_apart(stdout, random_case, NULL));
    }
    random_case_free(random_case);
    background_free(background);
    free(experiment);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("background");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, both_simulators_agree_on_a_background, 0, CASES);
    Suite *suite = suite_create("background");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
