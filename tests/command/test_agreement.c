// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the check of a configuration lets through can be built and planned, and what it refuses cannot: over grids of values, so that
 * a mistake is always found where it has a place in the file.
 */
#include "command/plan.h"
#include "config/experiment_check.h"
#include "config/experiment_doubt.h"
#include "config/experiment_file.h"
#include "config/experiment_split.h"
#include "config/key.h"
#include "config/topology_check.h"
#include "fabric/builder.h"
#include "path/path.h"
#include "run_suite.h"
#include "workload/moe_summary.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct experiment experiment;
static struct error_list errors;

/* A good configuration, whose values the tests then change. */
static void read_base(void) {
    static const char text[] =
        "name: grid\ntopology: nodes.yaml\nmodel: {hidden: 64, experts: 48, top_k: 2}\n"
        "traffic: {pattern: moe, tokens_per_gpu: 2, expert_parallelism: 16}\npolicies: [ecmp+none]\n";
    errors = (struct error_list){0};
    ck_assert(experiment_read_text(GOLDEN_CASES "/text.yaml", text, strlen(text), NULL, 0, &experiment, &errors));
}

static bool is_accepted(void) {
    struct tree_node empty = {.kind = TREE_MAPPING};
    errors = (struct error_list){0};
    const struct contradiction_scope scope = {.topology = &empty, .experiment = &empty, .errors = &errors};
    experiment_check(&experiment, &scope);
    return errors.count == 0;
}

static bool is_planned(char message[ERROR_MESSAGE_SIZE]) {
    struct plan plan;
    struct error error = {0};
    const bool good = plan_init(&plan, &experiment, false, 1, &error);
    snprintf(message, ERROR_MESSAGE_SIZE, "%s", error.message);
    if (good) {
        plan_fini(&plan);
    }
    return good;
}

/* Both say the same of the present values. */
static uint32_t check_agreement(void) {
    char message[ERROR_MESSAGE_SIZE];
    const bool accepted = is_accepted(), planned = is_planned(message);
    const struct experiment_traffic *traffic = &experiment.traffic;
    ck_assert_msg(accepted == planned,
                  "%u racks of %u GPUs, pattern %d, %u experts, top %u, parallelism %u, gate %d, node %u, kept %u, "
                  "algorithm %d, placement %d, chunks of %u, senders %u, to %u: check says `%s`, plan says `%s`",
                  experiment.topology.racks, experiment.topology.gpus_used, (int)traffic->pattern,
                  experiment.model.experts, experiment.model.top_k, traffic->expert_parallelism, (int)traffic->gate,
                  traffic->node_gpus, traffic->nodes_kept, (int)traffic->algorithm, (int)traffic->group_placement,
                  traffic->chunk_tokens, traffic->senders, traffic->destination,
                  accepted ? "good" : errors.errors[0].message, planned ? "good" : message);
    return accepted;
}

/* Every combination of one value of each list; a digit of the number a list. */
struct choice {
    uint32_t *field;
    const uint32_t *values;
    size_t n_values;
};

static uint64_t count_combinations(const struct choice *choices, size_t n_choices) {
    uint64_t count = 1;
    for (size_t i = 0; i < n_choices; i++) {
        count *= choices[i].n_values;
    }
    return count;
}

static void choose(const struct choice *choices, size_t n_choices, uint64_t number) {
    for (size_t i = 0; i < n_choices; i++) {
        *choices[i].field = choices[i].values[number % choices[i].n_values];
        number /= choices[i].n_values;
    }
}

START_TEST(splits_of_a_layer_are_refused_by_the_check_or_planned) {
    static const uint32_t racks[] = {1, 2, 3, 8}, gpus[] = {1, 2, 3, 4}, experts[] = {1, 24, 48, 50};
    static const uint32_t parallel[] = {0, 1, 2, 3, 4, 6, 8, 12, 16}, nodes[] = {0, 2, 3, 8}, kept[] = {1, 4};
    static const uint32_t top[] = {1, 7};
    struct experiment_traffic *traffic = &experiment.traffic;
    read_base();
    const struct choice choices[] = {
        {&experiment.topology.racks, racks, COUNT(racks)},
        {&experiment.topology.gpus_used, gpus, COUNT(gpus)},
        {&experiment.model.experts, experts, COUNT(experts)},
        {&experiment.model.top_k, top, COUNT(top)},
        {&traffic->expert_parallelism, parallel, COUNT(parallel)},
        {&traffic->node_gpus, nodes, COUNT(nodes)},
        {&traffic->nodes_kept, kept, COUNT(kept)},
    };
    const uint64_t n = count_combinations(choices, COUNT(choices));
    uint64_t accepted = 0;
    for (uint64_t i = 0; i < n; i++) {
        choose(choices, COUNT(choices), i);
        traffic->algorithm = (enum experiment_algorithm)(i % EXPERIMENT_ALGORITHMS);
        traffic->group_placement =
            i / 3 % 2 ? EXPERIMENT_GROUP_PLACEMENT_STRIDED : EXPERIMENT_GROUP_PLACEMENT_CONSECUTIVE;
        traffic->gate = i / 5 % 3 == 0   ? EXPERIMENT_GATE_NODE_LIMITED
                        : i / 5 % 3 == 1 ? EXPERIMENT_GATE_GROUP_LIMITED
                                         : EXPERIMENT_GATE_UNIFORM;
        const bool grouped = traffic->gate == EXPERIMENT_GATE_GROUP_LIMITED;
        experiment.model.groups = grouped && i / 7 % 2 ? 24 : 1;
        experiment.model.groups_kept = grouped ? (uint32_t)(1 + i / 11 % 4) : 1;
        accepted += check_agreement();
    }
    ck_assert_uint_gt(accepted, n / 20);
    ck_assert_uint_lt(accepted, n - n / 20);
}
END_TEST

START_TEST(chunks_are_refused_by_the_check_or_planned) {
    read_base();
    experiment.topology.racks = 2;
    for (uint32_t chunk = 1; chunk <= 65535; chunk = 2 * chunk + 1) {
        experiment.traffic.chunk_tokens = chunk;
        check_agreement();
    }
    experiment.traffic.tokens_per_gpu = 32768;
    experiment.traffic.expert_parallelism = 8;
    experiment.model.top_k = 1;
    experiment.traffic.chunk_tokens = 1;
    ck_assert_uint_eq(check_agreement(), 0);
    experiment.traffic.chunk_tokens = 2;
    ck_assert_uint_eq(check_agreement(), 1);
    experiment.traffic.algorithm = EXPERIMENT_ALGORITHM_PXN;
    experiment.traffic.chunk_bytes = 2 * experiment.model.hidden;
    ck_assert_uint_eq(check_agreement(), 0);
    experiment.traffic.chunk_bytes = 4 * experiment.model.hidden;
    ck_assert_uint_eq(check_agreement(), 1);
}
END_TEST

START_TEST(patterns_are_refused_by_the_check_or_planned) {
    static const uint32_t racks[] = {1, 2, 3}, gpus[] = {1, 2, 4}, ranks[] = {0, 1, 3, 5, 12};
    static const uint32_t senders[] = {1, 2, 3, 4, 8, 11, 12};
    struct experiment_traffic *traffic = &experiment.traffic;
    read_base();
    traffic->bytes = 100;
    const struct choice choices[] = {
        {&experiment.topology.racks, racks, COUNT(racks)}, {&experiment.topology.gpus_used, gpus, COUNT(gpus)},
        {&traffic->source, ranks, COUNT(ranks)},           {&traffic->destination, ranks, COUNT(ranks)},
        {&traffic->senders, senders, COUNT(senders)},
    };
    uint64_t accepted = 0;
    for (uint64_t i = 0; i < count_combinations(choices, COUNT(choices)); i++) {
        choose(choices, COUNT(choices), i);
        for (int pattern = EXPERIMENT_PATTERN_SINGLE; pattern <= EXPERIMENT_PATTERN_ALL_TO_ALL; pattern++) {
            traffic->pattern = (enum experiment_pattern)pattern;
            accepted += check_agreement();
        }
    }
    ck_assert_uint_gt(accepted, 1000);
}
END_TEST

/* 64 B of counts and 4 for each of 24 experts are 160 B; within a domain they take NVLink, which cuts them. */
START_TEST(counts_must_fit_a_packet_where_they_cross_the_fabric) {
    read_base();
    experiment.topology.racks = 2;
    experiment.topology.gpus_used = 1;
    experiment.traffic.expert_parallelism = 2;
    experiment.topology.nic.payload_bytes = 160;
    ck_assert(is_accepted());
    experiment.topology.nic.payload_bytes = 159;
    ck_assert(!is_accepted());
    ck_assert_ptr_nonnull(strstr(errors.errors[0].message, "160 B"));
    experiment.traffic.exchange_counts = false;
    ck_assert(is_accepted());
    experiment.traffic.exchange_counts = true;
    experiment.topology.gpus_used = 2;
    ck_assert(is_accepted());
}
END_TEST

/* Peers that a rank has messages for over the fabric: counted from the plan of every rank. */
START_TEST(peers_are_those_that_a_rank_may_send_to) {
    static const uint32_t racks[] = {2, 3, 4}, gpus[] = {1, 2, 4}, parallel[] = {1, 2, 3, 4, 6, 8, 16};
    struct experiment_traffic *traffic = &experiment.traffic;
    read_base();
    traffic->tokens_per_gpu = 200; /* so that every expert is picked */
    const struct choice choices[] = {
        {&experiment.topology.racks, racks, COUNT(racks)},
        {&experiment.topology.gpus_used, gpus, COUNT(gpus)},
        {&traffic->expert_parallelism, parallel, COUNT(parallel)},
    };
    for (uint64_t i = 0; i < 2 * count_combinations(choices, COUNT(choices)); i++) {
        choose(choices, COUNT(choices), i / 2);
        traffic->algorithm = i % 2 ? EXPERIMENT_ALGORITHM_TWO_HOP : EXPERIMENT_ALGORITHM_DIRECT;
        struct plan plan;
        struct error error;
        if (!is_accepted() || !plan_init(&plan, &experiment, false, 1, &error)) {
            continue;
        }
        const uint32_t n_ranks = plan.placement.n_ranks, domain = plan.placement.ranks_per_domain;
        uint32_t most = 0;
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            uint64_t row[16] = {0};
            uint32_t peers = 0;
            moe_summary_matrix_row(plan.moe, MOE_SUMMARY_DISPATCH, rank, row);
            for (uint32_t to = 0; to < n_ranks; to++) {
                peers += row[to] > 0 && to / domain != rank / domain;
            }
            most = peers > most ? peers : most;
        }
        plan_fini(&plan);
        const uint64_t said = experiment_split_peers(&experiment, n_ranks);
        ck_assert_uint_ge(said, most);
        ck_assert_uint_le(said, most + domain - 1);
    }
}
END_TEST

/* 64 GPUs of 1,024 racks of 1 have few peers, however many racks there are. */
START_TEST(queue_pairs_are_counted_within_the_group) {
    read_base();
    experiment.topology.racks = 1024;
    experiment.topology.gpus_used = 4;
    experiment.model.experts = 64;
    experiment.traffic.expert_parallelism = 64;
    experiment.policies[0].queue_pairs = 128;
    ck_assert(is_accepted());
    experiment.traffic.expert_parallelism = 0;
    experiment.model.experts = 4096;
    ck_assert(!is_accepted());
}
END_TEST

/* 256 peers × 255 queue pairs can be numbered, × 256 cannot; several flows to a peer share its queue pairs. */
START_TEST(queue_pairs_of_a_connection_matrix_are_counted) {
    char path[] = "/tmp/moefabric-agreement-XXXXXX";
    FILE *stream = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "Nodes 257\nConnections 512\n");
    for (uint32_t i = 0; i < 512; i++) {
        fprintf(stream, "0->%u id %u start 0 size 1000\n", 1 + i % 256, i + 1);
    }
    fclose(stream);
    read_base();
    experiment.topology.racks = 257;
    experiment.topology.gpus_used = 1;
    experiment.traffic.pattern = EXPERIMENT_PATTERN_CONNECTION_MATRIX;
    snprintf(experiment.matrix_path, sizeof experiment.matrix_path, "%s", path);
    char message[ERROR_MESSAGE_SIZE];
    experiment.policies[0].queue_pairs = 255;
    const bool fits = is_planned(message);
    experiment.policies[0].queue_pairs = 256;
    const bool overflows = is_planned(message);
    remove(path);
    ck_assert(fits);
    ck_assert(!overflows);
    ck_assert_msg(strstr(message, "256 peers of a GPU") != NULL, "%s", message);
}
END_TEST

START_TEST(topologies_are_refused_by_the_check_or_built) {
    static const uint32_t racks[] = {1, 2, 5, 8}, gpus[] = {1, 3, 4}, ports[] = {4, 16, 64}, downlinks[] = {1, 4, 8};
    static const uint32_t uplinks[] = {0, 2, 4, 8}, spines[] = {0, 1, 2, 3}, rails[] = {1, 2, 4};
    struct topology *topology = &experiment.topology;
    read_base();
    const struct choice choices[] = {
        {&topology->racks, racks, COUNT(racks)},
        {&topology->gpus_used, gpus, COUNT(gpus)},
        {&topology->leaf.ports, ports, COUNT(ports)},
        {&topology->fabric.leaf_downlinks, downlinks, COUNT(downlinks)},
        {&topology->fabric.leaf_uplinks, uplinks, COUNT(uplinks)},
        {&topology->fabric.spines, spines, COUNT(spines)},
        {&topology->fabric.rails, rails, COUNT(rails)},
    };
    const uint64_t n = count_combinations(choices, COUNT(choices));
    uint64_t built = 0;
    for (uint64_t i = 0; i < 2 * n; i++) {
        choose(choices, COUNT(choices), i / 2);
        topology->spine.ports = topology->leaf.ports;
        topology->fabric.wiring = i % 2 ? TOPOLOGY_WIRING_RAIL : TOPOLOGY_WIRING_RACK;
        struct tree_node empty = {.kind = TREE_MAPPING};
        errors = (struct error_list){0};
        const struct contradiction_scope scope = {.topology = &empty, .experiment = &empty, .errors = &errors};
        topology_check(topology, &scope);
        struct error error = {0};
        struct fabric *fabric = fabric_build(topology, &error);
        ck_assert_msg((fabric != NULL) == (errors.count == 0),
                      "%u racks of %u GPUs, %s wiring, %u rails, leaves of %u ports, %u down, %u up, %u spines: check "
                      "says `%s`, builder says `%s`",
                      topology->racks, topology->gpus_used, i % 2 ? "rail" : "rack", topology->fabric.rails,
                      topology->leaf.ports, topology->fabric.leaf_downlinks, topology->fabric.leaf_uplinks,
                      topology->fabric.spines, errors.count == 0 ? "good" : errors.errors[0].message,
                      fabric != NULL ? "good" : error.message);
        built += fabric != NULL;
        fabric_free(fabric);
    }
    ck_assert_uint_gt(built, n / 50);
}
END_TEST

/* The key table names the policies; which of them re-order is said in two rooms, of which one must not know the other. */
START_TEST(every_path_policy_is_known_by_name_and_by_whether_it_reorders) {
    const struct key *key = key_find(key_section(experiment_keys(), "policies"), "path");
    size_t n_names = 0;
    for (; key->names[n_names] != NULL; n_names++) {
        bool found = false;
        for (int kind = 0; kind < PATH_KINDS; kind++) {
            const struct path_policy *policy = path_policy_of((enum path_kind)kind);
            if (strcmp(policy->name, key->names[n_names]) == 0) {
                found = true;
                ck_assert_msg(experiment_doubt_reorders(policy->name) == policy->reorders, "%s", policy->name);
            }
        }
        ck_assert_msg(found, "no policy is called %s", key->names[n_names]);
    }
    ck_assert_uint_eq(n_names, PATH_KINDS);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("agreement");
    TCase *test_case = tcase_create("grids");
    tcase_set_timeout(test_case, 300);
    tcase_add_test(test_case, splits_of_a_layer_are_refused_by_the_check_or_planned);
    tcase_add_test(test_case, chunks_are_refused_by_the_check_or_planned);
    tcase_add_test(test_case, patterns_are_refused_by_the_check_or_planned);
    tcase_add_test(test_case, counts_must_fit_a_packet_where_they_cross_the_fabric);
    tcase_add_test(test_case, peers_are_those_that_a_rank_may_send_to);
    tcase_add_test(test_case, queue_pairs_are_counted_within_the_group);
    tcase_add_test(test_case, queue_pairs_of_a_connection_matrix_are_counted);
    tcase_add_test(test_case, topologies_are_refused_by_the_check_or_built);
    tcase_add_test(test_case, every_path_policy_is_known_by_name_and_by_whether_it_reorders);
    suite_add_tcase(suite, test_case);
    return run_suite(suite);
}
