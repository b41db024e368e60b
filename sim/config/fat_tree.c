// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/fat_tree.h"

#include "base/number.h"
#include "base/text.h"
#include "config/tree_internal.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_SIZE = 64 };

/* The mapping being made. */
struct making {
    struct tree *tree;
    const struct fat_tree *fat_tree;
    struct tree_node *root;
    struct error_list *errors;
};

/* Sets a key to a text, with the place of the figure that says it. */
static void set(struct making *making, const char *path, const struct fat_tree_figure *figure, const char *text) {
    const struct tree_place nowhere = {.source = making->fat_tree->source};
    const struct tree_place place = figure == NULL ? nowhere : figure->place;
    struct tree_node *value = tree_allocate(making->tree, sizeof *value);
    *value =
        (struct tree_node){.kind = TREE_VALUE, .place = place, .text = tree_copy(making->tree, text, strlen(text))};
    tree_set(making->tree, making->root, path, place, value, making->errors);
}

static void set_number(struct making *making, const char *path, const struct fat_tree_figure *figure, uint64_t value,
                       const char *unit) {
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%" PRIu64 "%s", value, unit);
    set(making, path, figure, text);
}

static void set_figure(struct making *making, const char *path, const struct fat_tree_figure *figure,
                       const char *unit) {
    set_number(making, path, figure, figure->value, unit);
}

static bool is_three(const struct making *making) {
    return making->fat_tree->n_tiers == FAT_TREE_TIERS;
}

static void set_switches(struct making *making) {
    const struct fat_tree_tier *leaf = &making->fat_tree->tiers[0], *spine = leaf + 1, *core = leaf + 2;
    const uint64_t spine_ports = spine->down.value + (is_three(making) ? spine->up.value : 0);
    set_figure(making, "nic.rate", &leaf->rate_gbps, " Gb/s");
    set_number(making, "leaf.ports", &leaf->down, leaf->down.value + leaf->up.value, "");
    set_number(making, "leaf.port_rate", &leaf->rate_gbps, number_larger(leaf->rate_gbps.value, spine->rate_gbps.value),
               " Gb/s");
    set_figure(making, "leaf.latency", &leaf->switch_ns, " ns");
    set_number(making, "spine.ports", &spine->down,
               is_three(making) ? number_larger(spine_ports, core->down.value) : spine_ports, "");
    set_figure(making, "spine.port_rate", is_three(making) ? &core->rate_gbps : &spine->rate_gbps, " Gb/s");
    set_figure(making, "spine.latency", &spine->switch_ns, " ns");
}

/* One latency for all links, and none of switches: as most such files have it. */
static bool is_uniform(const struct fat_tree *fat_tree) {
    for (int tier = 0; tier < fat_tree->n_tiers; tier++) {
        if (fat_tree->tiers[tier].latency_ns.value != fat_tree->tiers[0].latency_ns.value ||
            fat_tree->tiers[tier].switch_ns.value != 0) {
            return false;
        }
    }
    return true;
}

static void set_latencies(struct making *making) {
    const struct fat_tree_tier *tiers = making->fat_tree->tiers;
    if (is_uniform(making->fat_tree)) {
        set_figure(making, "fabric.link_latency", &tiers[0].latency_ns, " ns");
        return;
    }
    set(making, "fabric.cable_latency", NULL, "1 ns"); /* so that metres say nanoseconds */
    set_figure(making, "fabric.host_cable", &tiers[0].latency_ns, " m");
    set_figure(making, "fabric.spine_cable", &tiers[1].latency_ns, " m");
    if (is_three(making)) {
        set_figure(making, "fabric.super_spine_cable", &tiers[2].latency_ns, " m");
    }
}

static void set_fabric(struct making *making) {
    const struct fat_tree *fat_tree = making->fat_tree;
    set_figure(making, "racks", &fat_tree->hosts, "");
    set_figure(making, "fabric.leaf_downlinks", &fat_tree->tiers[0].down, "");
    set_figure(making, "fabric.leaf_uplinks", &fat_tree->tiers[0].up, "");
    set_figure(making, "fabric.spines", &fat_tree->pod_spines, "");
    if (is_three(making)) {
        set_figure(making, "fabric.super_spines", &fat_tree->cores, "");
        set_figure(making, "fabric.spine_uplinks", &fat_tree->tiers[1].up, "");
        set_figure(making, "fabric.super_spine_groups", &fat_tree->pod_spines, "");
        set_figure(making, "fabric.pod_racks", &fat_tree->pod_hosts, "");
    }
    set_latencies(making);
}

static void set_name(struct making *making, const char *path, const char *ending) {
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    char name[TEXT_SIZE];
    const size_t length = strlen(base);
    const bool ends = text_ends_with(base, ending) && length > strlen(ending);
    snprintf(name, sizeof name, "%.*s", (int)(length - (ends ? strlen(ending) : 0)), base);
    set(making, "name", NULL, name);
}

struct tree_node *fat_tree_mapping(struct tree *tree, const struct fat_tree *fat_tree, const char *path,
                                   const char *ending, const struct fat_tree_constant *constants, size_t n,
                                   struct error_list *errors) {
    struct tree_node *root = tree_allocate(tree, sizeof *root);
    *root = (struct tree_node){.kind = TREE_MAPPING, .place = {.source = fat_tree->source, .line = 1, .column = 1}};
    struct making making = {.tree = tree, .fat_tree = fat_tree, .root = root, .errors = errors};
    set_name(&making, path, ending);
    set(&making, "gpus_used", NULL, "1");
    set(&making, "nvlink.gpus", NULL, "1");
    set(&making, "nic.latency", NULL, "0 ns");
    set(&making, "fabric.wiring", NULL, "rack");
    for (size_t i = 0; i < n; i++) {
        set(&making, constants[i].path, NULL, constants[i].text);
    }
    set_switches(&making);
    set_fabric(&making);
    return root;
}

bool fat_tree_check_switches(const struct fat_tree *fat_tree, enum error_id id, struct error_list *errors) {
    const struct fat_tree_tier *spine = &fat_tree->tiers[1], *core = &fat_tree->tiers[2];
    const unsigned before = errors->count + errors->dropped;
    if (fat_tree->n_tiers < FAT_TREE_TIERS) {
        return true;
    }
    if (spine->switch_ns.value != core->switch_ns.value) {
        tree_report(errors, core->switch_ns.place, id, NULL,
                    "switches of tiers 1 and 2 must have the same `Switch_Latency_ns`: they are one kind here");
    }
    const uint64_t host_gbps = fat_tree->tiers[0].rate_gbps.value;
    if (core->rate_gbps.value < spine->rate_gbps.value ||
        (core->rate_gbps.value > spine->rate_gbps.value && host_gbps > spine->rate_gbps.value)) {
        tree_report(errors, core->rate_gbps.place, id, NULL,
                    "links of %" PRIu64 ", %" PRIu64 " and %" PRIu64 " Gb/s cannot be built of two kinds of switches",
                    host_gbps, spine->rate_gbps.value, core->rate_gbps.value);
    }
    return errors->count + errors->dropped == before;
}
