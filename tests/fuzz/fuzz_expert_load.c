// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Loads of experts as text: any text is read, or refused with a message; what is read is whole, finite and not negative.
 */
#include "base/error.h"
#include "base/error_id.h"
#include "workload/expert_load_csv.h"

#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    if (size > TEXT_LIMIT || memchr(data, '\0', size) != NULL) { // files with NUL bytes are refused before
        return 0;
    }
    char *text = malloc(size + 1);
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    struct expert_load *load = expert_load_csv_parse("x.csv", text, &error);
    if (load == NULL) {
        REQUIRE(error.id == ERROR_ID_EXPERT_LOAD && error.message[0] != '\0', "refused without number or message");
        REQUIRE(error.column == 0 || error.line > 0, "a column without a line");
    } else {
        const size_t cells = (size_t)load->n_steps * load->n_domains * load->n_layers * load->n_experts;
        REQUIRE(load->n_layers > 0 && load->n_experts > 0 && load->n_domains > 0, "nothing was read");
        for (size_t i = 0; i < cells; i++) {
            REQUIRE(isfinite(load->load[i]) && load->load[i] >= 0, "load %zu is %g", i, load->load[i]);
        }
    }
    expert_load_free(load);
    free(text);
    return 0;
}
