// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A line that shows that work is alive: simulated time (of one run) or parts done (of several), packet-hops, speed, share done, time left.
 *
 * On a terminal one line is rewritten ten times a second; elsewhere (log files) a whole line is printed every five
 * seconds. Wall-clock time is used for this display only, never for results.
 */
#ifndef MOEFABRIC_BASE_PROGRESS_H
#define MOEFABRIC_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** What work can say about itself at any time. */
struct progress_sample {
    uint64_t simulated_ps; /**< not shown of several parts: each has a time of its own */
    uint64_t packet_hops;  /**< of all parts */
    double share_done;     /**< 0 … 1; negative where nobody knows */
    uint32_t parts, parts_done;
    const char *part_name; /**< plural: "runs", "rows"; NULL = the work is one run */
    bool without_packets;  /**< the work simulates none: hops are not shown */
};

/** State of a display. Treat as opaque. */
struct progress {
    FILE *stream;
    char label[64];
    bool quiet, terminal;
    uint64_t (*clock_ns)(void *context); /**< monotonic wall clock */
    void *context;
    uint64_t begun_ns, shown_ns;
    unsigned width; /**< characters that stand on the terminal's line */
};

/** Begins a display on a stream (stderr); quiet shows nothing at all. The label (a policy and seed, say) is copied. */
void progress_init(struct progress *progress, FILE *stream, const char *label, bool quiet);

/** Shows the sample if it is time to; cheap otherwise (one clock reading), so it may be called a few thousand times a second. */
void progress_update(struct progress *progress, const struct progress_sample *sample);

/** Shows the last sample with the time taken, and ends the line. */
void progress_finish(struct progress *progress, const struct progress_sample *sample);

/** Removes a half-shown line from a terminal, so that a message can be printed. */
void progress_clear(struct progress *progress);

#endif
