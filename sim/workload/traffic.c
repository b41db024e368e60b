// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/traffic.h"

#include "base/memory.h"

#include <stdlib.h>

enum { OUTBOX_FIRST_CAPACITY = 16 };

void traffic_outbox_add(struct traffic_outbox *outbox, const struct traffic_message *message) {
    if (outbox->count == outbox->capacity) {
        outbox->capacity = outbox->capacity ? 2 * outbox->capacity : OUTBOX_FIRST_CAPACITY;
        outbox->messages = memory_resize(outbox->messages, outbox->capacity, sizeof *outbox->messages);
    }
    outbox->messages[outbox->count++] = *message;
}

void traffic_outbox_free(struct traffic_outbox *outbox) {
    free(outbox->messages);
    *outbox = (struct traffic_outbox){0};
}
