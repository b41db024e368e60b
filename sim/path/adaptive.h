// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Adaptive routing in the style of Spectrum-X switches: per packet, the least loaded port as last looked at.
 */
#ifndef MOEFABRIC_PATH_ADAPTIVE_H
#define MOEFABRIC_PATH_ADAPTIVE_H

#include "path/path.h"

/**
 * The policy `adaptive`.
 *
 * At each refresh every port gets a grade: the first i with depth < grade_bounds_bytes[i], else 3; a port whose lossless
 * class is paused has grade 4, worse than all. Before the first refresh all have grade 0. A packet that is marked as
 * eligible goes to one of the candidates with the best grade, uniformly at random: the n-th such choice for an ingress
 * port i of a device uses `hash_draw(hash_stream(seed, HASH_PURPOSE_ADAPTIVE, device, i), n)`, n from 0, and a draw is
 * made also where one port alone is best. Other packets take the port that `ecmp` gives them (ordered traffic).
 * Where candidates have weights (`weights` of the request), the choice among the best is in proportion to them: with S their
 * sum, the one in whose stretch `hash_below(draw, S)` falls, by port. With equal weights that is the uniform choice.
 *
 * Sources: per packet, by egress queue occupancy, decisions follow port states that change every 1 us, a fixed figure,
 * RoCE only, marked by the NIC: Cumulus Linux 5.15 and 5.16, Equal Cost Multipath Load Sharing, section Adaptive
 * Routing (CumulusNetworks/docs). The form of the rule (pause state before queue grade, four grades, uniform choice
 * among the best): htsim, fat_tree_switch.cpp and queue.cpp (ultraethernet/uet-htsim 40ccb05). Grades by bands of
 * queue depth with a share of traffic a grade are also described in US patent application 2025/0039109.
 * Weights for remote asymmetry from the routing protocol: Spectrum-X as arXiv:2605.21187 describes it; BGP's link bandwidth
 * community carries the capacity through the network, and next hops are used in proportion to it (Cumulus Linux 5.14, BGP
 * Weighted ECMP; RFC 10005); adaptive routing by such weights: Mellanox, patent application IN 202311057144.
 *
 * Approximations: the number and the bounds of the grades in hardware are not public (htsim's are 5, 10 and 20 % of
 * the queue; here they are parameters in bytes); port utilisation is not graded (off by default in Cumulus Linux);
 * weights are exact (Cumulus Linux rounds them to 1 … 100 of their sum) and known everywhere at once; all packets between two refreshes see the same grades, and choose among the best
 * at random.
 *
 * Cost: O(1) a packet. The best ports of each candidate range are listed on its first use after a refresh that changed
 * a grade. Ranges must be identical or disjoint for that; a range that overlaps another in part, or has weights, is
 * scanned each time.
 */
extern const struct path_policy adaptive_policy;

/** Grade of a port at a refresh: 0 (best) … 3 by depth, 4 if paused. */
unsigned adaptive_grade(const struct path_parameters *parameters, const struct path_port *port);

#endif
