// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * GPUs that a text names: "all", or numbers and ranges such as "0-7, 16, 64-127/8".
 */
#ifndef MOEFABRIC_CONFIG_GPU_LIST_H
#define MOEFABRIC_CONFIG_GPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** GPUs in the order in which they are named, each once. Owns its array. */
struct gpu_list {
    uint32_t *gpus;
    uint32_t n_gpus;
};

/**
 * Reads a text: terms with commas between them, each a number, FIRST-LAST, FIRST-LAST/STEP, or `all` (alone). Numbers are below n_gpus.
 * False with a sentence in problem (cut at size) if it says something else, names a GPU twice or one that does not exist; nothing to
 * free then. Freed by gpu_list_fini.
 */
bool gpu_list_read(struct gpu_list *list, const char *text, uint32_t n_gpus, char *problem, size_t size);

/** Frees what it holds. */
void gpu_list_fini(struct gpu_list *list);

/** For each of n_gpus its place in the list, or UINT32_MAX. The caller owns it. */
uint32_t *gpu_list_places(const struct gpu_list *list, uint32_t n_gpus);

#endif
