// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/csv.h"

#include "results/number.h"

#include <math.h>
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
    char text[NUMBER_TEXT_SIZE];
    if (isfinite(value)) {
        fputs(number_print(text, value), stream);
    }
}
