// SPDX-License-Identifier: GPL-3.0-or-later
/* Runs of the fluid model: times that follow by hand, bytes on links, and what does not change the result. */
#include "fabric/builder.h"
#include "fabric/describe.h"
#include "fluid/fluid.h"
#include "path/ecmp.h"
#include "workload/traffic_list.h"

#include "../fabric/fixture.h"
#include "run_suite.h"

#include <check.h>
#include <math.h>

enum { PAYLOAD = 4096, HEADER = 82, MEGABYTE = 1000 * PAYLOAD, LEAF_HOSTS = 16, UPLINKS = 8 };

/* A fabric, a list of messages, and a run of them. */
struct trial {
    struct fabric *fabric;
    struct traffic_list *list;
    struct fluid_parameters parameters;
    struct fluid *fluid;
    enum fluid_status status;
};

static struct trial trial_of(const struct topology *topology) {
    struct error error;
    struct trial trial = {.fabric = fabric_build(topology, &error)};
    ck_assert_ptr_nonnull(trial.fabric);
    trial.list = traffic_list_create(trial.fabric->n_endpoints);
    trial.parameters = (struct fluid_parameters){.seed = 1,
                                                 .path = {.kind = PATH_ADAPTIVE},
                                                 .payload_bytes = PAYLOAD,
                                                 .header_bytes = HEADER,
                                                 .acknowledge_bytes = 1,
                                                 .queue_pairs = 1,
                                                 .record_bytes = PAYLOAD,
                                                 .limit_ps = UINT64_C(1) << 60};
    return trial;
}

static uint32_t send(struct trial *trial, uint32_t source, uint32_t destination, uint32_t tag, uint64_t bytes,
                     uint64_t start_ps) {
    const struct fabric_endpoint *from = &trial->fabric->endpoints[source];
    const bool near = from->n_nvlinks > 0 && from->domain == trial->fabric->endpoints[destination].domain;
    return traffic_list_add(trial->list, source,
                            &(struct traffic_message){.destination = destination,
                                                      .tag = tag,
                                                      .bytes = bytes,
                                                      .start_ps = start_ps,
                                                      .route = near ? TRAFFIC_NVLINK : TRAFFIC_FABRIC});
}

static void run(struct trial *trial) {
    const struct traffic traffic = traffic_list_traffic(trial->list);
    trial->fluid = fluid_create(trial->fabric, &trial->parameters, &traffic);
    trial->status = fluid_run(trial->fluid, NULL, NULL);
}

static void end(struct trial *trial) {
    fluid_free(trial->fluid);
    traffic_list_free(trial->list);
    fabric_free(trial->fabric);
}

/* When a message was delivered; 0 if it was not. */
static uint64_t delivered_ps(const struct trial *trial, uint32_t source, uint32_t destination, uint32_t tag) {
    uint64_t n;
    const struct fluid_message *messages = fluid_messages(trial->fluid, &n);
    for (uint64_t i = 0; i < n; i++) {
        if (messages[i].source == source && messages[i].destination == destination && messages[i].tag == tag) {
            return messages[i].delivered_ps;
        }
    }
    return 0;
}

static uint64_t wire_of(uint64_t bytes) {
    return bytes + (bytes + PAYLOAD - 1) / PAYLOAD * HEADER;
}

/* Time of bytes at a part of the rate of a rank's NIC, and the rest of the way of their largest packet. */
static double expected_ps(const struct trial *trial, uint32_t source, uint32_t destination, uint64_t bytes,
                          double part) {
    struct describe_path path;
    const struct fabric_link *nic = &trial->fabric->links[trial->fabric->devices[source].first_port];
    const uint64_t packet = bytes < PAYLOAD ? bytes + HEADER : PAYLOAD + HEADER;
    const double byte_ps = 8e12 / (double)nic->rate_bits_per_s;
    ck_assert(describe_path(trial->fabric, source, destination, FABRIC_ETHERNET, packet, &path));
    return (double)wire_of(bytes) * byte_ps / part - (double)packet * byte_ps + (double)path.latency_ps;
}

static void assert_time(uint64_t found_ps, double wanted_ps) {
    ck_assert_msg(fabs((double)found_ps - wanted_ps) <= 3, "%llu ps, not %.1f", (unsigned long long)found_ps,
                  wanted_ps);
}

START_TEST(a_message_alone_takes_what_its_bytes_and_its_way_take) {
    const struct topology topology = fixture_hosts();
    const uint64_t sizes[] = {1, PAYLOAD, PAYLOAD + 1, MEGABYTE};
    for (int i = 0; i < 4; i++) {
        struct trial trial = trial_of(&topology);
        send(&trial, 0, 20, 0, sizes[i], 0);
        run(&trial);
        ck_assert_int_eq(trial.status, FLUID_FINISHED);
        assert_time(delivered_ps(&trial, 0, 20, 0), expected_ps(&trial, 0, 20, sizes[i], 1));
        end(&trial);
    }
}
END_TEST

START_TEST(over_nvlink_a_message_alone_takes_all_links_and_one_record_s_way) {
    const struct topology topology = fixture_racks();
    struct trial trial = trial_of(&topology);
    struct describe_path path;
    send(&trial, 0, 5, 0, MEGABYTE, 0);
    run(&trial);
    ck_assert(describe_path(trial.fabric, 0, 5, FABRIC_NVLINK, PAYLOAD, &path));
    const double byte_ps = 8e12 / (18 * 400e9 * 0.8);
    assert_time(fluid_end_ps(trial.fluid), (MEGABYTE - PAYLOAD) * byte_ps + (double)path.latency_ps);
    ck_assert_uint_eq(fluid_nvlink_sent(trial.fluid, 0), MEGABYTE);
    ck_assert_uint_eq(fluid_nvlink_received(trial.fluid, 5), MEGABYTE);
    end(&trial);
}
END_TEST

START_TEST(senders_to_one_host_share_its_port) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    send(&trial, 0, 40, 0, MEGABYTE, 0);
    send(&trial, 20, 40, 0, MEGABYTE, 0);
    run(&trial);
    assert_time(delivered_ps(&trial, 0, 40, 0), expected_ps(&trial, 0, 40, MEGABYTE, 0.5));
    assert_time(delivered_ps(&trial, 20, 40, 0), expected_ps(&trial, 20, 40, MEGABYTE, 0.5));
    end(&trial);
}
END_TEST

/* Half of both at half the rate, then the longer one's other half alone. */
START_TEST(who_stays_takes_over_what_who_ends_has_had) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    send(&trial, 0, 40, 0, MEGABYTE, 0);
    send(&trial, 20, 40, 0, 2 * MEGABYTE, 0);
    run(&trial);
    assert_time(delivered_ps(&trial, 0, 40, 0), expected_ps(&trial, 0, 40, MEGABYTE, 0.5));
    assert_time(delivered_ps(&trial, 20, 40, 0), expected_ps(&trial, 20, 40, 3 * (uint64_t)MEGABYTE, 1));
    end(&trial);
}
END_TEST

START_TEST(messages_of_a_queue_pair_go_one_after_the_other) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    send(&trial, 0, 20, 0, MEGABYTE, 0);
    send(&trial, 0, 20, 1, MEGABYTE, 0);
    run(&trial);
    assert_time(delivered_ps(&trial, 0, 20, 0), expected_ps(&trial, 0, 20, MEGABYTE, 1));
    assert_time(delivered_ps(&trial, 0, 20, 1), expected_ps(&trial, 0, 20, 2 * MEGABYTE, 1));
    end(&trial);
}
END_TEST

START_TEST(what_waits_for_a_delivery_begins_with_it) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    send(&trial, 0, 20, 0, MEGABYTE, 5000000);
    const uint32_t answer = send(&trial, 20, 0, 0, MEGABYTE, 0);
    traffic_list_after(trial.list, answer, 0, 0);
    run(&trial);
    const double first_ps = 5000000 + expected_ps(&trial, 0, 20, MEGABYTE, 1);
    assert_time(delivered_ps(&trial, 0, 20, 0), first_ps);
    assert_time(delivered_ps(&trial, 20, 0, 0), first_ps + expected_ps(&trial, 20, 0, MEGABYTE, 1));
    end(&trial);
}
END_TEST

/* 16 hosts behind 8 uplinks. */
START_TEST(a_leaf_with_half_the_uplinks_halves_what_leaves_it_under_a_split) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    for (uint32_t host = 0; host < LEAF_HOSTS; host++) {
        send(&trial, host, LEAF_HOSTS + host, 0, MEGABYTE, 0);
    }
    run(&trial);
    for (uint32_t host = 0; host < LEAF_HOSTS; host++) {
        assert_time(delivered_ps(&trial, host, LEAF_HOSTS + host, 0),
                    expected_ps(&trial, host, LEAF_HOSTS + host, MEGABYTE, 0.5));
    }
    const uint32_t leaf = trial.fabric->switch_devices[0];
    for (uint32_t up = LEAF_HOSTS; up < LEAF_HOSTS + UPLINKS; up++) {
        ck_assert_uint_eq(fluid_link_bytes(trial.fluid, trial.fabric->devices[leaf].first_port + up),
                          LEAF_HOSTS / UPLINKS * wire_of(MEGABYTE));
    }
    end(&trial);
}
END_TEST

/* Host i of leaf 0 sends to host i of leaf 1: the hash puts it on an uplink, and the fullest one takes longest. */
START_TEST(hashed_flows_use_the_uplinks_that_the_hash_names) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    trial.parameters.path.kind = PATH_ECMP;
    const uint32_t leaf = trial.fabric->switch_devices[0];
    const struct ecmp_rule rule = ecmp_rule_of(&trial.parameters.path, trial.parameters.seed, leaf);
    uint64_t flows[UPLINKS] = {0};
    for (uint32_t host = 0; host < LEAF_HOSTS; host++) {
        const uint32_t to = LEAF_HOSTS + host;
        const struct path_request request = {.source = host,
                                             .destination = to,
                                             .entropy = (uint16_t)hash_mix(hash_mix(to)),
                                             .first_port = LEAF_HOSTS,
                                             .count = UPLINKS};
        flows[ecmp_rule_port(&rule, &request) - LEAF_HOSTS]++;
        send(&trial, host, to, 0, MEGABYTE, 0);
    }
    run(&trial);
    for (uint32_t up = 0; up < UPLINKS; up++) {
        ck_assert_uint_eq(fluid_link_bytes(trial.fluid, trial.fabric->devices[leaf].first_port + LEAF_HOSTS + up),
                          flows[up] * wire_of(MEGABYTE));
    }
    end(&trial);
}
END_TEST

START_TEST(acknowledgements_take_their_part_of_the_way_back) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    trial.parameters.control_bytes = 400;
    const double part = 1 / (1 + 400.0 / (PAYLOAD + HEADER));
    send(&trial, 0, 20, 0, MEGABYTE, 0);
    send(&trial, 20, 0, 0, MEGABYTE, 0);
    run(&trial);
    ck_assert_double_eq_tol((double)delivered_ps(&trial, 0, 20, 0), expected_ps(&trial, 0, 20, MEGABYTE, part), 2000);
    end(&trial);
}
END_TEST

/* Every fabric of the fixtures, an all-to-all of a few ranks in each, times for twice the bytes. */
START_TEST(twice_the_bytes_take_twice_the_time_but_for_the_latency) {
    const struct topology topologies[] = {fixture_hosts(), fixture_pods(), fixture_rails()};
    for (int t = 0; t < 3; t++) {
        double times[2];
        for (uint64_t times_bytes = 1; times_bytes <= 2; times_bytes++) {
            struct trial trial = trial_of(&topologies[t]);
            for (uint32_t from = 0; from < trial.fabric->n_endpoints; from += 3) {
                for (uint32_t to = 0; to < trial.fabric->n_endpoints; to += 3) {
                    if (from != to) {
                        send(&trial, from, to, 0, times_bytes * MEGABYTE, 0);
                    }
                }
            }
            run(&trial);
            ck_assert_int_eq(trial.status, FLUID_FINISHED);
            times[times_bytes - 1] = (double)fluid_end_ps(trial.fluid);
            end(&trial);
        }
        ck_assert_double_lt(fabs(times[1] - 2 * times[0]), 10e6); /* latencies of a few microseconds */
    }
}
END_TEST

/* Ranks of a leaf change places with each other: under a split nothing tells them apart. */
START_TEST(renumbered_hosts_have_the_same_times) {
    const struct topology topology = fixture_hosts();
    uint64_t ends_ps[2];
    for (uint32_t turn = 0; turn < 2; turn++) {
        struct trial trial = trial_of(&topology);
        for (uint32_t host = 0; host < 40; host++) {
            const uint32_t to = (7 * host + 11) % 48;
            const uint32_t from = turn ? host ^ 3 : host, turned = turn ? to ^ 3 : to;
            if (from != turned) {
                send(&trial, from, turned, host, (1 + host % 5) * (uint64_t)MEGABYTE, 0);
            }
        }
        run(&trial);
        ends_ps[turn] = fluid_end_ps(trial.fluid);
        end(&trial);
    }
    ck_assert_double_eq_tol((double)ends_ps[0], (double)ends_ps[1], 100);
}
END_TEST

START_TEST(a_resolution_changes_times_by_little_and_bytes_not_at_all) {
    const struct topology topology = fixture_hosts();
    uint64_t ends_ps[2], bytes[2];
    for (uint32_t turn = 0; turn < 2; turn++) {
        struct trial trial = trial_of(&topology);
        trial.parameters.resolution_ps = turn ? 2000000 : 0;
        for (uint32_t host = 0; host < 48; host++) {
            for (uint32_t other = 1; other < 12; other++) {
                send(&trial, host, (host + 4 * other) % 48, 0, (1 + (host + other) % 7) * (MEGABYTE / 16), host * 1000);
            }
        }
        run(&trial);
        ends_ps[turn] = fluid_end_ps(trial.fluid);
        bytes[turn] = fluid_link_bytes(trial.fluid, trial.fabric->devices[0].first_port);
        end(&trial);
    }
    ck_assert_uint_eq(bytes[0], bytes[1]);
    ck_assert_double_eq_tol((double)ends_ps[1] / (double)ends_ps[0], 1, 0.01);
}
END_TEST

START_TEST(a_dead_nic_stalls_and_the_message_is_named) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    const uint32_t out = trial.fabric->devices[3].first_port;
    struct failure failures[] = {
        {.kind = FAILURE_DOWN, .link = out, .until_ps = UINT64_MAX},
        {.kind = FAILURE_DOWN, .link = trial.fabric->links[out].reverse, .until_ps = UINT64_MAX},
    };
    const struct failure_list list = {.failures = failures, .count = 2};
    trial.parameters.failures = &list;
    send(&trial, 3, 20, 0, MEGABYTE, 0);
    send(&trial, 4, 21, 0, MEGABYTE, 0);
    run(&trial);
    ck_assert_int_eq(trial.status, FLUID_STALLED);
    ck_assert_uint_eq(fluid_stuck(trial.fluid)->source, 3);
    ck_assert_uint_gt(delivered_ps(&trial, 4, 21, 0), 0);
    end(&trial);
}
END_TEST

/* One of 8 uplinks at a fifth of its rate: by load it gets a fifth of a share, evenly it holds all back. */
START_TEST(a_slow_uplink_gets_less_by_load_and_holds_even_sprays_back) {
    const struct topology topology = fixture_hosts();
    const enum path_kind kinds[] = {PATH_ADAPTIVE, PATH_SPRAY_RANDOM};
    const double parts[] = {7.2 / 16, 8 * 0.2 / 16};
    for (int i = 0; i < 2; i++) {
        struct trial trial = trial_of(&topology);
        const uint32_t up = trial.fabric->devices[trial.fabric->switch_devices[0]].first_port + LEAF_HOSTS;
        struct failure slow = {.kind = FAILURE_SLOW,
                               .link = up,
                               .until_ps = UINT64_MAX,
                               .ps_per_byte = 5 * trial.fabric->links[up].ps_per_byte};
        const struct failure_list list = {.failures = &slow, .count = 1};
        trial.parameters.failures = &list;
        trial.parameters.path.kind = kinds[i];
        for (uint32_t host = 0; host < LEAF_HOSTS; host++) {
            send(&trial, host, LEAF_HOSTS + host, 0, MEGABYTE, 0);
        }
        run(&trial);
        const double wanted_ps = expected_ps(&trial, 0, LEAF_HOSTS, MEGABYTE, parts[i]);
        ck_assert_double_eq_tol((double)delivered_ps(&trial, 0, LEAF_HOSTS, 0) / wanted_ps, 1, 1e-5);
        end(&trial);
    }
}
END_TEST

/* Two cables to each of 4 spines, one of them dead: packets on their way to that leaf shun its spine by half. */
START_TEST(a_dead_cable_of_two_halves_what_its_spine_gets) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    const uint32_t up = trial.fabric->devices[trial.fabric->switch_devices[0]].first_port + LEAF_HOSTS;
    struct failure dead[] = {
        {.kind = FAILURE_DOWN, .link = up, .until_ps = UINT64_MAX},
        {.kind = FAILURE_DOWN, .link = trial.fabric->links[up].reverse, .until_ps = UINT64_MAX},
    };
    const struct failure_list list = {.failures = dead, .count = 2};
    trial.parameters.failures = &list;
    for (uint32_t host = 0; host < LEAF_HOSTS; host++) {
        send(&trial, LEAF_HOSTS + host, host, 0, MEGABYTE, 0);
    }
    run(&trial);
    const double wanted_ps = expected_ps(&trial, LEAF_HOSTS, 0, MEGABYTE, 7.0 / 16);
    ck_assert_double_eq_tol((double)delivered_ps(&trial, LEAF_HOSTS, 0, 0) / wanted_ps, 1, 1e-5);
    end(&trial);
}
END_TEST

START_TEST(failures_that_come_later_or_go_are_refused) {
    struct failure failure = {.kind = FAILURE_SLOW, .until_ps = UINT64_MAX};
    const struct failure_list list = {.failures = &failure, .count = 1};
    ck_assert_ptr_null(fluid_refuses(&list));
    failure.from_ps = 1;
    ck_assert_ptr_nonnull(fluid_refuses(&list));
    failure = (struct failure){.kind = FAILURE_DOWN, .until_ps = 1000};
    ck_assert_ptr_nonnull(fluid_refuses(&list));
    failure = (struct failure){.kind = FAILURE_LOSSY, .until_ps = UINT64_MAX};
    ck_assert_ptr_nonnull(fluid_refuses(&list));
}
END_TEST

START_TEST(a_limit_of_time_ends_a_run_and_what_came_later_did_not_come) {
    const struct topology topology = fixture_hosts();
    struct trial trial = trial_of(&topology);
    send(&trial, 0, 20, 0, PAYLOAD, 0);
    send(&trial, 1, 21, 0, 100 * (uint64_t)MEGABYTE, 0);
    trial.parameters.limit_ps = 100000000;
    run(&trial);
    ck_assert_int_eq(trial.status, FLUID_LIMIT);
    ck_assert_uint_gt(delivered_ps(&trial, 0, 20, 0), 0);
    ck_assert_uint_eq(delivered_ps(&trial, 1, 21, 0), 0);
    ck_assert_uint_eq(fluid_end_ps(trial.fluid), 100000000);
    end(&trial);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("fluid");
    tcase_add_test(cases, a_message_alone_takes_what_its_bytes_and_its_way_take);
    tcase_add_test(cases, over_nvlink_a_message_alone_takes_all_links_and_one_record_s_way);
    tcase_add_test(cases, senders_to_one_host_share_its_port);
    tcase_add_test(cases, who_stays_takes_over_what_who_ends_has_had);
    tcase_add_test(cases, messages_of_a_queue_pair_go_one_after_the_other);
    tcase_add_test(cases, what_waits_for_a_delivery_begins_with_it);
    tcase_add_test(cases, a_leaf_with_half_the_uplinks_halves_what_leaves_it_under_a_split);
    tcase_add_test(cases, hashed_flows_use_the_uplinks_that_the_hash_names);
    tcase_add_test(cases, acknowledgements_take_their_part_of_the_way_back);
    tcase_add_test(cases, twice_the_bytes_take_twice_the_time_but_for_the_latency);
    tcase_add_test(cases, renumbered_hosts_have_the_same_times);
    tcase_add_test(cases, a_resolution_changes_times_by_little_and_bytes_not_at_all);
    tcase_add_test(cases, a_dead_nic_stalls_and_the_message_is_named);
    tcase_add_test(cases, a_slow_uplink_gets_less_by_load_and_holds_even_sprays_back);
    tcase_add_test(cases, a_dead_cable_of_two_halves_what_its_spine_gets);
    tcase_add_test(cases, failures_that_come_later_or_go_are_refused);
    tcase_add_test(cases, a_limit_of_time_ends_a_run_and_what_came_later_did_not_come);
    Suite *suite = suite_create("fluid");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
