// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_fabric.h"

#include "base/memory.h"
#include "report/report_blocks.h"
#include "report/report_crossing.h"
#include "results/series.h"

#include <stdbool.h>
#include <stdlib.h>

enum { MOST_STEPS = 200, MOST_SERIES_VALUES = 400000, SERIES_SHOWN = 2 };

static bool is_shown(const struct measurement_link *link) {
    return link->kind != MEASUREMENT_LINK_NVLINK;
}

/** One array over the links that are shown. */
static void put_links(const struct measurement *run, const char *name, struct json *json,
                      void (*put)(const struct measurement *, const struct measurement_link *, struct json *)) {
    json_name(json, name);
    json_array(json);
    for (uint32_t i = 0; i < run->n_links; i++) {
        if (is_shown(&run->links[i])) {
            put(run, &run->links[i], json);
        }
    }
    json_array_end(json);
}

#define PUT(field, call)                                                                                               \
    static void put_##field(const struct measurement *run, const struct measurement_link *link, struct json *json) {   \
        (void)run;                                                                                                     \
        call;                                                                                                          \
    }

PUT(name, json_text(json, link->name))
PUT(tail, json_whole(json, link->tail_device))
PUT(head, json_whole(json, link->head_device))
PUT(rate, json_short(json, (double)link->rate_bits_per_s))
PUT(bytes, json_short(json, (double)link->bytes))
PUT(deepest, json_short(json, (double)link->deepest_bytes))
PUT(paused, json_short(json, (double)(link->paused_ps + link->credit_stalled_ps)))
PUT(marks, json_short(json, (double)link->marks))
PUT(drops,
    json_short(json, (double)(link->drops_lossless + link->drops_lossy + link->watchdog_drops + link->lost_packets)))
PUT(busy,
    json_short(json, run->totals.simulated_ps > 0 ? (double)link->busy_ps / (double)run->totals.simulated_ps : 0.0))

void report_fabric(const struct measurement *run, struct json *json) {
    json_member_whole(json, "ranks", run->n_ranks);
    json_name(json, "rack_of_rank");
    json_array(json);
    for (uint32_t rank = 0; rank < run->n_ranks; rank++) {
        if (run->endpoints[rank].rack == MEASUREMENT_NONE) {
            json_number(json, -1.0);
        } else {
            json_whole(json, run->endpoints[rank].rack);
        }
    }
    json_array_end(json);
    json_name(json, "links");
    json_object(json);
    put_links(run, "name", json, put_name);
    put_links(run, "tail", json, put_tail);
    put_links(run, "head", json, put_head);
    put_links(run, "rate_bits_per_s", json, put_rate);
    json_object_end(json);
}

/** Number of a link among those that are shown, by row; UINT32_MAX where it is not. */
static uint32_t *number_links(const struct measurement *run) {
    uint32_t *numbers = memory_allocate(run->n_links, sizeof *numbers), next = 0;
    for (uint32_t i = 0; i < run->n_links; i++) {
        numbers[i] = is_shown(&run->links[i]) ? next++ : UINT32_MAX;
    }
    return numbers;
}

/** The largest value of a link in a block of intervals: what the eye looks for. */
static double block_value(const struct series *series, enum series_quantity quantity, uint32_t link, uint32_t first,
                          uint32_t size) {
    double largest = 0.0;
    for (uint32_t i = first; i < first + size && i < series->n_intervals; i++) {
        const double value = (double)series->values[quantity][(uint64_t)i * series->n_links + link];
        largest = value > largest ? value : largest;
    }
    return largest;
}

static void put_series_values(const struct series *series, enum series_quantity quantity, uint32_t size,
                              struct json *json) {
    if (series->values[quantity] == NULL) {
        return;
    }
    json_name(json, series_columns[quantity].name);
    json_array(json);
    for (uint32_t first = 0; first < series->n_intervals; first += size) {
        json_array(json);
        for (uint32_t link = 0; link < series->n_links; link++) {
            json_short(json, block_value(series, quantity, link, first, size));
        }
        json_array_end(json);
    }
    json_array_end(json);
}

/** Intervals go together in blocks, so that a page can hold them: of sent bytes and deepest queues the largest of each block. */
static void put_series(const struct measurement *run, const uint32_t *numbers, uint32_t n_runs, struct json *json) {
    const struct series *series = run->series;
    const uint64_t a_step = (uint64_t)series->n_links * SERIES_SHOWN * n_runs; /* values, all runs together */
    const uint64_t fit = a_step > 0 ? MOST_SERIES_VALUES / a_step : MOST_STEPS;
    const uint32_t most = fit < 1 ? 1 : fit < MOST_STEPS ? (uint32_t)fit : MOST_STEPS;
    const uint32_t size = report_blocks_size(series->n_intervals, most);
    json_name(json, "series");
    json_object(json);
    json_member_whole(json, "interval_ps", series->interval_ps);
    json_member_whole(json, "from_ps", series->from_ps);
    json_member_whole(json, "intervals_a_step", size);
    json_name(json, "link");
    json_array(json);
    for (uint32_t i = 0; i < series->n_links; i++) {
        json_number(json, numbers[series->links[i]] == UINT32_MAX ? -1.0 : numbers[series->links[i]]);
    }
    json_array_end(json);
    put_series_values(series, SERIES_SENT_BYTES, size, json);
    put_series_values(series, SERIES_DEEPEST_BYTES, size, json);
    json_object_end(json);
}

void report_fabric_use(const struct measurement *run, uint32_t n_runs, struct json *json) {
    json_name(json, "use");
    json_object(json);
    put_links(run, "busy", json, put_busy);
    put_links(run, "deepest_bytes", json, put_deepest);
    put_links(run, "paused_ps", json, put_paused);
    put_links(run, "marks", json, put_marks);
    put_links(run, "drops", json, put_drops);
    put_links(run, "bytes", json, put_bytes);
    json_object_end(json);
    uint32_t *numbers = number_links(run);
    report_crossing(run, numbers, n_runs, json);
    if (run->series != NULL) {
        put_series(run, numbers, n_runs, json);
    }
    free(numbers);
}
