// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Small fabrics with small traffic, everything drawn from one number: cases on which two simulators are compared.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_CASE_H
#define MOEFABRIC_TESTS_RANDOM_CASE_H

#include "device/parameters.h"
#include "fabric/fabric.h"
#include "fabric/failure.h"
#include "workload/traffic_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RANDOM_CASE_MESSAGES = 24, RANDOM_CASE_AWAITED = 2 };

/** What can be made simpler without changing the rest of a case. */
enum random_case_simpler {
    RANDOM_CASE_NO_DEPENDENCIES = 1 << 0,
    RANDOM_CASE_ONE_QUEUE_PAIR = 1 << 1,
    RANDOM_CASE_NO_MARKS = 1 << 2,
    RANDOM_CASE_NO_CONTROLLER = 1 << 3,
    RANDOM_CASE_STORE_AND_FORWARD = 1 << 4,
    RANDOM_CASE_EQUAL_LINKS = 1 << 5,
    RANDOM_CASE_ECMP = 1 << 6,
    RANDOM_CASE_START_AT_0 = 1 << 7,
    RANDOM_CASE_LARGE_BUFFERS = 1 << 8,
    RANDOM_CASE_NO_WINDOW = 1 << 9,
    RANDOM_CASE_EVERY_PACKET_ACKNOWLEDGED = 1 << 10,
    RANDOM_CASE_NO_UNITS = 1 << 11,
    RANDOM_CASE_NO_SERIES = 1 << 12,
    RANDOM_CASE_NO_FAILURES = 1 << 13,
    RANDOM_CASE_NO_RECORD = 1 << 14,
    RANDOM_CASE_SIMPLER_END = 1 << 15
};

/** Names a case: equal recipes make equal cases. */
struct random_case_recipe {
    uint64_t number;
    uint32_t simpler;  /**< enum random_case_simpler bits */
    uint32_t left_out; /**< bit i: message i is not sent */
};

/** One message of a case. */
struct random_case_message {
    uint32_t source;
    struct traffic_message message;
    uint32_t awaited[RANDOM_CASE_AWAITED]; /**< messages that it waits for */
    uint32_t n_awaited;
    uint32_t copies; /**< 1; more: a series of so many messages, see random_series.h */
};

/** One case. Freed by random_case_free. */
struct random_case {
    struct random_case_recipe recipe;
    struct fabric *fabric;
    struct network_parameters parameters;
    struct failure_list failures;   /**< that parameters refers to */
    struct recorder_wishes *series; /**< that parameters refers to; NULL: nothing is recorded */
    struct random_case_message messages[RANDOM_CASE_MESSAGES];
    uint32_t n_messages; /**< those that are left out included */
    struct traffic_list *list;
    struct traffic traffic; /**< plan of the list: may be run again and again */
};

/** Makes the case of a recipe. */
struct random_case *random_case_create(const struct random_case_recipe *recipe);

/** Frees a case; NULL is allowed. */
void random_case_free(struct random_case *random_case);

/** Prints fabric, figures and messages. */
void random_case_print(FILE *stream, const struct random_case *random_case);

/** Whether a case still shows what is being looked for. */
typedef bool (*random_case_fails)(const struct random_case *random_case, void *context);

/** Leaves out and simplifies whatever can be without the case ceasing to fail. Returns the smallest recipe found. */
struct random_case_recipe random_case_shrink(const struct random_case_recipe *recipe, random_case_fails fails,
                                             void *context);

#endif
