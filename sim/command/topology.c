// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"
#include "command/command.h"
#include "command/headroom_report.h"
#include "command/topology_json.h"
#include "config/experiment_file.h"
#include "config/topology_file.h"
#include "fabric/builder.h"
#include "fabric/describe_print.h"
#include "fabric/parts_print.h"

const struct arguments_grammar command_topology_grammar = {
    .command = "topology",
    .operand = "FILE",
    .operand_required = true,
    .options = ARGUMENTS_PRICES | ARGUMENTS_TIME | ARGUMENTS_JSON,
    .description =
        "Describes a topology file: devices, links, what the fabric can carry, unloaded latencies between GPUs, parts "
        "and their\npower; what they cost by a file of prices, and the energy of a step or a training run.",
    .examples = "  moefabric topology topologies/gb200-nvl72-spectrumx.yaml\n"
                "  moefabric topology topologies/gb300-nvl72-spectrumx.yaml --prices mine.yaml --time \"54 d\"\n",
};

static void print_text(const struct topology_json *given) {
    describe_print(stdout, given->topology, given->fabric);
    printf("\n");
    parts_print(stdout, given->parts, given->prices, given->cost, given->seconds);
    headroom_report_print(stdout, given->topology, given->fabric);
}

/* Everything about a fabric that has been built; prices may be NULL. */
static void print(const struct arguments *given, const struct topology *topology, const struct fabric *fabric,
                  const struct parts_prices *prices) {
    struct describe_facts facts;
    struct parts parts;
    struct parts_cost cost = {0};
    struct error_list notes = {0};
    describe_measure(fabric, &facts);
    parts_list(topology, &facts, &parts);
    if (prices) {
        parts_prices_apply(prices, &parts, &cost, &notes);
        error_list_print(stderr, &notes);
    }
    const struct topology_json all = {.topology = topology,
                                      .fabric = fabric,
                                      .facts = &facts,
                                      .parts = &parts,
                                      .prices = prices,
                                      .cost = prices ? &cost : NULL,
                                      .seconds = given->time_s};
    if (given->json) {
        topology_json_print(stdout, &all);
    } else {
        print_text(&all);
    }
}

int command_topology(int n_arguments, char **arguments) {
    struct arguments given;
    struct topology topology;
    struct parts_prices prices;
    struct error_list errors = {0};
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_topology_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    const bool read = topology_read(given.operand, &topology, &errors);
    if (!(!given.prices || parts_prices_read(given.prices, &prices, &errors)) || !read) {
        return (int)experiment_report(stderr, &errors);
    }
    struct fabric *fabric = fabric_build_plane(&topology, &error);
    if (!fabric) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    headroom_report_doubt(stderr, &topology, fabric);
    print(&given, &topology, fabric, given.prices ? &prices : NULL);
    fabric_free(fabric);
    return EXIT_CODE_OK;
}
