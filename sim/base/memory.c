// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { CACHE_LINE_BYTES = 64 };

/** Says how much was asked for and ends the program: there is no state worth saving that would not need memory too. */
_Noreturn static void out_of_memory(size_t count, size_t size) {
    fprintf(stderr, "moefabric: out of memory: no room for %zu objects of %zu bytes\n", count, size);
    exit(EXIT_CODE_RUN_FAILED);
}

_Noreturn void memory_exhausted(const char *what) {
    fprintf(stderr, "moefabric: out of memory: no room for %s\n", what);
    exit(EXIT_CODE_RUN_FAILED);
}

/** count × size, never zero: malloc(0) may return NULL, which would look like a failure. */
static size_t total_bytes(size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) || total > PTRDIFF_MAX) {
        out_of_memory(count, size);
    }
    return total == 0 ? 1 : total;
}

void *memory_allocate(size_t count, size_t size) {
    void *block = calloc(1, total_bytes(count, size));
    if (block == NULL) {
        out_of_memory(count, size);
    }
    return block;
}

void *memory_resize(void *block, size_t count, size_t size) {
    void *resized = realloc(block, total_bytes(count, size));
    if (resized == NULL) {
        out_of_memory(count, size);
    }
    return resized;
}

void *memory_allocate_aligned(size_t count, size_t size) {
    const size_t total = total_bytes(count, size);
    void *block = NULL;
    if (posix_memalign(&block, CACHE_LINE_BYTES, total) != 0) {
        out_of_memory(count, size);
    }
    memset(block, 0, total);
    return block;
}

void memory_return(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
