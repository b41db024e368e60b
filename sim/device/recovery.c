// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/recovery.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

enum recovery_state { STATE_THERE = 1, STATE_LOST = 2, STATE_AGAIN = 4 /* sent more than once */ };
enum { FIRST_CAPACITY = 64, TRANSMISSION_SHIFT = 4, TRANSMISSION_ONE = 1 << TRANSMISSION_SHIFT };

void recovery_fini(struct recovery *recovery) {
    free(recovery->packets);
    *recovery = (struct recovery){0};
}

static uint8_t *packet_of(const struct recovery *recovery, uint32_t number) {
    return &recovery->packets[number & (recovery->capacity - 1)];
}

/* Room for one more. */
static void grow(struct recovery *recovery) {
    struct recovery grown = *recovery;
    grown.capacity = recovery->capacity ? 2 * recovery->capacity : FIRST_CAPACITY;
    grown.packets = memory_allocate(grown.capacity, sizeof(*grown.packets));
    for (uint32_t number = recovery->cumulative; number != recovery->sent; number++) {
        *packet_of(&grown, number) = *packet_of(recovery, number);
    }
    free(recovery->packets);
    *recovery = grown;
}

void recovery_send_new(struct recovery *recovery) {
    if (recovery->sent - recovery->cumulative == recovery->capacity) {
        grow(recovery);
    }
    *packet_of(recovery, recovery->sent++) = 0;
}

uint32_t recovery_send_lost(struct recovery *recovery, uint8_t *transmission) {
    REQUIRE(recovery->n_lost > 0, "no packet is lost");
    while (!(*packet_of(recovery, recovery->lost_from) & STATE_LOST)) {
        recovery->lost_from++;
    }
    uint8_t *packet = packet_of(recovery, recovery->lost_from);
    *packet = (uint8_t)(((*packet & ~STATE_LOST) | STATE_AGAIN) + TRANSMISSION_ONE);
    *transmission = *packet >> TRANSMISSION_SHIFT;
    recovery->n_lost--;
    return recovery->lost_from++;
}

bool recovery_acknowledge(struct recovery *recovery, uint32_t cumulative) {
    if (cumulative <= recovery->cumulative) {
        return false;
    }
    for (; recovery->cumulative != cumulative; recovery->cumulative++) {
        const uint8_t packet = *packet_of(recovery, recovery->cumulative);
        recovery->there -= packet & STATE_THERE ? 1 : 0;
        recovery->n_lost -= packet & STATE_LOST ? 1 : 0;
    }
    recovery->told = recovery->told > cumulative ? recovery->told : cumulative;
    recovery->inferred = recovery->inferred > cumulative ? recovery->inferred : cumulative;
    recovery->lost_from = recovery->lost_from > cumulative ? recovery->lost_from : cumulative;
    return true;
}

/* Whether it was sent, and is not known to be there. */
static bool is_missing(const struct recovery *recovery, uint32_t number) {
    return number >= recovery->cumulative && number < recovery->sent && !(*packet_of(recovery, number) & STATE_THERE);
}

bool recovery_arrived(struct recovery *recovery, uint32_t number, uint8_t transmission) {
    if (!is_missing(recovery, number)) {
        return false;
    }
    uint8_t *packet = packet_of(recovery, number);
    const bool spurious = *packet >> TRANSMISSION_SHIFT != transmission;
    recovery->n_lost -= *packet & STATE_LOST ? 1 : 0;
    *packet = (uint8_t)((*packet & ~STATE_LOST) | STATE_THERE);
    recovery->there++;
    recovery->told = recovery->told > number ? recovery->told : number + 1;
    return spurious;
}

static void lose(struct recovery *recovery, uint32_t number) {
    *packet_of(recovery, number) |= STATE_LOST;
    recovery->n_lost++;
    recovery->lost_from = recovery->lost_from < number ? recovery->lost_from : number;
}

bool recovery_infer(struct recovery *recovery, uint32_t distance) {
    const uint32_t before = recovery->n_lost;
    for (; distance > 0 && (uint64_t)recovery->inferred + distance < recovery->told; recovery->inferred++) {
        if (*packet_of(recovery, recovery->inferred) == 0) {
            lose(recovery, recovery->inferred);
        }
    }
    if (recovery->n_lost == before || recovery->cumulative < recovery->until) {
        return false;
    }
    recovery->until = recovery->sent;
    return true;
}

bool recovery_trimmed(struct recovery *recovery, uint32_t number, uint8_t transmission) {
    if (!is_missing(recovery, number) || (*packet_of(recovery, number) & STATE_LOST) ||
        *packet_of(recovery, number) >> TRANSMISSION_SHIFT != transmission) {
        return false;
    }
    lose(recovery, number);
    recovery->n_trimmed++;
    return true;
}

void recovery_time_out(struct recovery *recovery) {
    for (uint32_t number = recovery->cumulative; number != recovery->sent; number++) {
        if (!(*packet_of(recovery, number) & (STATE_THERE | STATE_LOST))) {
            lose(recovery, number);
        }
    }
    recovery->until = recovery->sent;
}
