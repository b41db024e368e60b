// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * NumPy arrays: any bytes are read, or refused with a message; every number of an array that is read can be taken.
 */
#include "base/error.h"
#include "base/error_id.h"
#include "workload/npy.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct npy array;
    struct error error = {0};
    volatile double sum = 0;
    if (!npy_parse("x.npy", data, size, &array, &error)) {
        REQUIRE(error.id == ERROR_ID_EXPERT_LOAD && error.message[0] != '\0', "refused without number or message");
        return 0;
    }
    REQUIRE(array.count * array.item_bytes <= size, "more numbers than bytes");
    for (uint64_t i = 0; i < array.count; i++) {
        sum = sum + npy_value(&array, i);
    }
    return 0;
}
