// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"
#include "command/command.h"
#include "command/headroom_report.h"
#include "config/experiment_file.h"
#include "config/topology_file.h"
#include "fabric/builder.h"
#include "fabric/describe_print.h"

const struct arguments_grammar command_topology_grammar = {
    .command = "topology",
    .operand = "FILE",
    .operand_required = true,
    .description =
        "Describes a topology file: devices, links, what the fabric can carry, unloaded latencies between GPUs, parts.",
    .examples = "  moefabric topology topologies/gb200-nvl72-spectrumx.yaml\n"
                "  moefabric topology topologies/hgx-h100-roce.yaml\n",
};

int command_topology(int n_arguments, char **arguments) {
    struct arguments given;
    struct topology topology;
    struct error_list errors = {0};
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_topology_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (!topology_read(given.operand, &topology, &errors)) {
        return (int)experiment_report(stderr, &errors);
    }
    struct fabric *fabric = fabric_build_plane(&topology, &error);
    if (!fabric) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    headroom_report_doubt(stderr, &topology, fabric);
    describe_print(stdout, &topology, fabric);
    headroom_report_print(stdout, &topology, fabric);
    fabric_free(fabric);
    return EXIT_CODE_OK;
}
