// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How a result came about on one machine on one day: everything that may differ when the same run is repeated.
 * Kept beside the result file, in RESULT.run.json, so that the result itself stays the same bytes.
 */
#ifndef MOEFABRIC_RESULTS_PROVENANCE_H
#define MOEFABRIC_RESULTS_PROVENANCE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** Facts of a run of the program. */
struct provenance {
    const char *version;  /**< of moefabric; the caller's */
    const char *commit;   /**< that it was built from; the caller's, set after provenance_start; NULL = unknown */
    const char *compiler; /**< that it was built with; as commit */
    char *command_line;   /**< as one line, quoted where a shell would need it; owned */
    char host[256];       /**< name of the machine and its processor type */
    time_t started;       /**< calendar time */
    struct timespec started_clock;    /**< monotonic, for wall_s */
    unsigned threads;                 /**< set by the caller before provenance_write */
    uint64_t data_hops, control_hops; /**< of all runs together; set by the caller */
    uint64_t simulated_ps;            /**< of all runs together; set by the caller */
    double wall_s;                    /**< since provenance_start; set by provenance_stop */
    double cpu_s;                     /**< user + system time of this process */
    uint64_t peak_memory_bytes;       /**< largest resident set of this process */
    int exit_code;                    /**< what the program ends with; set by the caller */
};

/** Notes time, host and command line. Ends with provenance_free. */
struct provenance provenance_start(const char *version, int n_arguments, char *const *arguments);

/** Notes wall time, CPU time and memory up to now. May be called again. */
void provenance_stop(struct provenance *provenance);

/** RESULT.run.json for a result RESULT.h5 (or RESULT without that ending); to be freed by the caller. */
char *provenance_path(const char *result_path);

/** Writes RESULT.run.json whole or not at all (exit code 4). */
bool provenance_write(const struct provenance *provenance, const char *result_path, struct error *error);

/** Frees what it owns, not the struct. */
void provenance_free(struct provenance *provenance);

#endif
