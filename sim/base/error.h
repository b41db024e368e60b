// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Errors of users (files, arguments, limits) as values, and bugs of ours as aborts.
 */
#ifndef MOEFABRIC_BASE_ERROR_H
#define MOEFABRIC_BASE_ERROR_H

#include <stdbool.h>
#include <stdio.h>

/** Exit codes of the program, and the kind of every error. Values are part of the interface. */
enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_RUN_FAILED = 1,    /**< the simulation broke one of its own rules, or memory ran out */
    EXIT_CODE_USAGE = 2,         /**< command line */
    EXIT_CODE_CONFIGURATION = 3, /**< configuration or topology file */
    EXIT_CODE_INPUT_OUTPUT = 4,  /**< a file could not be read or written */
    EXIT_CODE_LIMIT = 5,         /**< stalled, or a stated limit was reached */
    EXIT_CODE_INTERRUPTED = 130, /**< SIGINT; what was finished is saved */
};

enum { ERROR_MESSAGE_SIZE = 512, ERROR_FILE_SIZE = 256, ERROR_SOURCE_SIZE = 256, ERROR_LIST_LIMIT = 20 };

/** One error, self-contained: texts are copied, nothing to free. */
struct error {
    int id;                           /**< stable number, printed as MF-0nn; 0 where none applies */
    enum exit_code exit_code;         /**< what the program ends with; EXIT_CODE_OK: no error but a note */
    char message[ERROR_MESSAGE_SIZE]; /**< one sentence, no newline: what is wrong */
    char hint[ERROR_MESSAGE_SIZE];    /**< what is allowed, or the nearest name; may be empty */
    char file[ERROR_FILE_SIZE];       /**< as the user gave it; empty where no file is at fault */
    char source[ERROR_SOURCE_SIZE];   /**< the line of the file at fault; empty where unknown */
    unsigned line;                    /**< from 1; 0 = whole file */
    unsigned column;                  /**< from 1; 0 = whole line */
};

/** All errors of a file at once, in the order found; those past ERROR_LIST_LIMIT are only counted. Zero-initialise. */
struct error_list {
    struct error errors[ERROR_LIST_LIMIT];
    unsigned count;   /**< kept in errors */
    unsigned dropped; /**< found beyond the limit */
};

/** Fills *error (may be NULL) from a printf format; clears place and hint. Returns false, so that a caller can `return error_set(…)`. */
bool error_set(struct error *error, enum exit_code exit_code, int id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** error_set for a mistake of a whole file, which may be NULL or empty. Returns false. */
bool error_set_file(struct error *error, enum exit_code exit_code, int id, const char *file, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Sets the hint of an error from a printf format. */
void error_hint(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Appends a copy to the list, or counts it as dropped; the same text at the same place is kept once. */
void error_list_add(struct error_list *list, const struct error *error);

/** Prints `file:line:col: error[MF-0nn]: message` (a note: `file:line:col: note: message`), the source line, a caret and the hint; colour only on a terminal without NO_COLOR. */
void error_print(FILE *stream, const struct error *error);

/** Prints all errors of a list, sorted by place, and how many more there were. */
void error_list_print(FILE *stream, const struct error_list *list);

/** A broken invariant: prints place, event context and message to stderr, then aborts. Never for mistakes of the user. */
_Noreturn void bug_abort(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Reports a bug of ours with this place. */
#define BUG(...) bug_abort(__FILE__, __LINE__, __VA_ARGS__)

/** Checks an invariant that is cheap enough to stay in release builds. */
#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            BUG(__VA_ARGS__);                                                                                          \
        }                                                                                                              \
    } while (0)

#endif
