// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Destination-based routing of a fat tree, as the linear forwarding tables of InfiniBand switches hold it.
 */
#ifndef MOEFABRIC_PATH_D_MOD_K_H
#define MOEFABRIC_PATH_D_MOD_K_H

#include "path/path.h"

/**
 * The policy `d_mod_k`.
 *
 * An InfiniBand switch looks the destination's local identifier (LID) up in a table that the subnet manager has filled: every
 * packet to a destination leaves by the same port, whatever its source, queue pair and the load (InfiniBand Architecture
 * Specification, volume 1, 18.2.4.3 linear forwarding table). How fat trees are filled: D-Mod-K, E. Zahavi, Fat-Tree Routing and
 * Node Ordering Providing Contention Free Traffic for MPI Global Collectives (Journal of Parallel and Distributed Computing 72,
 * 2012): at a switch whose parents' cables are counted from 0, cable (d / stride) mod count, with stride the product of these
 * counts on the levels below. OpenSM's routing engine `ftree` gives the same balance: the destinations of a leaf in turn.
 *
 * Here: d = number of the destination's leaf × endpoints of the first leaf + number of its port there, so that destinations
 * are numbered along the tree, as `ftree` does, and not by rank (with rail wiring, ranks of one leaf are 8 apart and would meet).
 * stride = 1 but at a spine upwards, where it is the count of a leaf's uplinks; downwards, where parallel cables or several
 * spines lead to a leaf, it is 1 too, so that the way down to a destination is the mirror image of the way up from it.
 *
 * A port that is no candidate (its cable has failed) is replaced by (d / stride) mod (count of those left); all other
 * destinations keep theirs, as subnet managers do to disturb little. Approximation: OpenSM fills tables by counts of what it has assigned,
 * so it balances replacements better where several ports are gone.
 */
extern const struct path_policy d_mod_k_policy;

#endif
