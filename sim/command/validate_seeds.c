// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_seeds.h"

#include "command/simulation.h"
#include "fabric/builder.h"

#include <math.h>

static bool run_seed(const struct validate_row *row, const struct fabric *fabric, uint64_t seed,
                     struct validate_kind_run *run, validate_seeds_measure *measure, struct error *error) {
    const struct simulation simulation = {.experiment = row->experiment,
                                          .policy = &row->experiment->policies[0],
                                          .fabric = fabric,
                                          .seed = seed,
                                          .observer = run->observer,
                                          .observer_context = run->observer_context};
    struct measurement *measurement = simulation_run(&simulation, error);
    if (!measurement) {
        return false;
    }
    run->simulated += measurement->outcome == MEASUREMENT_FINISHED ? measure(row, fabric, measurement) : NAN;
    run->hops += measurement->totals.data_hops + measurement->totals.control_hops;
    measurement_free(measurement);
    return true;
}

bool validate_seeds(const struct validate_row *row, struct validate_kind_run *run, validate_seeds_measure *measure,
                    struct error *error) {
    const struct experiment *experiment = row->experiment;
    struct fabric *fabric = fabric_build(&experiment->topology, error);
    bool good = fabric != NULL;
    run->simulated = 0;
    for (uint32_t s = 0; good && s < experiment->n_seeds; s++) {
        good = run_seed(row, fabric, experiment->seeds[s], run, measure, error);
    }
    run->simulated /= experiment->n_seeds;
    fabric_free(fabric);
    return good;
}
