// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Numbers in order, taken from anywhere and appended: lists of the naive simulator.
 */
#ifndef MOEFABRIC_TESTS_REFERENCE_LIST_H
#define MOEFABRIC_TESTS_REFERENCE_LIST_H

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Zero-initialise; ends with free(numbers). */
struct reference_list {
    uint32_t *numbers;
    size_t count;
};

/** Adds a number at the end. */
static inline void reference_list_append(struct reference_list *list, uint32_t number) {
    list->numbers = memory_resize(list->numbers, list->count + 1, sizeof *list->numbers);
    list->numbers[list->count++] = number;
}

/** Takes out the number at an index. */
static inline uint32_t reference_list_take(struct reference_list *list, size_t index) {
    const uint32_t number = list->numbers[index];
    list->count--;
    memmove(list->numbers + index, list->numbers + index + 1, (list->count - index) * sizeof *list->numbers);
    return number;
}

#endif
