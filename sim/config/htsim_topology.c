// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/htsim_topology.h"

#include "base/file.h"
#include "base/line.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/text.h"
#include "config/tree_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIERS_MOST = 3,
    WORD_SIZE = 64,
    FILE_LIMIT_BYTES = 1 << 20,
    LARGEST = 1000000 /* three of them have a product */
};

/* What can be said, by the tier or in the header. */
enum word {
    WORD_NODES,
    WORD_TIERS,
    WORD_PODSIZE,
    WORD_TIER,
    WORD_SPEED,
    WORD_DOWN,
    WORD_UP,
    WORD_LATENCY,
    WORD_SWITCH_LATENCY,
    WORD_OVERSUBSCRIBED,
    WORD_BUNDLE,
    WORDS
};

static const char *const names[WORDS] = {"Nodes",
                                         "Tiers",
                                         "Podsize",
                                         "Tier",
                                         "Downlink_speed_Gbps",
                                         "Radix_Down",
                                         "Radix_Up",
                                         "Downlink_Latency_ns",
                                         "Switch_Latency_ns",
                                         "Oversubscribed",
                                         "Bundle"};

/* A number of the file; place.line 0: it is not said. */
struct figure {
    uint64_t value;
    struct tree_place place;
};

struct reading {
    struct tree *tree;
    struct error_list *errors;
    const struct tree_source *source;
    struct line line;
    int tier;                                 /* that lines are about; -1: the header */
    struct figure figures[TIERS_MOST][WORDS]; /* those of the header in tier 0 */
};

static struct tree_place place_at(const struct reading *reading, size_t offset) {
    return (struct tree_place){.source = reading->source, .line = reading->line.number, .column = (unsigned)offset + 1};
}

/* Compares as htsim does, in lower case. */
static bool is_word(const char *text, size_t length, const char *name) {
    for (size_t i = 0; i < length; i++) {
        if (tolower((unsigned char)text[i]) != tolower((unsigned char)name[i])) {
            return false;
        }
    }
    return name[length] == '\0';
}

static void report_unknown(const struct reading *reading, size_t offset, size_t length) {
    char text[WORD_SIZE], hint[ERROR_MESSAGE_SIZE];
    snprintf(text, sizeof text, "%.*s", (int)length, reading->line.text + offset);
    const char *nearest = nearest_name(text, names, WORDS);
    snprintf(hint, sizeof hint, "did you mean `%s`?", nearest == NULL ? "" : nearest);
    tree_report(reading->errors, place_at(reading, offset), ERROR_ID_HTSIM_TOPOLOGY, nearest == NULL ? NULL : hint,
                "`%s` is no word of an htsim topology that can be simulated", text);
}

/* The number behind a word, and nothing after it. */
static bool read_number(struct reading *reading, enum word word, size_t offset, struct figure *figure) {
    const char *text = reading->line.text;
    const size_t begin = offset + strspn(text + offset, " \t"), length = strcspn(text + begin, " \t\r\n");
    const size_t digits = line_number(text + begin, &figure->value);
    figure->place = place_at(reading, begin);
    if (digits == 0 || digits != length || figure->value > LARGEST) {
        tree_report(reading->errors, figure->place, ERROR_ID_HTSIM_TOPOLOGY, NULL,
                    "`%s` needs a whole number from 0 to %d, not `%.*s`", names[word], LARGEST,
                    (int)number_smaller(length, WORD_SIZE), text + begin);
        return false;
    }
    const size_t rest = begin + length + strspn(text + begin + length, " \t\r");
    if (rest < reading->line.length) {
        tree_report(reading->errors, place_at(reading, rest), ERROR_ID_HTSIM_TOPOLOGY, NULL,
                    "a line is one word and one number");
        return false;
    }
    return true;
}

static void begin_tier(struct reading *reading, const struct figure *figure) {
    if (figure->value >= TIERS_MOST) {
        tree_report(reading->errors, figure->place, ERROR_ID_HTSIM_TOPOLOGY, NULL, "tiers are 0, 1 and 2, not %" PRIu64,
                    figure->value);
        return;
    }
    reading->tier = (int)figure->value;
    struct figure *tier = &reading->figures[reading->tier][WORD_TIER];
    if (tier->place.line > 0) {
        tree_report(reading->errors, figure->place, ERROR_ID_HTSIM_TOPOLOGY, NULL, "tier %d was described in line %u",
                    reading->tier, tier->place.line);
    }
    *tier = *figure;
}

static void read_figure(struct reading *reading, enum word word, size_t offset, size_t length) {
    struct figure figure;
    if (!read_number(reading, word, offset + length, &figure)) {
        return;
    }
    if (word == WORD_TIER) {
        begin_tier(reading, &figure);
        return;
    }
    if ((word < WORD_TIER) != (reading->tier < 0)) {
        tree_report(reading->errors, place_at(reading, offset), ERROR_ID_HTSIM_TOPOLOGY, NULL, "`%s` belongs %s",
                    names[word], word < WORD_TIER ? "before the first `Tier`" : "below a `Tier`");
        return;
    }
    struct figure *kept = &reading->figures[reading->tier < 0 ? 0 : reading->tier][word];
    if (kept->place.line > 0) {
        tree_report(reading->errors, figure.place, ERROR_ID_HTSIM_TOPOLOGY, NULL, "`%s` was said in line %u",
                    names[word], kept->place.line);
        return;
    }
    *kept = figure;
}

static void read_line(struct reading *reading) {
    const char *text = reading->line.text;
    const size_t offset = strspn(text, " \t\r"), length = strcspn(text + offset, " \t\r\n");
    for (int word = 0; word < WORDS; word++) {
        if (is_word(text + offset, length, names[word])) {
            read_figure(reading, (enum word)word, offset, length);
            return;
        }
    }
    report_unknown(reading, offset, length);
}

/* ---- what must be there, and fit ---- */

static struct figure *figure_of(struct reading *reading, int tier, enum word word) {
    return &reading->figures[tier][word];
}

static uint64_t value_of(struct reading *reading, int tier, enum word word) {
    return figure_of(reading, tier, word)->value;
}

static int tiers_of(struct reading *reading) {
    return (int)value_of(reading, 0, WORD_TIERS);
}

/* A figure that is there and not 0; at_tier < 0: of the header. */
static void require(struct reading *reading, int at_tier, enum word word) {
    struct figure *figure = figure_of(reading, at_tier < 0 ? 0 : at_tier, word);
    if (figure->place.line == 0) {
        struct tree_place place = {.source = reading->source};
        place = at_tier < 0 ? place : figure_of(reading, at_tier, WORD_TIER)->place;
        tree_report(reading->errors, place, ERROR_ID_HTSIM_TOPOLOGY, NULL, "`%s` is missing%s", names[word],
                    at_tier < 0 ? "" : " in this tier");
    } else if (figure->value == 0) {
        tree_report(reading->errors, figure->place, ERROR_ID_HTSIM_TOPOLOGY, NULL, "`%s` cannot be 0", names[word]);
    }
}

/* Refuses what a figure says. */
#define REFUSE(tier, word, hint, ...)                                                                                  \
    tree_report(reading->errors, figure_of(reading, tier, word)->place, ERROR_ID_HTSIM_TOPOLOGY, hint, __VA_ARGS__)

static void require_tier(struct reading *reading, int tier) {
    static const enum word optional[] = {WORD_OVERSUBSCRIBED, WORD_BUNDLE};
    if (figure_of(reading, tier, WORD_TIER)->place.line == 0) {
        tree_report(reading->errors, (struct tree_place){.source = reading->source}, ERROR_ID_HTSIM_TOPOLOGY, NULL,
                    "`Tier %d` is missing", tier);
        return;
    }
    require(reading, tier, WORD_SPEED);
    require(reading, tier, WORD_DOWN);
    require(reading, tier, WORD_LATENCY);
    if (tier + 1 < tiers_of(reading)) {
        require(reading, tier, WORD_UP);
    } else if (value_of(reading, tier, WORD_UP) > 0) {
        REFUSE(tier, WORD_UP, NULL, "the highest tier has no links upwards");
    }
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        struct figure *figure = figure_of(reading, tier, optional[i]);
        if (figure->place.line == 0) {
            figure->value = 1;
            figure->place = figure_of(reading, tier, WORD_TIER)->place;
        } else if (figure->value == 0) {
            REFUSE(tier, optional[i], NULL, "`%s` cannot be 0", names[optional[i]]);
        }
    }
}

static void require_all(struct reading *reading) {
    require(reading, -1, WORD_NODES);
    require(reading, -1, WORD_TIERS);
    require(reading, -1, WORD_PODSIZE);
    const uint64_t tiers = value_of(reading, 0, WORD_TIERS);
    if (tiers != 0 && (tiers < 2 || tiers > TIERS_MOST)) {
        REFUSE(0, WORD_TIERS, NULL, "2 or 3 tiers can be simulated, not %" PRIu64, tiers);
        return;
    }
    for (int tier = 0; tier < (int)tiers; tier++) {
        require_tier(reading, tier);
    }
    for (int tier = (int)tiers; tier < TIERS_MOST && tiers > 0; tier++) {
        if (figure_of(reading, tier, WORD_TIER)->place.line > 0) {
            REFUSE(tier, WORD_TIER, NULL, "the file says that it has %" PRIu64 " tiers", tiers);
        }
    }
}

/* Numbers of switches, as htsim works them out. */
struct counts {
    uint64_t pods, leaves, spines, cores; /* leaves and spines of a pod */
};

/* What a tier gives downwards and upwards must fit what it is said to be oversubscribed by. */
static void check_oversubscription(struct reading *reading, int tier) {
    const uint64_t down = value_of(reading, tier, WORD_DOWN) * value_of(reading, tier, WORD_SPEED);
    const uint64_t up = value_of(reading, tier, WORD_UP) * value_of(reading, tier + 1, WORD_SPEED);
    if (down != up * value_of(reading, tier, WORD_OVERSUBSCRIBED)) {
        REFUSE(tier, WORD_OVERSUBSCRIBED, NULL,
               "a switch of tier %d has %" PRIu64 " Gb/s downwards and %" PRIu64
               " Gb/s upwards, which is not oversubscribed by %" PRIu64,
               tier, down, up, value_of(reading, tier, WORD_OVERSUBSCRIBED));
    }
}

static bool divides(struct reading *reading, int tier, enum word word, uint64_t whole, const char *what) {
    const uint64_t part = value_of(reading, tier, word);
    if (whole % part != 0) {
        REFUSE(tier, word, NULL, "`%s` %" PRIu64 " does not divide %" PRIu64 " %s", names[word], part, whole, what);
        return false;
    }
    return true;
}

static bool count_switches(struct reading *reading, struct counts *counts) {
    const bool two = tiers_of(reading) == 2;
    const uint64_t nodes = value_of(reading, 0, WORD_NODES), pod = value_of(reading, 0, WORD_PODSIZE);
    if (two && pod != nodes) {
        REFUSE(0, WORD_PODSIZE, NULL, "with two tiers all %" PRIu64 " nodes are one pod, not %" PRIu64, nodes, pod);
        return false;
    }
    if (!divides(reading, 0, WORD_PODSIZE, nodes, "nodes") || !divides(reading, 0, WORD_DOWN, pod, "nodes of a pod")) {
        return false;
    }
    *counts = (struct counts){.pods = nodes / pod, .leaves = pod / value_of(reading, 0, WORD_DOWN)};
    const uint64_t uplinks = counts->leaves * value_of(reading, 0, WORD_UP);
    if (!divides(reading, 1, WORD_DOWN, uplinks, "links upwards from the leaves of a pod")) {
        return false;
    }
    counts->spines = uplinks / value_of(reading, 1, WORD_DOWN);
    if (counts->spines > LARGEST) {
        REFUSE(1, WORD_DOWN, NULL, "a pod would have %" PRIu64 " spines", counts->spines);
        return false;
    }
    if (two) {
        return true;
    }
    const uint64_t core_links = counts->pods * counts->spines * value_of(reading, 1, WORD_UP);
    if (!divides(reading, 2, WORD_DOWN, core_links, "links upwards from the spines")) {
        return false;
    }
    counts->cores = core_links / value_of(reading, 2, WORD_DOWN);
    return true;
}

/* Each switch has `Bundle` links to each of those below that it reaches. */
static void check_bundles(struct reading *reading, const struct counts *counts) {
    if (value_of(reading, 0, WORD_BUNDLE) != 1) {
        REFUSE(0, WORD_BUNDLE, NULL, "a host has one link");
    }
    if (value_of(reading, 1, WORD_DOWN) != counts->leaves * value_of(reading, 1, WORD_BUNDLE)) {
        REFUSE(1, WORD_BUNDLE, NULL,
               "%" PRIu64 " links of a spine downwards are not %" PRIu64 " to each of the %" PRIu64 " leaves of a pod",
               value_of(reading, 1, WORD_DOWN), value_of(reading, 1, WORD_BUNDLE), counts->leaves);
    }
    if (counts->cores > 0 && value_of(reading, 2, WORD_DOWN) != counts->pods * value_of(reading, 2, WORD_BUNDLE)) {
        REFUSE(2, WORD_BUNDLE, "a switch of tier 2 reaches one spine of each pod",
               "%" PRIu64 " links of a switch of tier 2 are not %" PRIu64 " to each of the %" PRIu64 " pods",
               value_of(reading, 2, WORD_DOWN), value_of(reading, 2, WORD_BUNDLE), counts->pods);
    }
}

/* What our switches cannot express: tiers 1 and 2 are one kind of switch. */
static void check_expressible(struct reading *reading) {
    if (tiers_of(reading) < 3) {
        return;
    }
    if (value_of(reading, 1, WORD_SWITCH_LATENCY) != value_of(reading, 2, WORD_SWITCH_LATENCY)) {
        REFUSE(2, WORD_TIER, NULL,
               "switches of tiers 1 and 2 must have the same `Switch_Latency_ns`: they are one kind here");
    }
    const uint64_t host = value_of(reading, 0, WORD_SPEED), spine = value_of(reading, 1, WORD_SPEED);
    const uint64_t core = value_of(reading, 2, WORD_SPEED);
    if (core < spine || (core > spine && host > spine)) {
        REFUSE(2, WORD_SPEED, NULL,
               "links of %" PRIu64 ", %" PRIu64 " and %" PRIu64 " Gb/s cannot be built of two kinds of switches", host,
               spine, core);
    }
}

static void check(struct reading *reading, struct counts *counts) {
    if (!count_switches(reading, counts)) {
        return;
    }
    for (int tier = 0; tier + 1 < tiers_of(reading); tier++) {
        check_oversubscription(reading, tier);
    }
    check_bundles(reading, counts);
    check_expressible(reading);
}

/* ---- the mapping ---- */

/* Sets a key to a text, with the place of the figure that says it. */
static void set(struct reading *reading, struct tree_node *root, const char *path, const struct figure *figure,
                const char *text) {
    struct tree_place place = figure == NULL ? (struct tree_place){.source = reading->source} : figure->place;
    struct tree_node *value = tree_allocate(reading->tree, sizeof *value);
    *value =
        (struct tree_node){.kind = TREE_VALUE, .place = place, .text = tree_copy(reading->tree, text, strlen(text))};
    tree_set(reading->tree, root, path, place, value, reading->errors);
}

static void set_number(struct reading *reading, struct tree_node *root, const char *path, const struct figure *figure,
                       uint64_t value, const char *unit) {
    char text[WORD_SIZE];
    snprintf(text, sizeof text, "%" PRIu64 "%s", value, unit);
    set(reading, root, path, figure, text);
}

/* What an htsim topology leaves to htsim's command line; sources: topologies/leaf-spine-400g.yaml. */
static void set_constants(struct reading *reading, struct tree_node *root) {
    static const char *const constants[][2] = {
        {"gpus_used", "1"},
        {"nvlink.gpus", "1"},
        {"nic.latency", "0 ns"},
        {"nic.payload", "4096 B"},
        {"nic.header", "64 B"},
        {"nic.control", "64 B"},
        {"nic.out_of_order", "true"},
        {"nic.retransmit_timeout", "1 s"},
        {"leaf.model", "htsim's switch"},
        {"leaf.cut_through", "false"},
        {"leaf.pfc", "false"},
        {"leaf.ecn", "false"},
        {"leaf.lossy_pool", "4 GB"},
        {"leaf.lossy_alpha_shift", "7"},
        {"fabric.wiring", "rack"},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        set(reading, root, constants[i][0], NULL, constants[i][1]);
    }
}

static void set_switches(struct reading *reading, struct tree_node *root) {
    const struct figure *speed = figure_of(reading, 0, WORD_SPEED), *up = figure_of(reading, 1, WORD_SPEED);
    const bool three = tiers_of(reading) == 3;
    const uint64_t spine_ports = value_of(reading, 1, WORD_DOWN) + (three ? value_of(reading, 1, WORD_UP) : 0);
    const struct figure *top = figure_of(reading, three ? 2 : 1, WORD_SPEED);
    set_number(reading, root, "nic.rate", speed, speed->value, " Gb/s");
    set_number(reading, root, "leaf.ports", figure_of(reading, 0, WORD_DOWN),
               value_of(reading, 0, WORD_DOWN) + value_of(reading, 0, WORD_UP), "");
    set_number(reading, root, "leaf.port_rate", speed, number_larger(speed->value, up->value), " Gb/s");
    set_number(reading, root, "leaf.latency", figure_of(reading, 0, WORD_TIER),
               value_of(reading, 0, WORD_SWITCH_LATENCY), " ns");
    set_number(reading, root, "spine.ports", figure_of(reading, 1, WORD_DOWN),
               three ? number_larger(spine_ports, value_of(reading, 2, WORD_DOWN)) : spine_ports, "");
    set_number(reading, root, "spine.port_rate", top, top->value, " Gb/s");
    set_number(reading, root, "spine.latency", figure_of(reading, 1, WORD_TIER),
               value_of(reading, 1, WORD_SWITCH_LATENCY), " ns");
}

static void set_cable(struct reading *reading, struct tree_node *root, const char *path, int tier) {
    set_number(reading, root, path, figure_of(reading, tier, WORD_LATENCY), value_of(reading, tier, WORD_LATENCY),
               " m");
}

/* One latency for all links, and none of switches: as most such files have it. */
static bool is_uniform(struct reading *reading) {
    for (int tier = 0; tier < tiers_of(reading); tier++) {
        if (value_of(reading, tier, WORD_LATENCY) != value_of(reading, 0, WORD_LATENCY) ||
            value_of(reading, tier, WORD_SWITCH_LATENCY) != 0) {
            return false;
        }
    }
    return true;
}

static void set_latencies(struct reading *reading, struct tree_node *root) {
    const struct figure *host = figure_of(reading, 0, WORD_LATENCY);
    if (is_uniform(reading)) {
        set_number(reading, root, "fabric.link_latency", host, host->value, " ns");
        return;
    }
    set(reading, root, "fabric.cable_latency", NULL, "1 ns"); /* so that metres say nanoseconds */
    set_cable(reading, root, "fabric.host_cable", 0);
    set_cable(reading, root, "fabric.spine_cable", 1);
    if (tiers_of(reading) == 3) {
        set_cable(reading, root, "fabric.super_spine_cable", 2);
    }
}

static void set_fabric(struct reading *reading, struct tree_node *root, const struct counts *counts) {
    const struct figure *down = figure_of(reading, 0, WORD_DOWN), *up = figure_of(reading, 0, WORD_UP);
    const struct figure *spine = figure_of(reading, 1, WORD_DOWN);
    set_number(reading, root, "fabric.leaf_downlinks", down, down->value, "");
    set_number(reading, root, "fabric.leaf_uplinks", up, up->value, "");
    set_number(reading, root, "fabric.spines", spine, counts->spines, "");
    if (tiers_of(reading) == 3) {
        const struct figure *pod = figure_of(reading, 0, WORD_PODSIZE), *core = figure_of(reading, 2, WORD_DOWN);
        const struct figure *links = figure_of(reading, 1, WORD_UP);
        set_number(reading, root, "fabric.super_spines", core, counts->cores, "");
        set_number(reading, root, "fabric.spine_uplinks", links, links->value, "");
        set_number(reading, root, "fabric.super_spine_groups", core, counts->spines, "");
        set_number(reading, root, "fabric.pod_racks", pod, pod->value, "");
    }
    set_latencies(reading, root);
}

/* The name of the file without its folder and ending. */
static void set_name(struct reading *reading, struct tree_node *root, const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    char name[WORD_SIZE];
    const size_t length = strlen(base), ending = htsim_topology_is(base) && length > 5 ? 5 : 0;
    snprintf(name, sizeof name, "%.*s", (int)(length - ending), base);
    set(reading, root, "name", NULL, name);
}

bool htsim_topology_is(const char *path) {
    return text_ends_with(path, ".topo");
}

struct tree_node *htsim_topology_read_text(struct tree *tree, const char *name, const char *text,
                                           struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct tree_source *source = tree_allocate(tree, sizeof *source);
    snprintf(source->name, sizeof source->name, "%s", name);
    source->text = tree_copy(tree, text, strlen(text));
    struct reading reading = {
        .tree = tree, .errors = errors, .source = source, .line = {.next = source->text}, .tier = -1};
    while (line_next(&reading.line)) {
        read_line(&reading);
    }
    struct counts counts = {0};
    if (errors->count + errors->dropped == before) {
        require_all(&reading);
    }
    if (errors->count + errors->dropped == before) {
        check(&reading, &counts);
    }
    if (errors->count + errors->dropped != before) {
        return NULL;
    }
    struct tree_node *root = tree_allocate(tree, sizeof *root);
    *root = (struct tree_node){.kind = TREE_MAPPING, .place = {.source = source, .line = 1, .column = 1}};
    set_name(&reading, root, name);
    set_number(&reading, root, "racks", figure_of(&reading, 0, WORD_NODES), value_of(&reading, 0, WORD_NODES), "");
    set_constants(&reading, root);
    set_switches(&reading, root);
    set_fabric(&reading, root, &counts);
    return root;
}

struct tree_node *htsim_topology_read(struct tree *tree, const char *path, struct error_list *errors) {
    struct file_text text;
    struct error error;
    if (!file_read(path, FILE_LIMIT_BYTES, &text, &error)) {
        error_list_add(errors, &error);
        return NULL;
    }
    struct tree_node *root = htsim_topology_read_text(tree, path, text.bytes, errors);
    free(text.bytes);
    return root;
}
