// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/split.h"

#include "base/memory.h"

#include <stdlib.h>

/* Packet-hops of a port, relative to an NVLink port: a NIC handles a transport besides, a switch port two directions of it. */
enum { WEIGHT_NVLINK = 1, WEIGHT_NIC = 12, WEIGHT_SWITCH_PORT = 8 };

static uint64_t weight_of(const struct fabric *fabric, uint32_t device) {
    const struct fabric_device *place = &fabric->devices[device];
    switch (place->kind) {
    case FABRIC_ENDPOINT:
        return (uint64_t)WEIGHT_NIC * fabric->endpoints[device].n_nics +
               (uint64_t)WEIGHT_NVLINK * fabric->endpoints[device].n_nvlinks;
    case FABRIC_SWITCH:
        return (uint64_t)WEIGHT_SWITCH_PORT * place->n_ports;
    default:
        return (uint64_t)WEIGHT_NVLINK * place->n_ports;
    }
}

/* What an endpoint must share a worker with: its domain, or its leaf. */
static uint32_t group_of(const struct fabric *fabric, uint32_t endpoint) {
    const struct fabric_endpoint *place = &fabric->endpoints[endpoint];
    return place->domain != FABRIC_NONE ? place->domain : fabric->n_domains + place->leaf;
}

static uint32_t lightest(const uint64_t *loads, uint32_t n_workers) {
    uint32_t best = 0;
    for (uint32_t w = 1; w < n_workers; w++) {
        best = loads[w] < loads[best] ? w : best;
    }
    return best;
}

/* Endpoints in rank order, and the chips of their domains: a worker is filled up to its share, then the next group goes to the next. */
static void place_endpoints(const struct fabric *fabric, uint32_t n_workers, uint32_t *worker_of, uint64_t *loads) {
    uint64_t all = 0;
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        all += fabric->devices[d].kind == FABRIC_SWITCH ? 0 : weight_of(fabric, d);
    }
    uint64_t before = 0;
    uint32_t group = FABRIC_NONE, worker = 0;
    for (uint32_t e = 0; e < fabric->n_endpoints; e++) {
        if (group_of(fabric, e) != group) {
            group = group_of(fabric, e);
            worker = before < all ? (uint32_t)(before * n_workers / all) : n_workers - 1;
        }
        worker_of[e] = worker;
        loads[worker] += weight_of(fabric, e);
        before += weight_of(fabric, e);
        const uint32_t domain = fabric->endpoints[e].domain;
        if (domain == FABRIC_NONE || fabric->domains[domain].first_endpoint != e) {
            continue;
        }
        for (uint32_t c = 0; c < fabric->domains[domain].n_chips; c++) {
            const uint32_t chip = fabric->domains[domain].first_chip + c;
            worker_of[chip] = worker;
            loads[worker] += weight_of(fabric, chip);
            before += weight_of(fabric, chip);
        }
    }
}

static int heavier_first(const void *a, const void *b) {
    const struct fabric_device *const *first = a, *const *second = b;
    if ((*first)->n_ports != (*second)->n_ports) {
        return (*first)->n_ports > (*second)->n_ports ? -1 : 1;
    }
    return *first < *second ? -1 : *first > *second;
}

static void place_switches(const struct fabric *fabric, uint32_t n_workers, uint32_t *worker_of, uint64_t *loads) {
    const struct fabric_device **switches =
        memory_allocate(fabric->n_switches + 1u, sizeof(const struct fabric_device *));
    for (uint32_t s = 0; s < fabric->n_switches; s++) {
        switches[s] = &fabric->devices[fabric->switch_devices[s]];
    }
    qsort(switches, fabric->n_switches, sizeof(const struct fabric_device *), heavier_first);
    for (uint32_t s = 0; s < fabric->n_switches; s++) {
        const uint32_t device = (uint32_t)(switches[s] - fabric->devices);
        const uint32_t worker = lightest(loads, n_workers);
        worker_of[device] = worker;
        loads[worker] += weight_of(fabric, device);
    }
    free(switches);
}

void split_devices(const struct fabric *fabric, uint32_t n_workers, uint32_t *worker_of) {
    uint64_t *loads = memory_allocate(n_workers, sizeof(*loads));
    place_endpoints(fabric, n_workers, worker_of, loads);
    place_switches(fabric, n_workers, worker_of, loads);
    free(loads);
}
