// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/reason.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PAUSE_SHARE = 10 }; /* a pause is named from a tenth of the flow's time on */
static const double whole = 0.999;

/* What other flows had on a link while one was active. */
struct load {
    uint64_t flows, largest; /* rows; the one with most bytes */
    double largest_bytes, seconds;
};

static bool was_active(const struct measurement_flow *flow, const struct measurement_flow *other) {
    const uint64_t end_ps = flow->last_completed_ps != 0 ? flow->last_completed_ps : UINT64_MAX;
    return other != flow && other->first_posted_ps < end_ps &&
           (other->last_completed_ps == 0 || other->last_completed_ps > flow->first_posted_ps);
}

static struct load load_of(const struct measurement *measurement, uint64_t flow, const struct reason_link *link) {
    struct load load = {0};
    double bytes = 0;
    for (uint64_t i = 0; i < link->n_users; i++) {
        const struct measurement_flow *other = &measurement->flows[link->users[i].flow];
        if (was_active(&measurement->flows[flow], other)) {
            const double part = link->users[i].part * (double)other->bytes;
            load.flows++;
            bytes += part;
            if (part > load.largest_bytes) {
                load.largest_bytes = part;
                load.largest = link->users[i].flow;
            }
        }
    }
    load.seconds = 8 * bytes / (double)measurement->links[link->link].rate_bits_per_s;
    return load;
}

/* Appends to a sentence, which is cut where it is full. */
__attribute__((format(printf, 2, 3))) static void add(struct measurement_slow_flow *reason, const char *format, ...) {
    const size_t length = strlen(reason->text);
    va_list values;
    va_start(values, format);
    vsnprintf(reason->text + length, sizeof reason->text - length, format, values);
    va_end(values);
}

static void add_link(struct measurement_slow_flow *reason, const struct measurement *measurement,
                     const struct reason_link *link, const struct load *load) {
    const struct measurement_flow *flow = &measurement->flows[reason->flow], *most = &measurement->flows[load->largest];
    const struct measurement_link *row = &measurement->links[link->link];
    const char *several = load->flows == 1 ? "" : "s";
    if (row->head_device == flow->destination) {
        add(reason, "incast: gpu%u receives %" PRIu64 " other flow%s meanwhile", flow->destination, load->flows,
            several);
    } else if (row->tail_device == flow->source) {
        add(reason, "gpu%u sends %" PRIu64 " other flow%s meanwhile", flow->source, load->flows, several);
    } else if (link->part < whole) {
        add(reason, "shares links like %s (%.3g of its packets) with %" PRIu64 " other flow%s", row->name, link->part,
            load->flows, several);
    } else {
        add(reason, "shares %s with %" PRIu64 " other flow%s", row->name, load->flows, several);
    }
    add(reason, ", most of it gpu%u → gpu%u (%s)", most->source, most->destination,
        measurement->phases[most->phase].name);
}

static uint64_t stopped_ps(const struct measurement_link *link) {
    return link->paused_ps + link->credit_stalled_ps;
}

static uint64_t lost(const struct measurement_link *link) {
    return link->drops_lossless + link->drops_lossy + link->trims + link->watchdog_drops + link->lost_packets;
}

static void add_pause(struct measurement_slow_flow *reason, const struct measurement *measurement,
                      const struct reason_link *links, uint32_t n_links) {
    const struct measurement_link *longest = NULL, *worst = NULL;
    for (uint32_t i = 0; i < n_links; i++) {
        const struct measurement_link *link = &measurement->links[links[i].link];
        longest = longest == NULL || stopped_ps(link) > stopped_ps(longest) ? link : longest;
        worst = worst == NULL || lost(link) > lost(worst) ? link : worst;
    }
    if (longest != NULL && stopped_ps(longest) > 0 &&
        stopped_ps(longest) >= measurement->flows[reason->flow].active_ps / PAUSE_SHARE) {
        char duration[QUANTITY_TEXT_SIZE];
        quantity_print_short(duration, QUANTITY_TIME, (double)stopped_ps(longest));
        add(reason, "%s%s %s for %s of the run", reason->text[0] != '\0' ? "; " : "", longest->name,
            longest->credit_stalled_ps > longest->paused_ps ? "had no credit" : "was paused", duration);
    }
    if (worst != NULL && lost(worst) > 0) {
        add(reason, "%s%" PRIu64 " packets were lost on %s", reason->text[0] != '\0' ? "; " : "", lost(worst),
            worst->name);
    }
}

/* Packets that its sender sent again, of this flow or of others. */
static void add_repeats(struct measurement_slow_flow *reason, const struct measurement *measurement) {
    const uint32_t source = measurement->flows[reason->flow].source;
    const uint64_t repeats = measurement->endpoints[source].retransmitted_packets;
    if (repeats > 0) {
        add(reason, "%sgpu%u sent %" PRIu64 " packets again", reason->text[0] != '\0' ? "; " : "", source, repeats);
    }
}

struct measurement_slow_flow reason_of_flow(const struct measurement *measurement, uint64_t flow,
                                            const struct reason_link *links, uint32_t n_links) {
    struct measurement_slow_flow reason = {.flow = flow, .link = MEASUREMENT_NONE};
    const struct reason_link *fullest = NULL;
    struct load most = {0};
    for (uint32_t i = 0; i < n_links; i++) {
        const struct load load = load_of(measurement, flow, &links[i]);
        if (load.seconds > most.seconds) {
            most = load;
            fullest = &links[i];
        }
    }
    if (fullest != NULL) {
        reason.link = fullest->link;
        reason.sharers = most.flows;
        add_link(&reason, measurement, fullest, &most);
    }
    add_pause(&reason, measurement, links, n_links);
    add_repeats(&reason, measurement);
    if (reason.text[0] == '\0') {
        add(&reason, "nothing else is known to have been on its links meanwhile");
    }
    return reason;
}
