// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench_work.h"

#include "command/plan.h"

bool bench_work_print(FILE *stream, const struct experiment *experiment) {
    const struct topology *topology = &experiment->topology;
    struct plan plan;
    struct error error = {0};
    if (experiment->traffic.pattern == EXPERIMENT_PATTERN_MOE || topology->nvlink.gpus != 1) {
        fprintf(stderr, "%s is no pattern between hosts without NVLink\n", experiment->name);
        return false;
    }
    if (!plan_init(&plan, experiment, false, experiment->seeds[0], &error)) {
        error_print(stderr, &error);
        return false;
    }
    fprintf(stream, "hosts %u per_leaf %u spines %u\n", plan.placement.n_ranks, topology->fabric.leaf_downlinks,
            topology->fabric.spines);
    for (uint32_t rank = 0; rank < plan.placement.n_ranks; rank++) {
        const uint32_t n = pattern_messages(plan.pattern, rank);
        for (uint32_t i = 0; i < n; i++) {
            fprintf(stream, "%u %u %llu\n", rank, pattern_destination(plan.pattern, rank, i),
                    (unsigned long long)experiment->traffic.bytes);
        }
    }
    plan_fini(&plan);
    return true;
}
