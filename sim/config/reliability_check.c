// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/reliability_check.h"

#include "base/quantity.h"
#include "config/topology_check.h"

#include <inttypes.h>

bool reliability_check_fails(const struct experiment_interruptions *failures) {
    return failures->rates != EXPERIMENT_FAILURE_SOURCE_NONE || failures->gpu_mtbf_s > 0 || failures->nic_mtbf_s > 0 ||
           failures->host_mtbf_s > 0 || failures->nvlink_switch_mtbf_s > 0 || failures->link_mtbf_s > 0 ||
           failures->leaf_mtbf_s > 0 || failures->spine_mtbf_s > 0 || failures->software_mtbf_s > 0;
}

static void check_spares(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_interruptions *failures = &experiment->training.failures;
    const uint64_t gpus =
        experiment->training.gpus ? experiment->training.gpus : topology_check_gpus(&experiment->topology);
    if (failures->host_gpus > gpus) {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "training.failures.host_gpus", "training.gpus",
                             "a host has %" PRIu32 " GPUs, but only %" PRIu64 " train", failures->host_gpus, gpus);
    } else if (failures->warm_spares > gpus) {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "training.failures.warm_spares", "training.gpus",
                             "%" PRIu32 " GPUs stand by, more than the %" PRIu64 " that train", failures->warm_spares,
                             gpus);
    } else if (failures->warm_spares % failures->host_gpus != 0) {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "training.failures.warm_spares",
                             "training.failures.host_gpus",
                             "%" PRIu32 " GPUs that stand by are no whole hosts of %" PRIu32, failures->warm_spares,
                             failures->host_gpus);
    }
}

void reliability_check(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_interruptions *failures = &experiment->training.failures;
    if (experiment->training.global_batch == 0 || !reliability_check_fails(failures)) {
        return;
    }
    check_spares(experiment, scope);
    if (failures->warm_restart_s > failures->restart_s) {
        char warm[QUANTITY_TEXT_SIZE], cold[QUANTITY_TEXT_SIZE];
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "training.failures.warm_restart",
                             "training.failures.restart",
                             "a restart on a warm spare (%s) takes longer than another (%s)",
                             quantity_print_short(warm, QUANTITY_DURATION, failures->warm_restart_s),
                             quantity_print_short(cold, QUANTITY_DURATION, failures->restart_s));
    }
}
