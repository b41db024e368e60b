// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/gate.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "workload/gate_alias.h"
#include "workload/gate_popularity.h"
#include "workload/gate_sample.h"
#include "workload/portable_math.h"
#include "workload/token_trace.h"

#include <math.h>
#include <stdlib.h>

struct gate {
    struct gate_parameters parameters;
    uint32_t group_size;
    uint64_t hot_threshold;             /* hot_expert: it is picked if a draw of 53 bits is below this */
    struct gate_popularity *popularity; /* zipf, dirichlet, measured */
    struct gate_alias_column **aliases; /* [variants] zipf: weights as a table */
    struct gate_sample **samples;       /* [variants] dirichlet, measured */
    struct token_trace *trace;          /* trace */
    double *reciprocals;                /* [group_size] 1 / (members not yet ranked), if group_limited */
};

/* Draws of one token in order. */
struct draws {
    uint64_t stream, count;
};

static uint64_t next(struct draws *draws) {
    return hash_draw(draws->stream, draws->count++);
}

static bool contains(const uint32_t *picks, uint32_t count, uint32_t expert) {
    for (uint32_t i = 0; i < count; i++) {
        if (picks[i] == expert) {
            return true;
        }
    }
    return false;
}

/* Appends picks until there are `until`, uniformly among first … first+count-1 less what is picked already. */
static void pick_uniform(struct draws *draws, uint32_t count, uint32_t *picks, uint32_t from, uint32_t until) {
    for (uint32_t n = from; n < until;) {
        const uint32_t expert = hash_below(next(draws), count);
        if (!contains(picks, n, expert)) {
            picks[n++] = expert;
        }
    }
}

static void draw_hot(const struct gate *gate, struct draws *draws, uint32_t *picks) {
    const uint32_t hot = gate->parameters.hot_expert, top_k = gate->parameters.top_k;
    const uint32_t others = top_k - ((next(draws) >> 11) < gate->hot_threshold ? 1 : 0);
    pick_uniform(draws, gate->parameters.experts - 1, picks, 0, others);
    for (uint32_t i = 0; i < others; i++) {
        picks[i] += picks[i] >= hot ? 1 : 0;
    }
    if (others < top_k) {
        picks[others] = hot;
    }
}

/* One draw among the experts not yet picked, by going through all of them. */
static uint32_t zipf_exact(const double *weights, uint32_t experts, struct draws *draws, const uint32_t *picks,
                           uint32_t count) {
    double left = 0;
    for (uint32_t expert = 0; expert < experts; expert++) {
        left += contains(picks, count, expert) ? 0 : weights[expert];
    }
    double target = hash_unit(next(draws)) * left;
    uint32_t last = 0;
    for (uint32_t expert = 0; expert < experts; expert++) {
        if (!contains(picks, count, expert)) {
            last = expert;
            target -= weights[expert];
            if (target < 0) {
                break;
            }
        }
    }
    return last;
}

/* Draws that hit a picked expert are repeated; when that goes on (a few experts hold nearly all weight), the rest is drawn exactly. Both have the same law. */
static void draw_zipf(const struct gate *gate, uint32_t variant, struct draws *draws, uint32_t *picks) {
    enum { PATIENCE = 64 };
    const uint32_t experts = gate->parameters.experts;
    const double *weights = gate->popularity->weights + (size_t)variant * experts;
    uint32_t misses = 0;
    for (uint32_t n = 0; n < gate->parameters.top_k;) {
        const uint32_t expert = misses < PATIENCE ? gate_alias_draw(gate->aliases[variant], experts, next(draws))
                                                  : zipf_exact(weights, experts, draws, picks, n);
        if (contains(picks, n, expert)) {
            misses++;
        } else {
            picks[n++] = expert;
        }
    }
}

/* Experts come best first: the first groups seen are those with the highest maxima, and what was seen before the last of them is all theirs. */
static void draw_node_limited(const struct gate *gate, struct draws *draws, uint32_t *picks) {
    const uint32_t size = gate->group_size, kept = gate->parameters.groups_kept, top_k = gate->parameters.top_k;
    uint32_t groups[GATE_LARGEST_TOP_K], n_groups = 0, n = 0;
    while (n < top_k && n_groups < kept) {
        const uint32_t expert = hash_below(next(draws), gate->parameters.experts);
        if (!contains(picks, n, expert)) {
            picks[n++] = expert;
            if (!contains(groups, n_groups, expert / size)) {
                groups[n_groups++] = expert / size;
            }
        }
    }
    while (n < top_k) {
        const uint32_t place = hash_below(next(draws), kept * size);
        const uint32_t expert = groups[place / size] * size + place % size;
        if (!contains(picks, n, expert)) {
            picks[n++] = expert;
        }
    }
}

/* An exponential number, -ln of a uniform one in (0, 1]. */
static double exponential(struct draws *draws) {
    return -portable_math_log((double)((next(draws) >> 11) + 1) * 0x1p-53);
}

/* How far a group's ranking has been revealed. Distances are -affinity: small is good. */
struct ranking {
    double sum;    /* of the distances of its best two */
    double second; /* distance of the second */
    double here;   /* distance of its best member not yet taken; the members are named only when taken */
    uint32_t group, taken;
};

/* Rényi: of m exponential numbers the smallest is Exp/m, and the gap to the one after it Exp/(m-1), and so on. */
static void rank_group(const struct gate *gate, struct draws *draws, uint32_t group, struct ranking *ranking) {
    ranking->group = group;
    ranking->taken = 0;
    ranking->here = exponential(draws) * gate->reciprocals[0];
    ranking->second = ranking->here + exponential(draws) * gate->reciprocals[1];
    ranking->sum = ranking->here + ranking->second;
}

/* Moves the `kept` groups with the smallest sums to the front. */
static void keep_best(struct ranking *rankings, uint32_t groups, uint32_t kept) {
    for (uint32_t i = 0; i < kept; i++) {
        double least = rankings[i].sum; /* beside its number, so that what no processor can guess is no jump */
        uint32_t best = i;
        for (uint32_t j = i + 1; j < groups; j++) {
            best = rankings[j].sum < least ? j : best;
            least = rankings[j].sum < least ? rankings[j].sum : least;
        }
        const struct ranking swap = rankings[i];
        rankings[i] = rankings[best];
        rankings[best] = swap;
    }
}

/* Uncovers the distance of the next member; a group that is used up is infinitely far. */
static void advance(const struct gate *gate, struct draws *draws, struct ranking *ranking) {
    ranking->taken++;
    if (ranking->taken == 1) {
        ranking->here = ranking->second;
    } else if (ranking->taken < gate->group_size) {
        ranking->here += exponential(draws) * gate->reciprocals[ranking->taken];
    } else {
        ranking->here = 0x1p1000;
    }
}

/* Which member a rank belongs to is uniform among those not yet named: rankings say how far, this says who. */
static uint32_t name_member(const struct gate *gate, struct draws *draws, uint32_t group, const uint32_t *picks,
                            uint32_t count) {
    uint32_t expert;
    do {
        expert = group * gate->group_size + hash_below(next(draws), gate->group_size);
    } while (contains(picks, count, expert));
    return expert;
}

static void draw_group_limited(const struct gate *gate, struct draws *draws, uint32_t *picks) {
    const uint32_t groups = gate->parameters.groups, kept = gate->parameters.groups_kept;
    struct ranking rankings[GATE_LARGEST_GROUPS];
    for (uint32_t group = 0; group < groups; group++) {
        rank_group(gate, draws, group, &rankings[group]);
    }
    keep_best(rankings, groups, kept);
    for (uint32_t n = 0; n < gate->parameters.top_k; n++) {
        double least = rankings[0].here;
        uint32_t best = 0;
        for (uint32_t i = 1; i < kept; i++) {
            best = rankings[i].here < least ? i : best;
            least = rankings[i].here < least ? rankings[i].here : least;
        }
        picks[n] = name_member(gate, draws, rankings[best].group, picks, n);
        if (n + 1 < gate->parameters.top_k) {
            advance(gate, draws, &rankings[best]);
        }
    }
}

static uint32_t variant_of(const struct gate *gate, const struct gate_token *token) {
    return gate_popularity_variant(gate->popularity, token->source, token->token);
}

void gate_draw_token(const struct gate *gate, const struct gate_token *token, uint32_t *picks) {
    struct draws draws = {.stream = token->stream};
    switch (gate->parameters.kind) {
    case EXPERIMENT_GATE_UNIFORM:
    case EXPERIMENT_GATE_BALANCED:
        pick_uniform(&draws, gate->parameters.experts, picks, 0, gate->parameters.top_k);
        return;
    case EXPERIMENT_GATE_ZIPF:
        draw_zipf(gate, variant_of(gate, token), &draws, picks);
        return;
    case EXPERIMENT_GATE_HOT_EXPERT:
        draw_hot(gate, &draws, picks);
        return;
    case EXPERIMENT_GATE_GROUP_LIMITED:
        draw_group_limited(gate, &draws, picks);
        return;
    case EXPERIMENT_GATE_NODE_LIMITED:
        draw_node_limited(gate, &draws, picks);
        return;
    case EXPERIMENT_GATE_DIRICHLET:
    case EXPERIMENT_GATE_MEASURED:
        gate_sample_draw(gate->samples[variant_of(gate, token)], draws.stream, &draws.count, picks);
        return;
    case EXPERIMENT_GATE_TRACE:
        token_trace_take(gate->trace, (uint64_t)token->source * gate->parameters.tokens + token->token, picks);
        return;
    }
    BUG("gate %d", (int)gate->parameters.kind);
}

void gate_draw(const struct gate *gate, uint64_t stream, uint32_t *picks) {
    const struct gate_token token = {.stream = stream};
    gate_draw_token(gate, &token, picks);
}

static bool impossible(struct error *error, const char *message, uint32_t first, uint32_t second) {
    char text[ERROR_MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s (%u and %u)", message, first, second);
    return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS, "%s", text);
}

static bool check_groups(const struct gate_parameters *parameters, struct error *error) {
    const uint32_t groups = parameters->groups, kept = parameters->groups_kept, experts = parameters->experts;
    if (groups == 0 || groups > GATE_LARGEST_GROUPS || experts % groups != 0) {
        return impossible(error, "experts cannot be split evenly into so many groups", experts, groups);
    }
    if (kept == 0 || kept > groups) {
        return impossible(error, "cannot keep so many groups of those there are", kept, groups);
    }
    if (experts / groups * kept < parameters->top_k) {
        return impossible(error, "a token picks more experts than the groups kept hold", parameters->top_k,
                          experts / groups * kept);
    }
    if (parameters->kind == EXPERIMENT_GATE_GROUP_LIMITED && experts / groups < 2) {
        return impossible(error, "groups scored by their best two experts need two each", experts, groups);
    }
    return true;
}

static bool check(const struct gate_parameters *parameters, struct error *error) {
    if (parameters->top_k == 0 || parameters->top_k > parameters->experts || parameters->top_k > GATE_LARGEST_TOP_K ||
        parameters->experts > GATE_LARGEST_EXPERTS) {
        return impossible(error, "a token cannot pick so many of the experts", parameters->top_k, parameters->experts);
    }
    switch (parameters->kind) {
    case EXPERIMENT_GATE_HOT_EXPERT:
        if (parameters->hot_expert >= parameters->experts) {
            return impossible(error, "the hot expert is beyond the last", parameters->hot_expert,
                              parameters->experts - 1);
        }
        if (!(parameters->hot_expert_factor >= 0 &&
              parameters->hot_expert_factor * parameters->top_k <= parameters->experts)) {
            return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                             "a hot expert can have at most %.4g times the mean load (every token), not %.4g times",
                             (double)parameters->experts / parameters->top_k, parameters->hot_expert_factor);
        }
        if (parameters->top_k == parameters->experts && parameters->hot_expert_factor < 1) {
            return impossible(error, "every token picks every expert, none can be colder", parameters->top_k,
                              parameters->experts);
        }
        return true;
    case EXPERIMENT_GATE_ZIPF:
        if (!(parameters->zipf_exponent >= 0 && parameters->zipf_exponent <= 8)) {
            return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                             "zipf exponent %.4g is not within 0 … 8", parameters->zipf_exponent);
        }
        return true;
    case EXPERIMENT_GATE_GROUP_LIMITED:
    case EXPERIMENT_GATE_NODE_LIMITED:
        return check_groups(parameters, error);
    case EXPERIMENT_GATE_DIRICHLET:
        if (!(parameters->routing.alpha > 0 && parameters->routing.alpha <= 1e6)) {
            return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_EXPERTS,
                             "dirichlet parameter %.4g is not above 0 and at most 1000000", parameters->routing.alpha);
        }
        return true;
    case EXPERIMENT_GATE_MEASURED:
    case EXPERIMENT_GATE_TRACE:
    case EXPERIMENT_GATE_BALANCED:
    case EXPERIMENT_GATE_UNIFORM:
        return true;
    }
    BUG("gate %d", (int)parameters->kind);
}

/* Tables of all variants. */
static bool prepare_popularity(struct gate *gate, struct error *error) {
    gate->popularity = gate_popularity_create(&gate->parameters, error);
    const struct gate_popularity *popularity = gate->popularity;
    if (!popularity) {
        return false;
    }
    const uint32_t experts = gate->parameters.experts;
    if (gate->parameters.kind == EXPERIMENT_GATE_ZIPF) {
        gate->aliases = memory_allocate(popularity->n_variants, sizeof *gate->aliases);
        for (uint32_t v = 0; v < popularity->n_variants; v++) {
            gate->aliases[v] = gate_alias_create(popularity->weights + (size_t)v * experts, experts);
        }
        return true;
    }
    gate->samples = memory_allocate(popularity->n_variants, sizeof(struct gate_sample *));
    for (uint32_t v = 0; v < popularity->n_variants; v++) {
        gate->samples[v] =
            gate_sample_create(popularity->shares + (size_t)v * experts, experts, gate->parameters.top_k);
    }
    return true;
}

static void prepare_groups(struct gate *gate) {
    gate->group_size = gate->parameters.experts / gate->parameters.groups;
    gate->reciprocals = memory_allocate(gate->group_size, sizeof *gate->reciprocals);
    for (uint32_t i = 0; i < gate->group_size; i++) {
        gate->reciprocals[i] = 1.0 / (gate->group_size - i);
    }
}

static bool prepare(struct gate *gate, struct error *error) {
    const struct gate_parameters *parameters = &gate->parameters;
    switch (parameters->kind) {
    case EXPERIMENT_GATE_HOT_EXPERT:
        gate->hot_threshold =
            (uint64_t)(parameters->hot_expert_factor * parameters->top_k / parameters->experts * 0x1p53);
        return true;
    case EXPERIMENT_GATE_GROUP_LIMITED:
    case EXPERIMENT_GATE_NODE_LIMITED:
        prepare_groups(gate);
        return true;
    case EXPERIMENT_GATE_ZIPF:
    case EXPERIMENT_GATE_DIRICHLET:
    case EXPERIMENT_GATE_MEASURED:
        return prepare_popularity(gate, error);
    case EXPERIMENT_GATE_TRACE:
        gate->trace = token_trace_read(parameters, error);
        return gate->trace != NULL;
    default:
        return true;
    }
}

struct gate *gate_create(const struct gate_parameters *parameters, struct error *error) {
    if (!check(parameters, error)) {
        return NULL;
    }
    struct gate *gate = memory_allocate(1, sizeof *gate);
    gate->parameters = *parameters;
    if (!prepare(gate, error)) {
        gate_free(gate);
        return NULL;
    }
    return gate;
}

void gate_free(struct gate *gate) {
    if (!gate) {
        return;
    }
    const uint32_t n_variants = gate->popularity ? gate->popularity->n_variants : 0;
    for (uint32_t v = 0; v < n_variants; v++) {
        free(gate->aliases ? gate->aliases[v] : NULL);
        gate_sample_free(gate->samples ? gate->samples[v] : NULL);
    }
    free(gate->aliases);
    free(gate->samples);
    gate_popularity_free(gate->popularity);
    token_trace_free(gate->trace);
    free(gate->reciprocals);
    free(gate);
}

const struct gate_parameters *gate_parameters(const struct gate *gate) {
    return &gate->parameters;
}

double gate_zipf_weight(const struct gate *gate, uint32_t expert) {
    return gate->popularity && gate->popularity->weights ? gate->popularity->weights[expert] : 0;
}

double gate_share(const struct gate *gate, uint32_t source, uint32_t token, uint32_t expert) {
    const struct gate_token where = {.source = source, .token = token};
    return gate->samples ? gate_sample_share(gate->samples[variant_of(gate, &where)], expert) : NAN;
}
