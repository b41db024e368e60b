// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The one builder of graphs: from counts, figures and plugging lists to a struct fabric.
 *
 * builder.h turns a topology into such a description; tests fill it directly with anything leaf-spine-like.
 * A description that breaks a rule stated here is a bug of the caller and aborts.
 */
#ifndef MOEFABRIC_FABRIC_IRREGULAR_H
#define MOEFABRIC_FABRIC_IRREGULAR_H

#include "fabric/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/** One direction of a cable. */
struct irregular_figures {
    uint64_t rate_bits_per_s; /**< usable; 8 Mb/s … 2^43 b/s (base/rate.h) */
    uint64_t latency_ps;      /**< whole latency of the link, > 0 */
    uint64_t propagation_ps;  /**< the cable's part of it, ≤ latency_ps */
};

/** A kind of cable: up leads from the GPU to the chip or leaf, from the leaf to the spine, or from there to the super-spine; down leads back. */
struct irregular_cable {
    struct irregular_figures up, down;
};

/** What to build. Arrays belong to the caller and are only read. */
struct irregular_description {
    uint32_t n_domains;             /**< groups of consecutive endpoints (racks or nodes), at least 1 */
    const uint32_t *domain_gpus;    /**< [n_domains] GPUs of each, at least 1; a domain of 1 GPU gets no NVLink */
    uint32_t n_chips;               /**< NVSwitch chips of each domain; 0 = no NVLink anywhere */
    const uint32_t *links_per_chip; /**< [n_chips] links of one GPU to that chip, at least 1 */
    uint32_t n_planes;              /**< 0 or 1 = one; else all Ethernet below is one plane of so many alike */
    uint32_t n_leaves;              /**< 0 = no Ethernet */
    const uint32_t *endpoint_leaf;  /**< [endpoints] leaf that the NIC is plugged into; FABRIC_NONE = no NIC */
    const uint32_t *leaf_rail;      /**< [n_leaves] rail of a leaf and of its endpoints; NULL = no rails */
    uint32_t n_spines;              /**< 0 with several leaves: they do not reach each other */
    const uint32_t *
        parallel_links; /**< [n_leaves × n_spines] cables between leaf l and spine s at l × n_spines + s: at least 1 within a pod, 0 between pods */
    uint32_t n_super_spines;   /**< 0 = two tiers */
    uint32_t n_pods;           /**< 0 or 1 = all leaves and spines are in one pod */
    const uint32_t *leaf_pod;  /**< [n_leaves] pod of a leaf; unused with one pod */
    const uint32_t *spine_pod; /**< [n_spines] pod of a spine, in order of pods; unused with one pod */
    const uint32_t *
        super_links; /**< [n_spines × n_super_spines] cables between spine s and super-spine u at s × n_super_spines + u; every super-spine reaches every pod, every spine a super-spine */
    bool leaf_cut_through, spine_cut_through, super_spine_cut_through;
    struct irregular_cable nvlink;       /**< GPU – chip; unused without chips */
    struct irregular_cable host;         /**< NIC – leaf; unused without leaves */
    struct irregular_cable uplink;       /**< leaf – spine; unused without spines */
    struct irregular_cable super_uplink; /**< spine – super-spine; unused without super-spines */
};

/**
 * Builds the graph. Devices: endpoints, leaves, spines, super-spines (each tier plane by plane), then the chips domain by domain. Ports: endpoint =
 * NIC ports by plane, then NVLink in chip order; leaf = endpoints in rank order, then uplinks grouped by spine; spine = grouped by leaf, then uplinks grouped by super-spine;
 * super-spine = grouped by spine, hence by pod; chip c with k links a GPU = ports j × k … j × k + k-1 for GPU j. Devices have at most
 * 65,535 ports. A packet goes up only as far as it must, and then down. Ends with fabric_free.
 */
struct fabric *irregular_build(const struct irregular_description *description);

/** Gives one directed link figures of its own (its reverse keeps its own) and keeps what depends on them right. For tests, before anything uses the fabric. */
void irregular_set_link(struct fabric *fabric, uint32_t link, const struct irregular_figures *figures);

/** Makes one Ethernet switch (device number) forward from the first bit, or not. For tests, before anything uses the fabric. */
void irregular_set_cut_through(struct fabric *fabric, uint32_t device, bool cut_through);

#endif
