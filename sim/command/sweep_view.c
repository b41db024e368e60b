// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/sweep_view.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { SETTINGS_SIZE = 512, LINE_SIZE = SETTINGS_SIZE + 128, NARROWEST = 40, USUAL_WIDTH = 100 };
static const double interval_s = 0.1;

double sweep_view_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

char *sweep_view_settings(const struct sweep_table *table, const struct sweep_point *point, char *buffer, size_t size) {
    size_t length = 0;
    buffer[0] = '\0';
    for (uint32_t a = 0; a < table->n_axes && length < size; a++) {
        if (point->values[a][0] != '\0') {
            length += (size_t)snprintf(buffer + length, size - length, "%s%s=%s", length > 0 ? ", " : "",
                                       table->axes[a], point->values[a]);
        }
    }
    return buffer;
}

void sweep_view_begin(struct sweep_view *view, const struct sweep_table *table, uint32_t to_do, bool quiet) {
    *view = (struct sweep_view){.stream = stderr,
                                .table = table,
                                .to_do = to_do,
                                .begun_s = sweep_view_now(),
                                .quiet = quiet,
                                .terminal = isatty(STDERR_FILENO) == 1};
}

/** Takes the table away, so that something else can be printed. */
static void erase(struct sweep_view *view) {
    if (view->lines > 0) {
        fprintf(view->stream, "\033[%uA\r\033[J", view->lines); /* ECMA-48: lines up; erase to the end of the display */
        view->lines = 0;
    }
}

static void format_time(char *text, size_t size, double seconds) {
    if (seconds < 99.5) {
        snprintf(text, size, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
    } else if (seconds < 5999) {
        snprintf(text, size, "%.0f min", seconds / 60);
    } else {
        snprintf(text, size, "%.1f h", seconds / 3600);
    }
}

/** Time that is left, as far as points that are done tell. */
static void format_left(const struct sweep_view *view, char *text, size_t size) {
    text[0] = '\0';
    if (view->done > 0 && view->done < view->to_do) {
        char left[32];
        const double elapsed = sweep_view_now() - view->begun_s;
        format_time(left, sizeof left, elapsed / view->done * (view->to_do - view->done));
        snprintf(text, size, ", about %s left", left);
    }
}

void sweep_view_end_point(struct sweep_view *view, const struct sweep_point *point, double seconds) {
    char settings[SETTINGS_SIZE], left[64], taken[32];
    view->done += point->outcome != SWEEP_MISSING;
    view->failed += point->outcome == SWEEP_FAILED || point->outcome == SWEEP_REFUSED;
    if (view->quiet || point->outcome == SWEEP_MISSING || (view->terminal && point->outcome == SWEEP_DONE)) {
        return;
    }
    erase(view);
    format_left(view, left, sizeof left);
    format_time(taken, sizeof taken, seconds);
    sweep_view_settings(view->table, point, settings, sizeof settings);
    fprintf(view->stream, "%" PRIu32 " of %" PRIu32 ": point %" PRIu64 " (%s) %s%s%s in %s%s\n", view->done,
            view->to_do, point->number, settings, sweep_table_outcome_name(point->outcome),
            point->error[0] != '\0' ? ": " : "", point->error, taken, left);
    fflush(view->stream);
}

static unsigned terminal_width(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST) {
        return size.ws_col;
    }
    return USUAL_WIDTH;
}

static void show_row(struct sweep_view *view, const struct sweep_view_row *row, unsigned width) {
    char settings[SETTINGS_SIZE], line[LINE_SIZE], taken[32];
    format_time(taken, sizeof taken, row->seconds);
    sweep_view_settings(view->table, row->point, settings, sizeof settings);
    snprintf(line, sizeof line, "  %6" PRIu64 "  %3u %%  %8s  %s", row->point->number, row->thousandths / 10, taken,
             settings);
    fprintf(view->stream, "%.*s\n", (int)width - 1, line);
    view->lines++;
}

void sweep_view_update(struct sweep_view *view, const struct sweep_view_row *rows, unsigned n_rows) {
    const double now_s = sweep_view_now();
    if (view->quiet || !view->terminal || now_s - view->shown_s < interval_s) {
        return;
    }
    char left[64];
    const unsigned width = terminal_width();
    view->shown_s = now_s;
    erase(view);
    format_left(view, left, sizeof left);
    fprintf(view->stream, "%s: %" PRIu32 " of %" PRIu32 " points, %" PRIu32 " failed%s\n", view->table->title,
            view->done, view->to_do, view->failed, left);
    view->lines = 1;
    for (unsigned i = 0; i < n_rows; i++) {
        if (rows[i].point != NULL) {
            show_row(view, &rows[i], width);
        }
    }
    fflush(view->stream);
}

void sweep_view_finish(struct sweep_view *view) {
    char taken[32];
    if (view->quiet || view->to_do == 0) {
        return;
    }
    erase(view);
    format_time(taken, sizeof taken, sweep_view_now() - view->begun_s);
    fprintf(view->stream, "%s: %" PRIu32 " of %" PRIu32 " points run in %s, %" PRIu32 " failed\n", view->table->title,
            view->done, view->to_do, taken, view->failed);
}
