// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/hpcc_graph.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdlib.h>

/* What a node turns out to be; the tier of a switch is one less. */
enum kind { HOST, LEAF, SPINE, CORE, ALONE };

#define NOBODY UINT32_MAX

struct node {
    enum kind kind;
    uint32_t links; /* upwards */
    uint32_t down;  /* downwards */
    uint32_t index; /* leaves: in the order of their hosts */
    uint32_t pod;   /* leaves and spines */
    uint32_t group; /* spines: those of one group reach the same cores; its spine in the first pod, or NOBODY */
};

/* The graph, and what is known of it. */
struct search {
    const struct hpcc_graph *graph;
    struct error_list *errors;
    struct node *nodes;
    uint32_t n_hosts, n_leaves, n_spines, n_cores, n_pods;
    uint32_t *leaves;                   /* [n_leaves] nodes, in the order of their hosts */
    uint32_t *seen_pod;                 /* [n_pods] the core that was last found to reach it */
    uint32_t first[FAT_TREE_TIERS + 1]; /* of a tier among the sorted links */
};

static bool refuse(struct search *search, const struct hpcc_link *link, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(struct search *search, const struct hpcc_link *link, const char *format, ...) {
    char text[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct tree_place place = {.source = search->graph->source,
                                     .line = link == NULL ? 1 : link->line,
                                     .column = link == NULL ? 1 : link->column};
    tree_report(search->errors, place, ERROR_ID_HPCC_TOPOLOGY,
                "leaf-spine fabrics and fat trees are simulated: hosts with one link each, switches of a tier alike",
                "%s", text);
    return false;
}

/* ---- tiers ---- */

static bool find_leaves(struct search *search) {
    for (uint32_t i = 0; i < search->graph->n_links; i++) {
        const struct hpcc_link *link = &search->graph->links[i];
        struct node *a = &search->nodes[link->nodes[0]], *b = &search->nodes[link->nodes[1]];
        if (a->kind == HOST && b->kind == HOST) {
            return refuse(search, link, "two hosts are joined without a switch");
        }
        struct node *host = a->kind == HOST ? a : b->kind == HOST ? b : NULL;
        if (host == NULL) {
            continue;
        }
        if (host->links++ > 0) {
            return refuse(search, link, "host %u has another link already", link->nodes[host == b]);
        }
        (host == a ? b : a)->kind = LEAF;
    }
    return true;
}

/* Switches next to leaves are spines, and those next to spines cores. */
static void find_tier(struct search *search, enum kind below, enum kind above) {
    for (uint32_t i = 0; i < search->graph->n_links; i++) {
        const uint32_t *ends = search->graph->links[i].nodes;
        for (int side = 0; side < 2; side++) {
            struct node *other = &search->nodes[ends[!side]];
            if (search->nodes[ends[side]].kind == below && other->kind == ALONE) {
                other->kind = above;
            }
        }
    }
}

/* Each link joins a tier to the next. The lower node comes first afterwards. */
static bool orient(struct search *search) {
    for (uint32_t i = 0; i < search->graph->n_links; i++) {
        struct hpcc_link *link = &search->graph->links[i];
        if (search->nodes[link->nodes[0]].kind > search->nodes[link->nodes[1]].kind) {
            const uint32_t upper = link->nodes[0];
            link->nodes[0] = link->nodes[1];
            link->nodes[1] = upper;
        }
        struct node *low = &search->nodes[link->nodes[0]], *high = &search->nodes[link->nodes[1]];
        if (low->kind == ALONE || high->kind == ALONE || high->kind != low->kind + 1) {
            return refuse(search, link, "switches %u and %u are not of neighbouring tiers", link->nodes[0],
                          link->nodes[1]);
        }
        link->tier = (int)low->kind;
        low->links += low->kind != HOST; // those of hosts have been counted
        high->down++;
    }
    return true;
}

static int compare_links(const void *left_pointer, const void *right_pointer) {
    const struct hpcc_link *left = left_pointer, *right = right_pointer;
    const int64_t keys[] = {(int64_t)left->tier - right->tier, (int64_t)left->nodes[0] - right->nodes[0],
                            (int64_t)left->nodes[1] - right->nodes[1], (int64_t)left->line - right->line,
                            (int64_t)left->column - right->column};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i] != 0) {
            return keys[i] < 0 ? -1 : 1;
        }
    }
    return 0;
}

/* By tier, lower node and upper node. */
static void sort_links(struct search *search) {
    const uint32_t n = search->graph->n_links;
    qsort(search->graph->links, n, sizeof *search->graph->links, compare_links);
    for (uint32_t i = 0; i < n; i++) {
        search->first[search->graph->links[i].tier + 1] = i + 1;
    }
    for (int tier = 1; tier <= FAT_TREE_TIERS; tier++) {
        search->first[tier] =
            search->first[tier] > search->first[tier - 1] ? search->first[tier] : search->first[tier - 1];
    }
}

static bool find_tiers(struct search *search) {
    for (uint32_t i = 0; i < search->graph->n_nodes; i++) {
        search->nodes[i] = (struct node){
            .kind = search->graph->is_switch[i] ? ALONE : HOST, .index = NOBODY, .pod = NOBODY, .group = NOBODY};
    }
    if (!find_leaves(search)) {
        return false;
    }
    find_tier(search, LEAF, SPINE);
    find_tier(search, SPINE, CORE);
    if (!orient(search)) {
        return false;
    }
    sort_links(search);
    for (uint32_t i = 0; i < search->graph->n_nodes; i++) {
        const enum kind kind = search->nodes[i].kind;
        search->n_hosts += kind == HOST;
        search->n_leaves += kind == LEAF;
        search->n_spines += kind == SPINE;
        search->n_cores += kind == CORE;
        if (kind == ALONE || (kind == HOST && search->nodes[i].links == 0)) {
            return refuse(search, NULL, "no link leads to %s %u", kind == HOST ? "host" : "switch", i);
        }
        if (kind == HOST && search->n_hosts != i + 1) {
            return refuse(search, NULL, "hosts must be numbered 0, 1, …, before the switches: host %u is not", i);
        }
    }
    return search->n_spines > 0 || refuse(search, NULL, "the file has no switch above the leaves");
}

/* ---- regular ---- */

/* Links of a tier are alike. */
static bool check_rates(struct search *search) {
    for (uint32_t i = 1; i < search->graph->n_links; i++) {
        const struct hpcc_link *before = &search->graph->links[i - 1], *link = before + 1;
        if (link->tier == before->tier &&
            (link->rate_gbps != before->rate_gbps || link->latency_ns != before->latency_ns)) {
            return refuse(search, link, "the link is not as that of line %u, which joins the same tiers", before->line);
        }
    }
    return true;
}

/* Nodes of a kind have as many links as each other, upwards and downwards. */
static bool check_degrees(struct search *search) {
    uint32_t examples[ALONE] = {NOBODY, NOBODY, NOBODY, NOBODY};
    for (uint32_t i = 0; i < search->graph->n_nodes; i++) {
        const struct node *node = &search->nodes[i];
        if (examples[node->kind] == NOBODY) {
            examples[node->kind] = i;
        }
        const struct node *example = &search->nodes[examples[node->kind]];
        if (node->links != example->links || node->down != example->down) {
            return refuse(search, NULL,
                          "switch %u has %u links downwards and %u upwards, switch %u of the same tier %u and %u", i,
                          node->down, node->links, examples[node->kind], example->down, example->links);
        }
    }
    return true;
}

/* Hosts fill one leaf after the other: links of tier 0 are sorted by host. */
static bool number_leaves(struct search *search) {
    const uint32_t each = search->n_hosts / search->n_leaves;
    search->leaves = memory_allocate(search->n_leaves, sizeof *search->leaves);
    for (uint32_t host = 0, n = 0; host < search->n_hosts; host++) {
        const struct hpcc_link *link = &search->graph->links[host];
        struct node *leaf = &search->nodes[link->nodes[1]];
        if (host % each == 0 && leaf->index == NOBODY) {
            search->leaves[n] = link->nodes[1];
            leaf->index = n++;
        } else if (leaf->index != host / each) {
            return refuse(search, link, "host %u is not at the leaf of its neighbours: leaves hold %u hosts in a row",
                          host, each);
        }
    }
    return true;
}

/* Past the links that join the same two nodes as the i-th. */
static uint32_t bundle_end(const struct search *search, uint32_t i, uint32_t end) {
    const struct hpcc_link *links = search->graph->links;
    uint32_t next = i + 1;
    while (next < end && links[next].nodes[0] == links[i].nodes[0] && links[next].nodes[1] == links[i].nodes[1]) {
        next++;
    }
    return next;
}

/* Whether each two nodes of a tier that are joined are so by as many links. */
static bool check_bundles(struct search *search, int tier) {
    const uint32_t begin = search->first[tier], end = search->first[tier + 1];
    const uint32_t first = bundle_end(search, begin, end) - begin;
    for (uint32_t i = begin, next; i < end; i = next) {
        next = bundle_end(search, i, end);
        if (next - i != first) {
            return refuse(search, &search->graph->links[i],
                          "switches %u and %u are joined by %u links, others of these tiers by %u",
                          search->graph->links[i].nodes[0], search->graph->links[i].nodes[1], next - i, first);
        }
    }
    return true;
}

/* A leaf and a spine that are joined are of one pod. */
static bool find_pods(struct search *search) {
    for (uint32_t i = search->first[1]; i < search->first[2]; i++) {
        const struct hpcc_link *link = &search->graph->links[i];
        struct node *leaf = &search->nodes[link->nodes[0]], *spine = &search->nodes[link->nodes[1]];
        if (leaf->pod == NOBODY) {
            leaf->pod = spine->pod == NOBODY ? search->n_pods++ : spine->pod;
        }
        spine->pod = spine->pod == NOBODY ? leaf->pod : spine->pod;
        if (spine->pod != leaf->pod) {
            return refuse(search, link, "spine %u is joined to leaves that share no other spine", link->nodes[1]);
        }
    }
    return true;
}

/* In a pod every leaf reaches every spine. Pods hold as many leaves in a row. */
static bool check_pods(struct search *search) {
    const uint32_t leaves = search->n_leaves / search->n_pods, spines = search->n_spines / search->n_pods;
    const uint32_t begin = search->first[1], end = search->first[2];
    const uint32_t bundle = bundle_end(search, begin, end) - begin;
    if (search->n_leaves % search->n_pods != 0 || search->n_spines % search->n_pods != 0) {
        return refuse(search, NULL, "%u leaves and %u spines are not %u equal pods", search->n_leaves, search->n_spines,
                      search->n_pods);
    }
    for (uint32_t i = begin; i < end; i++) {
        const struct hpcc_link *link = &search->graph->links[i];
        const struct node *leaf = &search->nodes[link->nodes[0]], *spine = &search->nodes[link->nodes[1]];
        const uint32_t neighbour = search->leaves[leaf->index - leaf->index % leaves];
        if (leaf->links != spines * bundle || spine->down != leaves * bundle ||
            search->nodes[neighbour].pod != leaf->pod) {
            return refuse(search, link, "leaf %u does not reach each of the %u spines of its pod, or pods differ",
                          link->nodes[0], spines);
        }
    }
    return true;
}

static int compare_cores(const void *left_pointer, const void *right_pointer) {
    const struct hpcc_link *left = left_pointer, *right = right_pointer;
    const int64_t core = (int64_t)left->nodes[1] - right->nodes[1];
    return core != 0 ? (core < 0 ? -1 : 1) : compare_links(left, right);
}

/* The links of one core: to one spine of each pod, and each of those only to cores of the same group. */
static bool check_core(struct search *search, const struct hpcc_link *links, uint32_t n) {
    const uint32_t core = links[0].nodes[1];
    uint32_t pods = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && links[i].nodes[0] == links[i - 1].nodes[0]) {
            continue; // another link of a bundle
        }
        struct node *spine = &search->nodes[links[i].nodes[0]];
        if (spine->group == NOBODY) {
            spine->group = links[0].nodes[0];
        }
        if (spine->group != links[0].nodes[0]) {
            return refuse(search, &links[i], "spine %u shares some cores with another spine, but not all",
                          links[i].nodes[0]);
        }
        if (search->seen_pod[spine->pod] == core) {
            return refuse(search, &links[i], "core %u is joined to two spines of a pod", core);
        }
        search->seen_pod[spine->pod] = core;
        pods++;
    }
    return pods == search->n_pods ||
           refuse(search, &links[0], "core %u reaches %u of %u pods", core, pods, search->n_pods);
}

static bool check_cores(struct search *search) {
    const uint32_t begin = search->first[2], end = search->first[3];
    struct hpcc_link *links = search->graph->links + begin;
    qsort(links, end - begin, sizeof *links, compare_cores);
    search->seen_pod = memory_allocate(search->n_pods, sizeof *search->seen_pod); // no core is node 0: that is a host
    for (uint32_t i = 0, next; i < end - begin; i = next) {
        for (next = i; next < end - begin && links[next].nodes[1] == links[i].nodes[1]; next++) {
        }
        if (!check_core(search, links + i, next - i)) {
            return false;
        }
    }
    uint32_t groups = 0;
    for (uint32_t i = 0; i < search->graph->n_nodes; i++) {
        groups += search->nodes[i].group == i;
    }
    return groups == search->n_spines / search->n_pods ||
           refuse(search, NULL, "cores do not fall into %u groups, one for each spine of a pod",
                  search->n_spines / search->n_pods);
}

static bool is_regular(struct search *search) {
    if (!check_rates(search) || !check_degrees(search) || !number_leaves(search) || !check_bundles(search, 1) ||
        !find_pods(search)) {
        return false;
    }
    if (search->n_cores == 0) {
        return search->n_pods == 1 ? check_pods(search)
                                   : refuse(search, NULL, "the fabric falls into %u parts", search->n_pods);
    }
    return check_pods(search) && check_bundles(search, 2) && check_cores(search);
}

/* ---- the numbers ---- */

static struct fat_tree_figure figure(const struct search *search, const struct hpcc_link *link, uint64_t value) {
    return (struct fat_tree_figure){value,
                                    {.source = search->graph->source, .line = link->line, .column = link->column}};
}

static void fill(const struct search *search, struct fat_tree *fat_tree) {
    const struct hpcc_link *links = search->graph->links;
    *fat_tree = (struct fat_tree){.source = search->graph->source,
                                  .n_tiers = search->n_cores > 0 ? 3 : 2,
                                  .hosts = figure(search, links, search->n_hosts),
                                  .pod_hosts = figure(search, links, search->n_hosts / search->n_pods),
                                  .pod_spines = figure(search, links, search->n_spines / search->n_pods),
                                  .cores = figure(search, links, search->n_cores)};
    for (int tier = 0; tier < fat_tree->n_tiers; tier++) {
        const struct hpcc_link *link = &links[search->first[tier]];
        const struct node *node = &search->nodes[link->nodes[1]];
        fat_tree->tiers[tier] = (struct fat_tree_tier){.rate_gbps = figure(search, link, link->rate_gbps),
                                                       .down = figure(search, link, node->down),
                                                       .up = figure(search, link, node->links),
                                                       .latency_ns = figure(search, link, link->latency_ns),
                                                       .switch_ns = figure(search, link, 0)};
    }
}

bool hpcc_graph_fat_tree(const struct hpcc_graph *graph, struct fat_tree *fat_tree, struct error_list *errors) {
    struct search search = {.graph = graph, .errors = errors};
    search.nodes = memory_allocate(graph->n_nodes, sizeof *search.nodes);
    const bool good = find_tiers(&search) && is_regular(&search);
    if (good) {
        fill(&search, fat_tree);
    }
    free(search.seen_pod);
    free(search.leaves);
    free(search.nodes);
    return good;
}
