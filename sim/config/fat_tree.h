// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Leaf-spine fabrics and fat trees that files of other simulators describe, as the tree of a topology file of ours.
 *
 * A reader works out the numbers below from its own format, each with the place that says it, and has refused what is not regular.
 */
#ifndef MOEFABRIC_CONFIG_FAT_TREE_H
#define MOEFABRIC_CONFIG_FAT_TREE_H

#include "config/tree.h"

enum { FAT_TREE_TIERS = 3 };

/** A number of a file; place.line 0: the file does not say it. */
struct fat_tree_figure {
    uint64_t value;
    struct tree_place place;
};

/** The switches of a tier and the links below them. Tier 0 are leaves, its links those of hosts. */
struct fat_tree_tier {
    struct fat_tree_figure rate_gbps;  /**< of the links below; Gb/s */
    struct fat_tree_figure down;       /**< links of a switch downwards */
    struct fat_tree_figure up;         /**< links of a switch upwards; 0 at the top */
    struct fat_tree_figure latency_ns; /**< of the links below */
    struct fat_tree_figure switch_ns;  /**< of the switch, port to port */
};

/** A whole fabric of hosts with one link each. */
struct fat_tree {
    const struct tree_source *source;
    int n_tiers;                       /**< 2 or 3 */
    struct fat_tree_figure hosts;      /**< in all */
    struct fat_tree_figure pod_hosts;  /**< three tiers: below the spines of a pod */
    struct fat_tree_figure pod_spines; /**< two tiers: all of them */
    struct fat_tree_figure cores;      /**< three tiers: those of the third, in as many groups as a pod has spines */
    struct fat_tree_tier tiers[FAT_TREE_TIERS];
};

/** A key of a topology file with its text. */
struct fat_tree_constant {
    const char *path, *text;
};

/**
 * The mapping of a topology file: name is the file's, without folder and ending (given with its dot). constants: what the
 * format leaves to command lines and source texts, n of them; where one is set by the fabric too, the fabric wins.
 */
struct tree_node *fat_tree_mapping(struct tree *tree, const struct fat_tree *fat_tree, const char *path,
                                   const char *ending, const struct fat_tree_constant *constants, size_t n,
                                   struct error_list *errors);

/** Tiers 1 and 2 are one kind of switch here; what that cannot express is reported, with these places. True if nothing is. */
bool fat_tree_check_switches(const struct fat_tree *fat_tree, enum error_id id, struct error_list *errors);

#endif
