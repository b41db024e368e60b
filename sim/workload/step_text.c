// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/step_text.h"

/* What a part of a layer computes. */
static void compute(struct step_program *program, const struct workload_text_layer *layer,
                    enum workload_text_part part) {
    step_program_compute(program, layer->phases[part].compute_ps);
}

/* Begins what a part of a layer communicates. */
static uint32_t begin(struct step_program *program, const struct workload_text *text,
                      const struct workload_text_layer *layer, enum workload_text_part part) {
    const struct workload_text_phase *phase = &layer->phases[part];
    const bool parts = text->parts && phase->operation == PARALLEL_ALL_GATHER;
    const uint32_t ranks = collective_group(&program->layout, phase->group, 0).count;
    return step_program_begin(program, phase->operation, phase->group, phase->bytes * (parts ? ranks : 1));
}

static void add_backward(struct step_program *program, const struct workload_text *text, uint32_t number) {
    const struct workload_text_layer *layer = &text->layers[number];
    uint32_t waited = STEP_PROGRAM_NONE;
    switch (text->kind) {
    case WORKLOAD_TEXT_DISTRIBUTED_INFERENCE:
        return;
    case WORKLOAD_TEXT_DATA:
        compute(program, layer, WORKLOAD_TEXT_WEIGHT_GRADIENT);
        begin(program, text, layer, WORKLOAD_TEXT_WEIGHT_GRADIENT);
        if (number > 0) {
            compute(program, layer, WORKLOAD_TEXT_INPUT_GRADIENT);
        }
        return;
    case WORKLOAD_TEXT_HYBRID_TRANSFORMER:
    case WORKLOAD_TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD:
        compute(program, layer, WORKLOAD_TEXT_INPUT_GRADIENT);
        step_program_wait(program, begin(program, text, layer, WORKLOAD_TEXT_INPUT_GRADIENT));
        compute(program, layer, WORKLOAD_TEXT_WEIGHT_GRADIENT);
        begin(program, text, layer, WORKLOAD_TEXT_WEIGHT_GRADIENT);
        return;
    default:
        compute(program, layer, WORKLOAD_TEXT_INPUT_GRADIENT);
        waited = number > 0 ? begin(program, text, layer, WORKLOAD_TEXT_INPUT_GRADIENT) : STEP_PROGRAM_NONE;
        compute(program, layer, WORKLOAD_TEXT_WEIGHT_GRADIENT);
        begin(program, text, layer, WORKLOAD_TEXT_WEIGHT_GRADIENT);
        step_program_wait(program, waited);
    }
}

void step_text_program(const struct workload_text *text, uint32_t n_ranks, uint32_t domain_ranks,
                       struct step_program *program) {
    step_program_init(program, &(struct collective_layout){.n_ranks = n_ranks,
                                                           .domain_ranks = domain_ranks,
                                                           .tensor = workload_text_tensor(text, n_ranks, domain_ranks),
                                                           .expert = text->expert});
    for (uint32_t i = 0; i < text->n_layers; i++) {
        const struct workload_text_layer *layer = &text->layers[i];
        compute(program, layer, WORKLOAD_TEXT_FORWARD);
        step_program_wait(program, begin(program, text, layer, WORKLOAD_TEXT_FORWARD));
    }
    for (uint32_t i = text->n_layers; i-- > 0;) {
        add_backward(program, text, i);
    }
}
