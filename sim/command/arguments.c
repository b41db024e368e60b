// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arguments.h"

#include "base/error_id.h"
#include "base/quantity.h"
#include "config/experiment_file.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct arguments_line option_lines[] = {
    {ARGUMENTS_OUTPUT, 'o', "output", "FILE",
     "where to write the result (default: NAME.h5 here, NAME from the configuration)"},
    {ARGUMENTS_FOLDER, 'f', "folder", "FOLDER", "a folder to be made, for what is written"},
    {ARGUMENTS_POLICY, 'p', "policy", "NAME",
     "only this policy of the configuration; may be given by its number from 1"},
    {ARGUMENTS_MODEL, 'M', "model", "NAME",
     "what simulates the network: packet, fluid (flows instead of packets), compare also both; instead of "
     "network_model"},
    {ARGUMENTS_SEED, 's', "seed", "N", "this seed instead of the configuration's"},
    {ARGUMENTS_SET, 'S', "set", "KEY=VALUE",
     "change a key of the configuration, e.g. traffic.tokens_per_gpu=256; may be repeated"},
    {ARGUMENTS_THREADS, 't', "threads", "N",
     "threads (default: one a processor): runs at the same time, or inside a run; results do not depend on it"},
    {ARGUMENTS_DETAIL, 'd', "detail", NULL, "more rows in the table"},
    {ARGUMENTS_ONLY, 'n', "only", "ID", "only rows of this id; * and ? stand for other characters"},
    {ARGUMENTS_SERIES, 'e', "series", "FILE", "write what the section `record` asks for as CSV, too"},
    {ARGUMENTS_SIZES, 'z', "sizes", "FIRST:LAST",
     "sizes from FIRST to LAST, doubling (bytes of a rank's buffer, or tokens a GPU)"},
    {ARGUMENTS_AGAINST, 'a', "against", "LOG",
     "a log of nccl-tests, or of DeepEP's tests, to compare with, row by row"},
    {ARGUMENTS_CASES, 'C', "cases", "N", "score it on N clusters with faults drawn at random, and healthy ones"},
    {ARGUMENTS_BATCHES, 'b', "batches", "N", "micro-batches to learn from (default: 4)"},
    {ARGUMENTS_STEPS, 'k', "steps", "N", "placements to try, about (default: 5000)"},
    {ARGUMENTS_LAYERS, 'L', "layers", "LIST", "layers of the gate, such as 0-23: a placement for each"},
    {ARGUMENTS_PRICES, 'P', "prices", "FILE", "what parts cost: a file of yours (topologies/README.md)"},
    {ARGUMENTS_TIME, 'T', "time", "TIME",
     "say the energy of so long, such as a step of \"9.5 s\" or a training of \"54 d\""},
    {ARGUMENTS_LIST, 'l', "list", NULL, "only list the points or designs, without simulating"},
    {ARGUMENTS_JOBS, 'J', "jobs", "N", "points at the same time (default: as many as threads)"},
    {ARGUMENTS_SHARD, 'H', "shard", "I/N", "only every N-th point, from the I-th on; I from 1 to N"},
    {ARGUMENTS_INDEX, 'i', "index", "N", "only this point, numbered from 0 as --list has them"},
    {ARGUMENTS_DATA, 'D', "data", "FOLDER", "where files are that do not come with the program; their rows need it"},
    {ARGUMENTS_CACHE, 'x', "cache", "FOLDER",
     "where exchanges are kept from call to call: what is there is not simulated again"},
    {ARGUMENTS_JSON, 'j', "json", NULL, "print JSON instead of tables"},
    {ARGUMENTS_CSV, 'c', "csv", NULL, "print CSV instead of tables"},
    {ARGUMENTS_QUIET, 'q', "quiet", NULL, "no progress, no notes"},
};
enum { OPTION_LINES = sizeof(option_lines) / sizeof(option_lines[0]) };

const struct arguments_line *arguments_lines(size_t *count) {
    *count = OPTION_LINES;
    return option_lines;
}

const char *arguments_help_of(const struct arguments_line *line, const struct arguments_grammar *grammar) {
    return line->bit == ARGUMENTS_OUTPUT && grammar->output != NULL ? grammar->output : line->help;
}

char arguments_letter(const struct arguments_line *line) {
    // the letters of the others are only ours
    return line->bit & (ARGUMENTS_OUTPUT | ARGUMENTS_QUIET) ? (char)line->letter : '\0';
}

void arguments_print_usage(FILE *stream, const struct arguments_grammar *grammar) {
    fprintf(stream, "moefabric %s%s%s%s%s%s", grammar->command, grammar->options ? " [OPTIONS]" : "",
            grammar->operand ? (grammar->operand_required ? " " : " [") : "", grammar->operand ? grammar->operand : "",
            grammar->more_operands ? "…" : "", grammar->operand && !grammar->operand_required ? "]" : "");
}

static void print_help(const struct arguments_grammar *grammar) {
    printf("usage: ");
    arguments_print_usage(stdout, grammar);
    printf("\n\n%s\n\noptions:\n", grammar->description);
    for (int i = 0; i < OPTION_LINES; i++) {
        const struct arguments_line *line = &option_lines[i];
        if (grammar->options & line->bit) {
            char text[64], letter[8] = "    ";
            if (arguments_letter(line) != '\0') {
                snprintf(letter, sizeof(letter), "-%c, ", arguments_letter(line));
            }
            snprintf(text, sizeof(text), "%s--%s%s%s", letter, line->name, line->value ? " " : "",
                     line->value ? line->value : "");
            printf("  %-21s %s\n", text, arguments_help_of(line, grammar));
        }
    }
    printf("  %-21s %s\n\nexamples:\n%s", "-h, --help", "this text", grammar->examples);
}

__attribute__((format(printf, 3, 4))) static bool refuse(int *exit_code, const struct arguments_grammar *grammar,
                                                         const char *format, ...) {
    struct error error;
    char message[ERROR_MESSAGE_SIZE];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    error_set(&error, EXIT_CODE_USAGE, ERROR_ID_USAGE, "%s", message);
    error_hint(&error, "`moefabric %s --help` tells what is allowed", grammar->command);
    error_print(stderr, &error);
    *exit_code = EXIT_CODE_USAGE;
    return false;
}

/* The options that a grammar allows, for getopt_long; places for --help and the end besides. */
static void long_options(const struct arguments_grammar *grammar, struct option options[OPTION_LINES + 2]) {
    int n = 0;
    for (int i = 0; i < OPTION_LINES; i++) {
        if (grammar->options & option_lines[i].bit) {
            options[n++] = (struct option){.name = option_lines[i].name,
                                           .has_arg = option_lines[i].value ? required_argument : no_argument,
                                           .val = option_lines[i].letter};
        }
    }
    options[n++] = (struct option){.name = "help", .val = 'h'};
    options[n] = (struct option){0};
}

static bool read_count(const char *text, uint64_t most, uint64_t *value) {
    struct error error;
    return quantity_parse(text, QUANTITY_COUNT, value, &error) && *value <= most;
}

/* A whole number from 1 on. */
static bool read_number(const char *text, uint32_t most, const char *option, uint32_t *value,
                        const struct arguments_grammar *grammar, int *exit_code) {
    uint64_t number;
    if (!read_count(text, most, &number) || number == 0) {
        return refuse(exit_code, grammar, "%s takes a number from 1 to %u, not \"%s\"", option, most, text);
    }
    *value = (uint32_t)number;
    return true;
}

/* A key of the configuration that has an option of its own. */
static bool take_model(struct arguments *arguments, const struct arguments_grammar *grammar, int *exit_code) {
    static const char *const settings[] = {"network_model=packet", "network_model=fluid", "network_model=both"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(strchr(settings[i], '=') + 1, optarg) == 0 && arguments->n_overrides < ARGUMENTS_OVERRIDES) {
            arguments->overrides[arguments->n_overrides++] = settings[i];
            return true;
        }
    }
    return refuse(exit_code, grammar, "--model takes packet, fluid or both, not \"%s\"", optarg);
}

/** A number and ms, s, min, h or d. */
static bool read_time(const char *text, double *seconds, const struct arguments_grammar *grammar, int *exit_code) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    char *rest;
    const double number = strtod(text, &rest);
    rest += strspn(rest, " ");
    for (size_t i = 0; rest != text && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(rest, units[i].unit) == 0 && number > 0 && number < 1e9) {
            *seconds = number * units[i].seconds;
            return true;
        }
    }
    return refuse(exit_code, grammar, "--time takes a number and ms, s, min, h or d, not \"%s\"", text);
}

/** I/N, both from 1 on. */
static bool read_shard(struct arguments *arguments, const char *text, const struct arguments_grammar *grammar,
                       int *exit_code) {
    unsigned shard = 0, shards = 0;
    char rest;
    if (sscanf(text, "%9u/%9u%c", &shard, &shards, &rest) != 2 || shard == 0 || shard > shards) {
        return refuse(exit_code, grammar, "--shard takes I/N with I from 1 to N, not \"%s\"", text);
    }
    arguments->shard = shard;
    arguments->shards = shards;
    return true;
}

/* An option without a value. */
static bool take_flag(struct arguments *arguments, int letter) {
    switch (letter) {
    case 'c':
        return arguments->csv = true;
    case 'd':
        return arguments->detail = true;
    case 'j':
        return arguments->json = true;
    case 'l':
        return arguments->list = true;
    default:
        return arguments->quiet = true;
    }
}

/* Where the value of an option goes that takes any text; NULL for others. */
static const char **text_of(struct arguments *arguments, int letter) {
    switch (letter) {
    case 'o':
        return &arguments->output;
    case 'p':
        return &arguments->policy;
    case 'n':
        return &arguments->only;
    case 'z':
        return &arguments->sizes;
    case 'a':
        return &arguments->against;
    case 'f':
        return &arguments->folder;
    case 'e':
        return &arguments->series;
    case 'P':
        return &arguments->prices;
    case 'D':
        return &arguments->data;
    case 'x':
        return &arguments->cache;
    default:
        return NULL;
    }
}

static bool take_option(struct arguments *arguments, const struct arguments_grammar *grammar, int letter,
                        int *exit_code) {
    const char **text = text_of(arguments, letter);
    if (text) {
        *text = optarg;
        return true;
    }
    switch (letter) {
    case 's':
        arguments->has_seed = true;
        return read_count(optarg, UINT64_MAX, &arguments->seed) ||
               refuse(exit_code, grammar, "--seed takes a whole number, not \"%s\"", optarg);
    case 't':
        return read_number(optarg, 1024, "--threads", &arguments->threads, grammar, exit_code);
    case 'S':
        if (arguments->n_overrides == ARGUMENTS_OVERRIDES) {
            return refuse(exit_code, grammar, "more than 64 times --set, the last \"%s\"", optarg);
        }
        arguments->overrides[arguments->n_overrides++] = optarg;
        return true;
    case 'M':
        return take_model(arguments, grammar, exit_code);
    case 'b':
        return read_number(optarg, 1024, "--batches", &arguments->batches, grammar, exit_code);
    case 'C':
        return read_number(optarg, 100000, "--cases", &arguments->cases, grammar, exit_code);
    case 'L':
        arguments->layers = optarg;
        return true;
    case 'k':
        return read_number(optarg, 100000000, "--steps", &arguments->steps, grammar, exit_code);
    case 'T':
        return read_time(optarg, &arguments->time_s, grammar, exit_code);
    case 'J':
        return read_number(optarg, 1024, "--jobs", &arguments->jobs, grammar, exit_code);
    case 'H':
        return read_shard(arguments, optarg, grammar, exit_code);
    case 'i':
        arguments->has_index = true;
        return read_count(optarg, UINT64_MAX, &arguments->index) ||
               refuse(exit_code, grammar, "--index takes a whole number, not \"%s\"", optarg);
    default:
        return take_flag(arguments, letter);
    }
}

static bool take_operand(struct arguments *arguments, const struct arguments_grammar *grammar, int n, char **texts,
                         int *exit_code) {
    if (optind < n && grammar->operand) {
        arguments->operand = texts[optind];
        arguments->operands = &texts[optind];
        arguments->n_operands = grammar->more_operands ? (uint32_t)(n - optind) : 1;
        optind += (int)arguments->n_operands;
    }
    if (optind < n) {
        return refuse(exit_code, grammar, "what is \"%s\" for?", texts[optind]);
    }
    if (!arguments->operand && grammar->operand_required) {
        return refuse(exit_code, grammar, "a %s is missing", grammar->operand);
    }
    return true;
}

bool arguments_read(struct arguments *arguments, const struct arguments_grammar *grammar, int n, char **texts,
                    int *exit_code) {
    struct option options[OPTION_LINES + 2];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *arguments = (struct arguments){.threads = processors > 0 ? (unsigned)processors : 1};
    long_options(grammar, options);
    optind = 0; // start anew, whatever was parsed before
    opterr = 0;
    const char *letters = grammar->options & ARGUMENTS_OUTPUT ? ":ho:q" : ":hq";
    for (int letter; (letter = getopt_long(n, texts, letters, options, NULL)) != -1;) {
        if (letter == 'h') {
            print_help(grammar);
            *exit_code = EXIT_CODE_OK;
            return false;
        }
        if (letter == ':') {
            return refuse(exit_code, grammar, "\"%s\" needs a value", texts[optind - 1]);
        }
        if (letter == '?' || (letter == 'q' && !(grammar->options & ARGUMENTS_QUIET))) {
            return refuse(exit_code, grammar, "there is no option \"%s\"", texts[optind - 1]);
        }
        if (!take_option(arguments, grammar, letter, exit_code)) {
            return false;
        }
    }
    return take_operand(arguments, grammar, n, texts, exit_code);
}

bool arguments_are_silent(const struct arguments *arguments) {
    return arguments->exchange && arguments->exchange->rank != 0;
}

/* Says that there is more to a configuration than what is read of it. */
static void note_points(const struct arguments *arguments, const char *section, const char *points, uint64_t n) {
    struct error note;
    if (n > 0) {
        error_set_file(&note, EXIT_CODE_OK, 0, arguments->operand,
                       "the section `%s` has %llu %s, and this is the configuration without it", section,
                       (unsigned long long)n, points);
        error_hint(&note, "`moefabric %s %.160s` runs the %s", section, arguments->operand, points);
        error_print(stderr, &note);
    }
}

enum exit_code arguments_experiment(const struct arguments *arguments, struct experiment *experiment) {
    struct error_list errors = {0}, notes = {0};
    if (!experiment_read_noting(arguments->operand, arguments->overrides, arguments->n_overrides, experiment, &notes,
                                &errors)) {
        return arguments_are_silent(arguments) ? errors.errors[0].exit_code : experiment_report(stderr, &errors);
    }
    if (!arguments->quiet && !arguments_are_silent(arguments)) {
        error_list_print(stderr, &notes);
        note_points(arguments, "sweep", "points", experiment->sweep.n_points);
        note_points(arguments, "size", "designs", experiment->size.n_points);
    }
    if (arguments->has_seed) {
        experiment->seeds[0] = arguments->seed;
        experiment->n_seeds = 1;
    }
    return EXIT_CODE_OK;
}
