// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/arrivals.h"

#include "base/memory.h"

#include <stdlib.h>

static int by_destination(const void *left, const void *right) {
    const struct arrival *first = left, *second = right;
    if (first->destination != second->destination) {
        return first->destination < second->destination ? -1 : 1;
    }
    return (first->tag > second->tag) - (first->tag < second->tag);
}

/* Where the rows of each sender begin, from how many each has sent. */
static size_t *count_senders(const struct network *network, uint32_t n_ranks) {
    size_t *first = memory_allocate((size_t)n_ranks + 1, sizeof(*first));
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        uint32_t n;
        const struct endpoint_received *received = endpoint_received_messages(network_endpoint(network, rank), &n);
        for (uint32_t i = 0; i < n; i++) {
            first[received[i].source + 1]++;
        }
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        first[rank + 1] += first[rank];
    }
    return first;
}

struct arrivals arrivals_of(const struct network *network, uint32_t n_ranks) {
    struct arrivals arrivals = {.first = count_senders(network, n_ranks)};
    size_t *next = memory_allocate((size_t)n_ranks, sizeof(*next));
    arrivals.rows = memory_allocate(arrivals.first[n_ranks], sizeof(*arrivals.rows));
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        next[rank] = arrivals.first[rank];
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        uint32_t n;
        const struct endpoint_received *received = endpoint_received_messages(network_endpoint(network, rank), &n);
        for (uint32_t i = 0; i < n; i++) {
            arrivals.rows[next[received[i].source]++] =
                (struct arrival){.destination = rank, .tag = received[i].tag, .delivered_ps = received[i].delivered_ps};
        }
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        const size_t begin = arrivals.first[rank], end = arrivals.first[rank + 1];
        qsort(arrivals.rows + begin, end - begin, sizeof(*arrivals.rows), by_destination);
    }
    free(next);
    return arrivals;
}

const struct arrival *arrivals_find(const struct arrivals *arrivals, uint32_t source, uint32_t destination,
                                    uint32_t tag) {
    const struct arrival wanted = {.destination = destination, .tag = tag};
    const size_t begin = arrivals->first[source], end = arrivals->first[source + 1];
    return bsearch(&wanted, arrivals->rows + begin, end - begin, sizeof(wanted), by_destination);
}

void arrivals_fini(struct arrivals *arrivals) {
    free(arrivals->rows);
    free(arrivals->first);
    *arrivals = (struct arrivals){0};
}
