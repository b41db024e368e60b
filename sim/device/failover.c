// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/failover.h"

#include "device/endpoint_internal.h"
#include "fabric/failure_plan.h"

bool failover_happens(const struct context *context) {
    return context->failures != NULL && context->fabric->n_planes > 1;
}

/* Whether there was a way over a plane at a time. */
static bool leads(const struct context *context, uint32_t source, uint32_t destination, uint32_t plane,
                  uint64_t at_ps) {
    const struct fabric *fabric = context->fabric;
    const uint32_t first = fabric->devices[source].first_port + plane,
                   last = fabric->devices[destination].first_port + plane;
    const uint32_t near = fabric->endpoints[source].leaf, far = fabric->endpoints[destination].leaf;
    if (failure_plan_state(context->failures, first, at_ps).down ||
        failure_plan_state(context->failures, last, at_ps).down) {
        return false;
    }
    return near == far || failure_plan_reaches(context->failures, fabric_leaf_ordinal(fabric, plane, near), far, at_ps);
}

uint32_t failover_mask(const struct context *context, uint32_t source, uint32_t destination, uint64_t now_ps) {
    const uint32_t n_planes = context->fabric->n_planes;
    const uint64_t after_ps = context->parameters->nic.plane_failover_ps;
    uint32_t mask = 0;
    if (!failover_happens(context) || now_ps < after_ps) {
        return 0;
    }
    for (uint32_t plane = 0; plane < n_planes; plane++) {
        mask |= leads(context, source, destination, plane, now_ps - after_ps) ? 0 : 1u << plane;
    }
    return mask == (1u << n_planes) - 1 ? 0 : mask;
}

uint32_t failover_plane(const struct context *context, uint32_t source, uint32_t destination, uint32_t plane,
                        uint64_t now_ps) {
    return failover_next(failover_mask(context, source, destination, now_ps), plane, context->fabric->n_planes);
}

uint64_t failover_step_ps(const struct context *context, uint32_t n) {
    uint32_t count;
    uint64_t step_ps;
    const uint64_t *times = failure_plan_times(context->failures, &count);
    return n >= count || __builtin_add_overflow(times[n], context->parameters->nic.plane_failover_ps, &step_ps)
               ? TIME_NEVER
               : step_ps;
}

static uint32_t closed_planes(const struct nic *nic, struct queue_pair *pair) {
    uint32_t closed = 0;
    for (uint32_t plane = 0; plane < nic->n_planes; plane++) {
        closed |= (uint32_t)pair_plane(nic, pair, plane)->closed << plane;
    }
    return closed;
}

/* Whether something of a queue pair may be on its way over planes that it has just left. */
static bool loses(const struct nic *nic, const struct queue_pair *pair, uint32_t left) {
    for (uint32_t plane = 0; plane < nic->n_planes && nic->ledgers; plane++) {
        if (left >> plane & 1 && nic->ledgers[pair->number].planes[plane].in_flight > 0) {
            return true;
        }
    }
    return !nic->ledgers && left != 0 && pair->cumulative < pair->sent_number;
}

void failover_step(struct endpoint *endpoint, struct engine_worker *worker, uint64_t now_ps) {
    struct nic *nic = &endpoint->nic;
    if (now_ps > 0) {
        nic_drain(endpoint, worker, now_ps - 1);
    }
    for (uint32_t p = 0; p < nic->n_pairs; p++) {
        struct queue_pair *pair = &nic->pairs[p];
        const uint32_t before = closed_planes(nic, pair);
        pair_open_planes(endpoint, pair, now_ps);
        const uint32_t after = closed_planes(nic, pair);
        const uint32_t dead = failover_mask(endpoint->context, endpoint->device, pair->destination, now_ps);
        if (loses(nic, pair, after & ~before & dead)) {
            pair_give_up_flight(endpoint, pair, now_ps);
        }
        if (after != before) {
            nic_line_up(endpoint, worker, pair, now_ps);
        }
    }
}
