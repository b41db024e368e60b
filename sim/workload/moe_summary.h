// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a plan will send, summed: bytes per rank and phase, loads, the traffic matrix, and the byte counts behind published bandwidths.
 *
 * Ideal time of a phase = the largest over ranks and directions of bytes ÷ rate of the port; the caller knows the rates.
 */
#ifndef MOEFABRIC_WORKLOAD_MOE_SUMMARY_H
#define MOEFABRIC_WORKLOAD_MOE_SUMMARY_H

#include "workload/moe.h"

#include <stdint.h>

/** The exchange of counts, then the phases that move token copies, in the order of enum moe_phase. */
enum moe_summary_phase {
    MOE_SUMMARY_COUNTS,
    MOE_SUMMARY_DISPATCH,
    MOE_SUMMARY_COMBINE,
    MOE_SUMMARY_COMBINE_BACKWARD,
    MOE_SUMMARY_DISPATCH_BACKWARD,
    MOE_SUMMARY_PHASES
};

/** Name for tables: counts, dispatch, combine, combine_backward, dispatch_backward. */
const char *moe_summary_phase_name(enum moe_summary_phase phase);

/** Is the phase simulated? That of the counts is where there are any, or acknowledgements. */
bool moe_summary_has_phase(const struct moe *moe, enum moe_summary_phase phase);

/** Payload bytes and messages of one rank, direction and route. */
struct moe_summary_side {
    uint64_t bytes;
    uint64_t messages;
};

/** One rank's traffic in one phase, over the NIC and over NVLink. The counts phase includes grants and acknowledgements. Phases that are switched off are 0. */
struct moe_summary_volume {
    struct moe_summary_side fabric_sent, fabric_received, nvlink_sent, nvlink_received;
};

/** Volume of a rank in a phase. */
struct moe_summary_volume moe_summary_volume(const struct moe *moe, uint32_t rank, enum moe_summary_phase phase);

/** Sums over all ranks, and the largest of a rank of each of the four (bytes and messages apart). */
struct moe_summary_extent {
    struct moe_summary_volume total, largest;
};

/** Extent of a phase. */
struct moe_summary_extent moe_summary_extent(const struct moe *moe, enum moe_summary_phase phase);

/**
 * Byte counts that published bandwidths divide by time, of one rank and one phase other than counts:
 * DeepEP's normal kernels count tokens × distinct nodes, the own one included ("RDMA"), and received tokens × distinct ranks, itself included ("NVL");
 * its low-latency kernels count every (token, expert) copy; on the wire only what crosses a link counts.
 */
struct moe_summary_logical {
    uint64_t domains_bytes;     /**< its tokens × distinct NVLink domains, own one included: "RDMA GB/s" */
    uint64_t ranks_bytes;       /**< tokens with an expert here, its own included: "NVL GB/s" */
    uint64_t copies_bytes;      /**< its tokens × top_k, without what was dropped: low-latency "GB/s" */
    uint64_t fabric_wire_bytes; /**< what its NIC sends (phases that go out) or receives (back) */
    uint64_t nvlink_wire_bytes; /**< what its NVLink receives (phases that go out) or sends (back) */
};

/** Logical and wire bytes of a rank. */
struct moe_summary_logical moe_summary_logical(const struct moe *moe, uint32_t rank, enum moe_summary_phase phase);

/** Bytes of one token copy in a phase other than counts. */
uint32_t moe_summary_unit_bytes(const struct moe *moe, enum moe_summary_phase phase);

/** Bytes that packets of a phase other than counts never straddle a multiple of: one token copy; 0 where copies lie in one buffer. */
uint32_t moe_summary_packet_unit_bytes(const struct moe *moe, enum moe_summary_phase phase);

/** (token, expert) pairs of all ranks that no expert had room for (gate.capacity_factor). */
uint64_t moe_summary_dropped(const struct moe *moe);

/** (token, expert) pairs of an expert in an expert-parallel group. */
uint64_t moe_summary_expert_tokens(const struct moe *moe, uint32_t group, uint32_t expert);

/** (token, expert) pairs of all experts of a rank: its compute load. */
uint64_t moe_summary_rank_tokens(const struct moe *moe, uint32_t rank);

/** The most loaded of many, and the mean. Balancedness in the sense max/mean is largest / mean. */
struct moe_summary_balance {
    uint32_t index; /**< the first that has the largest */
    uint64_t largest;
    double mean;
};

/** Balance over ranks. */
struct moe_summary_balance moe_summary_rank_balance(const struct moe *moe);

/** Balance over the experts of all groups; index = group × experts + expert. */
struct moe_summary_balance moe_summary_expert_balance(const struct moe *moe);

/** Adds to bytes[n_ranks] what a rank sends to each other in a phase, on links (to whom copies are handed on, too). */
void moe_summary_matrix_row(const struct moe *moe, enum moe_summary_phase phase, uint32_t rank, uint64_t *bytes);

/** A hash of the whole traffic, starts included and pacing excluded: equal for two policies that are shown the same. */
uint64_t moe_summary_digest(const struct moe *moe);

#endif
