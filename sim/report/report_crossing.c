// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_crossing.h"

#include "base/memory.h"

#include <stdlib.h>

enum { MOST_CROSSINGS = 24000 }; /* all runs of a result together: some 25 bytes each */

/* The rows that are written, and the flows that they name. */
struct chosen {
    uint64_t *rows, n_rows;
    uint32_t *place_of; /* [n_flows] + 1; 0: not named */
    uint64_t *flows;
    uint32_t n_flows;
};

static uint64_t count_shown(const struct measurement *run, const uint32_t *numbers) {
    uint64_t shown = 0;
    for (uint64_t i = 0; i < run->n_crossings; i++) {
        const uint32_t link = run->crossings[i].link;
        const bool first = i == 0 || run->crossings[i - 1].link != link;
        shown += first && numbers[link] != UINT32_MAX;
    }
    return shown;
}

/** Of each shown link as many of its first rows as fit. */
static struct chosen choose(const struct measurement *run, const uint32_t *numbers, uint32_t n_runs) {
    const uint64_t links = count_shown(run, numbers) * n_runs;
    const uint64_t fit = links > 0 ? MOST_CROSSINGS / links : 0, most = fit > 0 ? fit : 1;
    struct chosen chosen = {.rows = memory_allocate(run->n_crossings, sizeof(uint64_t)),
                            .flows = memory_allocate(run->n_crossings, sizeof(uint64_t)),
                            .place_of = memory_allocate(run->n_flows, sizeof(uint32_t))};
    uint64_t of_link = 0;
    for (uint64_t i = 0; i < run->n_crossings; i++) {
        const struct measurement_crossing *row = &run->crossings[i];
        of_link = i > 0 && run->crossings[i - 1].link == row->link ? of_link + 1 : 0;
        if (numbers[row->link] == UINT32_MAX || of_link >= most) {
            continue;
        }
        chosen.rows[chosen.n_rows++] = i;
        if (chosen.place_of[row->flow] == 0) {
            chosen.flows[chosen.n_flows++] = row->flow;
            chosen.place_of[row->flow] = chosen.n_flows;
        }
    }
    return chosen;
}

static void put_rows(const struct measurement *run, const uint32_t *numbers, const struct chosen *chosen,
                     struct json *json) {
    static const char *const names[] = {"link", "flow", "bytes"};
    json_name(json, "crossings");
    json_object(json);
    for (int column = 0; column < 3; column++) {
        json_name(json, names[column]);
        json_array(json);
        for (uint64_t i = 0; i < chosen->n_rows; i++) {
            const struct measurement_crossing *row = &run->crossings[chosen->rows[i]];
            if (column == 2) {
                json_short(json, (double)row->bytes);
            } else {
                json_whole(json, column == 0 ? numbers[row->link] : chosen->place_of[row->flow] - 1);
            }
        }
        json_array_end(json);
    }
    json_object_end(json);
}

/** source, destination, phase, bytes and slow-down of a flow. */
static void put_flow(const struct measurement_flow *flow, struct json *json) {
    json_array(json);
    json_whole(json, flow->source);
    json_whole(json, flow->destination);
    json_whole(json, flow->phase);
    json_short(json, (double)flow->bytes);
    json_short(json, flow->slowdown);
    json_array_end(json);
}

void report_crossing(const struct measurement *run, const uint32_t *numbers, uint32_t n_runs, struct json *json) {
    struct chosen chosen = choose(run, numbers, n_runs);
    put_rows(run, numbers, &chosen, json);
    json_name(json, "crossing_flows");
    json_array(json);
    for (uint32_t i = 0; i < chosen.n_flows; i++) {
        put_flow(&run->flows[chosen.flows[i]], json);
    }
    json_array_end(json);
    free(chosen.rows);
    free(chosen.flows);
    free(chosen.place_of);
}
