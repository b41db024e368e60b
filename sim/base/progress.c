// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/progress.h"

#include "base/quantity.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 256 };
static const uint64_t terminal_interval_ns = UINT64_C(100000000); /* the eye sees it move */
static const uint64_t log_interval_ns = UINT64_C(5000000000);     /* a log stays readable */
static const double ns_per_s = 1e9;

static uint64_t monotonic_ns(void *context) {
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void progress_init(struct progress *progress, FILE *stream, const char *label, bool quiet) {
    const int descriptor = fileno(stream);
    *progress = (struct progress){
        .stream = stream,
        .quiet = quiet,
        .terminal = descriptor >= 0 && isatty(descriptor) != 0,
        .clock_ns = monotonic_ns,
    };
    snprintf(progress->label, sizeof progress->label, "%s", label);
    text_disarm(progress->label);
    progress->begun_ns = progress->shown_ns = progress->clock_ns(NULL);
}

/** Wall time as people say it: 4.2 s, 3 min 20 s, 2 h 5 min. */
static void print_wall(char *text, size_t size, double seconds) {
    if (seconds < 60) {
        snprintf(text, size, "%.1f s", seconds);
    } else if (seconds < 3600) {
        snprintf(text, size, "%u min %u s", (unsigned)seconds / 60, (unsigned)seconds % 60);
    } else {
        const uint64_t minutes = (uint64_t)(seconds / 60);
        snprintf(text, size, "%" PRIu64 " h %u min", minutes / 60, (unsigned)(minutes % 60));
    }
}

/** "1.234 ms simulated", or "3 of 12 runs". */
static void print_reached(char *text, size_t size, const struct progress_sample *sample) {
    char simulated[QUANTITY_TEXT_SIZE];
    if (sample->part_name != NULL) {
        snprintf(text, size, "%" PRIu32 " of %" PRIu32 " %s", sample->parts_done, sample->parts, sample->part_name);
    } else {
        snprintf(text, size, "%s simulated",
                 quantity_print_short(simulated, QUANTITY_TIME, (double)sample->simulated_ps));
    }
}

/** "label: 1.234 ms simulated, 12.3 M packet-hops, 6.10 M hops/s" and, where known, ", 40 %". */
static size_t print_state(const struct progress *progress, char *line, const struct progress_sample *sample,
                          double seconds) {
    char reached[64];
    print_reached(reached, sizeof reached, sample);
    const double millions = (double)sample->packet_hops / 1e6;
    int length = snprintf(line, LINE_SIZE, "%s%s%s", progress->label, progress->label[0] == '\0' ? "" : ": ", reached);
    if (!sample->without_packets) {
        length += snprintf(line + length, LINE_SIZE - (size_t)length, ", %.1f M packet-hops, %.2f M hops/s", millions,
                           seconds > 0 ? millions / seconds : 0.0);
    }
    if (sample->share_done >= 0) {
        length += snprintf(line + length, LINE_SIZE - (size_t)length, ", %.0f %%", 100 * sample->share_done);
    }
    return (size_t)length;
}

/** Rewrites the terminal's line (blanks cover what was longer), or prints a whole one. */
static void show(struct progress *progress, const char *line, bool last) {
    if (!progress->terminal) {
        fprintf(progress->stream, "%s\n", line);
    } else {
        const unsigned width = (unsigned)text_width(line);
        const unsigned cover = progress->width > width ? progress->width - width : 0;
        fprintf(progress->stream, "\r%s%*s%s", line, (int)cover, "", last ? "\n" : "");
        progress->width = last ? 0 : width;
    }
    fflush(progress->stream);
}

void progress_update(struct progress *progress, const struct progress_sample *sample) {
    if (progress->quiet) {
        return;
    }
    const uint64_t now_ns = progress->clock_ns(progress->context);
    if (now_ns - progress->shown_ns < (progress->terminal ? terminal_interval_ns : log_interval_ns)) {
        return;
    }
    progress->shown_ns = now_ns;
    const double seconds = (double)(now_ns - progress->begun_ns) / ns_per_s;
    char line[LINE_SIZE];
    const size_t length = print_state(progress, line, sample, seconds);
    if (sample->share_done > 0 && sample->share_done < 1) {
        char left[32];
        print_wall(left, sizeof left, seconds * (1 - sample->share_done) / sample->share_done);
        snprintf(line + length, LINE_SIZE - length, ", %s left", left);
    }
    show(progress, line, false);
}

void progress_finish(struct progress *progress, const struct progress_sample *sample) {
    if (progress->quiet) {
        return;
    }
    const double seconds = (double)(progress->clock_ns(progress->context) - progress->begun_ns) / ns_per_s;
    char line[LINE_SIZE], taken[32];
    const size_t length = print_state(progress, line, sample, seconds);
    print_wall(taken, sizeof taken, seconds);
    snprintf(line + length, LINE_SIZE - length, ", took %s", taken);
    show(progress, line, true);
}

void progress_clear(struct progress *progress) {
    if (progress->quiet || progress->width == 0) {
        return;
    }
    fprintf(progress->stream, "\r%*s\r", (int)progress->width, "");
    fflush(progress->stream);
    progress->width = 0;
}
