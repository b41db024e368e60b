// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/reference.h"

#include "command/arguments.h"
#include "command/command.h"
#include "command/version.h"

/** Text of a manual page: what troff would take as a request, or as a hyphen, is quoted. New lines stay. */
static void print_text(FILE *stream, const char *text) {
    for (bool begins = true; *text != '\0'; text++) {
        if (begins && (*text == '.' || *text == '\'')) {
            fputs("\\&", stream);
        }
        if (*text == '\\') {
            fputs("\\e", stream);
        } else if (*text == '-') {
            fputs("\\-", stream);
        } else {
            fputc(*text, stream);
        }
        begins = *text == '\n';
    }
}

static void print_option(FILE *stream, const struct arguments_line *line) {
    fputs(".TP\n", stream);
    if (arguments_letter(line) != '\0') {
        fprintf(stream, "\\fB\\-%c\\fR, ", arguments_letter(line));
    }
    fprintf(stream, "\\fB\\-\\-%s\\fR", line->name);
    if (line->value != NULL) {
        fprintf(stream, " \\fI%s\\fR", line->value);
    }
    fputc('\n', stream);
    print_text(stream, line->help);
    fputc('\n', stream);
}

static void print_command(FILE *stream, const struct command *command) {
    fprintf(stream, ".SS ");
    arguments_print_usage(stream, command->grammar);
    fputc('\n', stream);
    print_text(stream, command->grammar->description);
    fputc('\n', stream);
    size_t count;
    const struct arguments_line *lines = arguments_lines(&count);
    for (size_t i = 0; i < count; i++) {
        if (command->grammar->options & lines[i].bit) {
            print_option(stream, &lines[i]);
        }
    }
    fputs(".P\nExamples:\n.P\n.nf\n", stream);
    print_text(stream, command->grammar->examples);
    fputs(".fi\n", stream);
}

static void print_exit_codes(FILE *stream) {
    size_t count;
    const struct reference_exit_code *codes = reference_exit_codes(&count);
    fputs(".SH \"EXIT STATUS\"\n", stream);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, ".TP\n.B %d\n", (int)codes[i].code);
        print_text(stream, codes[i].meaning);
        fputc('\n', stream);
    }
}

/** What is written as text, section by section. */
static const char ending[] =
    ".SH ENVIRONMENT\n"
    ".TP\n.B NO_COLOR\n"
    "If it is set and not empty, messages have no colour. They have none either where they go to no terminal.\n"
    ".P\nNothing that is simulated depends on the environment.\n"
    ".SH FILES\n"
    "Reads the files that are named on the command line or in a configuration, and topologies that come with the "
    "program;\n"
    "writes what \\fB\\-\\-output\\fR, \\fB\\-\\-folder\\fR and \\fB\\-\\-series\\fR name, or else NAME.h5, NAME.html "
    "or "
    "NAME.csv\n"
    "in the folder that it is called in, and NAME.run.json beside a result. A file appears under its name when it is "
    "whole.\n"
    ".SH \"SEE ALSO\"\n"
    "\\fBmoefabric explain\\fR for keys, values, error numbers, metrics and columns;\n"
    "\\fBmoefabric reference\\fR for all of them on one page.\n";

void reference_manual(FILE *stream) {
    fprintf(
        stream,
        ".\\\" Written by `moefabric reference man`.\n"
        ".TH MOEFABRIC 1 \"\" \"moefabric %s\" \"User Commands\"\n"
        ".SH NAME\nmoefabric \\- simulate mixture\\-of\\-experts all\\-to\\-all traffic, packet by packet\n"
        ".SH SYNOPSIS\n.B moefabric\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIFILE\\fR]\n.br\n"
        ".B moefabric \\-\\-help\n|\n.B \\-\\-version\n"
        ".SH DESCRIPTION\n"
        "Simulates mixture\\-of\\-experts all\\-to\\-all traffic on NVLink domains joined by a fabric of Spectrum\\-X "
        "Ethernet or InfiniBand.\n"
        "Progress and messages go to standard error, tables and JSON to standard output.\n"
        "The same configuration and seed give the same bytes, for any number of threads.\n"
        ".SH COMMANDS\n",
        version_number());
    for (const struct command *command = command_table; command->name; command++) {
        fprintf(stream, ".TP\n.B %s\n", command->name);
        print_text(stream, command->summary);
        fputc('\n', stream);
    }
    fputs(".P\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR after a command tells what it takes.\n", stream);
    for (const struct command *command = command_table; command->name; command++) {
        print_command(stream, command);
    }
    print_exit_codes(stream);
    fputs(ending, stream);
}
