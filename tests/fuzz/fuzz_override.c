// SPDX-License-Identifier: GPL-3.0-or-later
/* What --set is given: each line of the input is one; a configuration with them is read, or refused with messages that have a number. */
#include "base/error.h"
#include "config/experiment_file.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { OVERRIDES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char configuration[] = "name: input\ntopology: leaf-spine-100g.yaml\n"
                                        "traffic: {pattern: incast, senders: 15, destination: 0, bytes: 2 MB}\n"
                                        "policies: [ecmp+dcqcn]\n";
    char *text = calloc(size + 1, 1);
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct error_list *errors = calloc(1, sizeof *errors);
    const char *overrides[OVERRIDES];
    uint32_t n = 0;
    if (text == NULL || experiment == NULL || errors == NULL) {
        abort();
    }
    memcpy(text, data, size);
    for (char *rest = text, *line; n < OVERRIDES && (line = strsep(&rest, "\n")) != NULL;) {
        overrides[n++] = line;
    }
    if (!experiment_read_text("configs/input.yaml", configuration, sizeof configuration - 1, overrides, n, experiment,
                              errors)) {
        REQUIRE(errors->count > 0, "refused without a message");
    }
    for (unsigned i = 0; i < errors->count; i++) {
        REQUIRE(errors->errors[i].id > 0 && errors->errors[i].message[0] != '\0', "an error without number or message");
    }
    free(errors);
    free(experiment);
    free(text);
    return 0;
}
