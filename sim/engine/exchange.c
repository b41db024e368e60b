// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/exchange.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void exchange_buffer_add(struct exchange_buffer *buffer, uint32_t link, uint32_t queue, const void *record) {
    if (buffer->count == buffer->capacity) {
        buffer->capacity = buffer->capacity ? 2 * buffer->capacity : 64;
        buffer->records = memory_resize(buffer->records, buffer->capacity, sizeof(*buffer->records));
    }
    struct exchange_record *added = &buffer->records[buffer->count++];
    added->link = link;
    added->queue = queue;
    memcpy(added->bytes, record, sizeof(added->bytes));
}

void exchange_buffer_fini(struct exchange_buffer *buffer) {
    free(buffer->records);
    *buffer = (struct exchange_buffer){0};
}
