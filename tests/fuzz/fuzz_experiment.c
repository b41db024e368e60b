// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Configurations: any text is read, or refused with messages that have a number and a place; what is read survives being
 * resolved and read again. Run in the project's folder, so that inputs find the shipped topologies as the shipped ones do.
 */
#include "base/error.h"
#include "config/configuration.h"
#include "config/experiment_file.h"
#include "config/experiment_places.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_errors(const struct error_list *errors) {
    REQUIRE(errors->count > 0, "refused without a message");
    for (unsigned i = 0; i < errors->count; i++) {
        REQUIRE(errors->errors[i].id > 0 && errors->errors[i].message[0] != '\0', "an error without number or message");
        REQUIRE(strpbrk(errors->errors[i].source, "\n\r") == NULL, "a source line that is two");
    }
    FILE *nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere != NULL, "no /dev/null");
    experiment_report(nowhere, errors);
    fclose(nowhere);
}

/* Where values are written differs; the values must not. */
static void check_round_trip(struct experiment *experiment, struct experiment *again, struct error_list *errors) {
    size_t size;
    char *text = configuration_resolved_text(experiment, &size);
    const bool good = experiment_read_text("resolved", text, size, NULL, 0, again, errors);
    REQUIRE(good, "the resolved configuration is refused: %s", errors->errors[0].message);
    experiment_places_forget(experiment);
    experiment_places_forget(again);
    experiment->sweep = again->sweep; // what is resolved is one point, and one design
    experiment->size = again->size;
    experiment->design = again->design;
    REQUIRE(memcmp(experiment, again, sizeof *experiment) == 0, "the resolved configuration reads as another one:\n%s",
            text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct experiment *experiment = calloc(2, sizeof *experiment);
    struct error_list *errors = calloc(1, sizeof *errors);
    if (experiment == NULL || errors == NULL) {
        abort();
    }
    if (experiment_read_text("configs/input.yaml", (const char *)data, size, NULL, 0, experiment, errors)) {
        check_round_trip(&experiment[0], &experiment[1], errors);
    } else {
        check_errors(errors);
    }
    free(errors);
    free(experiment);
    return 0;
}
