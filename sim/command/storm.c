// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/storm.h"

#include "base/memory.h"
#include "base/quantity.h"

#include <stdio.h>
#include <stdlib.h>

enum { SENTENCE_SIZE = 256 };

static bool is_endpoint(const struct fabric *fabric, uint32_t device) {
    return fabric->devices[device].kind == FABRIC_ENDPOINT;
}

/* Notes a device. Returns 1 the first time, else 0: a NIC of several planes has a link for each. */
static uint32_t count_once(bool *counted, uint32_t device) {
    const bool known = counted[device];
    counted[device] = true;
    return known ? 0 : 1;
}

static struct storm find_root(const struct fabric *fabric, const struct measurement *measurement) {
    struct storm storm = {.root = FABRIC_NONE, .worst = FABRIC_NONE};
    bool *counted = memory_allocate(fabric->n_devices, sizeof(*counted));
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        const uint64_t paused_ps = measurement->links[l].paused_ps;
        if (paused_ps > 0 && is_endpoint(fabric, fabric->links[l].head_device)) {
            storm.receivers += count_once(counted, fabric->links[l].head_device);
            if (storm.root == FABRIC_NONE || paused_ps > measurement->links[storm.root].paused_ps) {
                storm.root = l;
            }
        }
    }
    free(counted);
    return storm;
}

/* Links of a tree, in the order of their distance from the root. */
struct tree {
    uint32_t *links, *hops;
    bool *seen;
    bool *counted; /* devices: NICs that are held back */
    uint32_t count;
};

static void add(struct tree *tree, uint32_t link, uint32_t hops) {
    tree->seen[link] = true;
    tree->links[tree->count] = link;
    tree->hops[tree->count++] = hops;
}

/* The paused links that enter the switch which a link of the tree leaves. */
static void grow(struct tree *tree, const struct fabric *fabric, const struct measurement *measurement,
                 uint32_t index) {
    const struct fabric_link *link = &fabric->links[tree->links[index]];
    const struct fabric_device *tail = &fabric->devices[link->tail_device];
    for (uint32_t port = 0; tail->kind == FABRIC_SWITCH && port < tail->n_ports; port++) {
        const uint32_t entering = fabric->links[tail->first_port + port].reverse;
        if (!tree->seen[entering] && measurement->links[entering].paused_ps > 0) {
            add(tree, entering, tree->hops[index] + 1);
        }
    }
}

struct storm storm_find(const struct fabric *fabric, const struct measurement *measurement) {
    struct storm storm = find_root(fabric, measurement);
    if (storm.root == FABRIC_NONE) {
        return storm;
    }
    struct tree tree = {.links = memory_allocate(fabric->n_links, sizeof(*tree.links)),
                        .hops = memory_allocate(fabric->n_links, sizeof(*tree.hops)),
                        .seen = memory_allocate(fabric->n_links, sizeof(*tree.seen)),
                        .counted = memory_allocate(fabric->n_devices, sizeof(*tree.counted))};
    add(&tree, storm.root, 0);
    for (uint32_t i = 0; i < tree.count; i++) {
        const uint32_t link = tree.links[i], tail = fabric->links[link].tail_device;
        grow(&tree, fabric, measurement, i);
        if (i == 0) {
            continue;
        }
        storm.links++;
        storm.nics += is_endpoint(fabric, tail) ? count_once(tree.counted, tail) : 0;
        storm.hops = tree.hops[i] > storm.hops ? tree.hops[i] : storm.hops;
        if (storm.worst == FABRIC_NONE ||
            measurement->links[link].paused_ps > measurement->links[storm.worst].paused_ps) {
            storm.worst = link;
        }
    }
    free(tree.links);
    free(tree.hops);
    free(tree.seen);
    free(tree.counted);
    return storm;
}

/* "leaf1 → gpu17 paused for 1.2 ms (48 % of the time)" */
static const char *describe(char *buffer, const struct measurement *measurement, uint32_t link) {
    const struct measurement_link *row = &measurement->links[link];
    char duration[QUANTITY_TEXT_SIZE];
    const double share = measurement->totals.simulated_ps > 0
                             ? 100.0 * (double)row->paused_ps / (double)measurement->totals.simulated_ps
                             : 0.0;
    quantity_print_short(duration, QUANTITY_TIME, (double)row->paused_ps);
    snprintf(buffer, SENTENCE_SIZE, "%.*s paused for %s (%.0f %% of the run)", MEASUREMENT_NAME_SIZE, row->name,
             duration, share);
    return buffer;
}

void storm_explain(const struct fabric *fabric, struct measurement *measurement) {
    const struct storm storm = storm_find(fabric, measurement);
    char root[SENTENCE_SIZE], worst[SENTENCE_SIZE], others[64] = "";
    if (storm.root == FABRIC_NONE) {
        return;
    }
    if (storm.receivers > 1) {
        snprintf(others, sizeof(others), ", as did %u other NIC%s", storm.receivers - 1,
                 storm.receivers > 2 ? "s" : "");
    }
    describe(root, measurement, storm.root);
    if (storm.links == 0) {
        measurement_explain(measurement, "the NIC of gpu%u held its leaf back%s: %s; pauses went no further",
                            fabric->links[storm.root].head_device, others, root);
        return;
    }
    measurement_explain(
        measurement,
        "PFC storm: the NIC of gpu%u held its leaf back%s: %s; from there pauses spread to %u links up to %u "
        "hop%s away, %u NICs among them; longest: %s",
        fabric->links[storm.root].head_device, others, root, storm.links, storm.hops, storm.hops == 1 ? "" : "s",
        storm.nics, describe(worst, measurement, storm.worst));
}
