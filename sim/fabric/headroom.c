// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/headroom.h"

#include "base/rate.h"

enum { LENGTHS = 3, SPEEDS = 3, PS_PER_METRE = 5000 };

#define GBPS UINT64_C(1000000000)

static const uint64_t metres[LENGTHS] = {5, 40, 300};

static const struct {
    uint64_t rate_bits_per_s;
    uint64_t bytes[LENGTHS];
} rows[SPEEDS] = {
    {200 * GBPS, {131072, 157696, 355328}},
    {400 * GBPS, {231424, 283648, 677888}},
    {800 * GBPS, {257024, 362496, 1150976}},
};

uint64_t headroom_table_bytes(uint64_t rate_bits_per_s, uint64_t propagation_ps) {
    int row = 0;
    while (row < SPEEDS - 1 && rows[row].rate_bits_per_s < rate_bits_per_s) {
        row++;
    }
    const uint64_t *bytes = rows[row].bytes;
    uint64_t picked = 0;
    for (int i = 0; i < LENGTHS && picked == 0; i++) {
        picked = propagation_ps <= metres[i] * PS_PER_METRE ? bytes[i] : 0;
    }
    if (picked == 0) {
        const uint64_t beyond_ps = propagation_ps - metres[LENGTHS - 1] * PS_PER_METRE;
        const uint64_t run_ps = (metres[LENGTHS - 1] - metres[LENGTHS - 2]) * PS_PER_METRE;
        const rate_wide rise = (rate_wide)beyond_ps * (bytes[LENGTHS - 1] - bytes[LENGTHS - 2]);
        picked = bytes[LENGTHS - 1] + (uint64_t)((rise + run_ps - 1) / run_ps);
    }
    if (rate_bits_per_s > rows[row].rate_bits_per_s) {
        const rate_wide scaled = (rate_wide)picked * rate_bits_per_s;
        picked = (uint64_t)((scaled + rows[row].rate_bits_per_s - 1) / rows[row].rate_bits_per_s);
    }
    return picked;
}

uint64_t headroom_in_flight_bytes(const struct fabric *fabric, uint32_t link, uint64_t packet_bytes) {
    const struct fabric_link *in = &fabric->links[link];
    const uint64_t around_ps = in->latency_ps + fabric->links[in->reverse].latency_ps;
    const rate_wide bits = (rate_wide)around_ps * in->rate_bits_per_s;
    return (uint64_t)(bits / UINT64_C(8000000000000)) + HEADROOM_PACKETS * packet_bytes;
}

uint64_t headroom_automatic_bytes(const struct fabric *fabric, uint32_t link, uint64_t packet_bytes) {
    const struct fabric_link *in = &fabric->links[link];
    const uint64_t table_bytes = headroom_table_bytes(in->rate_bits_per_s, in->propagation_ps);
    const uint64_t in_flight_bytes = headroom_in_flight_bytes(fabric, link, packet_bytes);
    return table_bytes > in_flight_bytes ? table_bytes : in_flight_bytes;
}

/* Which kind a link is of; -1: it enters no switch. */
static int kind_of(const struct fabric *fabric, const struct fabric_link *link) {
    const struct fabric_device *head = &fabric->devices[link->head_device], *tail = &fabric->devices[link->tail_device];
    if (link->kind != FABRIC_ETHERNET || head->kind != FABRIC_SWITCH) {
        return -1;
    }
    if (tail->kind == FABRIC_ENDPOINT) {
        return 0;
    }
    if (head->tier == FABRIC_TIER_LEAF) {
        return 1;
    }
    if (head->tier == FABRIC_TIER_SUPERSPINE) {
        return 4;
    }
    return tail->tier == FABRIC_TIER_LEAF ? 2 : 3;
}

struct headroom_links headroom_worst_links(const struct fabric *fabric) {
    struct headroom_links worst;
    for (int kind = 0; kind < HEADROOM_KINDS; kind++) {
        worst.links[kind] = FABRIC_NONE;
    }
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const int kind = kind_of(fabric, &fabric->links[l]);
        if (kind >= 0 &&
            (worst.links[kind] == FABRIC_NONE ||
             headroom_in_flight_bytes(fabric, l, 0) > headroom_in_flight_bytes(fabric, worst.links[kind], 0))) {
            worst.links[kind] = l;
        }
    }
    return worst;
}

const char *headroom_kind_name(int kind) {
    static const char *const names[HEADROOM_KINDS] = {"leaf, from NICs", "leaf, from spines", "spine, from leaves",
                                                      "spine, from super-spines", "super-spine, from spines"};
    return names[kind];
}
