// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/plane.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 32, PLANE_MASK = 7, IN_FLIGHT = 64, ARRIVED = 128 };

void plane_ledger_fini(struct plane_ledger *ledger) {
    free(ledger->packets);
    *ledger = (struct plane_ledger){0};
}

static uint8_t *packet_of(const struct plane_ledger *ledger, uint32_t number) {
    return &ledger->packets[number & (ledger->capacity - 1)];
}

/* Makes room for all packets from oldest to number. */
static void reach(struct plane_ledger *ledger, uint32_t oldest, uint32_t number) {
    if (number - oldest < ledger->capacity) {
        return;
    }
    struct plane_ledger grown = *ledger;
    grown.capacity = ledger->capacity ? ledger->capacity : FIRST_CAPACITY;
    while (grown.capacity <= number - oldest) {
        grown.capacity *= 2;
    }
    grown.packets = memory_allocate(grown.capacity, sizeof(*grown.packets));
    for (uint32_t i = 0; i < ledger->capacity; i++) {
        *packet_of(&grown, oldest + i) = *packet_of(ledger, oldest + i);
    }
    free(ledger->packets);
    *ledger = grown;
}

static void leave(struct plane_ledger *ledger, uint8_t *packet) {
    if (*packet & IN_FLIGHT) {
        ledger->planes[*packet & PLANE_MASK].in_flight--;
        *packet &= (uint8_t)~IN_FLIGHT;
    }
}

void plane_ledger_start(struct plane_ledger *ledger, uint32_t oldest, uint32_t number, uint32_t plane) {
    reach(ledger, oldest, number);
    uint8_t *packet = packet_of(ledger, number);
    leave(ledger, packet);
    *packet = (uint8_t)(plane | IN_FLIGHT);
    ledger->planes[plane].in_flight++;
}

void plane_ledger_arrived(struct plane_ledger *ledger, uint32_t number) {
    uint8_t *packet = packet_of(ledger, number);
    if (*packet & ARRIVED) {
        return;
    }
    leave(ledger, packet);
    *packet |= ARRIVED;
    ledger->planes[*packet & PLANE_MASK].acknowledged++;
}

bool plane_ledger_knows(const struct plane_ledger *ledger, uint32_t number) {
    return *packet_of(ledger, number) & ARRIVED;
}

uint32_t plane_ledger_plane(const struct plane_ledger *ledger, uint32_t number) {
    return *packet_of(ledger, number) & PLANE_MASK;
}

void plane_ledger_give_up(struct plane_ledger *ledger, uint32_t from, uint32_t until) {
    for (uint32_t number = from; number != until; number++) {
        leave(ledger, packet_of(ledger, number));
    }
}

size_t plane_ledger_bytes(const struct plane_ledger *ledger) {
    return ledger->capacity * sizeof(*ledger->packets);
}
