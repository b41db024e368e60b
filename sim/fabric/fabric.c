// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/fabric.h"

#include <stdlib.h>

void fabric_free(struct fabric *fabric) {
    if (fabric == NULL) {
        return;
    }
    free(fabric->devices);
    free(fabric->links);
    free(fabric->endpoints);
    free(fabric->domains);
    free(fabric->switch_devices);
    free(fabric->routes);
    free(fabric);
}

uint64_t fabric_bytes(const struct fabric *fabric) {
    return sizeof(*fabric) + (uint64_t)fabric->n_devices * sizeof(*fabric->devices) +
           (uint64_t)fabric->n_links * sizeof(*fabric->links) +
           (uint64_t)fabric->n_endpoints * sizeof(*fabric->endpoints) +
           (uint64_t)fabric->n_domains * sizeof(*fabric->domains) +
           (uint64_t)fabric->n_switches * sizeof(*fabric->switch_devices) +
           (uint64_t)fabric->n_switches * fabric->plane_leaves * sizeof(*fabric->routes);
}
