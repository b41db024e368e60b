// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/explanation.h"

#include "base/error.h"
#include "base/quantity.h"

#include <stdbool.h>
#include <stdio.h>

enum { NAMED_FLOWS = 4, NAMES_SIZE = 256 };

uint64_t explanation_slowest_flow(const struct measurement *measurement, uint32_t except) {
    uint64_t slowest = EXPLANATION_NO_FLOW;
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *flow = &measurement->flows[i];
        if (!measurement_carries_payload(measurement, flow->phase) || flow->last_completed_ps == 0 ||
            flow->destination == except) {
            continue;
        }
        const struct measurement_flow *best = slowest != EXPLANATION_NO_FLOW ? &measurement->flows[slowest] : NULL;
        if (best == NULL || flow->active_ps > best->active_ps ||
            (flow->active_ps == best->active_ps && flow->slowdown > best->slowdown)) {
            slowest = i;
        }
    }
    return slowest;
}

/** Did another flow have bytes on the way while this one had? An unfinished one had until the end. */
static bool overlap(const struct measurement_flow *flow, const struct measurement_flow *other) {
    return other != flow && other->first_posted_ps < flow->last_completed_ps &&
           (other->last_completed_ps == 0 || other->last_completed_ps > flow->first_posted_ps);
}

/** Other flows on a link while one flow was active. */
struct sharers {
    uint64_t flows, bytes;
};

static struct sharers find_sharers(const struct measurement *measurement, uint64_t flow,
                                   const struct explanation_link *link) {
    struct sharers sharers = {0};
    for (uint64_t i = 0; i < link->n_flows; i++) {
        const struct measurement_flow *other = &measurement->flows[link->flows[i]];
        if (overlap(&measurement->flows[flow], other)) {
            sharers.flows++;
            sharers.bytes += other->bytes;
        }
    }
    return sharers;
}

static const struct explanation_link *find_hottest(const struct measurement *measurement, uint64_t flow,
                                                   const struct explanation_link *links, uint32_t n_links,
                                                   uint64_t *n_sharers) {
    const struct explanation_link *hottest = NULL;
    struct sharers most = {0};
    for (uint32_t i = 0; i < n_links; i++) {
        const struct sharers sharers = find_sharers(measurement, flow, &links[i]);
        if (sharers.flows > 0 && (hottest == NULL || sharers.bytes > most.bytes)) {
            most = sharers;
            hottest = &links[i];
        }
    }
    *n_sharers = most.flows;
    return hottest;
}

/** Names the first sharers, and the phase of those of another: "gpu3 → gpu91, gpu5 → gpu99 (dispatch) and 4 more". */
static void name_sharers(char *names, const struct measurement *measurement, uint64_t flow,
                         const struct explanation_link *link, uint64_t sharers) {
    uint64_t named = 0;
    size_t length = 0;
    for (uint64_t i = 0; i < link->n_flows && named < NAMED_FLOWS; i++) {
        const struct measurement_flow *other = &measurement->flows[link->flows[i]];
        if (overlap(&measurement->flows[flow], other)) {
            length += (size_t)snprintf(names + length, NAMES_SIZE - length, "%sgpu%u → gpu%u", named > 0 ? ", " : "",
                                       other->source, other->destination);
            if (other->phase != measurement->flows[flow].phase) {
                length += (size_t)snprintf(names + length, NAMES_SIZE - length, " (%.20s)",
                                           measurement->phases[other->phase].name);
            }
            named++;
        }
    }
    if (sharers > named) {
        snprintf(names + length, NAMES_SIZE - length, " and %llu more", (unsigned long long)(sharers - named));
    }
}

void explanation_add_flow(struct measurement *measurement, const char *subject, uint64_t flow_number,
                          const struct explanation_link *links, uint32_t n_links) {
    REQUIRE(flow_number < measurement->n_flows, "no flow %llu to explain", (unsigned long long)flow_number);
    const struct measurement_flow *flow = &measurement->flows[flow_number];
    char bytes[QUANTITY_TEXT_SIZE], duration[QUANTITY_TEXT_SIZE], slow[48] = "", names[NAMES_SIZE] = "", where[480];
    quantity_print_short(bytes, QUANTITY_BYTES, (double)flow->bytes);
    quantity_print_short(duration, QUANTITY_TIME, (double)flow->active_ps);
    if (flow->slowdown > 0.0) {
        snprintf(slow, sizeof slow, ", %.1f × its unloaded time", flow->slowdown);
    }
    uint64_t sharers;
    const struct explanation_link *hottest = find_hottest(measurement, flow_number, links, n_links, &sharers);
    if (hottest == NULL) {
        snprintf(where, sizeof where, "no other flow is known to have been on its links meanwhile");
    } else {
        name_sharers(names, measurement, flow_number, hottest, sharers);
        snprintf(where, sizeof where, "shares %.*s with %llu other flow%s (%s)", MEASUREMENT_NAME_SIZE, hottest->name,
                 (unsigned long long)sharers, sharers == 1 ? "" : "s", names);
    }
    measurement_explain(measurement, "%s gpu%u → gpu%u (%s, %s) took %s%s: %s", subject, flow->source,
                        flow->destination, measurement->phases[flow->phase].name, bytes, duration, slow, where);
}
