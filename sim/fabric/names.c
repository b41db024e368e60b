// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabric/names.h"

#include <inttypes.h>
#include <stdio.h>

static const char *switch_word(enum fabric_tier tier) {
    switch (tier) {
    case FABRIC_TIER_LEAF:
        return "leaf";
    case FABRIC_TIER_SPINE:
        return "spine";
    case FABRIC_TIER_SUPERSPINE:
        return "superspine";
    }
    return "switch";
}

const char *fabric_device_name(const struct fabric *fabric, uint32_t device, char *buffer, size_t size) {
    const struct fabric_device *named = &fabric->devices[device];
    switch (named->kind) {
    case FABRIC_ENDPOINT:
        snprintf(buffer, size, "gpu%" PRIu32, named->ordinal);
        break;
    case FABRIC_SWITCH:
        if (fabric->n_planes > 1) {
            snprintf(buffer, size, "plane%" PRIu32 ".%s%" PRIu32, named->plane, switch_word(named->tier),
                     named->tier_index);
            break;
        }
        snprintf(buffer, size, "%s%" PRIu32, switch_word(named->tier), named->tier_index);
        break;
    case FABRIC_NVSWITCH:
        snprintf(buffer, size, "rack%" PRIu32 ".nvswitch%" PRIu32, named->rack, named->tier_index);
        break;
    }
    return buffer;
}

/** Ports of a switch below its first uplink: those that lead to a lower tier or an endpoint. */
static uint32_t downlinks_of(const struct fabric *fabric, const struct fabric_device *device) {
    uint32_t port = 0;
    for (; port < device->n_ports; port++) {
        const uint32_t head = fabric->links[device->first_port + port].head_device;
        if (fabric->devices[head].kind == FABRIC_SWITCH && fabric->devices[head].tier > device->tier) {
            break;
        }
    }
    return port;
}

/** Which port of its device a link leaves, as far as the two device names leave it open. */
static void port_name(const struct fabric *fabric, const struct fabric_link *link, char *buffer, size_t size) {
    const struct fabric_device *tail = &fabric->devices[link->tail_device];
    const struct fabric_device *head = &fabric->devices[link->head_device];
    if (link->kind == FABRIC_NVLINK && tail->kind == FABRIC_ENDPOINT) {
        snprintf(buffer, size, ":nvlink%" PRIu32, link->tail_port - fabric->endpoints[link->tail_device].n_nics);
    } else if (link->kind == FABRIC_NVLINK) {
        snprintf(buffer, size, ":port%" PRIu32, link->tail_port);
    } else if (tail->kind == FABRIC_ENDPOINT && fabric->n_planes > 1) {
        snprintf(buffer, size, ":plane%" PRIu32, link->tail_port);
    } else if (tail->kind == FABRIC_ENDPOINT || head->kind == FABRIC_ENDPOINT) {
        buffer[0] = '\0';
    } else if (head->tier > tail->tier) {
        snprintf(buffer, size, ":up%" PRIu32, link->tail_port - downlinks_of(fabric, tail));
    } else {
        snprintf(buffer, size, ":port%" PRIu32, link->tail_port);
    }
}

const char *fabric_link_name(const struct fabric *fabric, uint32_t link, char *buffer, size_t size) {
    const struct fabric_link *named = &fabric->links[link];
    char tail[NAMES_DEVICE_SIZE], head[NAMES_DEVICE_SIZE], port[NAMES_DEVICE_SIZE];
    fabric_device_name(fabric, named->tail_device, tail, sizeof(tail));
    fabric_device_name(fabric, named->head_device, head, sizeof(head));
    port_name(fabric, named, port, sizeof(port));
    snprintf(buffer, size, "%s%s → %s", tail, port, head);
    return buffer;
}
