// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A small cluster, a list of messages, one run of the devices, and what became of each message.
 */
#ifndef MOEFABRIC_TESTS_DEVICE_RIG_H
#define MOEFABRIC_TESTS_DEVICE_RIG_H

#include "device/network.h"
#include "device/trace.h"
#include "workload/traffic_list.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RIG_LATENCY_PS = 500000, /**< of every link, if a shape gives none */
    RIG_PAYLOAD_BYTES = 4096,
    RIG_HEADER_BYTES = 64,
    RIG_CONTROL_BYTES = 64,
    RIG_RECORD_BYTES = 1024,
};

/** Leaves with hosts, all joined to all spines. Times a byte are whole picoseconds: 20 = 400 Gb/s. */
struct rig_shape {
    uint32_t leaves, hosts_per_leaf, spines; /**< leaves 0: no Ethernet, hosts_per_leaf GPUs in all */
    uint32_t parallel;                       /**< links between a leaf and a spine; 0 = 1 */
    uint32_t domain_gpus;                    /**< GPUs that share NVLink; 0 = none do */
    uint32_t chips, links_per_chip;          /**< of a domain; a GPU's links to each */
    uint64_t up_ps, down_ps;                 /**< host links, ps a byte; down 0 = as up */
    uint64_t uplink_ps;                      /**< leaf to spine and back; 0 = as up */
    uint64_t nvlink_ps;
    uint64_t latency_ps; /**< 0 = RIG_LATENCY_PS */
    bool cut_through;    /**< all switches */
};

/** One set-up and its run. */
struct rig {
    struct fabric *fabric;
    struct network_parameters parameters; /**< to be changed before rig_run; at first rig_parameters */
    struct traffic_list *list;
    struct traffic traffic;
    struct network *network;
    enum network_status status;
    struct trace trace; /**< in the order of rig_run's devices, not sorted */
    uint32_t n_messages, capacity;
    struct rig_message *messages; /**< by tag */
};

/** A message and its fate. */
struct rig_message {
    uint32_t source;
    struct traffic_message message;
    uint64_t delivered_ps, completed_ps; /**< TIME_NEVER: it was not */
};

/** Figures with which nothing gets in the way: large buffers, no window, no controller, no ECN, an ACK at the end of a message. */
struct network_parameters rig_parameters(void);

/** Builds a fabric. Freed by fabric_free. */
struct fabric *rig_fabric(const struct rig_shape *shape);

/** A set-up on a new fabric of this shape. Ends with rig_free. */
struct rig *rig_create(const struct rig_shape *shape);

/**
 * The same on a new fabric of so many leaves, a host each, and as many spines, which sends all traffic round: leaf 0, spine 0, leaf 1, spine 1,
 * … leaf 0. Such routes go down and up again, which is what no builder makes and what lets buffers wait on each other (Dally and Seitz:
 * Deadlock-Free Message Routing, 1987).
 */
struct rig *rig_create_round(uint32_t leaves);

/** Frees a set-up with all it owns. */
void rig_free(struct rig *rig);

/** Adds a message that is posted at time 0. Returns its tag: 0, 1, … */
uint32_t rig_send(struct rig *rig, uint32_t source, uint32_t destination, uint64_t bytes);

/** Adds any message; its tag is set. Returns it. */
uint32_t rig_add(struct rig *rig, uint32_t source, const struct traffic_message *message);

/** Runs to the end. If that is NETWORK_FINISHED: all was delivered once, each link and each switch gave what it took. Called once. */
enum network_status rig_run(struct rig *rig);

/** The same on several threads. No trace is kept, so fates are known of messages through queue pairs only. */
enum network_status rig_run_on(struct rig *rig, uint32_t threads);

/** Runs, and fails the test unless all is delivered. Returns the time of the last delivery. */
uint64_t rig_finish(struct rig *rig);

/** Time at which a message was wholly delivered. */
uint64_t rig_delivered_ps(const struct rig *rig, uint32_t tag);

/** Time at which its sender knew. */
uint64_t rig_completed_ps(const struct rig *rig, uint32_t tag);

/** Bytes of a message on the wire, headers included. */
uint64_t rig_wire_bytes(const struct rig *rig, uint64_t bytes);

/** Link from an endpoint's NIC to its leaf, and back. */
uint32_t rig_up(const struct rig *rig, uint32_t endpoint);
uint32_t rig_down(const struct rig *rig, uint32_t endpoint);

/** Sum of the counters of all links. deepest_bytes: the largest. */
struct link_counters rig_links(const struct rig *rig);

/** Sum of the counters of all endpoints. reordering_depth: the largest. */
struct endpoint_counters rig_endpoints(const struct rig *rig);

/** Fails the test unless two runs of one set-up gave the same times, counters and trace (if both have one). Sorts the traces. */
void rig_assert_equal(struct rig *a, struct rig *b);

#endif
