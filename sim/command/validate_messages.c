// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_messages.h"

#include "command/setup.h"
#include "fabric/builder.h"

#include <math.h>

static bool run_seed(const struct validate_row *row, const struct fabric *fabric, const struct traffic *traffic,
                     uint64_t seed, validate_messages_measure *measure, struct validate_kind_run *run,
                     struct error *error) {
    struct network_parameters parameters;
    if (!setup_network(row->experiment, &row->experiment->policies[0], seed, &parameters, error)) {
        return false;
    }
    struct network *network = network_create(fabric, &parameters, traffic, NULL);
    const enum network_status status = network_run(network, run->observer, run->observer_context);
    run->simulated += status == NETWORK_FINISHED ? measure(row, fabric, network) : NAN;
    run->hops += network_hops(network);
    network_free(network);
    return true;
}

bool validate_messages(const struct validate_row *row, struct traffic_list *list, const uint64_t *seeds,
                       uint32_t n_seeds, validate_messages_measure *measure, struct validate_kind_run *run,
                       struct error *error) {
    struct fabric *fabric = fabric_build(&row->experiment->topology, error);
    const struct traffic traffic = traffic_list_traffic(list);
    bool good = fabric != NULL;
    run->simulated = 0;
    for (uint32_t s = 0; good && s < n_seeds; s++) {
        good = run_seed(row, fabric, &traffic, seeds[s], measure, run, error);
    }
    run->simulated /= n_seeds;
    fabric_free(fabric);
    return good;
}
