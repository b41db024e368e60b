// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/nearest.h"

#include <string.h>

enum { NEAREST_LENGTH = 64, NEAREST_CUT_OFF = 4 };

/** ASCII only: independent of the locale. */
static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static size_t smaller(size_t left, size_t right) {
    return left < right ? left : right;
}

size_t nearest_distance(const char *left, const char *right) {
    const size_t rows = strlen(left), columns = strlen(right);
    if (rows >= NEAREST_LENGTH || columns >= NEAREST_LENGTH) {
        return NEAREST_LENGTH;
    }
    size_t distance[NEAREST_LENGTH][NEAREST_LENGTH];
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                distance[i][j] = i + j;
                continue;
            }
            const size_t differs = lower(left[i - 1]) != lower(right[j - 1]);
            size_t best = smaller(distance[i - 1][j] + 1, distance[i][j - 1] + 1);
            best = smaller(best, distance[i - 1][j - 1] + differs);
            if (i > 1 && j > 1 && lower(left[i - 1]) == lower(right[j - 2]) &&
                lower(left[i - 2]) == lower(right[j - 1])) {
                best = smaller(best, distance[i - 2][j - 2] + 1);
            }
            distance[i][j] = best;
        }
    }
    return distance[rows][columns];
}

const char *nearest_name(const char *word, const char *const *names, size_t n) {
    size_t limit = strlen(word) / 3;
    limit = limit < 1 ? 1 : smaller(limit, NEAREST_CUT_OFF);
    const char *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (names[i] == NULL) {
            continue;
        }
        const size_t distance = nearest_distance(word, names[i]);
        if (distance <= limit && distance < strlen(names[i])) {
            best = names[i];
            limit = distance == 0 ? 0 : distance - 1;
            if (distance == 0) {
                break;
            }
        }
    }
    return best;
}
