// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/measurement.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "results/series.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void set_shape(struct measurement *measurement, const struct measurement_shape *shape) {
    measurement->n_ranks = shape->n_ranks;
    measurement->n_racks = shape->n_racks <= MEASUREMENT_RACKS ? shape->n_racks : 0;
    measurement->n_phases = shape->n_phases;
    measurement->n_links = shape->n_links;
    measurement->n_experts = shape->n_experts;
}

struct measurement *measurement_create(const struct measurement_shape *shape) {
    struct measurement *measurement = memory_allocate(1, sizeof *measurement);
    set_shape(measurement, shape);
    measurement->phases = memory_allocate(shape->n_phases, sizeof *measurement->phases);
    measurement->endpoints = memory_allocate(shape->n_ranks, sizeof *measurement->endpoints);
    measurement->rank_phases =
        memory_allocate((size_t)shape->n_ranks * shape->n_phases, sizeof *measurement->rank_phases);
    measurement->links = memory_allocate(shape->n_links, sizeof *measurement->links);
    measurement->experts = memory_allocate(shape->n_experts, sizeof *measurement->experts);
    measurement->rack_bytes =
        memory_allocate((size_t)measurement->n_racks * measurement->n_racks, sizeof *measurement->rack_bytes);
    for (uint32_t rank = 0; rank < shape->n_ranks; rank++) {
        measurement->endpoints[rank].rack = MEASUREMENT_NONE;
        for (uint32_t phase = 0; phase < shape->n_phases; phase++) {
            struct measurement_rank_phase *row = &measurement->rank_phases[(uint64_t)rank * shape->n_phases + phase];
            row->rank = rank;
            row->phase = phase;
        }
    }
    for (uint32_t expert = 0; expert < shape->n_experts; expert++) {
        measurement->experts[expert].rank = MEASUREMENT_NONE;
    }
    return measurement;
}

void measurement_reserve_messages(struct measurement *measurement, uint64_t n_messages) {
    if (n_messages > measurement->messages_capacity) {
        measurement->messages_capacity = n_messages;
        measurement->messages = memory_resize(measurement->messages, n_messages, sizeof *measurement->messages);
    }
}

void measurement_add_message(struct measurement *measurement, const struct measurement_message *message) {
    if (measurement->n_messages == measurement->messages_capacity) {
        measurement->messages_capacity = measurement->messages_capacity ? 2 * measurement->messages_capacity : 256;
        measurement->messages =
            memory_resize(measurement->messages, measurement->messages_capacity, sizeof *measurement->messages);
    }
    measurement->messages[measurement->n_messages++] = *message;
}

static int compare_numbers(uint64_t left, uint64_t right) {
    return (left > right) - (left < right);
}

/** Order of the messages table: (source, destination, tag), which is unique. */
static int compare_ids(const void *left_row, const void *right_row) {
    const struct measurement_message *left = left_row, *right = right_row;
    int order = compare_numbers(left->source, right->source);
    if (order == 0) {
        order = compare_numbers(left->destination, right->destination);
    }
    if (order == 0) {
        order = compare_numbers(left->tag, right->tag);
    }
    return order;
}

/** Order in which messages are gathered into flows: (source, destination, phase), then by time of posting. */
static int compare_flows(const void *left_pointer, const void *right_pointer) {
    const struct measurement_message *left = *(const struct measurement_message *const *)left_pointer;
    const struct measurement_message *right = *(const struct measurement_message *const *)right_pointer;
    int order = compare_numbers(left->source, right->source);
    if (order == 0) {
        order = compare_numbers(left->destination, right->destination);
    }
    if (order == 0) {
        order = compare_numbers(left->phase, right->phase);
    }
    if (order == 0) {
        order = compare_numbers(left->posted_ps, right->posted_ps);
    }
    return order;
}

static bool same_flow(const struct measurement_message *left, const struct measurement_message *right) {
    return left->source == right->source && left->destination == right->destination && left->phase == right->phase;
}

/** Sum of the times covered by [posted, completed] of rows in order of posting; all are complete. */
static uint64_t covered_ps(struct measurement_message *const *rows, uint64_t count) {
    uint64_t covered = 0, until = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t from = rows[i]->posted_ps > until ? rows[i]->posted_ps : until;
        if (rows[i]->completed_ps > from) {
            covered += rows[i]->completed_ps - from;
            until = rows[i]->completed_ps;
        }
    }
    return covered;
}

static struct measurement_flow gather_flow(struct measurement_message *const *rows, uint64_t count) {
    struct measurement_flow flow = {.source = rows[0]->source,
                                    .destination = rows[0]->destination,
                                    .phase = rows[0]->phase,
                                    .messages = (uint32_t)count,
                                    .first_posted_ps = rows[0]->posted_ps};
    bool complete = true;
    for (uint64_t i = 0; i < count; i++) {
        flow.bytes += rows[i]->bytes;
        complete = complete && rows[i]->completed_ps != 0;
        if (rows[i]->completed_ps > flow.last_completed_ps) {
            flow.last_completed_ps = rows[i]->completed_ps;
        }
    }
    if (complete) {
        flow.active_ps = covered_ps(rows, count);
    } else {
        flow.last_completed_ps = 0;
    }
    return flow;
}

static void check_message(const struct measurement *measurement, const struct measurement_message *message) {
    REQUIRE(message->source < measurement->n_ranks && message->destination < measurement->n_ranks,
            "message from rank %u to rank %u of %u ranks", message->source, message->destination, measurement->n_ranks);
    REQUIRE(message->phase < measurement->n_phases, "message of phase %u of %u phases", message->phase,
            measurement->n_phases);
    REQUIRE(message->completed_ps == 0 || message->completed_ps >= message->posted_ps,
            "message %u -> %u tag %u completed before it was posted", message->source, message->destination,
            message->tag);
}

static uint64_t count_flows(struct measurement_message *const *rows, uint64_t count) {
    uint64_t flows = 0;
    for (uint64_t i = 0; i < count; i++) {
        flows += i == 0 || !same_flow(rows[i - 1], rows[i]);
    }
    return flows;
}

/** How many messages from the first one on have its source. */
static uint64_t same_source(const struct measurement_message *messages, uint64_t count) {
    uint64_t same = 1;
    while (same < count && messages[same].source == messages[0].source) {
        same++;
    }
    return same;
}

/** Puts messages in order of their ids: source by source if they came so, since sorting takes as much memory as what is sorted. */
static void sort_messages(struct measurement_message *messages, uint64_t count) {
    for (uint64_t i = 1; i < count; i++) {
        if (messages[i].source < messages[i - 1].source) {
            qsort(messages, count, sizeof *messages, compare_ids);
            return;
        }
    }
    for (uint64_t first = 0, same; first < count; first += same) {
        same = same_source(&messages[first], count - first);
        qsort(&messages[first], same, sizeof *messages, compare_ids);
    }
}

/** The flows of one source from its messages; rows has room for a pointer to each. */
static void gather_source(struct measurement *measurement, struct measurement_message *messages,
                          struct measurement_message **rows, uint64_t count, measurement_ideal ideal,
                          const void *ideal_context) {
    for (uint64_t i = 0; i < count; i++) {
        rows[i] = &messages[i];
    }
    qsort(rows, count, sizeof *rows, compare_flows);
    measurement->flows =
        memory_resize(measurement->flows, measurement->n_flows + count_flows(rows, count), sizeof *measurement->flows);
    for (uint64_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && same_flow(rows[first], rows[next]); next++) {
        }
        struct measurement_flow flow = gather_flow(&rows[first], next - first);
        if (ideal != NULL) {
            flow.ideal_ps = ideal(ideal_context, flow.source, flow.destination, flow.phase, flow.bytes);
        }
        if (flow.ideal_ps != 0 && flow.active_ps != 0) {
            flow.slowdown = (double)flow.active_ps / (double)flow.ideal_ps;
        }
        measurement->flows[measurement->n_flows++] = flow;
    }
}

static void gather_flows(struct measurement *measurement, measurement_ideal ideal, const void *ideal_context) {
    struct measurement_message **rows = NULL;
    for (uint64_t first = 0, same; first < measurement->n_messages; first += same) {
        struct measurement_message *messages = &measurement->messages[first];
        same = same_source(messages, measurement->n_messages - first);
        rows = memory_resize(rows, same, sizeof *rows);
        gather_source(measurement, messages, rows, same, ideal, ideal_context);
    }
    free(rows);
}

static void sum_racks(struct measurement *measurement) {
    for (uint64_t i = 0; i < measurement->n_messages && measurement->n_racks > 0; i++) {
        const struct measurement_message *message = &measurement->messages[i];
        const uint32_t from = measurement->endpoints[message->source].rack;
        const uint32_t to = measurement->endpoints[message->destination].rack;
        if (from != MEASUREMENT_NONE && to != MEASUREMENT_NONE) {
            REQUIRE(from < measurement->n_racks && to < measurement->n_racks, "rack %u or %u of %u racks", from, to,
                    measurement->n_racks);
            measurement->rack_bytes[(uint64_t)from * measurement->n_racks + to] += message->bytes;
        }
    }
}

void measurement_finish(struct measurement *measurement, measurement_ideal ideal, const void *ideal_context) {
    REQUIRE(measurement->flows == NULL, "a measurement is finished twice");
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        check_message(measurement, &measurement->messages[i]);
    }
    if (measurement->n_messages > 0) {
        sort_messages(measurement->messages, measurement->n_messages);
        gather_flows(measurement, ideal, ideal_context);
    }
    for (uint64_t i = 1; i < measurement->n_messages; i++) {
        REQUIRE(compare_ids(&measurement->messages[i - 1], &measurement->messages[i]) < 0,
                "two messages %u -> %u with tag %u", measurement->messages[i].source,
                measurement->messages[i].destination, measurement->messages[i].tag);
    }
    sum_racks(measurement);
}

/** Cuts a text that filled its buffer back to whole UTF-8 characters. */
static void cut_at_character(char *text, size_t size) {
    size_t length = size - 1;
    while (length > 0 && text_continues(text[length - 1])) {
        length--;
    }
    if (length > 0 && (unsigned char)text[length - 1] >= 0xc0) {
        length--;
    }
    text[length] = '\0';
}

void measurement_explain(struct measurement *measurement, const char *format, ...) {
    measurement->explanations = memory_resize(measurement->explanations, (size_t)measurement->n_explanations + 1,
                                              sizeof *measurement->explanations);
    struct measurement_explanation *explanation = &measurement->explanations[measurement->n_explanations++];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(explanation->text, sizeof explanation->text, format, arguments);
    va_end(arguments);
    REQUIRE(length >= 0, "explanation cannot be formatted");
    if ((size_t)length >= sizeof explanation->text) {
        cut_at_character(explanation->text, sizeof explanation->text);
    }
}

void measurement_free(struct measurement *measurement) {
    if (measurement == NULL) {
        return;
    }
    free(measurement->phases);
    free(measurement->endpoints);
    free(measurement->rank_phases);
    free(measurement->links);
    free(measurement->experts);
    free(measurement->rack_bytes);
    free(measurement->messages);
    free(measurement->flows);
    free(measurement->explanations);
    free(measurement->crossings);
    free(measurement->slow_flows);
    series_free(measurement->series);
    free(measurement);
}
