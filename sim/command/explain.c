// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"
#include "command/command.h"
#include "config/configuration.h"
#include "config/experiment_preset.h"
#include "results/glossary.h"

#include <string.h>

const struct arguments_grammar command_explain_grammar = {
    .command = "explain",
    .operand = "NAME",
    .description =
        "Says what a configuration or topology key means: type, unit, range, default, and where the default is from.\n"
        "Takes a key, a section, a value of a key, a model preset, an error number, a row of the tables that `run` and "
        "`compare` "
        "print,\n"
        "a metric of their JSON, or a column of result files; without any lists all keys.",
    .examples = "  moefabric explain traffic.gate\n"
                "  moefabric explain ecmp\n"
                "  moefabric explain MF-010\n"
                "  moefabric explain busbw\n",
};

int command_explain(int n_arguments, char **arguments) {
    struct arguments given;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_explain_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    const bool is_result =
        given.operand && (glossary_explain(stdout, given.operand) || experiment_preset_explain(stdout, given.operand));
    if (!configuration_explain(stdout, given.operand, &error) && !is_result) {
        const char *nearest = glossary_nearest(given.operand);
        if (nearest && strncmp(error.hint, "did you", 7) != 0) {
            error_hint(&error, "did you mean `%s`?", nearest);
        }
        for (const struct command *command = command_table; command->name; command++) {
            if (given.operand && strcmp(command->name, given.operand) == 0) {
                error_hint(&error, "it is a command: moefabric %s --help", command->name);
            }
        }
        error_print(stderr, &error);
        return (int)error.exit_code;
    }
    return EXIT_CODE_OK;
}
