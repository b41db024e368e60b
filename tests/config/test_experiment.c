// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/file.h"
#include "config/configuration.h"
#include "config/experiment_file.h"
#include "config/experiment_places.h"
#include "config/key.h"
#include "config/section_reader.h"
#include "config/topology_file.h"
#include "run_suite.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const configurations[] = {"configs/all-to-all.yaml",        "configs/incast.yaml",
                                             "configs/permutation.yaml",       "configs/quickstart-collision.yaml",
                                             "configs/quickstart-incast.yaml", "configs/single-flow.yaml"};
static const char *const topologies[] = {
    "topologies/gb200-nvl72-spectrumx.yaml", "topologies/gb300-nvl72-spectrumx.yaml",
    "topologies/gb300-nvl72-spectrumx-4plane.yaml", "topologies/hgx-h100-roce.yaml", "topologies/leaf-spine-100g.yaml"};
enum {
    N_CONFIGURATIONS = sizeof configurations / sizeof configurations[0],
    N_TOPOLOGIES = sizeof topologies / sizeof topologies[0]
};

static struct experiment experiment, again;
static struct topology topology;
static struct error_list errors;

static void read_configuration(const char *path, const char *const *overrides, size_t n) {
    const bool good = experiment_read(path, overrides, n, &experiment, &errors);
    if (!good) {
        experiment_report(stderr, &errors);
    }
    ck_assert(good);
}

START_TEST(shipped_configurations_have_no_mistakes) {
    read_configuration(configurations[_i], NULL, 0);
    ck_assert_uint_ge(experiment.n_policies, 1);
}
END_TEST

START_TEST(shipped_topologies_have_no_mistakes) {
    const bool good = topology_read(topologies[_i], &topology, &errors);
    experiment_report(stderr, &errors);
    ck_assert(good);
}
END_TEST

START_TEST(values_of_the_gb200_topology_arrive_in_base_units) {
    ck_assert(topology_read(topologies[0], &topology, &errors));
    ck_assert_uint_eq(topology.nvlink.link_rate_bits_per_s, UINT64_C(400000000000));
    ck_assert_uint_eq(topology.nvlink.latency_up_ps, 300000);
    ck_assert_double_eq(topology.nvlink.usable_fraction, 0.80);
    ck_assert_uint_eq(topology.nic.rate_bits_per_s, UINT64_C(400000000000));
    ck_assert_uint_eq(topology.nic.retransmit_timeout_ps, UINT64_C(4294967296000));
    ck_assert_uint_eq(topology.leaf.lossless_pool_bytes, 67737959);
    ck_assert_int_eq(topology.leaf.lossy_alpha_shift, 3);
    ck_assert_uint_eq(topology.fabric.wiring, TOPOLOGY_WIRING_RAIL);
    ck_assert_uint_eq(topology.fabric.cable_latency_ps_per_m, 5000);
}
END_TEST

START_TEST(a_spine_is_as_its_leaf_but_for_what_it_says) {
    static const char text[] = "name: t\ntopology:\n  name: t\n  racks: 2\n  nic: {rate: 100 Gb/s}\n"
                               "  leaf: {ports: 8, port_rate: 100 Gb/s, latency: 7 ns, pfc: false}\n"
                               "  spine: {latency: 9 ns}\n  fabric: {leaf_downlinks: 4}\n"
                               "traffic: {pattern: permutation}\npolicies: ecmp+none\n";
    ck_assert(experiment_read_text("t", text, strlen(text), NULL, 0, &experiment, &errors));
    ck_assert_uint_eq(experiment.topology.leaf.latency_ps, 7000);
    ck_assert_uint_eq(experiment.topology.spine.latency_ps, 9000);
    ck_assert_uint_eq(experiment.topology.spine.ports, 8);
    ck_assert(!experiment.topology.spine.pfc);
    ck_assert_uint_eq(experiment.topology.gpus_used, 1);
}
END_TEST

START_TEST(the_cluster_section_overrides_the_topology) {
    read_configuration("configs/quickstart-collision.yaml", NULL, 0);
    ck_assert_uint_eq(experiment.topology.gpus_used, 64);
    ck_assert_uint_eq(experiment.topology.fabric.wiring, TOPOLOGY_WIRING_RACK);
    ck_assert_uint_eq(experiment.topology.fabric.spines, 2);
    ck_assert_uint_eq(experiment.topology.nvlink.gpus, 72);
}
END_TEST

START_TEST(a_preset_fills_what_the_model_section_leaves_open) {
    static const char *const overrides[] = {"model.top_k=6"};
    read_configuration("configs/quickstart-incast.yaml", overrides, 1);
    ck_assert_uint_eq(experiment.model.hidden, 7168);
    ck_assert_uint_eq(experiment.model.experts, 256);
    ck_assert_uint_eq(experiment.model.top_k, 6);
    ck_assert_uint_eq(experiment.model.groups, 8);
    ck_assert_uint_eq(experiment.model.groups_kept, 4);
}
END_TEST

START_TEST(overrides_reach_files_topologies_and_lists) {
    static const char *const overrides[] = {
        "traffic.bytes=3 KiB",      "topology.nic.rate=25 GB/s",      "seeds=[7, 9]",
        "policies=[adaptive+none]", "congestion.dcqcn.profile=paper", "topology.leaf.ecn_probability=12.5 %"};
    read_configuration("configs/permutation.yaml", overrides, sizeof overrides / sizeof overrides[0]);
    ck_assert_uint_eq(experiment.traffic.bytes, 3072);
    ck_assert_uint_eq(experiment.topology.nic.rate_bits_per_s, UINT64_C(200000000000));
    ck_assert_uint_eq(experiment.n_seeds, 2);
    ck_assert_uint_eq(experiment.seeds[1], 9);
    ck_assert_uint_eq(experiment.n_policies, 1);
    ck_assert_str_eq(experiment.policies[0].path, "adaptive");
    ck_assert_str_eq(experiment.dcqcn.profile, "paper");
    ck_assert_double_eq(experiment.topology.spine.ecn_probability, 0.125);
}
END_TEST

START_TEST(an_override_may_name_another_topology) {
    static const char *const overrides[] = {"topology.racks=2", "topology=hgx-h100-roce.yaml"};
    read_configuration("configs/all-to-all.yaml", overrides, 2);
    ck_assert_str_eq(experiment.topology.name, "hgx-h100-roce");
    ck_assert_uint_eq(experiment.topology.racks, 64); /* the configuration's cluster section still wins */
}
END_TEST

START_TEST(short_and_long_forms_of_policies_are_the_same) {
    static const char *const short_form[] = {"policies=[ecmp(4)+dcqcn+split_messages+polarised]"};
    static const char *const long_form[] = {
        "policies=[{path: ecmp, queue_pairs: 4, congestion: dcqcn, split_messages: true, polarised: true}]"};
    read_configuration("configs/permutation.yaml", short_form, 1);
    again = experiment;
    read_configuration("configs/permutation.yaml", long_form, 1);
    ck_assert_mem_eq(&experiment, &again, sizeof experiment);
    ck_assert_str_eq(experiment.policies[0].name, "ecmp(4)+dcqcn+split_messages+polarised");
}
END_TEST

START_TEST(a_number_of_seeds_stands_for_one_to_n) {
    static const char *const overrides[] = {"seeds=3"};
    read_configuration("configs/incast.yaml", overrides, 1);
    ck_assert_uint_eq(experiment.n_seeds, 3);
    ck_assert_uint_eq(experiment.seeds[0], 1);
    ck_assert_uint_eq(experiment.seeds[2], 3);
}
END_TEST

/** Resolves what is in `experiment` and reads it back. */
static void check_round_trip(void) {
    size_t size;
    char *text = configuration_resolved_text(&experiment, &size);
    const bool good = experiment_read_text("resolved", text, size, NULL, 0, &again, &errors);
    experiment_report(stderr, &errors);
    ck_assert(good);
    experiment_places_forget(&experiment); /* of another file */
    experiment_places_forget(&again);
    ck_assert_mem_eq(&experiment, &again, sizeof experiment);
    char *text_again = configuration_resolved_text(&again, NULL);
    ck_assert_str_eq(text, text_again);
    free(text_again);
    free(text);
}

START_TEST(a_resolved_configuration_reads_back_to_the_same) {
    read_configuration(configurations[_i], NULL, 0);
    check_round_trip();
}
END_TEST

START_TEST(odd_values_survive_the_round_trip) {
    static const char *const overrides[] = {
        "name='a \"name\" \\ with: # signs µ'",
        "seeds=[18446744073709551615, 0, 12345678901234567890]",
        "traffic.jitter=123456.789 ns",
        "traffic.bytes=999999999999 B",
        "topology.nic.usable_fraction=0.3333333333333333",
        "topology.gpu.sm_copy_rate=46.25 GB/s",
        "topology.leaf.lossless_alpha_shift=-7",
        "congestion.spectrum_x.largest_increase=1.0000000000000002",
        "topology.nic.rate=99999999999 b/s",
        "policies=[{name: \"a: b\", path: adaptive, congestion: none}]",
    };
    read_configuration("configs/permutation.yaml", overrides, sizeof overrides / sizeof overrides[0]);
    ck_assert_uint_eq(experiment.traffic.jitter_ps, 123456789);
    ck_assert_double_eq(experiment.topology.gpu.sm_copy_bytes_per_s, 46.25e9);
    check_round_trip();
}
END_TEST

/* Decimal commas must change nothing. Where no such locale is installed, C.utf8 at least is another locale. */
START_TEST(the_locale_changes_nothing) {
    read_configuration("configs/quickstart-incast.yaml", NULL, 0);
    char *before = configuration_resolved_text(&experiment, NULL);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "fr_FR.UTF-8") == NULL) {
        ck_assert_ptr_nonnull(setlocale(LC_ALL, "C.utf8"));
    }
    read_configuration("configs/quickstart-incast.yaml", NULL, 0);
    char *after = configuration_resolved_text(&experiment, NULL);
    ck_assert_str_eq(before, after);
    free(after);
    free(before);
}
END_TEST

/** Every text of a key table is read here once: a default or limit that cannot be read is a bug and aborts. */
static void read_tables(const struct schema *schema) {
    for (size_t i = 0; i < schema->n_sections; i++) {
        for (size_t k = 0; k < schema->sections[i].n_keys; k++) {
            const struct key *key = &schema->sections[i].keys[k];
            const bool real = key->type == KEY_REAL;
            const char *const limits[] = {key->minimum, key->maximum};
            for (int l = 0; l < 2; l++) {
                uint64_t whole;
                double number;
                const bool is_read = limits[l] == NULL || key->type == KEY_SIGNED ||
                                     (real ? quantity_parse_real(limits[l], key->kind, &number, NULL)
                                           : quantity_parse(limits[l], key->kind, &whole, NULL));
                ck_assert_msg(is_read, "limit %s of %s", limits[l], key->name);
            }
            ck_assert_uint_gt(strlen(key->doc), 5);
            ck_assert_uint_gt(key->size, 0);
            ck_assert_msg(key->doc[strlen(key->doc) - 1] == '.', "doc of %s is no sentence", key->name);
        }
    }
}

START_TEST(all_texts_of_the_key_tables_can_be_read) {
    read_tables(topology_keys());
    read_tables(experiment_keys());
    section_reader_defaults(topology_keys(), &topology);
    section_reader_defaults(experiment_keys(), &experiment);
}
END_TEST

/** What a function writes to a stream, as a text. */
static char *schema_text(enum configuration_kind kind) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    configuration_schema(stream, kind);
    fclose(stream);
    return text;
}

static void check_schema(enum configuration_kind kind, const char *path) {
    char *text = schema_text(kind);
    struct file_text committed;
    ck_assert_msg(file_read(path, 1 << 20, &committed, NULL), "%s cannot be read", path);
    ck_assert_msg(strcmp(text, committed.bytes) == 0, "%s is not what the key tables say: run `moefabric schema` again",
                  path);
    free(committed.bytes);
    free(text);
}

START_TEST(committed_schemas_are_those_of_the_key_tables) {
    check_schema(CONFIGURATION_EXPERIMENT, "configs/configuration.schema.json");
    check_schema(CONFIGURATION_TOPOLOGY, "topologies/topology.schema.json");
}
END_TEST

static char *explanation(const char *name, struct error *error) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    const bool known = configuration_explain(stream, name, error);
    fclose(stream);
    if (!known) {
        free(text);
        return NULL;
    }
    return text;
}

START_TEST(explain_tells_what_a_key_allows_and_where_its_default_is_from) {
    static const char *const wanted[][2] = {
        {"traffic.gate", "one of uniform, zipf, hot_expert, group_limited, node_limited"},
        {"traffic", "traffic.chunk_tokens"},
        {"nvlink.usable_fraction", "SM100_NVLINK_BW"},
        {"topology.nvlink.usable_fraction", "default: 0.80"},
        {"congestion.spectrum_x.delay_threshold", "default: 13 us"},
        {"congestion", "congestion.dcqcn.profile"},
        {"policies", "policies.queue_pairs"},
        {"topology", "the name of a topology file"},
        {"MF-011", "given twice"},
        {"mf-011", "given twice"},
        {"ecmp", "a hash of the queue pair"},
        {"swift", "section `congestion.swift`"},
        {"deepseek-v3", "model.preset"},
        {"rail", "wiring"},
        {NULL, "Keys of a topology"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char *text = explanation(wanted[i][0], NULL);
        ck_assert_ptr_nonnull(text);
        ck_assert_msg(strstr(text, wanted[i][1]) != NULL, "`%s` explained without `%s`:\n%s", wanted[i][0],
                      wanted[i][1], text);
        free(text);
    }
}
END_TEST

START_TEST(explain_offers_the_nearest_name) {
    struct error error;
    ck_assert_ptr_null(explanation("traffic.gaet", &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_USAGE);
    ck_assert_str_eq(error.hint, "did you mean `traffic.gate`?");
    ck_assert_ptr_null(explanation("zipf_exponent", &error));
    ck_assert_str_eq(error.hint, "did you mean `traffic.zipf_exponent`?");
}
END_TEST

START_TEST(unreadable_files_end_with_exit_code_4) {
    static const char *const paths[] = {"configs/no-such-file.yaml", "configs", "tests/config/broken/27-empty.yaml"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        errors = (struct error_list){0};
        ck_assert(!experiment_read(paths[i], NULL, 0, &experiment, &errors));
        ck_assert_uint_eq(errors.count, 1);
        ck_assert_int_eq(errors.errors[0].exit_code, EXIT_CODE_INPUT_OUTPUT);
        ck_assert_str_eq(errors.errors[0].file, paths[i]);
    }
}
END_TEST

int main(void) {
    if (chdir(SOURCE_DIRECTORY) != 0) {
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("config-experiment");
    TCase *group = tcase_create("experiment");
    tcase_add_loop_test(group, shipped_configurations_have_no_mistakes, 0, N_CONFIGURATIONS);
    tcase_add_loop_test(group, shipped_topologies_have_no_mistakes, 0, N_TOPOLOGIES);
    tcase_add_test(group, values_of_the_gb200_topology_arrive_in_base_units);
    tcase_add_test(group, a_spine_is_as_its_leaf_but_for_what_it_says);
    tcase_add_test(group, the_cluster_section_overrides_the_topology);
    tcase_add_test(group, a_preset_fills_what_the_model_section_leaves_open);
    tcase_add_test(group, overrides_reach_files_topologies_and_lists);
    tcase_add_test(group, an_override_may_name_another_topology);
    tcase_add_test(group, short_and_long_forms_of_policies_are_the_same);
    tcase_add_test(group, a_number_of_seeds_stands_for_one_to_n);
    tcase_add_loop_test(group, a_resolved_configuration_reads_back_to_the_same, 0, N_CONFIGURATIONS);
    tcase_add_test(group, odd_values_survive_the_round_trip);
    tcase_add_test(group, the_locale_changes_nothing);
    tcase_add_test(group, all_texts_of_the_key_tables_can_be_read);
    tcase_add_test(group, committed_schemas_are_those_of_the_key_tables);
    tcase_add_test(group, explain_tells_what_a_key_allows_and_where_its_default_is_from);
    tcase_add_test(group, explain_offers_the_nearest_name);
    tcase_add_test(group, unreadable_files_end_with_exit_code_4);
    suite_add_tcase(suite, group);
    return run_suite(suite);
}
