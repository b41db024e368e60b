// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/failure_reader.h"

#include "config/experiment_places.h"
#include "config/key.h"
#include "config/section_reader.h"

#include <string.h>

static const char form[] = "a failure is a mapping: {what: spine1, action: down, at: 100 us, for: 50 us}";

/** Times that contradict each other. */
static void check_times(const struct tree_node *node, const struct experiment_failure *failure,
                        struct error_list *errors) {
    if (failure->count > 1 && failure->for_ps == 0) {
        tree_report(errors, node->place, ERROR_ID_CONFLICT_FAILURES, "say how long each time lasts: `for`",
                    "what fails for good cannot fail %u times", (unsigned)failure->count);
    } else if (failure->action == EXPERIMENT_ACTION_STOP_SEND && failure->for_ps == 0) {
        tree_report(errors, node->place, ERROR_ID_CONFLICT_FAILURES, "say how late the GPU is: `for`",
                    "a GPU that never sends lets no run end");
    } else if (failure->count > 1 && failure->every_ps <= failure->for_ps) {
        tree_report(errors, node->place, ERROR_ID_CONFLICT_FAILURES, "`every` must be longer than `for`",
                    "a failure begins again before it is over");
    }
}

static void read_item(const struct tree_node *node, struct experiment_failure *failure, struct error_list *errors) {
    const struct section *section = key_section(experiment_keys(), "failures");
    const unsigned before = errors->count + errors->dropped;
    memset(failure, 0, sizeof *failure);
    section_reader_section_defaults(section, failure);
    if (node->kind != TREE_MAPPING) {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE, form, "a failure is %s", tree_kind_name(node));
        return;
    }
    section_reader_read_section(section, node, failure, errors);
    failure->place = experiment_places_of(&node->place);
    if (errors->count + errors->dropped == before) {
        check_times(node, failure, errors);
    }
}

void failure_reader_read(const struct tree_node *node, struct experiment *experiment, struct error_list *errors) {
    if (node->kind == TREE_VALUE && node->is_null) {
        return; /* all of them commented out */
    }
    if (node->kind != TREE_LIST) {
        tree_report(errors, node->place, ERROR_ID_VALUE_TYPE, "each failure begins with a dash: - {what: …}",
                    "the value of `failures` is %s", tree_kind_name(node));
        return;
    }
    if (node->n_entries > EXPERIMENT_FAILURES) {
        tree_report(errors, node->place, ERROR_ID_VALUE_LENGTH, "flaps are one failure with `every` and `count`",
                    "%u failures are too many (at most %d are allowed)", (unsigned)node->n_entries,
                    EXPERIMENT_FAILURES);
    }
    for (uint32_t i = 0; i < node->n_entries && i < EXPERIMENT_FAILURES; i++) {
        read_item(node->entries[i].value, &experiment->failures[i], errors);
        experiment->n_failures = i + 1;
    }
}
