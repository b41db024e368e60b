// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/flow_pairs.h"

#include "base/memory.h"
#include "command/measure.h"

#include <stdlib.h>

enum { WORD_BITS = 64 };

uint32_t flow_pairs_of_peer(const struct simulation *simulation) {
    return simulation->policy->queue_pairs > 0 ? simulation->policy->queue_pairs : 1;
}

/* The first flow that is not before (source, destination, phase); flows are in that order. */
static uint64_t find_flow(const struct measurement *measurement, uint32_t source, uint32_t destination,
                          uint32_t phase) {
    uint64_t low = 0, high = measurement->n_flows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const struct measurement_flow *flow = &measurement->flows[middle];
        const bool before = flow->source != source             ? flow->source < source
                            : flow->destination != destination ? flow->destination < destination
                                                               : flow->phase < phase;
        if (before) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A bit for each queue pair of each flow from a rank. numbers: receives the first number of the pairs of each flow's peer. */
static uint64_t *find_bits(const struct flow_pairs *pairs, uint32_t rank, uint64_t first_flow, uint64_t n_flows,
                           uint32_t *numbers) {
    const uint32_t per_peer = flow_pairs_of_peer(pairs->simulation);
    const uint32_t words = (per_peer + WORD_BITS - 1) / WORD_BITS;
    uint64_t *bits = memory_allocate(n_flows * words, sizeof(*bits));
    uint32_t n;
    const struct endpoint_sent *sent = endpoint_sent_messages(network_endpoint(pairs->network, rank), &n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t phase = measure_phase_of(pairs->plan, sent[i].tag);
        const uint64_t flow = find_flow(pairs->measurement, rank, sent[i].destination, phase) - first_flow;
        REQUIRE(flow < n_flows, "a message of rank %u to %u is in no flow", rank, sent[i].destination);
        const uint32_t first = sent[i].queue_pair % per_peer;
        numbers[flow] = (uint32_t)sent[i].queue_pair - first;
        const uint32_t end = pairs->simulation->policy->split_messages ? per_peer : first + 1;
        for (uint32_t pair = first; pair < end; pair++) {
            bits[flow * words + pair / WORD_BITS] |= UINT64_C(1) << (pair % WORD_BITS);
        }
    }
    return bits;
}

void flow_pairs_visit(const struct flow_pairs *pairs, uint32_t rank, flow_pairs_visitor *visit, void *context) {
    const uint32_t per_peer = flow_pairs_of_peer(pairs->simulation);
    const uint32_t words = (per_peer + WORD_BITS - 1) / WORD_BITS;
    const uint64_t first = find_flow(pairs->measurement, rank, 0, 0);
    const uint64_t n_flows = find_flow(pairs->measurement, rank + 1, 0, 0) - first;
    uint32_t *numbers = memory_allocate(n_flows, sizeof *numbers);
    uint64_t *bits = find_bits(pairs, rank, first, n_flows, numbers);
    for (uint64_t flow = 0; flow < n_flows; flow++) {
        for (uint32_t pair = 0; pair < per_peer; pair++) {
            if (bits[flow * words + pair / WORD_BITS] >> (pair % WORD_BITS) & 1) {
                visit(context, first + flow, pair, numbers[flow] + pair);
            }
        }
    }
    free(numbers);
    free(bits);
}
