// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Round-robin spray: a switch hands its packets to the candidates in turn.
 */
#ifndef MOEFABRIC_PATH_SPRAY_ROUND_ROBIN_H
#define MOEFABRIC_PATH_SPRAY_ROUND_ROBIN_H

#include "path/path.h"

/**
 * The policy `spray_round_robin`.
 *
 * A packet that may be re-ordered goes to the candidate whose turn it is, whichever ingress port it came from: a switch keeps one order for
 * every range of candidates (known by its first port). The k-th order of a range, k from 0, begins at
 * `hash_draw(hash_stream(seed, HASH_PURPOSE_PATH, device, first port), 2k)`, uniform among the candidates, and goes on in steps of s ports,
 * wrapping around: s is `1 + hash_below(draw 2k + 1, count - 1)`, or the next number that has no divisor in common with the count, so that
 * each candidate has one turn a round. After `round_robin_rounds` rounds the next order is drawn; 0 keeps the first for good, with s = 1: the
 * plain "next port". Load does not matter. Other packets take the port that `ecmp` gives them (ordered traffic).
 *
 * Sources: round robin by packet: Cao et al., Per-packet Load-balanced, Low-Latency Routing for Clos-based Data Center Networks, CoNEXT
 * 2013; a new order every five rounds: ultraethernet/uet-htsim 40ccb05, fat_tree_switch.cpp.
 *
 * Approximations: htsim draws any permutation, here one of the count × (numbers prime to it) that are a start and a step; packets count,
 * not bytes, so a mix of sizes is not evened out. With one order for good, switches that send at the same rate stay in step for as long
 * as they send: whether several of them meet at a spine is settled by their first turns.
 */
extern const struct path_policy spray_round_robin_policy;

#endif
