// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/training_pair.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"
#include "training/pipeline_turn.h"
#include "training/training_cut.h"

#include <stdlib.h>

/* When something ran. */
struct interval {
    uint64_t begin_ps, end_ps;
    double gap_share;
};

/* What was told of. */
struct told {
    struct interval *intervals[2]; /* computing; exchanges */
    uint32_t n[2];
};
enum { COMPUTING, EXCHANGES };

static bool is_exchange(const struct pipeline_segment *segment) {
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        if (segment->name == layer_time_exchange_names[phase]) {
            return true;
        }
    }
    return false;
}

static void note(void *context, enum pipeline_direction direction, const struct pipeline_segment *segment,
                 uint64_t begin_ps, uint64_t end_ps) {
    struct told *told = context;
    (void)direction;
    if (segment->resource == PIPELINE_COMPUTE || is_exchange(segment)) {
        const int which = segment->resource == PIPELINE_COMPUTE ? COMPUTING : EXCHANGES;
        told->intervals[which][told->n[which]++] = (struct interval){begin_ps, end_ps, segment->gap_share};
    }
}

/* Each resource does one thing at a time, so intervals of one do not overlap. */
static void sum_up(const struct told *told, struct training_pair *pair) {
    for (uint32_t i = 0; i < told->n[EXCHANGES]; i++) {
        const struct interval *exchange = &told->intervals[EXCHANGES][i];
        pair->exchange_ps += exchange->end_ps - exchange->begin_ps;
        for (uint32_t j = 0; j < told->n[COMPUTING]; j++) {
            const struct interval *computing = &told->intervals[COMPUTING][j];
            const uint64_t begin_ps = number_larger(exchange->begin_ps, computing->begin_ps);
            const uint64_t end_ps = number_smaller(exchange->end_ps, computing->end_ps);
            const uint64_t both_ps = end_ps > begin_ps ? end_ps - begin_ps : 0;
            pair->hidden_ps += both_ps - (uint64_t)((double)both_ps * computing->gap_share + 0.5);
        }
    }
}

static void run(const struct training_setup *setup, const struct layer_time *layers, uint32_t n,
                struct training_pair *pair) {
    const struct pipeline_sharing sharing = layer_time_sharing(setup);
    struct pipeline_pass passes[PIPELINE_DIRECTIONS];
    struct told told = {0};
    struct pipeline_turn turn = {.sharing = &sharing, .observe = note, .context = &told};
    size_t most = 1;
    for (int direction = 0; direction < PIPELINE_DIRECTIONS; direction++) {
        passes[direction] = layer_time_pass(layers, n, (enum pipeline_direction)direction, setup);
        turn.passes[direction] = &passes[direction];
        most += passes[direction].n_segments;
    }
    /* what is put off is told of in as many pieces as others leave, which end where one of theirs begins or ends */
    told.intervals[COMPUTING] = memory_allocate(4 * most, sizeof(struct interval));
    told.intervals[EXCHANGES] = memory_allocate(most, sizeof(struct interval));
    const struct pipeline_turn_result result = pipeline_turn_run(&turn);
    *pair = (struct training_pair){.span_ps = result.end_ps, .compute_ps = result.compute_ps};
    sum_up(&told, pair);
    free(told.intervals[COMPUTING]);
    free(told.intervals[EXCHANGES]);
    free(passes[PIPELINE_FORWARD].segments);
    free(passes[PIPELINE_BACKWARD].segments);
}

bool training_pair_all(const struct training_setup *setup, struct training_pair *sum, struct error *error) {
    const uint32_t n_parts = training_cut_parts(setup);
    *sum = (struct training_pair){0};
    for (uint32_t part = 0; part < n_parts; part++) {
        struct training_pair pair = {0};
        if (!training_pair(setup, part, &pair, error)) {
            return false;
        }
        sum->span_ps += pair.span_ps;
        sum->compute_ps += pair.compute_ps;
        sum->exchange_ps += pair.exchange_ps;
        sum->hidden_ps += pair.hidden_ps;
    }
    return true;
}

bool training_pair(const struct training_setup *setup, uint32_t part, struct training_pair *pair, struct error *error) {
    struct pipeline_layout layout = {0};
    uint32_t n_layers;
    if (setup->recommender != NULL) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "a recommender has no pipeline, so no two passes run together");
    }
    struct layer_time *layers = layer_time_create(setup, &n_layers);
    bool done = training_cut(setup, layers, n_layers, &layout, error);
    if (done && part >= layout.n_parts) {
        done = error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                         "the pipeline has no part %u: they are 0 to %u", part, layout.n_parts - 1);
    }
    if (done) {
        run(setup, &layers[layout.first[part]], layout.first[part + 1] - layout.first[part], pair);
    }
    pipeline_layout_fini(&layout);
    free(layers);
    return done;
}
