// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/validate_schema.h"
#include "config/configuration.h"

#include <string.h>

const struct arguments_grammar command_schema_grammar = {
    .command = "schema",
    .operand = "KIND",
    .words = "configuration topology validation",
    .description =
        "Prints the JSON Schema (draft-07) of configuration files (KIND configuration, the default), "
        "topology files (KIND\n"
        "topology) or tables of reference values (KIND validation), for editors that complete and check YAML.",
    .examples = "  moefabric schema > configuration.schema.json\n"
                "  moefabric schema topology > topology.schema.json\n",
};

int command_schema(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    if (!arguments_read(&given, &command_schema_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (!given.operand || strcmp(given.operand, "configuration") == 0) {
        configuration_schema(stdout, CONFIGURATION_EXPERIMENT);
        return EXIT_CODE_OK;
    }
    if (strcmp(given.operand, "topology") == 0) {
        configuration_schema(stdout, CONFIGURATION_TOPOLOGY);
        return EXIT_CODE_OK;
    }
    if (strcmp(given.operand, "validation") == 0) {
        validate_schema(stdout);
        return EXIT_CODE_OK;
    }
    struct error error;
    error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "there is no schema \"%s\"", given.operand);
    error_hint(&error, "there are three: configuration, topology, validation");
    error_print(stderr, &error);
    return EXIT_CODE_USAGE;
}
