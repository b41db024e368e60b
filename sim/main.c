// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"
#include "base/error_id.h"
#include "base/memory.h"
#include "command/command.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <string.h>

/** What was printed may have been lost (disk full, pipe closed): that is no success. */
static int finish_output(int exit_code) {
    errno = 0;
    const bool lost = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !lost) {
        return exit_code;
    }
    struct error error;
    error_set(&error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, "standard output cannot be written: %s",
              errno != 0 ? strerror(errno) : "an earlier write failed");
    error_print(stderr, &error);
    return exit_code == EXIT_CODE_OK ? EXIT_CODE_INPUT_OUTPUT : exit_code;
}

/** GSL's own handler aborts whatever happens; no memory is no mistake of ours. */
static void stop_at_library_error(const char *reason, const char *file, int line, int number) {
    if (number == GSL_ENOMEM) {
        memory_exhausted("GSL");
    }
    BUG("%s:%d: GSL says: %s", file, line, reason);
}

int main(int n_arguments, char **arguments) {
    gsl_set_error_handler(stop_at_library_error);
    memory_return(); // first while there is one thread: see memory.h
    return finish_output(command_main(n_arguments, arguments));
}
