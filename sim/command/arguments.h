// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Options that the subcommands share.
 */
#ifndef MOEFABRIC_COMMAND_ARGUMENTS_H
#define MOEFABRIC_COMMAND_ARGUMENTS_H

#include "base/error.h"
#include "config/experiment.h"
#include "engine/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ARGUMENTS_OVERRIDES = 64 };

/** Options that a subcommand may allow, as bits. --help is always allowed. */
enum arguments_option {
    ARGUMENTS_OUTPUT = 1,        /**< -o, --output FILE */
    ARGUMENTS_QUIET = 2,         /**< -q, --quiet */
    ARGUMENTS_JSON = 4,          /**< --json */
    ARGUMENTS_THREADS = 8,       /**< --threads N */
    ARGUMENTS_SET = 16,          /**< --set KEY=VALUE, repeated */
    ARGUMENTS_POLICY = 32,       /**< --policy NAME */
    ARGUMENTS_SEED = 64,         /**< --seed N */
    ARGUMENTS_DETAIL = 128,      /**< --detail */
    ARGUMENTS_ONLY = 256,        /**< --only ID */
    ARGUMENTS_FOLDER = 512,      /**< --folder FOLDER */
    ARGUMENTS_SERIES = 1024,     /**< --series FILE */
    ARGUMENTS_SIZES = 1 << 11,   /**< --sizes FIRST:LAST */
    ARGUMENTS_AGAINST = 1 << 12, /**< --against LOG */
    ARGUMENTS_MODEL = 1 << 22,   /**< --model NAME */
    ARGUMENTS_CASES = 1 << 18,   /**< --cases N */
    ARGUMENTS_BATCHES = 1 << 20, /**< --batches N */
    ARGUMENTS_STEPS = 1 << 21,   /**< --steps N */
    ARGUMENTS_LAYERS = 1 << 19,  /**< --layers LIST */
    ARGUMENTS_PRICES = 1 << 27,  /**< --prices FILE */
    ARGUMENTS_TIME = 1 << 28,    /**< --time TIME */
    ARGUMENTS_LIST = 1 << 26,    /**< --list */
    ARGUMENTS_JOBS = 1 << 23,    /**< --jobs N */
    ARGUMENTS_SHARD = 1 << 24,   /**< --shard I/N */
    ARGUMENTS_INDEX = 1 << 25,   /**< --index N */
    ARGUMENTS_CSV = 1 << 16,     /**< --csv */
    ARGUMENTS_DATA = 1 << 17,    /**< --data FOLDER */
    ARGUMENTS_CACHE = 1 << 29,   /**< --cache FOLDER */
};

/** What a subcommand takes, for parsing and for its help. */
struct arguments_grammar {
    const char *command;
    const char *operand; /**< name of the operand in the help, NULL = none */
    const char *words;   /**< what its first word may be, parted by blanks; NULL = no fixed set */
    bool operand_required;
    bool more_operands;      /**< several may be given */
    unsigned options;        /**< bits of enum arguments_option */
    const char *output;      /**< what --output says in the help; NULL: the result file of a run */
    const char *description; /**< for the help */
    const char *examples;    /**< two lines for the help */
};

/** One option: how it is written, and what the help says. */
struct arguments_line {
    enum arguments_option bit;
    int letter; /**< what getopt_long returns; users know only those of --output and --quiet */
    const char *name;
    const char *value; /**< what its value is called in the help, NULL = none */
    const char *help;
};

/** All options of all subcommands, in the order of the help; *count receives how many. */
const struct arguments_line *arguments_lines(size_t *count);

/** What an option says in the help of a subcommand. */
const char *arguments_help_of(const struct arguments_line *line, const struct arguments_grammar *grammar);

/** The letter that a user may give instead of the name; 0 = none. */
char arguments_letter(const struct arguments_line *line);

/** Writes "usage" of a subcommand: its name, options and operand, without a newline. */
void arguments_print_usage(FILE *stream, const struct arguments_grammar *grammar);

/** What was given. Texts belong to the command line. */
struct arguments {
    const char *operand;   /**< NULL if none was given */
    char *const *operands; /**< [n_operands], the first of them is operand */
    uint32_t n_operands;
    const char *output, *policy, *only, *folder, *series, *sizes, *against;
    const char *overrides[ARGUMENTS_OVERRIDES];
    uint32_t n_overrides;
    uint64_t seed;
    unsigned threads;        /**< as given, else the number of processors */
    uint32_t batches, steps; /**< 0 if not given */
    uint32_t cases;          /**< 0 if not given */
    const char *layers;      /**< NULL if not given */
    uint32_t jobs;           /**< 0 if not given */
    uint32_t shard, shards;  /**< --shard: 1 … shards; 0 if not given */
    uint64_t index;
    const char *prices; /**< NULL if not given */
    double time_s;      /**< --time; 0 if not given */
    bool has_index, list;
    bool quiet, json, csv, detail, has_seed;
    const char *data;          /**< --data; NULL if not given */
    const char *cache;         /**< --cache; NULL if not given */
    struct exchange *exchange; /**< set by commands that run over several ranks; NULL = one process */
};

/**
 * Reads a subcommand's arguments. Returns false if the command is to end at once with *exit_code: after --help (printed), or after a
 * mistake (printed).
 */
bool arguments_read(struct arguments *arguments, const struct arguments_grammar *grammar, int n, char **texts,
                    int *exit_code);

/** True on ranks other than 0: they compute, rank 0 speaks. */
bool arguments_are_silent(const struct arguments *arguments);

/** Reads the configuration that is the operand, with overrides and seed applied. Prints notes on settings without effect, unless --quiet. On
 * mistakes prints them all and returns their exit code. */
enum exit_code arguments_experiment(const struct arguments *arguments, struct experiment *experiment);

#endif
