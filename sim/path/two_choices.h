// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The better of two: every packet compares two random ports.
 */
#ifndef MOEFABRIC_PATH_TWO_CHOICES_H
#define MOEFABRIC_PATH_TWO_CHOICES_H

#include "path/path.h"

/**
 * The policy `two_choices`.
 *
 * A packet that may be re-ordered looks at two different candidates, drawn at random (`sample.h`; stream
 * `hash_stream(seed, HASH_PURPOSE_PATH, device, 0)`), and takes the one whose queue was shallower **at the last refresh**; of equals the
 * one drawn first. Before the first refresh all queues count as empty. Other packets take the port that `ecmp` gives them (ordered traffic).
 *
 * Source: the power of two choices (Mitzenmacher: The Power of Two Choices in Randomized Load Balancing, IEEE TPDS 12 (10), 2001); per packet
 * in a switch: ultraethernet/uet-htsim 40ccb05, fat_tree_switch.cpp.
 *
 * Approximations: the law of two choices is about queues as they are. Here they are as old as `refresh_period_ps` at most, and all packets
 * between two refreshes compare the same depths: at 1 us and 400 Gb/s that is 12 packets of 4 KiB on each port. A period of about a packet's
 * time comes close to the published rule; choosing it is up to the user.
 */
extern const struct path_policy two_choices_policy;

#endif
