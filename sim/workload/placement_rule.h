// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Placements by rule: of an expert's number alone, of loads, or of joint choices.
 *
 * contiguous: expert e on rank e ÷ (experts of a rank). round_robin: on rank e mod ranks. domain_packed: consecutive experts in one NVLink domain,
 * dealt out to its ranks in turn. spread: expert e in domain e mod domains, there dealt out to ranks in turn. None of these has replicas.
 * eplb, eplb_global: workload/placement_eplb.h, with a node for each domain. affinity: workload/placement_affinity.h.
 */
#ifndef MOEFABRIC_WORKLOAD_PLACEMENT_RULE_H
#define MOEFABRIC_WORKLOAD_PLACEMENT_RULE_H

#include "config/experiment.h"
#include "workload/placement.h"
#include "workload/placement_history.h"
#include "workload/placement_layout.h"

/** An expert-parallel group as placements see it. */
struct placement_shape {
    uint32_t experts;
    uint32_t groups;       /**< of consecutive experts, of group-limited gates; divides experts */
    uint32_t replicas;     /**< of all experts together; a multiple of ranks */
    uint32_t ranks;        /**< of the group */
    uint32_t domain_ranks; /**< consecutive ranks in one NVLink domain; divides ranks */
    const struct placement_layout
        *layout; /**< where ranks are not on equal parts of domains (domain_ranks = ranks then); else NULL. Borrowed */
};

/**
 * A placement of a kind other than file; freed by placement_free. Kinds that do not learn ignore history (NULL is allowed) and need replicas = experts.
 */
struct placement *placement_rule(enum experiment_placement_kind kind, const struct placement_shape *shape,
                                 const struct placement_history *history);

#endif
