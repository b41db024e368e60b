// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which of several equally short ports a switch sends a packet to: one file a policy behind this interface.
 *
 * A policy is a pure state machine: it sees the packet, the candidate ports, and a snapshot of the ports that
 * the switch takes at fixed times; it never sees queues as they are now. The engine and the naive simulator of
 * the tests share it.
 */
#ifndef MOEFABRIC_PATH_PATH_H
#define MOEFABRIC_PATH_PATH_H

#include "fabric/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum path_kind {
    PATH_ECMP,
    PATH_ADAPTIVE,
    PATH_SPRAY_RANDOM,
    PATH_SPRAY_ROUND_ROBIN,
    PATH_TWO_CHOICES,
    PATH_DRILL,
    PATH_FLOWLET,
    PATH_HOST_REPS,
    PATH_D_MOD_K,
    PATH_KINDS
};

/** How headers are hashed, under `ecmp` and for the ordered packets of every other policy. */
enum path_hash {
    PATH_HASH_MIX,   /**< a good hash */
    PATH_HASH_CRC16, /**< a switch's CRC */
};

/** Parameters of all policies (configuration section `path`). */
struct path_parameters {
    enum path_kind kind;
    bool polarised; /**< ecmp: the same hash seed in every switch */
    enum path_hash hash;
    uint64_t
        refresh_period_ps; /**< adaptive, two_choices, drill: how often port states are looked at (1 us, fixed on Spectrum: Cumulus Linux ECMP documentation) */
    uint32_t grade_bounds_bytes[3]; /**< adaptive: a port with depth < bound i has grade i; else grade 3 */
    uint32_t round_robin_rounds;    /**< spray_round_robin: after so many rounds a new order is drawn; 0 = never */
    uint64_t flowlet_gap_ps;        /**< flowlet: a flow that was silent for longer may move */
    uint32_t flowlet_entries;       /**< flowlet: places of a switch's table, ≥ 1 */
    bool remote_weights;            /**< adaptive: ports are drawn by the capacity behind them, where links fail */
};

/** One packet's question. */
struct path_request {
    uint64_t now_ps;
    uint32_t source, destination; /**< endpoints */
    uint16_t entropy;             /**< of the packet */
    uint16_t ingress_port;
    uint16_t first_port, count; /**< candidates: first_port … first_port+count-1, count ≥ 2; unless: */
    const uint16_t *ports; /**< [count], ascending: these of the range that begins at first_port; NULL: all of it */
    const uint32_t *
        weights; /**< of the ports first_port, first_port + 1, … by the routing tables: not 0 for candidates; NULL: all weigh the same */
    bool adaptive; /**< the packet may be re-ordered */
};

/** Candidate number index (0 … count-1). */
static inline uint16_t path_candidate(const struct path_request *request, uint32_t index) {
    return __builtin_expect(request->ports == NULL, 1) ? (uint16_t)(request->first_port + index)
                                                       : request->ports[index];
}

/** Whether a port is among the candidates. */
static inline bool path_is_candidate(const struct path_request *request, uint32_t port) {
    if (request->ports == NULL) {
        return port >= request->first_port && port < (uint32_t)request->first_port + request->count;
    }
    for (uint32_t i = 0; i < request->count; i++) {
        if (request->ports[i] == port) {
            return true;
        }
    }
    return false;
}

/** What a policy is shown of a port at a refresh. */
struct path_port {
    uint64_t depth_bytes; /**< accepted and not fully sent, all classes */
    bool paused;          /**< its lossless class is paused by the other end */
};

struct path_state;

/** One policy. */
struct path_policy {
    const char *name; /**< as the configuration spells it */
    bool reads_ports; /**< wants refreshes */
    bool
        reorders; /**< sends packets of one queue pair over several paths at once: NICs must mark those that bear it. It decides packet by packet, so its switches leave out their own dead ports at once (device/failures.md) */
    bool
        hashes; /**< every packet goes where ecmp_rule_port says, whatever the load and the time: reports replay its path */
    bool weighs;   /**< asks for the weights of candidates */
    bool recycles; /**< NICs give each packet that may be re-ordered an entropy of its own (host_reps.h) */
    /** State for one switch (device number) of n_ports ports. Ends with path_state_free. */
    struct path_state *(*create)(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                 uint32_t n_ports);
    /** Tells a new state where its switch (device number) stands in the fabric, which outlives it. NULL: the policy does not ask. */
    void (*place)(struct path_state *state, const struct fabric *fabric, uint32_t device);
    /** Port states as they are at a refresh time. ports[n_ports]; only those that are candidates of some route need be right. Of several refreshes without a choice between them all but the last may be left out. */
    void (*refresh)(struct path_state *state, const struct path_port *ports);
    /** Returns a port among the candidates. */
    uint16_t (*choose)(struct path_state *state, const struct path_request *request);
};

/** The policy of a kind; the table of policies is in path.c. */
const struct path_policy *path_policy_of(enum path_kind kind);

/** State of a policy for one switch (device number) of a fabric. Ends with path_state_free. */
struct path_state *path_state_create(const struct path_policy *policy, const struct path_parameters *parameters,
                                     uint64_t seed, const struct fabric *fabric, uint32_t device);

/** Frees the state of any policy; NULL is allowed. */
void path_state_free(struct path_state *state);

/** Time of the first refresh of a device: hash(device) mod period, so that switches do not look in step. */
uint64_t path_refresh_offset_ps(const struct path_parameters *parameters, uint64_t seed, uint32_t device);

#endif
