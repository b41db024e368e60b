// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_kept.h"

#include "base/memory.h"
#include "command/validate_seeds.h"

#include <stdlib.h>

static const char *const required[] = {"configuration", NULL};

static const char *unit(const struct validate_row *row) {
    (void)row;
    return "× rate without failures";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    if (!validate_setup_read(setup, row, NULL, 0)) {
        return false;
    }
    return row->experiment->n_failures > 0 || validate_setup_refuse(setup, "what is kept under failures needs one");
}

/* Messages' bytes by the time that they all took. */
static double rate(const struct validate_row *row, const struct fabric *fabric, const struct measurement *measurement) {
    (void)row;
    (void)fabric;
    uint64_t bytes = 0, finish_ps = 1;
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        const struct measurement_message *message = &measurement->messages[i];
        bytes += message->bytes;
        finish_ps = message->completed_ps > finish_ps ? message->completed_ps : finish_ps;
    }
    return (double)bytes / (double)finish_ps;
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    if (!validate_seeds(row, run, rate, error)) {
        return false;
    }
    const double own = run->simulated;
    struct experiment *experiment = memory_allocate(1, sizeof(*experiment));
    *experiment = *row->experiment;
    experiment->n_failures = 0;
    struct validate_row other = *row;
    other.experiment = experiment;
    const bool good = validate_seeds(&other, run, rate, error);
    run->simulated = own / run->simulated;
    free(experiment);
    return good;
}

const struct validate_kind validate_kept_rate = {
    .name = "kept_rate",
    .doc = "bytes of all messages by the time until the last one is delivered, under the configuration's failures ÷ "
           "the same "
           "without them",
    .keys = NULL,
    .n_keys = 0,
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
