// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/series_csv.h"

#include "base/file.h"
#include "results/series.h"

#include <inttypes.h>
#include <stdio.h>

/* What a line begins with. */
static void begin(FILE *stream, const struct series *series, uint32_t interval) {
    const uint64_t begin_ps = series->from_ps + interval * series->interval_ps;
    fprintf(stream, "%" PRIu64 ",%" PRIu64 ",", begin_ps, begin_ps + series->interval_ps);
}

/* The rate and the utilisation besides the bytes: what people plot. */
static void write_rate(FILE *stream, const struct series *series, const struct measurement_link *link,
                       uint32_t interval, uint64_t bytes) {
    const double rate = 8e12 * (double)bytes / (double)series->interval_ps;
    begin(stream, series, interval);
    fprintf(stream, "%s,rate_bits_per_s,%.0f\n", link->name, rate);
    begin(stream, series, interval);
    fprintf(stream, "%s,utilisation,%.6f\n", link->name, rate / (double)link->rate_bits_per_s);
}

static void write_links(FILE *stream, const struct measurement *measurement, uint32_t interval) {
    const struct series *series = measurement->series;
    for (uint32_t i = 0; i < series->n_links; i++) {
        const struct measurement_link *link = &measurement->links[series->links[i]];
        for (int q = 0; q < SERIES_QUANTITIES; q++) {
            if (series->values[q] == NULL) {
                continue;
            }
            const uint64_t value = series->values[q][(uint64_t)interval * series->n_links + i];
            begin(stream, series, interval);
            fprintf(stream, "%s,%s,%" PRIu64 "\n", link->name, series_columns[q].name, value);
            if (q == SERIES_SENT_BYTES) {
                write_rate(stream, series, link, interval, value);
            }
        }
    }
}

static void write_pairs(FILE *stream, const struct series *series, uint32_t interval) {
    for (uint32_t i = 0; i < series->n_pairs; i++) {
        const struct series_pair *pair = &series->pairs[i];
        for (int q = 0; q < SERIES_PAIR_QUANTITIES; q++) {
            begin(stream, series, interval);
            fprintf(stream, "gpu%" PRIu32 " → gpu%" PRIu32 " #%" PRIu32 ",%s,%" PRIu64 "\n", pair->source,
                    pair->destination, pair->queue_pair, series_pair_columns[q].name,
                    series->pair_values[q][(uint64_t)interval * series->n_pairs + i]);
        }
    }
}

bool series_csv_write(const struct measurement *measurement, const char *path, struct error *error) {
    const struct series *series = measurement->series;
    struct file_writer writer = {0};
    if (!file_writer_open(&writer, path, error)) {
        return false;
    }
    fprintf(writer.stream, "begin_ps,end_ps,name,quantity,value\n");
    for (uint32_t interval = 0; series != NULL && interval < series->n_intervals; interval++) {
        write_links(writer.stream, measurement, interval);
        write_pairs(writer.stream, series, interval);
    }
    return file_writer_commit(&writer, error);
}
