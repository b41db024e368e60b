// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void csv_text(FILE *stream, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
    }
    fputc('"', stream);
}

void csv_number(FILE *stream, double value) {
    enum { FEWEST_DIGITS = 15, MOST_DIGITS = 17 };
    char text[32] = "";
    for (int digits = FEWEST_DIGITS; isfinite(value) && digits <= MOST_DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    fputs(text, stream);
}
