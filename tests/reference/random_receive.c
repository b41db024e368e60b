// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_receive.h"

#include "base/memory.h"
#include "base/rate.h"
#include "dice.h"

#define US UINT64_C(1000000)

enum {
    TOPIC_RECEIVE = 620,
    TOPIC_SLOW_GPU = 621,
    TOPIC_LATE_GPU = 650,
    LIMITED_PERCENT = 20,
    SLOWEST_TIMES = 12,
    FAILURES_MOST = 4
};

static void draw_buffer(struct dice *dice, struct nic_parameters *nic) {
    const uint64_t packet = nic->payload_bytes + nic->header_bytes;
    const uint64_t packets = 1 + dice_below(dice, 40), xoff = dice_below(dice, (uint32_t)packets);
    nic->receive_buffer_bytes = packet * packets + dice_below(dice, 100);
    nic->receive_xoff_bytes = packet * xoff;
    nic->receive_xon_bytes = packet * dice_below(dice, (uint32_t)xoff + 1);
}

/** A host that is slow, or takes nothing, for a time; seldom for good. */
static void add_failure(struct dice *dice, const struct fabric *fabric, struct failure_list *list, uint32_t link) {
    const uint64_t from_ps = dice_between(dice, 0, 30 * US);
    const uint64_t lasts_ps = 1 + dice_between(dice, 0, dice_chance(dice, 50) ? 5 * US : 60 * US);
    const uint64_t slow = fabric->links[link].ps_per_byte * (4 + dice_below(dice, 4 * SLOWEST_TIMES)) / 4;
    list->failures = memory_resize(list->failures, list->count + 1, sizeof *list->failures);
    list->failures[list->count++] =
        (struct failure){.kind = FAILURE_RECEIVE,
                         .link = link,
                         .from_ps = from_ps,
                         .until_ps = dice_chance(dice, 10) ? TIME_NEVER : from_ps + lasts_ps,
                         .ps_per_byte = dice_chance(dice, 40) ? TIME_NEVER : slow};
}

static uint32_t draw_link(struct dice *dice, const struct fabric *fabric) {
    for (int attempt = 0; attempt < 50; attempt++) {
        const uint32_t endpoint = dice_below(dice, fabric->n_endpoints);
        if (fabric->endpoints[endpoint].n_nics > 0) {
            return fabric->links[fabric->devices[endpoint].first_port].reverse;
        }
    }
    return FABRIC_NONE;
}

/** GPUs that send slowly over NVLink for a time, in some cases. */
static void draw_slow_gpus(uint64_t number, const struct fabric *fabric, struct failure_list *list) {
    struct dice dice = dice_of(number, TOPIC_SLOW_GPU);
    const uint32_t gpu = dice_below(&dice, fabric->n_endpoints);
    const struct fabric_device *device = &fabric->devices[gpu];
    const uint64_t from_ps = dice_between(&dice, 0, 20 * US), lasts_ps = 1 + dice_between(&dice, 0, 60 * US);
    const bool slow = dice_chance(&dice, 20);
    const uint64_t quarters = 5 + dice_below(&dice, 20);
    for (uint32_t port = 0; port < device->n_ports && slow; port++) {
        const uint32_t link = device->first_port + port;
        list->failures = memory_resize(list->failures, list->count + 1, sizeof *list->failures);
        list->failures[list->count++] = (struct failure){.kind = FAILURE_SLOW,
                                                         .link = link,
                                                         .from_ps = from_ps,
                                                         .until_ps = from_ps + lasts_ps,
                                                         .ps_per_byte = fabric->links[link].ps_per_byte * quarters / 4};
    }
}

/** A GPU that starts no messages for a time, in some cases: from the start or later, perhaps twice. */
static void draw_late_gpu(uint64_t number, const struct fabric *fabric, struct failure_list *list) {
    struct dice dice = dice_of(number, TOPIC_LATE_GPU);
    uint64_t from_ps = dice_chance(&dice, 60) ? 0 : dice_between(&dice, 0, 10 * US);
    const uint32_t gpu = dice_below(&dice, fabric->n_endpoints);
    const uint32_t times = dice_chance(&dice, 20) ? 1 + dice_below(&dice, 2) : 0;
    for (uint32_t i = 0; i < times && fabric->devices[gpu].n_ports > 0; i++) {
        const uint64_t until_ps = from_ps + 1 + dice_between(&dice, 0, dice_chance(&dice, 50) ? US : 20 * US);
        list->failures = memory_resize(list->failures, list->count + 1, sizeof *list->failures);
        list->failures[list->count++] = (struct failure){
            .kind = FAILURE_SEND, .link = fabric->devices[gpu].first_port, .from_ps = from_ps, .until_ps = until_ps};
        from_ps = dice_chance(&dice, 30) ? until_ps : until_ps + dice_between(&dice, 0, 10 * US);
    }
}

void random_receive_draw(uint64_t number, const struct fabric *fabric, struct network_parameters *parameters,
                         struct failure_list *list) {
    struct dice dice = dice_of(number, TOPIC_RECEIVE);
    const uint32_t first = dice_chance(&dice, LIMITED_PERCENT) ? draw_link(&dice, fabric) : FABRIC_NONE;
    draw_slow_gpus(number, fabric, list);
    draw_late_gpu(number, fabric, list);
    if (first == FABRIC_NONE) {
        return;
    }
    draw_buffer(&dice, &parameters->nic);
    if (dice_chance(&dice, 40)) {
        parameters->nic.receive_ps_per_byte =
            fabric->links[first].ps_per_byte * (2 + dice_below(&dice, 4 * SLOWEST_TIMES)) / 4;
    }
    for (uint32_t failures = dice_below(&dice, FAILURES_MOST + 1); failures > 0; failures--) {
        add_failure(&dice, fabric, list, dice_chance(&dice, 50) ? first : draw_link(&dice, fabric));
    }
}
