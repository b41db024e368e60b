// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Equal flows of one leaf hashed onto its uplinks, nothing else contended: without packets, and with them.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_HASH_H
#define MOEFABRIC_COMMAND_VALIDATE_HASH_H

#include "command/validate_kind.h"

/** Loads by hash alone (path/replay.h), mean over seeds. */
extern const struct validate_kind validate_hash_load;

/**
 * The same flows as packets: one leaf of as many hosts as uplinks, each host with flows ÷ uplinks queue pairs to its own peer under another
 * leaf, a spine an uplink; so every other link carries what one uplink or one host sends. Slow-down = the slowest flow's time ÷ the time
 * in which a host alone sends all it has, both without the latency of the first packet. Where a row publishes nothing the reference is the load by hash alone, with the same seeds.
 */
extern const struct validate_kind validate_hash_packets;

#endif
