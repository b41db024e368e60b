// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/reference.h"

#include "base/error_id.h"
#include "command/arguments.h"
#include "command/command.h"
#include "config/configuration.h"
#include "results/glossary.h"

#include <string.h>

const struct arguments_grammar command_reference_grammar = {
    .command = "reference",
    .operand = "KIND",
    .words = "page man bash zsh",
    .description =
        "Prints all commands, exit codes, keys, error numbers and metrics as one page of Markdown (KIND page, the "
        "default), the\n"
        "manual page (man), or completions for a shell (bash, zsh). All are made from the program's own tables.",
    .examples = "  moefabric reference > reference.md\n"
                "  source <(moefabric reference bash)\n",
};

const struct reference_exit_code *reference_exit_codes(size_t *count) {
    static const struct reference_exit_code codes[] = {
        {EXIT_CODE_OK, "All went well."},
        {EXIT_CODE_RUN_FAILED,
         "A run broke one of its own rules, memory ran out, or (validate) a value missed its tolerance."},
        {EXIT_CODE_USAGE, "The command line is not understood."},
        {EXIT_CODE_CONFIGURATION, "A configuration, a topology, or a file that it names, is wrong."},
        {EXIT_CODE_INPUT_OUTPUT, "A file, or standard output, cannot be read or written."},
        {EXIT_CODE_LIMIT, "A run stalled, or reached a limit that its configuration states."},
        {EXIT_CODE_INTERRUPTED, "SIGINT, SIGTERM or SIGHUP came; what was finished is saved."},
    };
    *count = sizeof codes / sizeof codes[0];
    return codes;
}

static void print_command(const struct command *command) {
    size_t count;
    const struct arguments_line *lines = arguments_lines(&count);
    printf("\n### `");
    arguments_print_usage(stdout, command->grammar);
    printf("`\n\n%s\n", command->grammar->description);
    const char *head = "\n| option | meaning |\n|---|---|\n";
    for (size_t i = 0; i < count; i++) {
        if (command->grammar->options & lines[i].bit) {
            const char letter = arguments_letter(&lines[i]);
            printf("%s| `%s%.1s%s--%s%s%s` | %s |\n", head, letter != '\0' ? "-" : "", letter != '\0' ? &letter : "",
                   letter != '\0' ? ", " : "", lines[i].name, lines[i].value ? " " : "",
                   lines[i].value ? lines[i].value : "", arguments_help_of(&lines[i], command->grammar));
            head = "";
        }
    }
}

static void print_errors(void) {
    size_t count;
    const struct error_id_entry *entries = error_id_entries(&count);
    printf("\n## Error numbers\n\nA number keeps its meaning for ever.\n\n| number | meaning |\n|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        printf("| MF-%03d | %s |\n", (int)entries[i].id, entries[i].meaning);
    }
}

static void print_exit_codes(void) {
    size_t count;
    const struct reference_exit_code *codes = reference_exit_codes(&count);
    printf("\n## Exit codes\n\n| code | when |\n|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        printf("| %d | %s |\n", (int)codes[i].code, codes[i].meaning);
    }
}

static void print_page(void) {
    printf("# Reference\n\nWritten by `moefabric reference`; `moefabric explain NAME` tells the same of one name.\n"
           "What result files hold: [results/README.md](../results/README.md).\n\n## Commands\n");
    for (const struct command *command = command_table; command->name; command++) {
        print_command(command);
    }
    print_exit_codes();
    printf("\n## Keys of a configuration\n");
    configuration_reference(stdout, CONFIGURATION_EXPERIMENT);
    printf("\n## Keys of a topology\n\nIn a configuration they are reached as `topology.SECTION.KEY`.\n");
    configuration_reference(stdout, CONFIGURATION_TOPOLOGY);
    printf("\n## Metrics\n\n");
    glossary_reference(stdout);
    print_errors();
}

int command_reference(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    if (!arguments_read(&given, &command_reference_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    if (!given.operand || strcmp(given.operand, "page") == 0) {
        print_page();
    } else if (strcmp(given.operand, "man") == 0) {
        reference_manual(stdout);
    } else if (strcmp(given.operand, "bash") == 0) {
        reference_bash(stdout);
    } else if (strcmp(given.operand, "zsh") == 0) {
        reference_zsh(stdout);
    } else {
        struct error error;
        error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "there is no reference \"%s\"", given.operand);
        error_hint(&error, "there are four: page, man, bash, zsh");
        error_print(stderr, &error);
        return EXIT_CODE_USAGE;
    }
    return EXIT_CODE_OK;
}
