// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"
#include "command/command.h"
#include "config/configuration.h"

static const struct arguments_grammar grammar = {
    .command = "explain",
    .operand = "KEY",
    .description =
        "Says what a configuration or topology key means: type, unit, range, default, and where the default is from.\n"
        "Takes a key, a section or an error number; without any lists all keys.",
    .examples = "  moefabric explain traffic.gate\n"
                "  moefabric explain MF-010\n",
};

int command_explain(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (!configuration_explain(stdout, given.operand, &error)) {
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    return EXIT_CODE_OK;
}
