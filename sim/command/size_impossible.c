// SPDX-License-Identifier: GPL-3.0-or-later
/* No design does what is asked: which constraint makes it so. */
#include "base/error_id.h"
#include "base/quantity.h"
#include "command/size_study.h"

#include <inttypes.h>
#include <stdio.h>

enum { SETTINGS_SIZE = 512 };

/* In the order of enum design_limit. */
static const char *const limit_keys[DESIGN_LIMITS] = {
    "", "size.power", "size.racks", "size.budget", "size.memory", "size.output_token_time"};

/* The design that comes nearest to the target, of those that keep all other limits if there are any; UINT32_MAX: none has a value. */
static uint32_t nearest(const struct size_study *study, bool keeping) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < study->n_designs; i++) {
        const struct design_figures *design = &study->designs[i];
        const bool valued = design->state == DESIGN_FLUID || design->state == DESIGN_PACKETS;
        if (valued && (!keeping || (design->limits & ~(unsigned)DESIGN_LIMIT_TARGET) == 0) &&
            (best == UINT32_MAX ||
             front_is_better(&study->demand, design->value.mean, study->designs[best].value.mean))) {
            best = i;
        }
    }
    return best;
}

/* The limit, other than the target, that most designs break; 0: none breaks any. */
static int commonest_limit(const struct size_study *study, uint32_t *count) {
    int most = 0;
    *count = 0;
    for (int limit = 1; limit < DESIGN_LIMITS; limit++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < study->n_designs; i++) {
            n += (study->designs[i].limits & 1U << limit) != 0;
        }
        most = n > *count ? limit : most;
        *count = n > *count ? n : *count;
    }
    return most;
}

static const struct experiment_place *limit_place(const struct experiment_size *size, int limit) {
    return limit == 1   ? &size->power_place
           : limit == 2 ? &size->racks_place
           : limit == 3 ? &size->budget_place
           : limit == 4 ? &size->memory_place
                        : &size->token_time_place;
}

void size_report_impossible(const struct size_study *study, struct error *error) {
    char settings[SETTINGS_SIZE], reached[QUANTITY_TEXT_SIZE], asked[QUANTITY_TEXT_SIZE];
    uint32_t count;
    const uint32_t best = nearest(study, true);
    const int limit = commonest_limit(study, &count);
    if (best != UINT32_MAX) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_SIZE,
                  "no design reaches the target: %s of %s %s is asked, the best that keeps all limits has %s (design "
                  "%" PRIu64 ": %s)",
                  size_study_target_words[study->target], study->demand.least ? "at least" : "at most",
                  size_study_value(study, study->demand.target, asked),
                  size_study_value(study, study->designs[best].value.mean, reached), study->designs[best].number,
                  size_study_settings(study, best, settings, sizeof settings));
        experiment_place_blame(&study->size.target_place, error);
        if (limit > 0) {
            error_hint(error, "%" PRIu32 " designs break `%s`, whatever they would reach", count, limit_keys[limit]);
        } else {
            error_hint(error, "the target itself makes it so: no limit left a design out");
        }
    } else if (limit > 0) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_SIZE,
                  "no design keeps the limits: %" PRIu32 " of %" PRIu32 " break `%s`", count, study->n_designs,
                  limit_keys[limit]);
        experiment_place_blame(limit_place(&study->size, limit), error);
        error_hint(error, "`moefabric size --list` shows what each of them is made of");
    } else {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_SIZE, "none of %" PRIu32 " designs could be simulated",
                  study->n_designs);
        error_hint(error, "the first: %.300s", study->n_designs > 0 ? study->designs[0].why : "");
    }
}
