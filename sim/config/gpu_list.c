// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/gpu_list.h"

#include "base/error.h"
#include "base/line.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 999999999 }; /* a number and a step after it are below 2^32 */

/** One term: every step-th GPU from first to last. */
struct term {
    uint32_t first, last, step;
};

/** What one reading works with. */
struct reading {
    struct gpu_list *list;
    bool *named; /* [n_gpus] */
    uint32_t n_gpus;
    char *problem;
    size_t size;
};

#define FAIL(...) (snprintf(reading->problem, reading->size, __VA_ARGS__), false)

static const char *skip_spaces(const char *text) {
    return text + strspn(text, " ");
}

/** A number, of those beyond LARGEST that; NULL if there is none. */
static const char *read_number(const char *text, uint32_t *number) {
    uint64_t value;
    const size_t digits = line_number(text, &value);
    *number = (uint32_t)(value > LARGEST ? LARGEST : value);
    return digits == 0 ? NULL : skip_spaces(text + digits);
}

/** The end of a term and the spaces behind it; NULL if it is none. */
static const char *read_term(const char *text, struct term *term) {
    text = read_number(text, &term->first);
    term->last = term->first;
    term->step = 1;
    if (text != NULL && *text == '-') {
        text = read_number(skip_spaces(text + 1), &term->last);
        if (text != NULL && *text == '/') {
            text = read_number(skip_spaces(text + 1), &term->step);
        }
    }
    return text != NULL && (*text == ',' || *text == '\0') ? text : NULL;
}

static bool add_term(struct reading *reading, const struct term *term) {
    if (term->last < term->first || term->step == 0) {
        return FAIL("a range goes upwards, in steps of 1 or more");
    }
    if (term->last == LARGEST) {
        return FAIL("so many GPUs do not exist: numbers end at %u", reading->n_gpus - 1);
    }
    if (term->last >= reading->n_gpus) {
        return FAIL("GPU %u does not exist: numbers end at %u", term->last, reading->n_gpus - 1);
    }
    for (uint32_t gpu = term->first; gpu <= term->last; gpu += term->step) {
        if (reading->named[gpu]) {
            return FAIL("GPU %u is named twice", gpu);
        }
        reading->named[gpu] = true;
        reading->list->gpus[reading->list->n_gpus++] = gpu;
    }
    return true;
}

static bool read_terms(struct reading *reading, const char *text) {
    if (strcmp(text, "all") == 0) {
        return add_term(reading, &(struct term){.first = 0, .last = reading->n_gpus - 1, .step = 1});
    }
    for (;;) {
        struct term term;
        const char *end = read_term(text, &term);
        if (end == NULL) {
            return FAIL("\"%.40s\" names no GPUs: say `all`, or numbers and ranges such as 0-7, 16, 64-127/8", text);
        }
        if (!add_term(reading, &term)) {
            return false;
        }
        if (*end == '\0') {
            return true;
        }
        text = skip_spaces(end + 1);
    }
}

bool gpu_list_read(struct gpu_list *list, const char *text, uint32_t n_gpus, char *problem, size_t size) {
    REQUIRE(n_gpus > 0, "GPUs are named where there are none");
    *list = (struct gpu_list){.gpus = memory_allocate(n_gpus, sizeof(*list->gpus))};
    struct reading reading = {.list = list,
                              .named = memory_allocate(n_gpus, sizeof(bool)),
                              .n_gpus = n_gpus,
                              .problem = problem,
                              .size = size};
    const bool good = read_terms(&reading, skip_spaces(text));
    free(reading.named);
    if (!good) {
        gpu_list_fini(list);
    }
    return good;
}

void gpu_list_fini(struct gpu_list *list) {
    free(list->gpus);
    *list = (struct gpu_list){0};
}

uint32_t *gpu_list_places(const struct gpu_list *list, uint32_t n_gpus) {
    uint32_t *places = memory_allocate(n_gpus, sizeof(*places));
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        places[gpu] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < list->n_gpus; i++) {
        places[list->gpus[i]] = i;
    }
    return places;
}
