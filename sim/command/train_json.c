// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_json.h"

#include "base/memory.h"
#include "report/page.h"
#include "report/report_page.h"
#include "results/json.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 64 };

/* What is written of all policies. */
struct document {
    const struct training_setup *setup;
    const struct train_column *columns;
    uint32_t n_columns, seeds;
};

/* The timeline of a step as columns, which are smaller than a row each. */
struct timeline {
    const char *names[MOST_NAMES]; /* of segments, in order of appearance */
    uint32_t n_names;
    uint32_t (*places)[3]; /* stage, resource, name */
    double (*times_us)[2]; /* begin, end */
    uint32_t count, capacity;
};

static void put_layout(const struct training_setup *setup, struct json *json) {
    const struct training_groups *groups = &setup->groups;
    json_member_text(json, "model", setup->preset->name);
    json_member_text(json, "gpu", setup->gpu->name);
    json_member_whole(json, "gpus", groups->gpus);
    json_member_whole(json, "tensor_parallelism", groups->tensor);
    json_member_whole(json, "data_parallelism", groups->data);
    json_member_whole(json, "pipeline_parallelism", groups->pipeline);
    json_member_whole(json, "expert_parallelism", groups->expert);
    json_member_whole(json, "micro_batches", groups->micro_batches);
}

static void put_column(const struct document *document, const struct train_column *column, struct json *json) {
    const struct train_figures *mean = &column->mean;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"step", mean->step_s},
        {"computing", mean->computing_s},
        {"exposed_exchanges", mean->exposed_s},
        {"hidden_exchanges", mean->hidden_s},
        {"waiting", mean->waiting_s},
        {"exposed_gradients", mean->gradients_s},
        {"gathered_parameters", mean->gathered_s},
        {"overhead", mean->overhead_s},
        {"evaluation", mean->evaluation_s},
    };
    json_object(json);
    json_member_text(json, "policy", column->policy);
    json_name(json, "seconds");
    json_object(json);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        json_member_number(json, figures[i].name, figures[i].value);
    }
    json_object_end(json);
    if (document->seeds > 1) {
        json_member_number(json, "lowest_step", column->least_step_s);
        json_member_number(json, "highest_step", column->most_step_s);
    }
    json_member_number(json, "tokens_per_second_and_gpu", mean->tokens_per_s_gpu);
    json_member_number(json, "model_tflops_per_gpu", mean->tflops_per_gpu);
    json_member_number(json, "busiest_stage", mean->imbalance);
    if (document->setup->preset->experts > 0 &&
        document->setup->training->schedule == EXPERIMENT_SCHEDULE_1F1B_OVERLAP) {
        json_member_number(json, "hidden_share_of_pairs", mean->pair_hidden_share);
    }
    json_member_number(json, "expert_load", column->exchange.expert_load);
    json_object_end(json);
}

static void put_policies(const struct document *document, struct json *json) {
    json_member_whole(json, "seeds", document->seeds);
    json_name(json, "policies");
    json_array(json);
    for (uint32_t i = 0; i < document->n_columns; i++) {
        put_column(document, &document->columns[i], json);
    }
    json_array_end(json);
}

void train_json_print(FILE *stream, const struct training_setup *setup, const struct train_column *columns,
                      uint32_t n_columns, uint32_t seeds) {
    const struct document document = {setup, columns, n_columns, seeds};
    struct json json = json_begin(stream);
    json_object(&json);
    put_layout(setup, &json);
    put_policies(&document, &json);
    json_object_end(&json);
    json_end(&json);
}

bool train_json_is_page(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".html") == 0;
}

static uint32_t number_name(struct timeline *timeline, const char *name) {
    for (uint32_t i = 0; i < timeline->n_names; i++) {
        if (strcmp(timeline->names[i], name) == 0) {
            return i;
        }
    }
    REQUIRE(timeline->n_names < MOST_NAMES, "more than %d names of segments", MOST_NAMES);
    timeline->names[timeline->n_names] = name;
    return timeline->n_names++;
}

static void add_span(void *context, const struct pipeline_span *span) {
    struct timeline *timeline = context;
    if (timeline->count == timeline->capacity) {
        timeline->capacity = timeline->capacity ? 2 * timeline->capacity : 1024;
        timeline->places = memory_resize(timeline->places, timeline->capacity, sizeof *timeline->places);
        timeline->times_us = memory_resize(timeline->times_us, timeline->capacity, sizeof *timeline->times_us);
    }
    timeline->places[timeline->count][0] = span->stage;
    timeline->places[timeline->count][1] = (uint32_t)span->resource;
    timeline->places[timeline->count][2] = number_name(timeline, span->name);
    timeline->times_us[timeline->count][0] = (double)span->begin_ps / 1e6;
    timeline->times_us[timeline->count][1] = (double)span->end_ps / 1e6;
    timeline->count++;
}

/* Times to a nanosecond: more cannot be seen. */
static void put_timeline(const struct timeline *timeline, struct json *json) {
    static const char *const columns[] = {"stage", "resource", "name", "begin_us", "end_us"};
    json_name(json, "names");
    json_array(json);
    for (uint32_t i = 0; i < timeline->n_names; i++) {
        json_text(json, timeline->names[i]);
    }
    json_array_end(json);
    for (int column = 0; column < 5; column++) {
        json_name(json, columns[column]);
        json_array(json);
        for (uint32_t i = 0; i < timeline->count; i++) {
            if (column < 3) {
                json_whole(json, timeline->places[i][column]);
            } else {
                json_number(json, (double)(int64_t)(timeline->times_us[i][column - 3] * 1000 + 0.5) / 1000);
            }
        }
        json_array_end(json);
    }
}

/* A page's data. */
struct page {
    const struct document *document;
    const struct timeline *timeline;
};

static void put_page(const void *context, struct json *json) {
    const struct page *page = context;
    json_object(json);
    put_layout(page->document->setup, json);
    json_member_boolean(json, "recommender", page->document->setup->recommender != NULL);
    put_policies(page->document, json);
    json_name(json, "timeline");
    json_object(json);
    put_timeline(page->timeline, json);
    json_object_end(json);
    json_object_end(json);
}

bool train_json_page(const char *path, const struct training_setup *setup, const struct train_column *columns,
                     uint32_t n_columns, uint32_t seeds, struct error *error) {
    const struct document document = {setup, columns, n_columns, seeds};
    struct training_setup first = *setup;
    struct timeline timeline = {0};
    struct training_result result;
    first.exchange = columns[0].exchange;
    bool done = training_step(&first, add_span, &timeline, &result, error);
    if (done) {
        const struct page data = {&document, &timeline};
        const struct report_page page = {.title = "moefabric training step",
                                         .body = page_train_body,
                                         .script = page_train_script,
                                         .put_data = put_page,
                                         .context = &data};
        training_result_fini(&result);
        done = report_page_write(&page, path, error);
    }
    free(timeline.places);
    free(timeline.times_us);
    return done;
}
