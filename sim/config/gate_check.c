// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/gate_check.h"

#include "base/file.h"

#include <string.h>

void gate_check(const struct experiment *experiment, const struct contradiction_scope *scope) {
    const struct experiment_traffic *traffic = &experiment->traffic;
    const struct experiment_routing *routing = &traffic->routing;
    if ((traffic->gate == EXPERIMENT_GATE_MEASURED || traffic->gate == EXPERIMENT_GATE_TRACE) &&
        routing->file[0] == '\0') {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "traffic.gate", "gate.file",
                             "the gate %s needs the name of a file, `gate.file`",
                             traffic->gate == EXPERIMENT_GATE_TRACE ? "trace" : "measured");
    }
    if (routing->micro_batches > traffic->tokens_per_gpu) {
        contradiction_report(scope, ERROR_ID_CONFLICT_TRAFFIC, "gate.micro_batches", "traffic.tokens_per_gpu",
                             "%u tokens cannot be cut into %u micro-batches", traffic->tokens_per_gpu,
                             routing->micro_batches);
    }
}

void gate_check_set_path(struct experiment_routing *routing, const char *configuration) {
    if (routing->file[0] != '\0') {
        file_beside(routing->path, sizeof routing->path, configuration, routing->file);
    }
}
