// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a workload text of SimAI or ASTRA-sim: refused with a message, or a program whose first messages can be sent. */
#include "fuzz.h"

#include "base/error.h"
#include "workload/step_plan.h"
#include "workload/step_text.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 16, DOMAIN_RANKS = 8, LAYERS_MOST = 100 };

/* What every rank does first. */
static void begin(struct step_plan *plan) {
    const struct traffic traffic = step_plan_traffic(plan);
    struct traffic_outbox outbox = {0};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        outbox.count = 0;
        traffic.begin(traffic.plan, rank, &outbox);
        for (uint32_t i = 0; i < outbox.count; i++) {
            REQUIRE(outbox.messages[i].destination < RANKS && outbox.messages[i].destination != rank &&
                        outbox.messages[i].bytes > 0 && outbox.messages[i].tag < UINT32_C(7) << 29,
                    "a message that cannot be sent");
        }
    }
    traffic_outbox_free(&outbox);
}

static void plan(const struct workload_text *text, struct error_list *errors) {
    const struct step_plan_start start = {0};
    struct step_program program;
    struct error error;
    if (!workload_text_check(text, "input.txt", RANKS, DOMAIN_RANKS, errors)) {
        REQUIRE(errors->count > 0, "refused without a message");
        return;
    }
    step_text_program(text, RANKS, DOMAIN_RANKS, &program);
    struct step_plan *steps = step_plan_create(&program, &start, "input.txt", &error);
    if (steps != NULL) {
        begin(steps);
    }
    step_plan_free(steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *bytes = malloc(size + 1);
    struct error_list *errors = calloc(1, sizeof *errors);
    if (bytes == NULL || errors == NULL) {
        abort();
    }
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    struct workload_text text = {0};
    const bool good = workload_text_read_text("input.txt", bytes, &text, errors);
    REQUIRE(good == (errors->count == 0), "a text with mistakes, or none without");
    if (good && text.n_layers <= LAYERS_MOST) {
        plan(&text, errors);
    }
    workload_text_fini(&text);
    free(errors);
    free(bytes);
    return 0;
}
