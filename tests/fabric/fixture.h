// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Topologies and walks that the suites of the fabric room share.
 */
#ifndef MOEFABRIC_TESTS_FABRIC_FIXTURE_H
#define MOEFABRIC_TESTS_FABRIC_FIXTURE_H

#include "config/topology.h"
#include "fabric/fabric.h"

#include <check.h>

/** ck_assert for loops over every link or pair: it costs nothing while it holds (Check writes each assertion that it passes to a pipe). */
#define FIXTURE_EXPECT(condition)                                                                                      \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            ck_abort_msg("%s", #condition);                                                                            \
        }                                                                                                              \
    } while (0)

/** 4 NVL72 racks, 64 GPUs used of each, one leaf a rack (64 down, 64 up), 2 spines; 400 Gb/s, 600 ns switches, 500 ns NICs, 5 m and 30 m of cable at 5 ns/m. */
struct topology fixture_racks(void);

/** 128 racks of 64 GPUs: 8,192 GPUs on 128 leaves and 64 spines. */
struct topology fixture_large(void);

/** 16 HGX nodes of 8 GPUs on 4 NVSwitch chips (18 links a GPU), 8 rails, leaves of 16 + 16 ports, 4 spines. */
struct topology fixture_rails(void);

/** 48 hosts without NVLink, leaves of 16 + 8 ports at 100 Gb/s, 4 spines, every link 500 ns. */
struct topology fixture_hosts(void);

/**
 * 20 hosts without NVLink in pods of 8: leaves of 4 + 4 ports, 2 spines a pod, 4 super-spines in 2 groups, 4 uplinks a spine; every link 500 ns
 * at 100 Gb/s. The third pod holds 4 hosts on one leaf.
 */
struct topology fixture_pods(void);

/** Checks the table of routes against shortest ways found by search: every port that begins one, and no other. */
void fixture_check_routes(const struct fabric *fabric);

/** Checks what holds for every fabric: numbering, involution of reverse links, ports of endpoints and chips, rates, smallest latency. */
void fixture_check_graph(const struct fabric *fabric);

/** Follows fabric_route_to over Ethernet, always taking candidate number `pick` mod count. Returns the switches passed; fails the test if it does not arrive in `limit`. */
unsigned fixture_follow(const struct fabric *fabric, uint32_t source, uint32_t destination, unsigned pick,
                        unsigned limit);

#endif
