// SPDX-License-Identifier: GPL-3.0-or-later
/* Destination-based routing: what a linear forwarding table of a fat tree promises. */
#include "path/d_mod_k.h"

#include "../fabric/fixture.h"
#include "base/error.h"
#include "base/memory.h"
#include "fabric/builder.h"
#include "run_suite.h"

#include <stdlib.h>

/* A fabric whose switches route by destination. */
struct routed {
    struct fabric *fabric;
    struct path_state **states; /* [n_switches] */
    uint32_t *flows;            /* [n_links] that have been sent over each */
};

static struct routed routed_create(const struct topology *topology) {
    static const struct path_parameters parameters = {.kind = PATH_D_MOD_K};
    struct error error = {0};
    struct routed routed = {.fabric = fabric_build(topology, &error)};
    ck_assert_ptr_nonnull(routed.fabric);
    routed.states = memory_allocate(routed.fabric->n_switches, sizeof *routed.states);
    routed.flows = memory_allocate(routed.fabric->n_links, sizeof *routed.flows);
    for (uint32_t i = 0; i < routed.fabric->n_switches; i++) {
        routed.states[i] =
            path_state_create(&d_mod_k_policy, &parameters, 7, routed.fabric, routed.fabric->switch_devices[i]);
    }
    return routed;
}

static void routed_free(struct routed *routed) {
    for (uint32_t i = 0; i < routed->fabric->n_switches; i++) {
        path_state_free(routed->states[i]);
    }
    free(routed->states);
    free(routed->flows);
    fabric_free(routed->fabric);
}

static uint16_t port_at(const struct routed *routed, uint32_t device, uint32_t source, uint32_t destination) {
    const struct fabric_route route = fabric_route_to(routed->fabric, device, destination);
    const struct path_request request = {.source = source,
                                         .destination = destination,
                                         .entropy = (uint16_t)(source * 77),
                                         .first_port = route.first_port,
                                         .count = route.count,
                                         .adaptive = source % 2};
    return route.count == 1 ? route.first_port
                            : d_mod_k_policy.choose(routed->states[routed->fabric->devices[device].ordinal], &request);
}

/* Walks from one endpoint to another, counting a flow on each link. */
static void send(struct routed *routed, uint32_t source, uint32_t destination) {
    const struct fabric *fabric = routed->fabric;
    uint32_t link = fabric->devices[source].first_port;
    for (int hops = 0; fabric->links[link].head_device != destination; hops++) {
        ck_assert_int_lt(hops, 8);
        const uint32_t device = fabric->links[link].head_device;
        routed->flows[link]++;
        link = fabric->devices[device].first_port + port_at(routed, device, source, destination);
    }
    routed->flows[link]++;
}

/* Endpoints in the order of the tree: leaf by leaf, port by port. */
static uint32_t *tree_order(const struct fabric *fabric) {
    uint32_t *order = memory_allocate(fabric->n_endpoints, sizeof *order);
    uint32_t n = 0;
    for (uint32_t leaf = 0; leaf < fabric->n_leaves; leaf++) {
        for (uint32_t port = 0; port < fabric->n_endpoints; port++) {
            for (uint32_t e = 0; e < fabric->n_endpoints; e++) {
                if (fabric->endpoints[e].leaf == leaf && fabric->endpoints[e].leaf_port == port) {
                    order[n++] = e;
                }
            }
        }
    }
    ck_assert_uint_eq(n, fabric->n_endpoints);
    return order;
}

/* Zahavi 2012: shift permutations do not contend on a non-blocking fat tree whose nodes are in the order of the tree. */
static void check_shifts(const struct topology *topology) {
    struct routed routed = routed_create(topology);
    const uint32_t n = routed.fabric->n_endpoints;
    uint32_t *order = tree_order(routed.fabric);
    for (uint32_t shift = 1; shift < n; shift += 5) {
        for (uint32_t i = 0; i < n; i++) {
            send(&routed, order[i], order[(i + shift) % n]);
        }
        for (uint32_t link = 0; link < routed.fabric->n_links; link++) {
            ck_assert_msg(routed.flows[link] <= 1, "shift %u: %u flows on link %u", shift, routed.flows[link], link);
            routed.flows[link] = 0;
        }
    }
    free(order);
    routed_free(&routed);
}

START_TEST(shifts_do_not_contend_where_consecutive_ranks_share_a_leaf) {
    const struct topology racks = fixture_racks();
    check_shifts(&racks);
}
END_TEST

START_TEST(shifts_do_not_contend_with_rail_wiring) {
    const struct topology rails = fixture_rails();
    check_shifts(&rails);
}
END_TEST

START_TEST(the_destination_alone_decides) {
    const struct topology pods = fixture_pods();
    struct routed routed = routed_create(&pods);
    for (uint32_t i = 0; i < routed.fabric->n_switches; i++) {
        const uint32_t device = routed.fabric->switch_devices[i];
        for (uint32_t to = 0; to < routed.fabric->n_endpoints; to++) {
            const uint16_t port = port_at(&routed, device, 0, to);
            for (uint32_t source = 1; source < 50; source++) {
                ck_assert_uint_eq(port_at(&routed, device, source, to), port);
            }
        }
    }
    routed_free(&routed);
}
END_TEST

/* From the 8 hosts of the first pod to the 16 of the others: 8 cables upwards of its leaves, and 8 of its spines. */
START_TEST(three_tiers_use_all_cables_upwards) {
    struct topology pods = fixture_pods();
    pods.racks = 24;
    struct routed routed = routed_create(&pods);
    for (uint32_t source = 0; source < 8; source++) {
        for (uint32_t to = 8; to < routed.fabric->n_endpoints; to++) {
            send(&routed, source, to);
        }
    }
    for (uint32_t link = 0; link < routed.fabric->n_links; link++) {
        const struct fabric_device *tail = &routed.fabric->devices[routed.fabric->links[link].tail_device];
        const struct fabric_device *head = &routed.fabric->devices[routed.fabric->links[link].head_device];
        if (tail->kind == FABRIC_SWITCH && head->kind == FABRIC_SWITCH && tail->pod == 0 && head->tier > tail->tier) {
            ck_assert_uint_eq(routed.flows[link], 8 * 16 / 8);
        }
    }
    routed_free(&routed);
}
END_TEST

START_TEST(only_destinations_of_a_lost_port_move) {
    const struct topology hosts = fixture_hosts();
    struct routed routed = routed_create(&hosts);
    const struct fabric_route up = fabric_route_to(routed.fabric, routed.fabric->switch_devices[0], 40);
    const uint16_t lost = (uint16_t)(up.first_port + 3);
    uint16_t left[64], n = 0;
    uint32_t moved[64] = {0};
    for (uint16_t port = up.first_port; port < up.first_port + up.count; port++) {
        left[n] = port;
        n = (uint16_t)(n + (port != lost));
    }
    for (uint32_t to = 16; to < routed.fabric->n_endpoints; to++) {
        const uint16_t before = port_at(&routed, routed.fabric->switch_devices[0], 0, to);
        const struct path_request request = {.destination = to, .first_port = up.first_port, .count = n, .ports = left};
        const uint16_t now = d_mod_k_policy.choose(routed.states[0], &request);
        ck_assert_uint_ne(now, lost);
        ck_assert(before == lost || now == before);
        moved[now] += before == lost;
    }
    uint32_t used = 0;
    for (uint32_t port = 0; port < 64; port++) {
        used += moved[port] > 0;
    }
    ck_assert_uint_gt(used, 1);
    routed_free(&routed);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("path d_mod_k");
    TCase *tests = tcase_create("d_mod_k");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, shifts_do_not_contend_where_consecutive_ranks_share_a_leaf);
    tcase_add_test(tests, shifts_do_not_contend_with_rail_wiring);
    tcase_add_test(tests, the_destination_alone_decides);
    tcase_add_test(tests, three_tiers_use_all_cables_upwards);
    tcase_add_test(tests, only_destinations_of_a_lost_port_move);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
