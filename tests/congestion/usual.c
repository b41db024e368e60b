// SPDX-License-Identifier: GPL-3.0-or-later
#include "usual.h"

#include "base/memory.h"
#include "command/setup_congestion.h"
#include "config/key.h"
#include "config/section_reader.h"

#include <stdio.h>
#include <stdlib.h>

struct congestion_parameters usual_congestion(enum congestion_kind kind, uint64_t line_bits_per_s) {
    struct experiment *experiment = memory_allocate(1, sizeof *experiment);
    struct experiment_policy policy = {.queue_pairs = 1};
    struct congestion_parameters congestion = {0};
    struct error error = {0};
    section_reader_defaults(topology_keys(), &experiment->topology);
    section_reader_defaults(experiment_keys(), experiment);
    experiment->topology.nic.rate_bits_per_s = line_bits_per_s;
    experiment->topology.nic.usable_fraction = 1;
    snprintf(policy.congestion, sizeof policy.congestion, "%s", congestion_controller_of(kind)->name);
    REQUIRE(setup_congestion(experiment, &policy, &congestion, &error), "%s", error.message);
    free(experiment);
    return congestion;
}
