// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/command.h"

#include "base/error_id.h"
#include "base/nearest.h"
#include "command/version.h"

#include <stdio.h>
#include <string.h>

const struct command command_table[] = {
    {"run", "simulate one policy with one seed and store what happened", command_run, &command_run_grammar},
    {"compare", "simulate several policies on the same traffic and print one table", command_compare,
     &command_compare_grammar},
    {"sweep", "run a configuration at many points: every combination of the values of some keys", command_sweep,
     &command_sweep_grammar},
    {"size", "find the cheapest cluster that reaches a target: fabrics worked out, compared and priced", command_size,
     &command_size_grammar},
    {"check", "say what would be simulated, and what it would cost, without simulating", command_check,
     &command_check_grammar},
    {"place", "look for a placement of experts and replicas, and compare it with others", command_place,
     &command_place_grammar},
    {"validate", "simulate what is known from laws, peers and measurements, and print both values side by side",
     command_validate, &command_validate_grammar},
    {"perf", "sweep sizes as nccl-tests and DeepEP's tests do, and print their columns", command_perf,
     &command_perf_grammar},
    {"calibrate", "set figures of a topology from logs of nccl-tests and DeepEP's tests, by least squares",
     command_calibrate, &command_calibrate_grammar},
    {"train", "simulate a layer's exchanges, and say what a training step is made of", command_train,
     &command_train_grammar},
    {"detect", "name stragglers from what monitoring would see of a simulated cluster", command_detect,
     &command_detect_grammar},
    {"preflight", "probe a simulated cluster for marginal clocks, NICs and links before it trains", command_preflight,
     &command_preflight_grammar},
    {"report", "write a web page with charts of one or several result files", command_report, &command_report_grammar},
    {"show", "print the table of a result file again", command_show, &command_show_grammar},
    {"diff", "say what differs between two result files: settings and numbers", command_diff, &command_diff_grammar},
    {"export", "write a result file's tables as CSV, for spreadsheets and scripts", command_export,
     &command_export_grammar},
    {"gate", "say how a gate loads experts, GPUs and racks, before anything is simulated", command_gate,
     &command_gate_grammar},
    {"topology", "describe a topology file: devices, links, latencies, parts", command_topology,
     &command_topology_grammar},
    {"explain", "say what a key, a value, an error number or a row of the output means", command_explain,
     &command_explain_grammar},
    {"schema", "print the JSON Schema of configuration or topology files", command_schema, &command_schema_grammar},
    {"reference", "print all keys, errors and metrics as one page; the manual page; shell completions",
     command_reference, &command_reference_grammar},
    {0},
};

static void print_usage(FILE *stream) {
    fputs("usage: moefabric COMMAND [OPTIONS] [FILE]\n\n"
          "Simulates mixture-of-experts all-to-all traffic on NVLink domains joined by a fabric, packet by packet.\n\n"
          "commands:\n",
          stream);
    for (const struct command *command = command_table; command->name; command++) {
        fprintf(stream, "  %-10s %s\n", command->name, command->summary);
    }
    fputs("\n`moefabric COMMAND --help` tells more of a command.\n\n"
          "examples:\n"
          "  moefabric compare configs/quickstart-collision.yaml\n"
          "  moefabric explain traffic.gate\n",
          stream);
}

static const struct command *find(const char *name) {
    for (const struct command *command = command_table; command->name; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

static int refuse(const char *name) {
    const char *names[sizeof(command_table) / sizeof(command_table[0])];
    size_t count = 0;
    for (const struct command *command = command_table; command->name; command++) {
        names[count++] = command->name;
    }
    struct error error;
    error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "there is no command \"%s\"", name);
    const char *nearest = nearest_name(name, names, count);
    if (nearest) {
        error_hint(&error, "did you mean `moefabric %s`?", nearest);
    } else {
        error_hint(&error, "`moefabric --help` lists the commands");
    }
    error_print(stderr, &error);
    return EXIT_CODE_USAGE;
}

int command_main(int n_arguments, char **arguments) {
    if (n_arguments < 2) {
        print_usage(stderr);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0 || strcmp(arguments[1], "help") == 0) {
        print_usage(stdout);
        return EXIT_CODE_OK;
    }
    if (strcmp(arguments[1], "--version") == 0) {
        printf("moefabric %s\n", version_number());
        return EXIT_CODE_OK;
    }
    const struct command *command = find(arguments[1]);
    return command ? command->run(n_arguments - 1, arguments + 1) : refuse(arguments[1]);
}
