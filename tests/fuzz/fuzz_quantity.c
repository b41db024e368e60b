// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Quantities: any text is taken or refused with a message, and what is taken survives printing and reading again.
 */
#include "base/error.h"
#include "base/quantity.h"

#include "fuzz.h"

#include <string.h>

enum { TEXT_LIMIT = 256 };

static void check_whole(const char *text, enum quantity_kind kind) {
    struct error error;
    uint64_t value, again;
    char printed[QUANTITY_TEXT_SIZE];
    if (!quantity_parse(text, kind, &value, &error)) {
        REQUIRE(error.message[0] != '\0', "refused without a message: %s", text);
        return;
    }
    quantity_print(printed, kind, value);
    REQUIRE(quantity_parse(printed, kind, &again, &error), "printed as %s, which is refused: %s", printed, text);
    REQUIRE(again == value, "printed as %s, which reads as another value: %s", printed, text);
}

static void check_real(const char *text, enum quantity_kind kind) {
    struct error error;
    double value, again;
    char printed[QUANTITY_TEXT_SIZE];
    if (!quantity_parse_real(text, kind, &value, &error)) {
        REQUIRE(error.message[0] != '\0', "refused without a message: %s", text);
        return;
    }
    quantity_print_real(printed, kind, value);
    REQUIRE(quantity_parse_real(printed, kind, &again, &error), "printed as %s, which is refused: %s", printed, text);
    REQUIRE(again == value, "printed as %s, which reads as another value: %s", printed, text);
    quantity_print_short(printed, kind, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[TEXT_LIMIT + 1];
    if (size < 1 || size > TEXT_LIMIT) {
        return 0;
    }
    const enum quantity_kind kind = (enum quantity_kind)(data[0] % QUANTITY_KINDS);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    const bool real = kind == QUANTITY_SHARE || kind == QUANTITY_REAL || kind == QUANTITY_DURATION;
    if (real) {
        check_real(text, kind);
    } else {
        check_whole(text, kind);
    }
    struct error error;
    int64_t number;
    quantity_parse_signed(text, &number, &error);
    return 0;
}
