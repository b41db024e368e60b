// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/number.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEWEST_DIGITS = 15, MOST_DIGITS = 17 }; /* 15 any double keeps, 17 tell any two apart */

char *number_print(char text[NUMBER_TEXT_SIZE], double value) {
    for (int digits = FEWEST_DIGITS; digits <= MOST_DIGITS; digits++) {
        snprintf(text, NUMBER_TEXT_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    return text;
}
