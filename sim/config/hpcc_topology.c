// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/hpcc_topology.h"

#include "base/file.h"
#include "base/line.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/text.h"
#include "config/hpcc_graph.h"
#include "config/tree_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 28, NODES_MOST = 1 << 20, LINKS_MOST = 1 << 22, WORD_SIZE = 64, PS_PER_NS = 1000 };

static const char ending[] = ".txt";

/* Of the mapping: constants and the two that go with the rate. */
enum { CONSTANTS = 14, RATE_OF_THRESHOLDS_GBPS = 25, KMIN_KB = 100, KMAX_KB = 400 };

/* A word of the file, and where it stands. */
struct word {
    struct tree_place place;
    const char *begin; /* in the line */
    size_t length;
};

/* The file being read, and how far. */
struct reading {
    const struct tree_source *source;
    struct error_list *errors;
    struct line line;
    size_t at; /* in the line: what is behind it has been taken */
};

static bool refuse(struct reading *reading, const struct word *word, const char *needed) {
    tree_report(reading->errors, word->place, ERROR_ID_HPCC_TOPOLOGY, NULL, "%s is needed here, not `%.*s`", needed,
                (int)number_smaller(word->length, WORD_SIZE), word->begin);
    return false;
}

/* Takes the next word: lines are blanks like any other. False, reported, at the end. */
static bool take(struct reading *reading, struct word *word, const char *needed) {
    size_t begin = 0;
    while (reading->line.text == NULL ||
           (begin = reading->at + strspn(reading->line.text + reading->at, " \t\r")) >= reading->line.length) {
        reading->at = 0;
        if (!line_next(&reading->line)) {
            const struct tree_place place = {.source = reading->source, .line = reading->line.number, .column = 1};
            tree_report(reading->errors, place, ERROR_ID_HPCC_TOPOLOGY,
                        "the first line says how many nodes, switches and links follow",
                        "the file ends where %s is needed", needed);
            return false;
        }
    }
    word->place =
        (struct tree_place){.source = reading->source, .line = reading->line.number, .column = (unsigned)begin + 1};
    word->begin = reading->line.text + begin;
    word->length = strcspn(word->begin, " \t\r\n");
    reading->at = begin + word->length;
    return true;
}

static bool take_number(struct reading *reading, uint64_t most, const char *needed, uint32_t *number) {
    struct word word;
    uint64_t value;
    if (!take(reading, &word, needed)) {
        return false;
    }
    if (line_number(word.begin, &value) != word.length || word.length == 0 || value > most) {
        return refuse(reading, &word, needed);
    }
    *number = (uint32_t)value;
    return true;
}

static bool take_rate(struct reading *reading, uint32_t *rate_gbps) {
    static const char needed[] = "a rate of whole Gb/s (100Gbps)";
    struct word word;
    uint64_t value;
    if (!take(reading, &word, needed)) {
        return false;
    }
    const size_t digits = line_number(word.begin, &value);
    if (digits == 0 || word.length != digits + strlen("Gbps") ||
        strncmp(word.begin + digits, "Gbps", strlen("Gbps")) != 0 || value == 0 || value > UINT16_MAX) {
        return refuse(reading, &word, needed);
    }
    *rate_gbps = (uint32_t)value;
    return true;
}

static bool take_delay(struct reading *reading, uint32_t *latency_ns) {
    static const char needed[] = "a delay of whole nanoseconds (1000ns, 1us, 0.001ms)";
    struct word word;
    struct error ignored;
    char text[WORD_SIZE];
    uint64_t ps;
    if (!take(reading, &word, needed)) {
        return false;
    }
    snprintf(text, sizeof text, "%.*s", (int)word.length, word.begin);
    if (word.length >= sizeof text || !quantity_parse(text, QUANTITY_TIME, &ps, &ignored) || ps == 0 ||
        ps % PS_PER_NS != 0 || ps / PS_PER_NS > 1000000) {
        return refuse(reading, &word, needed);
    }
    *latency_ns = (uint32_t)(ps / PS_PER_NS);
    return true;
}

/* Nothing but nothing. */
static bool take_error_rate(struct reading *reading) {
    static const char needed[] = "an error rate of 0 (random loss belongs into `failures` of the configuration)";
    struct word word;
    if (!take(reading, &word, needed)) {
        return false;
    }
    return strspn(word.begin, "0.") == word.length || refuse(reading, &word, needed);
}

static bool take_link(struct reading *reading, uint32_t n_nodes, struct hpcc_link *link) {
    for (int side = 0; side < 2; side++) {
        if (!take_number(reading, n_nodes - 1, "the number of a node", &link->nodes[side])) {
            return false;
        }
        if (side == 0) {
            link->line = reading->line.number;
            link->column = 1;
        }
    }
    return take_rate(reading, &link->rate_gbps) && take_delay(reading, &link->latency_ns) && take_error_rate(reading);
}

/* Which nodes are switches. */
static bool take_switches(struct reading *reading, uint32_t n, uint32_t n_nodes, bool *is_switch) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node;
        if (!take_number(reading, n_nodes - 1, "the number of a switch", &node)) {
            return false;
        }
        is_switch[node] = true;
    }
    return true;
}

/* SimAI's first line has three more words: nodes, GPUs a server, NVSwitches, switches, links, the GPU's name. */
static bool take_sizes(struct reading *reading, uint32_t *n_nodes, uint32_t *n_switches, uint32_t *n_links) {
    if (!take_number(reading, NODES_MOST, "the number of nodes", n_nodes) ||
        !take_number(reading, NODES_MOST, "the number of switches", n_switches) ||
        !take_number(reading, LINKS_MOST, "the number of links", n_links)) {
        return false;
    }
    const size_t rest = reading->at + strspn(reading->line.text + reading->at, " \t\r");
    if (reading->line.number == 1 && rest < reading->line.length) {
        const struct tree_place place = {.source = reading->source, .line = 1, .column = (unsigned)rest + 1};
        tree_report(
            reading->errors, place, ERROR_ID_HPCC_TOPOLOGY, "describe NVLink domains in a topology file of moefabric",
            "the first line is three numbers: nodes, switches, links (SimAI's, with NVSwitches, is another format)");
        return false;
    }
    if (*n_nodes < 3 || *n_links == 0) {
        const struct tree_place place = {.source = reading->source, .line = 1, .column = 1};
        tree_report(reading->errors, place, ERROR_ID_HPCC_TOPOLOGY, NULL, "the file has no network");
        return false;
    }
    return true;
}

static bool read_graph(struct reading *reading, struct fat_tree *fat_tree) {
    uint32_t n_nodes = 0, n_switches = 0, n_links = 0;
    if (!take_sizes(reading, &n_nodes, &n_switches, &n_links)) {
        return false;
    }
    bool *is_switch = memory_allocate(n_nodes, sizeof *is_switch);
    struct hpcc_link *links = memory_allocate(n_links, sizeof *links);
    bool good = take_switches(reading, n_switches, n_nodes, is_switch);
    for (uint32_t i = 0; good && i < n_links; i++) {
        good = take_link(reading, n_nodes, &links[i]);
    }
    const struct hpcc_graph graph = {
        .source = reading->source, .n_nodes = n_nodes, .n_links = n_links, .is_switch = is_switch, .links = links};
    good = good && hpcc_graph_fat_tree(&graph, fat_tree, reading->errors);
    free(links);
    free(is_switch);
    return good;
}

bool hpcc_topology_is(const char *path) {
    return text_ends_with(path, ending);
}

/*
 * What a topology leaves to config.txt and the source text: packet_payload_size 1000; CustomHeader::GetStaticWholeHeaderSize without
 * telemetry 48 B; ACKs of 60 B (rdma-hw.cc); go-back-N; whole packets are stored before they go on; buffer_size 32 MB; switch-mmu.cc:
 * a_shift 3, resume offset 3 KiB; Kmin 100 KB and Kmax 400 KB for each 25 Gb/s, Pmax 0.2.
 */
static struct tree_node *mapping(struct tree *tree, const struct fat_tree *fat_tree, const char *name,
                                 struct error_list *errors) {
    char kmin[WORD_SIZE], kmax[WORD_SIZE];
    const uint64_t rate_gbps = fat_tree->tiers[0].rate_gbps.value;
    snprintf(kmin, sizeof kmin, "%" PRIu64 " B", KMIN_KB * rate_gbps * 1000 / RATE_OF_THRESHOLDS_GBPS);
    snprintf(kmax, sizeof kmax, "%" PRIu64 " B", KMAX_KB * rate_gbps * 1000 / RATE_OF_THRESHOLDS_GBPS);
    const struct fat_tree_constant constants[CONSTANTS] = {
        {"nic.payload", "1000 B"},
        {"nic.header", "48 B"},
        {"nic.control", "60 B"},
        {"nic.out_of_order", "false"},
        {"leaf.model", "HPCC's switch"},
        {"leaf.cut_through", "false"},
        {"leaf.pfc", "true"},
        {"leaf.lossless_pool", "32 MB"},
        {"leaf.lossless_alpha_shift", "-3"},
        {"leaf.headroom", "0"},
        {"leaf.xon", "3 KiB"},
        {"leaf.ecn_minimum", kmin},
        {"leaf.ecn_maximum", kmax},
        {"leaf.ecn_probability", "20 %"},
    };
    return fat_tree_mapping(tree, fat_tree, name, ending, constants, CONSTANTS, errors);
}

struct tree_node *hpcc_topology_read_text(struct tree *tree, const char *name, const char *text,
                                          struct error_list *errors) {
    struct tree_source *source = tree_allocate(tree, sizeof *source);
    snprintf(source->name, sizeof source->name, "%s", name);
    source->text = tree_copy(tree, text, strlen(text));
    struct reading reading = {.source = source, .errors = errors, .line = {.next = source->text}};
    struct fat_tree fat_tree;
    if (!read_graph(&reading, &fat_tree) || !fat_tree_check_switches(&fat_tree, ERROR_ID_HPCC_TOPOLOGY, errors)) {
        return NULL;
    }
    return mapping(tree, &fat_tree, name, errors);
}

struct tree_node *hpcc_topology_read(struct tree *tree, const char *path, struct error_list *errors) {
    struct file_text text;
    struct error error;
    if (!file_read(path, FILE_LIMIT_BYTES, &text, &error)) {
        error_list_add(errors, &error);
        return NULL;
    }
    struct tree_node *root = hpcc_topology_read_text(tree, path, text.bytes, errors);
    free(text.bytes);
    return root;
}
