// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Allocation that never returns NULL: a simulator that runs out of memory cannot go on, it says so and ends.
 */
#ifndef MOEFABRIC_BASE_MEMORY_H
#define MOEFABRIC_BASE_MEMORY_H

#include <stddef.h>

/** count zeroed objects of size bytes (count × size checked for overflow); freed with free(). Ends the program with exit code 1 if there is no memory. */
void *memory_allocate(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2)));

/** Resizes a block to count objects of size bytes; new bytes are not cleared. Ends the program with exit code 1 if there is no memory. */
void *memory_resize(void *block, size_t count, size_t size);

/** Zeroed memory aligned to a 64-byte cache line; freed with free(). */
void *memory_allocate_aligned(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2)));

/** Ends the program with exit code 1: a library had no memory for this. For libraries that say so by an error of their own. */
_Noreturn void memory_exhausted(const char *what);

/**
 * Gives what was freed back to the operating system, where the C library can: before something as large is allocated. A program with
 * threads calls it once before it has them: where another allocator stands in for glibc's (a sanitizer's, a preloaded one), the first call sets up
 * glibc's own heap, and two first calls at once crash.
 */
void memory_return(void);

#endif
