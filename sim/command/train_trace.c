// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_trace.h"

#include "base/file.h"
#include "results/json.h"

/* https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU: complete events, times in microseconds. */
static void write_span(void *context, const struct pipeline_span *span) {
    struct json *json = context;
    json_object(json);
    json_member_text(json, "name", span->name);
    json_member_text(json, "ph", "X");
    json_member_whole(json, "pid", span->stage);
    json_member_whole(json, "tid", (uint64_t)span->resource);
    json_member_number(json, "ts", (double)span->begin_ps / 1e6);
    json_member_number(json, "dur", (double)(span->end_ps - span->begin_ps) / 1e6);
    json_name(json, "args");
    json_object(json);
    json_member_whole(json, "micro_batch", span->micro_batch);
    json_member_whole(json, "part", span->part);
    json_object_end(json);
    json_object_end(json);
}

static void write_name(struct json *json, const char *kind, uint32_t stage, uint32_t resource, const char *name) {
    json_object(json);
    json_member_text(json, "name", kind);
    json_member_text(json, "ph", "M");
    json_member_whole(json, "pid", stage);
    json_member_whole(json, "tid", resource);
    json_name(json, "args");
    json_object(json);
    json_member_text(json, "name", name);
    json_object_end(json);
    json_object_end(json);
}

static void write_names(struct json *json, uint32_t stages) {
    static const char *const resources[PIPELINE_RESOURCES] = {"computing", "communication", "gradients"};
    for (uint32_t stage = 0; stage < stages; stage++) {
        char name[32];
        snprintf(name, sizeof name, "stage %u", stage);
        write_name(json, "process_name", stage, 0, name);
        for (uint32_t resource = 0; resource < PIPELINE_RESOURCES; resource++) {
            write_name(json, "thread_name", stage, resource, resources[resource]);
        }
    }
}

bool train_trace_write(const char *path, const struct training_setup *setup, struct error *error) {
    struct file_writer writer;
    struct training_result result;
    if (!file_writer_open(&writer, path, error)) {
        return false;
    }
    struct json json = json_begin(writer.stream);
    json.compact = true;
    json_object(&json);
    json_name(&json, "traceEvents");
    json_array(&json);
    write_names(&json, setup->groups.pipeline);
    if (!training_step(setup, write_span, &json, &result, error)) {
        file_writer_abandon(&writer);
        return false;
    }
    training_result_fini(&result);
    json_array_end(&json);
    json_object_end(&json);
    json_end(&json);
    return file_writer_commit(&writer, error);
}
