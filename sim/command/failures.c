// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/failures.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/rate.h"
#include "fabric/lookup.h"
#include "fabric/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1000000 }; /* times that a link fails, all links together */

#define SLOWEST_BITS_PER_S UINT64_C(8000000) /* what base/rate.h can represent */

/* What is being filled. */
struct filling {
    struct failure_list *list;
    const struct fabric *fabric;
    uint32_t capacity;
};

static enum failure_kind kind_of(enum experiment_action action) {
    switch (action) {
    case EXPERIMENT_ACTION_DOWN:
        return FAILURE_DOWN;
    case EXPERIMENT_ACTION_SLOW:
        return FAILURE_SLOW;
    case EXPERIMENT_ACTION_LOSSY:
        return FAILURE_LOSSY;
    case EXPERIMENT_ACTION_STOP_SEND:
        return FAILURE_SEND;
    case EXPERIMENT_ACTION_SLOW_RECEIVE:
    case EXPERIMENT_ACTION_STOP_RECEIVE:
        break;
    }
    return FAILURE_RECEIVE;
}

static bool is_of_receiver(const struct experiment_failure *given) {
    return kind_of(given->action) == FAILURE_RECEIVE;
}

static bool is_of_gpu(const struct experiment_failure *given) {
    return kind_of(given->action) == FAILURE_SEND;
}

static void add_once(struct filling *filling, const struct failure *failure) {
    struct failure_list *list = filling->list;
    if (list->count == filling->capacity) {
        filling->capacity = filling->capacity ? 2 * filling->capacity : 16;
        list->failures = memory_resize(list->failures, filling->capacity, sizeof(*list->failures));
    }
    list->failures[list->count++] = *failure;
}

/* One link, at all its times. */
static void add_link(struct filling *filling, const struct experiment_failure *given, uint32_t link) {
    const struct fabric_link *place = &filling->fabric->links[link];
    const uint64_t slowest = rate_ps_per_byte(SLOWEST_BITS_PER_S);
    if (place->kind != FABRIC_ETHERNET && kind_of(given->action) != FAILURE_SLOW && !is_of_gpu(given)) {
        return;
    }
    struct failure failure = {.kind = kind_of(given->action),
                              .link = link,
                              .ps_per_byte = (uint64_t)((double)place->ps_per_byte / given->rate + 0.5),
                              .loss_fxp32 = (uint64_t)(given->loss * (double)FAILURE_LOSS_ONE + 0.5)};
    failure.ps_per_byte = failure.ps_per_byte < slowest ? failure.ps_per_byte : slowest;
    failure.ps_per_byte = given->action == EXPERIMENT_ACTION_STOP_RECEIVE ? TIME_NEVER : failure.ps_per_byte;
    for (uint32_t i = 0; i < given->count; i++) {
        failure.from_ps = given->at_ps + i * given->every_ps;
        failure.until_ps = given->for_ps > 0 ? failure.from_ps + given->for_ps : TIME_NEVER;
        add_once(filling, &failure);
    }
}

/* "nic17" is the NIC of gpu17. */
static bool is_nic(const struct experiment_failure *given) {
    const size_t digits = strncmp(given->what, "nic", 3) == 0 ? strspn(given->what + 3, "0123456789") : 0;
    return digits > 0 && given->what[3 + digits] == '\0';
}

static bool find(const struct fabric *fabric, const struct experiment_failure *given, struct lookup_place *place) {
    char name[sizeof(given->what)];
    snprintf(name, sizeof(name), "%s%s", is_nic(given) ? "gpu" : "", is_nic(given) ? given->what + 3 : given->what);
    return lookup_find(fabric, name, place);
}

/* A slow GPU sends at a share of the rates, into the fabric and over NVLink; what it receives is not held back. */
static void add_gpu(struct filling *filling, const struct experiment_failure *given,
                    const struct fabric_device *device) {
    for (uint32_t port = 0; port < (is_of_gpu(given) ? 1 : device->n_ports); port++) {
        add_link(filling, given, device->first_port + port);
    }
}

static void add_place(struct filling *filling, const struct experiment_failure *given,
                      const struct lookup_place *place) {
    if (place->link != FABRIC_NONE) {
        add_link(filling, given, place->link);
        if (given->action != EXPERIMENT_ACTION_LOSSY) {
            add_link(filling, given, filling->fabric->links[place->link].reverse);
        }
        return;
    }
    const struct fabric_device *device = &filling->fabric->devices[place->device];
    if (device->kind == FABRIC_ENDPOINT && (given->action == EXPERIMENT_ACTION_SLOW || is_of_gpu(given)) &&
        !is_nic(given)) {
        add_gpu(filling, given, device);
        return;
    }
    for (uint32_t port = 0; port < device->n_ports; port++) {
        if (filling->fabric->links[device->first_port + port].kind != FABRIC_ETHERNET) {
            continue;
        }
        if (!is_of_receiver(given)) {
            add_link(filling, given, device->first_port + port);
        }
        add_link(filling, given, filling->fabric->links[device->first_port + port].reverse);
    }
}

/* The error of a failure, with its place. */
static bool refuse(struct error *error, const struct experiment_failure *given, const char *hint) {
    error_hint(error, "%s", hint);
    return experiment_place_blame(&given->place, error);
}

static bool refuse_unknown(struct error *error, const struct fabric *fabric, const struct experiment_failure *given) {
    char nearest[NAMES_LINK_SIZE], hint[NAMES_LINK_SIZE + 64];
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_FAILURES, "there is no device or link `%.120s` to fail",
              given->what);
    if (lookup_nearest(fabric, given->what, nearest, sizeof(nearest))) {
        snprintf(hint, sizeof(hint), "did you mean `%s`?", nearest);
        return refuse(error, given, hint);
    }
    return refuse(error, given,
                  "names are those of `moefabric topology` and of reports: gpu17, leaf0, spine1, leaf0:up3");
}

/* Whether something Ethernet is there to fail, or a GPU to be late. */
static bool can_fail(const struct fabric *fabric, const struct experiment_failure *given,
                     const struct lookup_place *place) {
    if (is_of_gpu(given)) {
        return true; // looked at below
    }
    if (place->link != FABRIC_NONE) {
        return fabric->links[place->link].kind == FABRIC_ETHERNET;
    }
    return fabric->devices[place->device].kind == FABRIC_SWITCH ||
           (fabric->devices[place->device].kind == FABRIC_ENDPOINT && fabric->endpoints[place->device].n_nics > 0);
}

static bool is_gpu(const struct fabric *fabric, const struct experiment_failure *given,
                   const struct lookup_place *place) {
    return place->link == FABRIC_NONE && fabric->devices[place->device].kind == FABRIC_ENDPOINT &&
           fabric->devices[place->device].n_ports > 0 && !is_nic(given);
}

bool failures_init(struct failure_list *list, const struct experiment *experiment, const struct fabric *fabric,
                   struct error *error) {
    struct filling filling = {.list = list, .fabric = fabric};
    *list = (struct failure_list){.exclusion_ps = experiment->path.exclusion_ps,
                                  .convergence_ps = experiment->path.convergence_ps};
    for (uint32_t i = 0; i < experiment->n_failures; i++) {
        const struct experiment_failure *given = &experiment->failures[i];
        struct lookup_place place;
        if (!find(fabric, given, &place)) {
            failures_fini(list);
            return refuse_unknown(error, fabric, given);
        }
        if (!can_fail(fabric, given, &place)) {
            failures_fini(list);
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_FAILURES, "`%.120s` cannot fail", given->what);
            return refuse(error, given, "links, switches and NICs of the Ethernet fabric can; NVLink cannot");
        }
        if (is_of_receiver(given) &&
            (place.link != FABRIC_NONE || fabric->devices[place.device].kind != FABRIC_ENDPOINT)) {
            failures_fini(list);
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_FAILURES, "`%.120s` receives for no host",
                      given->what);
            return refuse(error, given, "the host behind a NIC is named as its GPU: gpu17");
        }
        if (is_of_gpu(given) && !is_gpu(fabric, given, &place)) {
            failures_fini(list);
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_FAILURES, "`%.120s` starts no messages",
                      given->what);
            return refuse(error, given, "GPUs do, those that send anything: gpu17");
        }
        add_place(&filling, given, &place);
        if (list->count > LIMIT) {
            failures_fini(list);
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_FAILURES,
                      "links would fail more than %d times in all", LIMIT);
            return refuse(error, given, "lower `count`, or name a link in place of its switch");
        }
    }
    return true;
}

void failures_fini(struct failure_list *list) {
    free(list->failures);
    list->failures = NULL;
    list->count = 0;
}

bool failures_check(const struct experiment *experiment, const struct fabric *fabric, struct error *error) {
    struct failure_list list;
    const bool good = failures_init(&list, experiment, fabric, error);
    if (good) {
        failures_fini(&list);
    }
    return good;
}
