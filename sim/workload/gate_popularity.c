// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/gate_popularity.h"

#include "base/error_id.h"
#include "base/hash.h"
#include "base/memory.h"
#include "workload/gate_measured.h"
#include "workload/gate_sample.h"
#include "workload/portable_math.h"

#include <math.h>
#include <stdlib.h>

/* Variants × experts that fit 1 GiB of shares. */
enum { LARGEST_CELLS = 1 << 27 };

/* Draws in order. */
struct draws {
    uint64_t stream, count;
};

static double uniform(struct draws *draws) {
    return (double)((hash_draw(draws->stream, draws->count++) >> 11) + 1) * 0x1p-53; // never 0
}

/* A normal number: Marsaglia's polar method. */
static double normal(struct draws *draws) {
    double x, s;
    do {
        x = 2 * uniform(draws) - 1;
        const double y = 2 * uniform(draws) - 1;
        s = x * x + y * y;
    } while (s >= 1 || s == 0);
    return x * sqrt(-2 * portable_math_log(s) / s);
}

/* The logarithm of a gamma number of this shape. A shape below 1 is one of shape + 1, times uniform^(1 / shape). */
static double log_gamma_number(struct draws *draws, double shape) {
    const double less = shape < 1 ? portable_math_log(uniform(draws)) / shape : 0;
    const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = normal(draws), root = 1 + c * x, v = root * root * root;
        if (v > 0 && portable_math_log(uniform(draws)) < 0.5 * x * x + d - d * v + d * portable_math_log(v)) {
            return portable_math_log(d * v) + less;
        }
    }
}

static void draw_dirichlet(double alpha, uint64_t stream, uint32_t experts, double *weights) {
    enum { SMALLEST_LOGARITHM = -690 }; /* e^-690 is about the smallest normal number */
    struct draws draws = {.stream = stream};
    double largest = -HUGE_VAL, sum = 0;
    for (uint32_t i = 0; i < experts; i++) {
        weights[i] = log_gamma_number(&draws, alpha);
        largest = weights[i] > largest ? weights[i] : largest;
    }
    for (uint32_t i = 0; i < experts; i++) {
        const double below = weights[i] - largest;
        weights[i] = portable_math_exp(below > SMALLEST_LOGARITHM ? below : SMALLEST_LOGARITHM);
        sum += weights[i];
    }
    for (uint32_t i = 0; i < experts; i++) {
        weights[i] /= sum;
    }
}

/* place[expert]: a uniformly drawn permutation (Fisher-Yates). */
static void draw_zipf(double exponent, uint64_t stream, uint32_t experts, double *weights) {
    uint32_t *place = memory_allocate(experts, sizeof *place);
    double sum = 0;
    for (uint32_t i = 0; i < experts; i++) {
        const uint32_t other = hash_below(hash_draw(stream, i), i + 1);
        place[i] = place[other];
        place[other] = i;
    }
    for (uint32_t i = 0; i < experts; i++) {
        weights[i] = portable_math_exp(-exponent * portable_math_log(place[i] + 1.0));
        sum += weights[i];
    }
    for (uint32_t i = 0; i < experts; i++) {
        weights[i] /= sum;
    }
    free(place);
}

/* Draw number `domain` (0: common to all domains) of a state. */
static void draw_weights(const struct gate_parameters *parameters, uint32_t domain, uint32_t state, double *weights) {
    const uint64_t stream = hash_stream(parameters->seed, HASH_PURPOSE_POPULARITY,
                                        (uint64_t)domain << 32 | parameters->routing.layer, state);
    if (parameters->kind == EXPERIMENT_GATE_ZIPF) {
        draw_zipf(parameters->zipf_exponent, stream, parameters->experts, weights);
    } else {
        draw_dirichlet(parameters->routing.alpha, stream, parameters->experts, weights);
    }
}

/* Which state each micro-batch is in; returns how many states there are. */
static uint32_t draw_states(const struct gate_parameters *parameters, uint32_t n_batches, uint32_t *state) {
    const uint64_t stream = hash_stream(parameters->seed, HASH_PURPOSE_BURST, parameters->routing.layer, 0);
    uint32_t n_states = 1;
    for (uint32_t batch = 1; batch < n_batches; batch++) {
        n_states += hash_unit(hash_draw(stream, batch)) >= parameters->routing.persistence;
        state[batch] = n_states - 1;
    }
    return n_states;
}

static void draw_variants(const struct gate_parameters *parameters, struct gate_popularity *popularity) {
    const uint32_t experts = parameters->experts, n_domains = popularity->n_domains;
    const double strength = parameters->routing.domain_strength;
    double *common = memory_allocate(experts, sizeof *common);
    for (uint32_t state = 0; state < popularity->n_states; state++) {
        draw_weights(parameters, 0, state, common);
        for (uint32_t domain = 0; domain < n_domains; domain++) {
            double *weights = popularity->weights + ((size_t)domain * popularity->n_states + state) * experts;
            draw_weights(parameters, n_domains > 1 ? domain + 1 : 0, state, weights);
            for (uint32_t i = 0; n_domains > 1 && i < experts; i++) {
                weights[i] = (1 - strength) * common[i] + strength * weights[i];
            }
        }
    }
    free(common);
}

static bool check_size(const struct gate_popularity *popularity, struct error *error) {
    return popularity->n_variants <= LARGEST_CELLS / popularity->experts ||
           error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                     "%u popularities of %u experts each are too many: fewer gate.domains or gate.micro_batches",
                     popularity->n_variants, popularity->experts);
}

static bool draw_all(const struct gate_parameters *parameters, struct gate_popularity *popularity,
                     struct error *error) {
    const uint32_t experts = parameters->experts;
    popularity->n_domains = parameters->routing.domains > 1 ? parameters->routing.domains : 1;
    popularity->n_states = draw_states(parameters, popularity->n_batches, popularity->state);
    popularity->n_variants = popularity->n_domains * popularity->n_states;
    if (!check_size(popularity, error)) {
        return false;
    }
    popularity->weights = memory_allocate((size_t)popularity->n_variants * experts, sizeof *popularity->weights);
    draw_variants(parameters, popularity);
    if (parameters->kind == EXPERIMENT_GATE_DIRICHLET) {
        popularity->shares = memory_allocate((size_t)popularity->n_variants * experts, sizeof *popularity->shares);
        for (uint32_t v = 0; v < popularity->n_variants; v++) {
            gate_sample_shares(popularity->weights + (size_t)v * experts, experts, parameters->top_k,
                               popularity->shares + (size_t)v * experts);
        }
    }
    return true;
}

/* Domains are the columns chosen, states the steps from the first on. */
static bool take_loads(const struct gate_parameters *parameters, struct gate_popularity *popularity,
                       struct error *error) {
    struct gate_measured measured;
    bool good = gate_measured_open(&measured, parameters, popularity->n_batches, error);
    if (good) {
        popularity->n_domains = measured.n_domains;
        popularity->n_states = popularity->n_batches;
        popularity->n_variants = measured.n_domains * popularity->n_batches;
        good = check_size(popularity, error);
    }
    if (good) {
        popularity->shares =
            memory_allocate((size_t)popularity->n_variants * parameters->experts, sizeof *popularity->shares);
    }
    for (uint32_t v = 0; good && v < popularity->n_variants; v++) {
        popularity->state[v % popularity->n_states] = v % popularity->n_states;
        good = gate_measured_shares(&measured, v / popularity->n_states, v % popularity->n_states,
                                    popularity->shares + (size_t)v * parameters->experts, error);
    }
    gate_measured_close(&measured);
    return good;
}

struct gate_popularity *gate_popularity_create(const struct gate_parameters *parameters, struct error *error) {
    const struct experiment_routing *routing = &parameters->routing;
    struct gate_popularity *popularity = memory_allocate(1, sizeof *popularity);
    popularity->experts = parameters->experts;
    popularity->domain_ranks = routing->domain_ranks ? routing->domain_ranks : 1;
    popularity->tokens = parameters->tokens ? parameters->tokens : 1;
    popularity->n_batches = routing->micro_batches ? routing->micro_batches : 1;
    popularity->state = memory_allocate(popularity->n_batches, sizeof *popularity->state);
    const bool good = parameters->kind == EXPERIMENT_GATE_MEASURED ? take_loads(parameters, popularity, error)
                                                                   : draw_all(parameters, popularity, error);
    if (!good) {
        gate_popularity_free(popularity);
        return NULL;
    }
    return popularity;
}

void gate_popularity_free(struct gate_popularity *popularity) {
    if (popularity) {
        free(popularity->state);
        free(popularity->weights);
        free(popularity->shares);
        free(popularity);
    }
}
