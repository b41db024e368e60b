// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The link that explains a slow flow is one that all the flows named with it really used.
 */
#include "command/measure.h"
#include "laboratory.h"
#include "run_suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { HEADER_BYTES = 64, CONTROL_BYTES = 64, KEPT_FLOWS = 8 }; /* hosts.yaml; crossing.c */

/* Bytes of a flow named in a sentence, in a phase of this name. */
static uint64_t bytes_of(const struct measurement *measurement, uint32_t source, uint32_t destination,
                         const char *phase) {
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *flow = &measurement->flows[i];
        if (flow->source == source && flow->destination == destination &&
            strcmp(measurement->phases[flow->phase].name, phase) == 0) {
            return flow->bytes;
        }
    }
    ck_abort_msg("no flow %u -> %u (%s)", source, destination, phase);
    return 0;
}

/* Sum over the flows that a sentence names: "gpu1 → gpu2 (dispatch, 4 MB) took …: shares LINK with 3 other flows (gpu3 → gpu4, gpu5 → gpu6 (combine) and 1 more)". */
static uint64_t named_bytes(const struct measurement *measurement, const char *text) {
    char own_phase[32] = "";
    uint64_t bytes = 0;
    for (const char *at = strstr(text, "gpu"); at != NULL; at = strstr(at, "gpu")) {
        uint32_t source, destination;
        char phase[32] = "";
        int length = 0;
        if (sscanf(at, "gpu%u → gpu%u%n (%31[a-z]", &source, &destination, &length, phase) < 2) {
            at += strlen("gpu"); /* of a link's name, "gpu3 → leaf0" */
            continue;
        }
        if (own_phase[0] == '\0') {
            memcpy(own_phase, phase, sizeof phase);
        }
        bytes += bytes_of(measurement, source, destination, phase[0] != '\0' ? phase : own_phase);
        at += length;
    }
    return bytes;
}

static const struct measurement_link *named_link(const struct measurement *measurement, const char *text) {
    const char *name = strstr(text, "shares ");
    if (name == NULL) {
        return NULL;
    }
    name += strlen("shares ");
    const size_t length = (size_t)(strstr(name, " with ") - name);
    for (uint32_t i = 0; i < measurement->n_links; i++) {
        if (strlen(measurement->links[i].name) == length && strncmp(measurement->links[i].name, name, length) == 0) {
            return &measurement->links[i];
        }
    }
    ck_abort_msg("no link is called %.*s", (int)length, name);
    return NULL;
}

/* Groups of two GPUs: dispatch takes the first queue pair of a peer, combine the second; each flow is one message on one path. */
static uint32_t check_seed(uint64_t seed, uint32_t queue_pairs, const char *more) {
    char text[1024];
    snprintf(text, sizeof text,
             "name: strided\ntopology: hosts.yaml\nmodel: {hidden: 1024, experts: 8, top_k: 2}\n"
             "traffic: {pattern: moe, algorithm: direct, expert_parallelism: 2, group_placement: strided, "
             "gate: uniform, tokens_per_gpu: 200, jitter: 1 us}\npolicies: [ecmp(%u)+none]\nseeds: [%u]\n%s",
             (unsigned)queue_pairs, (unsigned)seed, more);
    struct laboratory laboratory = laboratory_run(text);
    const struct measurement *measurement = laboratory.measurement;
    uint32_t checked = 0;
    ck_assert_uint_gt(measurement->n_explanations, 0);
    for (uint32_t i = 0; i < measurement->n_explanations; i++) {
        const char *sentence = measurement->explanations[i].text;
        const struct measurement_link *link = named_link(measurement, sentence);
        if (link != NULL) {
            ck_assert_msg(link->bytes >= named_bytes(measurement, sentence), "%s, but it carried %llu B", sentence,
                          (unsigned long long)link->bytes);
            checked++;
        }
    }
    laboratory_fini(&laboratory);
    return checked;
}

START_TEST(a_named_link_carries_at_least_the_bytes_of_its_named_flows) {
    static const uint32_t queue_pairs[] = {1, 2, 4, 70};
    uint32_t checked = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        for (size_t i = 0; i < sizeof queue_pairs / sizeof queue_pairs[0]; i++) {
            checked += check_seed(seed, queue_pairs[i], "");
        }
    }
    ck_assert_uint_ge(checked, 16);
}
END_TEST

/* Routing leaves dead links out, so that hashes lead elsewhere: only links that every packet takes may be named. */
START_TEST(a_named_link_carries_its_flows_where_links_fail_too) {
    uint32_t checked = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        checked += check_seed(seed, 4,
                              "failures: [{what: \"leaf0:up0\", action: down, at: 5 us}, {what: \"leaf1:up2\", "
                              "action: down, at: 10 us}]\n"
                              "path: {convergence: 5 us}\ntransport: {retransmit_timeout: 200 us}\n");
    }
    ck_assert_uint_ge(checked, 8);
}
END_TEST

/* Where no link has as many flows as are kept, all payload that crossed it is accounted for, byte by byte. */
static void check_crossings(const char *text, uint32_t least, double tolerance) {
    struct laboratory laboratory = laboratory_run(text);
    const struct measurement *measurement = laboratory.measurement;
    uint32_t checked = 0;
    for (uint64_t i = 0; i < measurement->n_crossings;) {
        const struct measurement_link *link = &measurement->links[measurement->crossings[i].link];
        uint64_t bytes = 0, flows = 0;
        for (const uint32_t first = measurement->crossings[i].link;
             i < measurement->n_crossings && measurement->crossings[i].link == first; i++, flows++) {
            bytes += measurement->crossings[i].bytes;
        }
        const uint64_t payload = link->bytes - link->packets * HEADER_BYTES - link->control_packets * CONTROL_BYTES;
        if (flows < KEPT_FLOWS) {
            ck_assert_msg(fabs((double)bytes - (double)payload) <= tolerance * (double)payload,
                          "%s: %llu B of flows, %llu B of payload", link->name, (unsigned long long)bytes,
                          (unsigned long long)payload);
            checked++;
        }
    }
    ck_assert_uint_ge(checked, least);
    laboratory_fini(&laboratory);
}

START_TEST(crossings_are_what_links_carried) {
    static const char *const policies[] = {"ecmp+none", "\"ecmp(2)+none\"", "d_mod_k+none"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "name: crossings\ntopology: hosts.yaml\ntraffic: {pattern: permutation, bytes: 256 KiB}\n"
                 "policies: [%s]\nseeds: [3]\n",
                 policies[i]);
        check_crossings(text, 16, 0);
    }
}
END_TEST

/* Packets in turn by all ways: each carries its share but for what chance gives to one of several flows. */
START_TEST(crossings_of_spread_packets_are_what_is_expected) {
    check_crossings("name: spread\ntopology: hosts.yaml\ntraffic: {pattern: permutation, bytes: 4 MiB}\n"
                    "policies: [spray_round_robin+none]\nseeds: [3]\n",
                    16, 0.05);
}
END_TEST

/* A queue pair that keeps to a plane, and packets that take the plane which is free: half of them each, since planes are alike. */
START_TEST(crossings_know_planes) {
    static const char *const choices[] = {"queue_pair", "packet"};
    for (int i = 0; i < 2; i++) {
        char text[768];
        snprintf(text, sizeof text,
                 "name: planes\ntopology: {name: two-planes, racks: 16, nvlink: {gpus: 1}, nic: {planes: 2, rate: 100 "
                 "Gb/s, plane_choice: "
                 "%s, header: 64 B, control: 64 B}, leaf: {ports: 16, port_rate: 100 Gb/s}, fabric: {leaf_downlinks: "
                 "4, leaf_uplinks: 4, spines: 2}}\n"
                 "traffic: {pattern: permutation, bytes: %s}\npolicies: [%s+none]\nseeds: [3]\n",
                 choices[i], i == 0 ? "256 KiB" : "16 MiB", i == 0 ? "ecmp" : "spray_round_robin");
        check_crossings(text, 16, i == 0 ? 0 : 0.05);
    }
}
END_TEST

START_TEST(the_slowest_flows_have_their_reasons) {
    struct laboratory laboratory =
        laboratory_run("name: incast\ntopology: hosts.yaml\ntraffic: {pattern: incast, senders: 7, bytes: 1 MiB}\n"
                       "policies: [ecmp+none]\nseeds: [1]\n");
    const struct measurement *measurement = laboratory.measurement;
    ck_assert_uint_eq(measurement->n_slow_flows, 7);
    for (uint32_t i = 0; i < measurement->n_slow_flows; i++) {
        const struct measurement_slow_flow *slow = &measurement->slow_flows[i];
        const uint32_t receiver = measurement->flows[slow->flow].destination;
        ck_assert_uint_eq(measurement->links[slow->link].head_device, receiver);
        ck_assert_uint_eq(slow->sharers, 6);
        ck_assert_ptr_nonnull(strstr(slow->text, "incast: gpu"));
        ck_assert(i == 0 || measurement->flows[slow->flow].slowdown <=
                                measurement->flows[measurement->slow_flows[i - 1].flow].slowdown);
    }
    laboratory_fini(&laboratory);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("slow flow");
    TCase *test_case = tcase_create("links");
    tcase_add_test(test_case, a_named_link_carries_at_least_the_bytes_of_its_named_flows);
    tcase_add_test(test_case, a_named_link_carries_its_flows_where_links_fail_too);
    tcase_add_test(test_case, crossings_are_what_links_carried);
    tcase_add_test(test_case, crossings_of_spread_packets_are_what_is_expected);
    tcase_add_test(test_case, crossings_know_planes);
    tcase_add_test(test_case, the_slowest_flows_have_their_reasons);
    suite_add_tcase(suite, test_case);
    return run_suite(suite);
}
