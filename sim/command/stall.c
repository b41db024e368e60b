// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/stall.h"

#include "fabric/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINKS_NAMED = 4 };

/* A line that grows until its buffer is full. */
struct line {
    char *text;
    size_t size, length;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(line->text + line->length, line->size - line->length, format, arguments);
    va_end(arguments);
    line->length += written > 0 ? (size_t)written : 0;
    line->length = line->length < line->size ? line->length : line->size - 1;
}

/* What holds links: pauses, or (InfiniBand) the want of credit. */
static bool waits_for_credit(const struct network *network, const struct fabric *fabric) {
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        if (network_link(network, link)->credit_stalls > 0) {
            return true;
        }
    }
    return false;
}

static void add_circle(struct line *line, const struct network *network, const struct fabric *fabric,
                       const uint32_t *links, uint32_t length) {
    char name[NAMES_LINK_SIZE];
    add(line, "deadlock: %u %s wait on each other in a circle (", length,
        waits_for_credit(network, fabric) ? "links without credit" : "paused links");
    for (uint32_t i = 0; i < length && i < LINKS_NAMED; i++) {
        add(line, "%s%s", i > 0 ? "; " : "", fabric_link_name(fabric, links[i], name, sizeof(name)));
    }
    add(line, "%s)", length > LINKS_NAMED ? "; …" : "");
}

static void add_stuck_pair(struct line *line, const struct endpoint_stuck *stuck) {
    add(line, "%sgpu%u has sent %u of %u packets to gpu%u on queue pair %u and knows of %u that arrived",
        line->length > 0 ? "; " : "", stuck->source, stuck->sent_packets, stuck->posted_packets, stuck->destination,
        stuck->queue_pair, stuck->acknowledged_packets);
    if (stuck->repeats > 0) {
        add(line, ", after %u time-out%s in a row", stuck->repeats, stuck->repeats == 1 ? "" : "s");
    }
}

/* What nobody sends again: the exchange of counts has no acknowledgements. */
static void add_control_drops(struct line *line, const struct network *network, const struct fabric *fabric) {
    uint64_t drops = 0;
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        drops += network_link(network, link)->lossy_drops;
    }
    if (drops > 0) {
        add(line,
            "%s%llu packets of lossy classes were dropped for want of buffer (lossy_pool); counts and grants are not "
            "sent again",
            line->length > 0 ? "; " : "", (unsigned long long)drops);
    }
}

/* Receivers that hold their leaf: nothing moves before their host takes data. */
static void add_receivers(struct line *line, const struct network *network, const struct fabric *fabric) {
    uint32_t count = 0, first = 0;
    for (uint32_t rank = fabric->n_endpoints; rank > 0; rank--) {
        if (endpoint_is_pausing(network_endpoint(network, rank - 1))) {
            count++;
            first = rank - 1;
        }
    }
    if (count > 0) {
        add(line, "%sthe NIC of gpu%u has paused its leaf, for its host takes no data", line->length > 0 ? "; " : "",
            first);
    }
    if (count > 1) {
        add(line, ", as have %u other NICs", count - 1);
    }
}

/* Where packets went that a retransmission would need. */
static void add_losses(struct line *line, const struct network *network, const struct fabric *fabric) {
    uint64_t lost = 0, most = 0, unrouted = 0;
    uint32_t worst = 0;
    for (uint32_t link = 0; link < fabric->n_links; link++) {
        const struct link_counters *counters = network_link(network, link);
        lost += counters->lost_packets;
        unrouted += counters->unrouted_packets;
        if (counters->lost_packets > most) {
            most = counters->lost_packets;
            worst = link;
        }
    }
    if (lost > 0) {
        char name[NAMES_LINK_SIZE];
        add(line, "%s%llu packets were lost on links that failed, %llu of them on %s", line->length > 0 ? "; " : "",
            (unsigned long long)lost, (unsigned long long)most, fabric_link_name(fabric, worst, name, sizeof(name)));
    }
    if (unrouted > 0) {
        add(line, "%s%llu packets knew no way to where they were going", line->length > 0 ? "; " : "",
            (unsigned long long)unrouted);
    }
}

bool stall_find_deadlock(const struct network *network, const struct fabric *fabric, char *buffer, size_t size) {
    struct line line = {.text = buffer, .size = size};
    uint32_t links[LINKS_NAMED];
    const uint32_t length = network_circle(network, links, LINKS_NAMED);
    buffer[0] = '\0';
    if (length > 0) {
        add_circle(&line, network, fabric, links, length);
    }
    return length > 0;
}

void stall_describe(const struct network *network, const struct fabric *fabric, char *buffer, size_t size) {
    struct line line = {.text = buffer, .size = size};
    struct endpoint_stuck stuck;
    const bool deadlock = stall_find_deadlock(network, fabric, buffer, size);
    const uint32_t paused = network_paused_links(network);
    line.length = strlen(buffer);
    if (!deadlock && paused > 0) {
        add(&line, "%u links %s, but not in a circle", paused,
            waits_for_credit(network, fabric) ? "have no credit" : "are paused");
    }
    add_receivers(&line, network, fabric);
    if (network_stuck_pair(network, &stuck)) {
        add_stuck_pair(&line, &stuck);
    }
    add_losses(&line, network, fabric);
    add_control_drops(&line, network, fabric);
}
