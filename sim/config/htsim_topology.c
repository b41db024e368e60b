// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/htsim_topology.h"

#include "base/file.h"
#include "base/line.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/text.h"
#include "config/fat_tree.h"
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

struct reading {
    struct tree *tree;
    struct error_list *errors;
    const struct tree_source *source;
    struct line line;
    int tier;                                          /* that lines are about; -1: the header */
    struct fat_tree_figure figures[TIERS_MOST][WORDS]; /* those of the header in tier 0 */
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
static bool read_number(struct reading *reading, enum word word, size_t offset, struct fat_tree_figure *figure) {
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

static void begin_tier(struct reading *reading, const struct fat_tree_figure *figure) {
    if (figure->value >= TIERS_MOST) {
        tree_report(reading->errors, figure->place, ERROR_ID_HTSIM_TOPOLOGY, NULL, "tiers are 0, 1 and 2, not %" PRIu64,
                    figure->value);
        return;
    }
    reading->tier = (int)figure->value;
    struct fat_tree_figure *tier = &reading->figures[reading->tier][WORD_TIER];
    if (tier->place.line > 0) {
        tree_report(reading->errors, figure->place, ERROR_ID_HTSIM_TOPOLOGY, NULL, "tier %d was described in line %u",
                    reading->tier, tier->place.line);
    }
    *tier = *figure;
}

static void read_figure(struct reading *reading, enum word word, size_t offset, size_t length) {
    struct fat_tree_figure figure;
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
    struct fat_tree_figure *kept = &reading->figures[reading->tier < 0 ? 0 : reading->tier][word];
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

static struct fat_tree_figure *figure_of(struct reading *reading, int tier, enum word word) {
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
    struct fat_tree_figure *figure = figure_of(reading, at_tier < 0 ? 0 : at_tier, word);
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
        struct fat_tree_figure *figure = figure_of(reading, tier, optional[i]);
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

static void check(struct reading *reading, struct counts *counts) {
    if (!count_switches(reading, counts)) {
        return;
    }
    for (int tier = 0; tier + 1 < tiers_of(reading); tier++) {
        check_oversubscription(reading, tier);
    }
    check_bundles(reading, counts);
}

/* ---- the mapping ---- */

static const char ending[] = ".topo";

/* What an htsim topology leaves to htsim's command line; sources: topologies/leaf-spine-400g.yaml. */
static const struct fat_tree_constant constants[] = {
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
};

static struct fat_tree fat_tree_of(struct reading *reading, const struct counts *counts) {
    struct fat_tree fat_tree = {.source = reading->source,
                                .n_tiers = tiers_of(reading),
                                .hosts = *figure_of(reading, 0, WORD_NODES),
                                .pod_hosts = *figure_of(reading, 0, WORD_PODSIZE),
                                .pod_spines = {counts->spines, figure_of(reading, 1, WORD_DOWN)->place},
                                .cores = {counts->cores, figure_of(reading, 2, WORD_DOWN)->place}};
    for (int tier = 0; tier < fat_tree.n_tiers; tier++) {
        fat_tree.tiers[tier] = (struct fat_tree_tier){
            .rate_gbps = *figure_of(reading, tier, WORD_SPEED),
            .down = *figure_of(reading, tier, WORD_DOWN),
            .up = *figure_of(reading, tier, WORD_UP),
            .latency_ns = *figure_of(reading, tier, WORD_LATENCY),
            .switch_ns = {value_of(reading, tier, WORD_SWITCH_LATENCY), figure_of(reading, tier, WORD_TIER)->place}};
    }
    return fat_tree;
}

bool htsim_topology_is(const char *path) {
    return text_ends_with(path, ending);
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
    const struct fat_tree fat_tree = fat_tree_of(&reading, &counts);
    return fat_tree_check_switches(&fat_tree, ERROR_ID_HTSIM_TOPOLOGY, errors)
               ? fat_tree_mapping(tree, &fat_tree, name, ending, constants, sizeof constants / sizeof constants[0],
                                  errors)
               : NULL;
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
