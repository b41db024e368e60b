// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_failures.h"

#include "base/memory.h"
#include "base/rate.h"
#include "dice.h"
#include "random_wishes.h"

#define US UINT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    TOPIC_FAILURES = 500,
    TOPIC_LOPSIDED = 505,
    FAILING_PERCENT = 45,
    CAUSES_MOST = 4,
    FLAPS_MOST = 4,
    BLINKS_MOST = 12,
    BYTE_PS = 20
};

/** One thing that fails, perhaps again and again. */
struct cause {
    enum failure_kind kind;
    uint64_t from_ps, lasts_ps, period_ps;
    uint32_t times;
    uint64_t slower; /* by so much, in quarters */
    uint64_t loss_fxp32;
};

/** A multiple of a packet's time at 400 Gb/s, so that things happen exactly then; else any time. */
static uint64_t draw_time_ps(struct dice *dice, const struct network_parameters *parameters, uint64_t most_ps) {
    const uint64_t packet_ps = BYTE_PS * ((uint64_t)parameters->nic.payload_bytes + parameters->nic.header_bytes);
    const uint64_t any_ps = dice_between(dice, 0, most_ps);
    return dice_chance(dice, 50) ? any_ps / packet_ps * packet_ps : any_ps;
}

static struct cause draw_cause(struct dice *dice, const struct network_parameters *parameters) {
    static const uint64_t kinds[] = {FAILURE_DOWN, FAILURE_DOWN,  FAILURE_SLOW,
                                     FAILURE_SLOW, FAILURE_LOSSY, FAILURE_LOSSY};
    static const uint64_t losses[] = {FAILURE_LOSS_ONE / 100, FAILURE_LOSS_ONE / 10, FAILURE_LOSS_ONE / 2,
                                      FAILURE_LOSS_ONE};
    struct cause cause = {.kind = (enum failure_kind)dice_pick(dice, kinds, COUNT(kinds)),
                          .from_ps = draw_time_ps(dice, parameters, dice_chance(dice, 70) ? 8 * US : 40 * US),
                          .lasts_ps = 1 + draw_time_ps(dice, parameters, dice_chance(dice, 30) ? US : 40 * US),
                          .times = dice_chance(dice, 70) ? 1 : 1 + dice_below(dice, FLAPS_MOST),
                          .slower = 5 + dice_below(dice, 20),
                          .loss_fxp32 = dice_pick(dice, losses, COUNT(losses))};
    cause.period_ps = cause.lasts_ps + draw_time_ps(dice, parameters, 10 * US);
    return cause;
}

/** A switch that is gone so shortly, and so often, that ports stay paused meanwhile. */
static struct cause draw_blinks(struct dice *dice, const struct network_parameters *parameters) {
    struct cause cause = {.kind = FAILURE_DOWN,
                          .from_ps = draw_time_ps(dice, parameters, 8 * US),
                          .lasts_ps = 1 + draw_time_ps(dice, parameters, US / 2),
                          .times = 2 + dice_below(dice, BLINKS_MOST)};
    cause.period_ps = cause.lasts_ps + draw_time_ps(dice, parameters, 3 * US);
    return cause;
}

static void add(struct failure_list *list, const struct fabric *fabric, uint32_t link, const struct cause *cause,
                bool for_good) {
    for (uint32_t i = 0; i < cause->times; i++) {
        const uint64_t from_ps = cause->from_ps + i * cause->period_ps;
        list->failures = memory_resize(list->failures, list->count + 1, sizeof *list->failures);
        list->failures[list->count++] =
            (struct failure){.kind = cause->kind,
                             .link = link,
                             .from_ps = from_ps,
                             .until_ps = for_good ? TIME_NEVER : from_ps + cause->lasts_ps,
                             .ps_per_byte = fabric->links[link].ps_per_byte * cause->slower / 4,
                             .loss_fxp32 = cause->loss_fxp32};
    }
}

static void add_cable(struct failure_list *list, struct dice *dice, const struct fabric *fabric, uint32_t link,
                      const struct cause *cause, bool for_good) {
    if (fabric->links[link].kind != FABRIC_ETHERNET) {
        return;
    }
    add(list, fabric, link, cause, for_good);
    if (cause->kind == FAILURE_DOWN || dice_chance(dice, 50)) {
        add(list, fabric, fabric->links[link].reverse, cause, for_good);
    }
}

static void add_switch(struct failure_list *list, struct dice *dice, const struct fabric *fabric,
                       const struct cause *cause, bool for_good) {
    const struct fabric_device *device = &fabric->devices[fabric->switch_devices[dice_below(dice, fabric->n_switches)]];
    for (uint32_t port = 0; port < device->n_ports; port++) {
        add_cable(list, dice, fabric, device->first_port + port, cause, for_good);
    }
}

/** A cable, more often one between switches than chance has it; or all cables of a switch. */
static void draw_place(struct failure_list *list, struct dice *dice, const struct fabric *fabric,
                       const struct cause *cause) {
    const bool for_good = dice_chance(dice, 5);
    if (fabric->n_switches > 0 && dice_chance(dice, 20)) {
        add_switch(list, dice, fabric, cause, for_good);
        return;
    }
    uint32_t link = dice_below(dice, fabric->n_links);
    for (int attempt = 0; attempt < 4 && fabric->devices[fabric->links[link].tail_device].kind != FABRIC_SWITCH;
         attempt++) {
        link = dice_below(dice, fabric->n_links);
    }
    add_cable(list, dice, fabric, link, cause, for_good);
}

/** Under adaptive routing sometimes a cable between switches is slow, or gone, before anything is sent, and all know. */
static void draw_lopsided(struct failure_list *list, uint64_t number, const struct fabric *fabric,
                          const struct network_parameters *parameters) {
    struct dice dice = dice_of(number, TOPIC_LOPSIDED);
    if (parameters->path.kind != PATH_ADAPTIVE || !dice_chance(&dice, 75)) {
        return;
    }
    const struct cause cause = {.kind = dice_chance(&dice, 60) ? FAILURE_SLOW : FAILURE_DOWN,
                                .lasts_ps = 1 + draw_time_ps(&dice, parameters, 40 * US),
                                .times = 1,
                                .slower = 5 + dice_below(&dice, 20)};
    for (int attempt = 0; attempt < 30; attempt++) {
        const uint32_t link = dice_below(&dice, fabric->n_links);
        if (fabric->devices[fabric->links[link].tail_device].kind == FABRIC_SWITCH &&
            fabric->devices[fabric->links[link].head_device].kind == FABRIC_SWITCH) {
            add_cable(list, &dice, fabric, link, &cause, dice_chance(&dice, 50));
            list->convergence_ps = dice_chance(&dice, 40) ? 0 : list->convergence_ps;
            return;
        }
    }
}

struct failure_list random_failures_create(uint64_t number, const struct fabric *fabric,
                                           const struct network_parameters *parameters) {
    static const uint64_t exclusions[] = {0, 100000, 500000, 1234567}, convergences[] = {0, US, 20 * US, 300 * US};
    struct dice dice = dice_of(number, TOPIC_FAILURES);
    struct failure_list list = {.exclusion_ps = dice_pick(&dice, exclusions, COUNT(exclusions)),
                                .convergence_ps = dice_pick(&dice, convergences, COUNT(convergences))};
    const bool blinking = random_wishes_blinks(number);
    draw_lopsided(&list, number, fabric, parameters);
    if (!dice_chance(&dice, FAILING_PERCENT) && !blinking) {
        return list;
    }
    if ((dice_chance(&dice, 65) || blinking) && fabric->n_switches > 0) {
        const struct cause blinks = draw_blinks(&dice, parameters);
        add_switch(&list, &dice, fabric, &blinks, false);
    }
    for (uint32_t causes = 1 + dice_below(&dice, CAUSES_MOST); causes > 0; causes--) {
        const struct cause cause = draw_cause(&dice, parameters);
        draw_place(&list, &dice, fabric, &cause);
    }
    return list;
}
