// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/size_study.h"
#include "results/json.h"

#include <math.h>

static const char *const state_names[] = {"refused", "outside", "fluid", "packets", "failed"};
static const char *const limit_names[DESIGN_LIMITS] = {"target", "power",  "racks",
                                                       "budget", "memory", "output_token_time"};

static void put_limits(struct json *json, unsigned limits) {
    json_name(json, "breaks");
    json_array(json);
    for (int i = 0; i < DESIGN_LIMITS; i++) {
        if (limits & 1U << i) {
            json_text(json, limit_names[i]);
        }
    }
    json_array_end(json);
}

static void put_parts(struct json *json, const struct design_figures *design) {
    json_member_text(json, "wiring", design->wiring);
    json_member_whole(json, "racks", design->racks);
    json_member_whole(json, "gpus", design->gpus);
    json_member_whole(json, "planes", design->planes);
    json_member_whole(json, "tiers", design->tiers);
    json_member_whole(json, "leaves", design->leaves);
    json_member_whole(json, "spines", design->spines);
    json_member_whole(json, "super_spines", design->super_spines);
    json_member_whole(json, "least_spines", design->least_spines);
    json_member_whole(json, "ports_in_use", design->ports_used);
    json_member_whole(json, "ports", design->ports_bought);
    json_member_whole(json, "optical_modules", design->modules);
    json_member_number(json, "network_typical_watts", design->network_typical_watts);
    json_member_number(json, "network_maximum_watts", design->network_watts);
    json_member_number(json, "maximum_watts", design->watts);
    json_member_number(json, "cost", design->cost);
    json_member_number(json, "gpu_memory_bytes", design->memory_bytes);
    json_member_number(json, "output_token_s", design->token_s);
    json_member_number(json, "goodput", design->goodput);
    json_member_number(json, "mean_time_between_interruptions_s", design->mtbf_s);
    json_member_whole(json, "spare_gpus_of_a_rack", design->spares);
    json_member_whole(json, "gpus_of_a_leaf", design->leaf_gpus);
}

static void put_value(struct json *json, const struct design_figures *design) {
    const bool valued = design->state == DESIGN_FLUID || design->state == DESIGN_PACKETS;
    json_name(json, "value");
    json_object(json);
    json_member_number(json, "mean", valued ? design->value.mean : NAN);
    json_member_number(json, "low", valued ? design->value.low : NAN);
    json_member_number(json, "high", valued ? design->value.high : NAN);
    json_member_whole(json, "seeds", design->value.seeds);
    json_object_end(json);
}

static void put_design(struct json *json, const struct size_study *study, uint32_t index) {
    const struct design_figures *design = &study->designs[index];
    json_object(json);
    json_member_whole(json, "design", design->number);
    json_name(json, "sets");
    json_object(json);
    for (uint32_t a = 0; a < study->n_axes; a++) {
        json_member_text(json, study->axes[a], study->labels[index].values[a]);
    }
    json_object_end(json);
    json_member_text(json, "state", state_names[design->state]);
    json_member_text(json, "why", design->why[0] != '\0' ? design->why : NULL);
    if (design->state != DESIGN_REFUSED) {
        json_member_text(json, "policy", design->policy);
        put_parts(json, design);
        put_value(json, design);
        put_limits(json, design->limits);
        json_member_boolean(json, "meets", study->measured && design->limits == 0 && design->state != DESIGN_FAILED);
        json_member_boolean(json, "sure", design->sure);
        json_member_boolean(json, "front", design->front);
    }
    json_object_end(json);
}

void size_json_print(FILE *stream, const struct size_study *study) {
    const struct design_figures *best = size_study_best(study);
    struct json json = json_begin(stream);
    json_object(&json);
    json_member_text(&json, "name", study->name);
    json_member_text(&json, "target", size_check_target_keys[study->target]);
    json_member_number(&json, "asked", study->demand.target);
    json_member_text(&json, "unit", study->demand.least ? "tokens/s" : "s");
    json_member_text(&json, "compared_by", study->demand.priced ? study->currency : "W");
    json_member_number(&json, "model_error", study->size.model_error);
    json_name(&json, "cheapest");
    if (best != NULL) {
        json_whole(&json, best->number);
    } else {
        json_text(&json, NULL);
    }
    json_name(&json, "designs");
    json_array(&json);
    for (uint32_t i = 0; i < study->n_designs; i++) {
        put_design(&json, study, i);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_end(&json);
}
