// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/lookup.h"

#include "base/nearest.h"
#include "fabric/names.h"

#include <stdio.h>
#include <string.h>

static const char arrow[] = " → ";

/** A name with one kind of arrow. */
static void normalise(const char *name, char *buffer, size_t size) {
    const char *plain = strstr(name, "->");
    if (plain == NULL) {
        snprintf(buffer, size, "%s", name);
        return;
    }
    size_t before = (size_t)(plain - name);
    while (before > 0 && name[before - 1] == ' ') {
        before--;
    }
    snprintf(buffer, size, "%.*s%s%s", (int)before, name, arrow, plain + 2 + strspn(plain + 2, " "));
}

/** Whether a link is called so, whole or up to its arrow. */
static bool is_called(const struct fabric *fabric, uint32_t link, const char *name) {
    char whole[NAMES_LINK_SIZE];
    fabric_link_name(fabric, link, whole, sizeof(whole));
    const size_t length = strlen(name);
    return strncmp(whole, name, length) == 0 &&
           (whole[length] == '\0' || strncmp(whole + length, arrow, strlen(arrow)) == 0);
}

bool lookup_find(const struct fabric *fabric, const char *name, struct lookup_place *place) {
    char wanted[NAMES_LINK_SIZE], device[NAMES_DEVICE_SIZE];
    normalise(name, wanted, sizeof(wanted));
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        if (strcmp(fabric_device_name(fabric, d, device, sizeof(device)), wanted) == 0) {
            *place = (struct lookup_place){.device = d, .link = FABRIC_NONE};
            return true;
        }
    }
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        if (is_called(fabric, l, wanted)) {
            *place = (struct lookup_place){.device = fabric->links[l].tail_device, .link = l};
            return true;
        }
    }
    return false;
}

/** Keeps a candidate if it is nearer than the best so far. */
static void consider(const char *wanted, const char *candidate, char *best, size_t size, size_t *distance) {
    const size_t found = nearest_distance(wanted, candidate);
    if (found < *distance) {
        *distance = found;
        snprintf(best, size, "%s", candidate);
    }
}

bool lookup_nearest(const struct fabric *fabric, const char *name, char *buffer, size_t size) {
    char wanted[NAMES_LINK_SIZE], candidate[NAMES_LINK_SIZE];
    size_t distance = strlen(name) / 3 < 4 ? strlen(name) / 3 + 1 : 5; /* as nearest_name: at most a third, at most 4 */
    const size_t first = distance;
    normalise(name, wanted, sizeof(wanted));
    for (uint32_t d = 0; d < fabric->n_devices; d++) {
        consider(wanted, fabric_device_name(fabric, d, candidate, sizeof(candidate)), buffer, size, &distance);
    }
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        if (fabric->links[l].kind == FABRIC_ETHERNET) {
            fabric_link_name(fabric, l, candidate, sizeof(candidate));
            consider(wanted, candidate, buffer, size, &distance);
            *strstr(candidate, arrow) = '\0';
            consider(wanted, candidate, buffer, size, &distance);
        }
    }
    return distance < first;
}
