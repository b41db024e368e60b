// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/placement_move.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

/* Experts that each rank has sent and received so far. */
struct tally {
    uint32_t *sent[2], *received[2]; /* [ranks] over NVLink, over the fabric */
    const uint32_t *domain;          /* [ranks] */
};

static bool holds(const struct placement *placement, uint32_t expert, uint32_t rank) {
    for (uint32_t i = placement->first[expert]; i < placement->first[expert + 1]; i++) {
        if (placement->rank[i] == rank) {
            return true;
        }
    }
    return false;
}

/* The holder that an expert comes from. */
static uint32_t holder(const struct placement *from, const struct tally *tally, uint32_t expert, uint32_t rank,
                       bool *fabric) {
    uint32_t best = from->rank[from->first[expert]];
    *fabric = tally->domain[best] != tally->domain[rank];
    for (uint32_t i = from->first[expert] + 1; i < from->first[expert + 1]; i++) {
        const uint32_t other = from->rank[i];
        const bool far = tally->domain[other] != tally->domain[rank];
        if (far < *fabric || (far == *fabric && tally->sent[far][other] < tally->sent[far][best])) {
            best = other;
            *fabric = far;
        }
    }
    return best;
}

static uint32_t most(const uint32_t *sent, const uint32_t *received, uint32_t ranks) {
    uint32_t largest = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        largest = sent[rank] > largest ? sent[rank] : largest;
        largest = received[rank] > largest ? received[rank] : largest;
    }
    return largest;
}

struct placement_move placement_move_count(const struct placement *from, const struct placement *to,
                                           const struct placement_layout *layout) {
    struct placement_move move = {0};
    struct tally tally = {.domain = layout->domain};
    for (int way = 0; way < 2; way++) {
        tally.sent[way] = memory_allocate(to->ranks, sizeof(uint32_t));
        tally.received[way] = memory_allocate(to->ranks, sizeof(uint32_t));
    }
    for (uint32_t expert = 0; expert < to->experts; expert++) {
        for (uint32_t i = to->first[expert]; i < to->first[expert + 1]; i++) {
            const bool again = i > to->first[expert] && to->rank[i - 1] == to->rank[i]; /* held already */
            if (!again && !holds(from, expert, to->rank[i])) {
                bool fabric;
                const uint32_t source = holder(from, &tally, expert, to->rank[i], &fabric);
                tally.sent[fabric][source]++;
                tally.received[fabric][to->rank[i]]++;
                *(fabric ? &move.over_fabric : &move.over_nvlink) += 1;
            }
        }
    }
    move.most_nvlink = most(tally.sent[0], tally.received[0], to->ranks);
    move.most_fabric = most(tally.sent[1], tally.received[1], to->ranks);
    for (int way = 0; way < 2; way++) {
        free(tally.sent[way]);
        free(tally.received[way]);
    }
    return move;
}
