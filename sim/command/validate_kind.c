// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_kind.h"

#include "command/validate_alltoall.h"
#include "command/validate_completion.h"
#include "command/validate_contention.h"
#include "command/validate_eplb.h"
#include "command/validate_gate.h"
#include "command/validate_hash.h"
#include "command/validate_kept.h"
#include "command/validate_phase.h"
#include "command/validate_rail.h"
#include "command/validate_step.h"
#include "command/validate_training.h"

#include <string.h>

const struct validate_kind *const validate_kind_table[] = {
    &validate_hash_load,      &validate_hash_packets,
    &validate_alltoall_busbw, &validate_completion,
    &validate_eplb,           &validate_rail_alltoall,
    &validate_gate,           &validate_measured_load,
    &validate_kept_rate,      &validate_phase,
    &validate_time_to_train,  &validate_contention,
    &validate_step,           NULL,
};

const struct validate_kind *validate_kind_find(const char *name) {
    for (size_t i = 0; validate_kind_table[i]; i++) {
        if (strcmp(validate_kind_table[i]->name, name) == 0) {
            return validate_kind_table[i];
        }
    }
    return NULL;
}
