// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/backlog.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

void backlog_add(struct backlog *backlog, const struct backlog_entry *entry) {
    if (backlog->end == backlog->capacity) {
        backlog->capacity = backlog->capacity ? 2 * backlog->capacity : 4;
        backlog->entries = memory_resize(backlog->entries, backlog->capacity, sizeof(*backlog->entries));
    }
    backlog->entries[backlog->end++] = *entry;
}

struct backlog_entry *backlog_first(struct backlog *backlog) {
    REQUIRE(!backlog_is_empty(backlog), "an empty backlog has no first entry");
    return &backlog->entries[backlog->first];
}

void backlog_pass(struct backlog *backlog) {
    backlog->first++;
    if (backlog_is_empty(backlog)) {
        backlog->first = backlog->end = 0;
    }
}

void backlog_fini(struct backlog *backlog) {
    free(backlog->entries);
    *backlog = (struct backlog){0};
}
