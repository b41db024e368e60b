// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/reference.h"

#include "base/error_id.h"
#include "command/arguments.h"
#include "command/command.h"
#include "config/configuration.h"
#include "results/metric.h"

#include <string.h>

/** Suffixes of the files that an operand or a value may be, parted by bars; NULL = it is no file. */
static const char *suffixes_of(const char *name) {
    static const struct {
        const char *name, *suffixes;
    } files[] = {
        {"CONFIG", "yaml|yml"},    {"RESULT", "h5"}, {"RESULT RESULT", "h5"}, {"KIND TOPOLOGY", "yaml|yml|topo"},
        {"FILE", "yaml|yml|topo"}, {"PATH", "yaml"},
    };
    for (size_t i = 0; name != NULL && i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].name, name) == 0) {
            return files[i].suffixes;
        }
    }
    return NULL;
}

static bool takes_file(const struct arguments_line *line) {
    return line->value != NULL && (strcmp(line->value, "FILE") == 0 || strcmp(line->value, "LOG") == 0);
}

static bool takes_folder(const struct arguments_line *line) {
    return line->value != NULL && strcmp(line->value, "FOLDER") == 0;
}

/** Keys that --set changes. */
static void print_keys(FILE *stream) {
    configuration_print_names(stream, CONFIGURATION_EXPERIMENT, "");
    configuration_print_names(stream, CONFIGURATION_TOPOLOGY, "topology.");
}

/** Words that `explain` knows: keys, metrics, error numbers. */
static void print_names(FILE *stream) {
    print_keys(stream);
    configuration_print_names(stream, CONFIGURATION_TOPOLOGY, "");
    for (size_t s = 0; s < metric_sections_count; s++) {
        for (size_t i = 0; i < metric_sections[s].count; i++) {
            fprintf(stream, "%s\n", metric_sections[s].metrics[i].id);
        }
    }
    size_t count;
    const struct error_id_entry *entries = error_id_entries(&count);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "MF-%03d\n", (int)entries[i].id);
    }
}

/** One arm of the script's `case`: what a command takes. */
static void print_bash_command(FILE *stream, const struct command *command) {
    size_t count;
    const struct arguments_line *lines = arguments_lines(&count);
    fprintf(stream, "    %s)\n        options='--help", command->name);
    for (size_t i = 0; i < count; i++) {
        if (command->grammar->options & lines[i].bit) {
            fprintf(stream, " --%s", lines[i].name);
        }
    }
    fputc('\'', stream);
    if (command->grammar->words != NULL) {
        fprintf(stream, " words='%s'", command->grammar->words);
    } else if (command->run == command_explain) {
        fputs(" words=$_moefabric_names", stream);
    }
    if (suffixes_of(command->grammar->operand) != NULL) {
        fprintf(stream, " suffixes='%s'", suffixes_of(command->grammar->operand));
    }
    fputs("\n        ;;\n", stream);
}

/** Options whose value is a file, a folder, or neither, as patterns of the script's `case`. */
static void print_bash_values(FILE *stream) {
    size_t count;
    const struct arguments_line *lines = arguments_lines(&count);
    fputs("    --set)\n        compopt -o nospace\n"
          "        mapfile -t COMPREPLY < <(compgen -S = -W \"$_moefabric_keys\" -- \"$word\")\n        return\n       "
          " ;;\n",
          stream);
    for (size_t i = 0; i < count; i++) {
        if (lines[i].value != NULL && lines[i].bit != ARGUMENTS_SET) {
            fprintf(stream, "    --%s", lines[i].name);
            if (arguments_letter(&lines[i]) != '\0') {
                fprintf(stream, " | -%c", arguments_letter(&lines[i]));
            }
            fprintf(stream, ")%s\n",
                    takes_file(&lines[i])     ? " _moefabric_files '*' \"$word\" && return ;;"
                    : takes_folder(&lines[i]) ? " _moefabric_files / \"$word\" && return ;;"
                                              : " return ;;");
        }
    }
}

static const char bash_files[] = "\n# Folders, and files with one of these suffixes.\n"
                                 "_moefabric_files() {\n"
                                 "    local entry\n"
                                 "    compopt -o filenames\n"
                                 "    while IFS= read -r entry; do\n"
                                 "        if [[ -d $entry || $1 == '*' || $1 != / && $entry =~ \\.($1)$ ]]; then\n"
                                 "            COMPREPLY+=(\"$entry\")\n"
                                 "        fi\n"
                                 "    done < <(compgen -f -- \"$2\")\n"
                                 "}\n";

static const char bash_begin[] = "\n_moefabric() {\n"
                                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                                 "    local command='' options='' words='' suffixes='' i\n"
                                 "    COMPREPLY=()\n"
                                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                                 "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
                                 "            command=${COMP_WORDS[i]}\n"
                                 "            break\n"
                                 "        fi\n"
                                 "    done\n"
                                 "    case $command in\n";

static const char bash_end[] = "    esac\n"
                               "    if [[ $word == -* ]]; then\n"
                               "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                               "        return\n"
                               "    fi\n"
                               "    if [[ -n $words && (-z $suffixes || $before == \"$command\") ]]; then\n"
                               "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                               "        return\n"
                               "    fi\n"
                               "    if [[ -n $suffixes ]]; then\n"
                               "        _moefabric_files \"$suffixes\" \"$word\"\n"
                               "    fi\n"
                               "}\n"
                               "complete -F _moefabric moefabric\n";

void reference_bash(FILE *stream) {
    fputs("# Completions of bash for moefabric, written by `moefabric reference bash`.\n_moefabric_keys='", stream);
    print_keys(stream);
    fputs("'\n_moefabric_names='", stream);
    print_names(stream);
    fputs("'\n", stream);
    fputs(bash_files, stream);
    fputs(bash_begin, stream);
    fputs("    '') words='--help --version", stream);
    for (const struct command *command = command_table; command->name; command++) {
        fprintf(stream, " %s", command->name);
    }
    fputs("' options=$words ;;\n", stream);
    for (const struct command *command = command_table; command->name; command++) {
        print_bash_command(stream, command);
    }
    fputs("    esac\n    case $before in\n", stream);
    print_bash_values(stream);
    fputs(bash_end, stream);
}

/** A text between single quotes, without what means something to _arguments. */
static void print_zsh_text(FILE *stream, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", stream);
        } else {
            fprintf(stream, "%s%c", strchr(":[]\\", *text) != NULL ? "\\" : "", *text);
        }
    }
}

static void print_zsh_option(FILE *stream, const struct arguments_line *line, const struct arguments_grammar *grammar) {
    const char *repeated = line->bit == ARGUMENTS_SET ? "*" : "";
    if (arguments_letter(line) != '\0') {
        fprintf(stream, " \\\n        '(-%c --%s)'{-%c,--%s}'[", arguments_letter(line), line->name,
                arguments_letter(line), line->name);
    } else {
        fprintf(stream, " \\\n        '%s--%s[", repeated, line->name);
    }
    print_zsh_text(stream, arguments_help_of(line, grammar));
    fputc(']', stream);
    if (line->value != NULL) {
        fprintf(stream, ":%s:%s", line->value,
                takes_file(line)             ? "_files"
                : takes_folder(line)         ? "_files -/"
                : line->bit == ARGUMENTS_SET ? "compadd -S = -a moefabric_keys"
                                             : " ");
    }
    fputc('\'', stream);
}

static void print_zsh_command(FILE *stream, const struct command *command) {
    size_t count;
    const struct arguments_line *lines = arguments_lines(&count);
    const struct arguments_grammar *grammar = command->grammar;
    fprintf(stream, "    %s)\n        _arguments '(-h --help)'{-h,--help}'[help]'", command->name);
    for (size_t i = 0; i < count; i++) {
        if (grammar->options & lines[i].bit) {
            print_zsh_option(stream, &lines[i], grammar);
        }
    }
    const char *suffixes = suffixes_of(grammar->operand);
    if (grammar->words != NULL) {
        fprintf(stream, " \\\n        '1:KIND:(%s)'", grammar->words);
    } else if (command->run == command_explain) {
        fputs(" \\\n        '1:NAME:compadd -a moefabric_names'", stream);
    }
    if (suffixes != NULL) {
        fprintf(stream, " \\\n        '*:%s:_files -g \"*.(%s)\"'", grammar->operand, suffixes);
    }
    fputs("\n        ;;\n", stream);
}

void reference_zsh(FILE *stream) {
    fputs("#compdef moefabric\n# Completions of zsh for moefabric, written by `moefabric reference zsh`.\n"
          "local -a moefabric_commands moefabric_keys moefabric_names state line\nmoefabric_keys=(\n",
          stream);
    print_keys(stream);
    fputs(")\nmoefabric_names=(\n", stream);
    print_names(stream);
    fputs(")\nmoefabric_commands=(\n", stream);
    for (const struct command *command = command_table; command->name; command++) {
        fprintf(stream, "    '%s:", command->name);
        print_zsh_text(stream, command->summary);
        fputs("'\n", stream);
    }
    fputs(")\n_arguments -C '(- *)'{-h,--help}'[help]' '(- *)--version[version]' '1: :->command' '*:: :->rest'\n"
          "case $state in\ncommand) _describe command moefabric_commands ;;\nrest)\n    case $words[1] in\n",
          stream);
    for (const struct command *command = command_table; command->name; command++) {
        print_zsh_command(stream, command);
    }
    fputs("    esac\n    ;;\nesac\n", stream);
}
