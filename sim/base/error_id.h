// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The registry of error numbers (printed as MF-0nn). A number keeps its meaning for ever; a retired one is never used again.
 */
#ifndef MOEFABRIC_BASE_ERROR_ID_H
#define MOEFABRIC_BASE_ERROR_ID_H

#include <stddef.h>

/** Stable numbers of users' mistakes. 1–39: one value or one key. 40–59: values that contradict each other. 60–69: a plan of traffic that cannot be. 70–79: command line. 80–89: runs. 90–99: files. */
enum error_id {
    ERROR_ID_YAML_SYNTAX = 1,
    ERROR_ID_YAML_TAB = 2,
    ERROR_ID_YAML_ALIAS = 3,
    ERROR_ID_YAML_DOCUMENTS = 4,
    ERROR_ID_YAML_TAG = 5,
    ERROR_ID_YAML_DEPTH = 6,
    ERROR_ID_KEY_UNKNOWN = 10,
    ERROR_ID_KEY_DUPLICATE = 11,
    ERROR_ID_KEY_MISSING = 12,
    ERROR_ID_VALUE_TYPE = 13,
    ERROR_ID_VALUE_RANGE = 14,
    ERROR_ID_VALUE_NAME = 15,
    ERROR_ID_VALUE_LENGTH = 16,
    ERROR_ID_NUMBER = 20,
    ERROR_ID_NUMBER_NEGATIVE = 21,
    ERROR_ID_NUMBER_OVERFLOW = 22,
    ERROR_ID_NUMBER_FRACTION = 23,
    ERROR_ID_UNIT_MISSING = 24,
    ERROR_ID_UNIT_UNKNOWN = 25,
    ERROR_ID_UNIT_KIND = 26,
    ERROR_ID_POLICY = 30,
    ERROR_ID_OVERRIDE = 31,
    ERROR_ID_FILE_KIND = 32,
    ERROR_ID_SWEEP = 33,
    ERROR_ID_CONFLICT_SCALE = 40,
    ERROR_ID_CONFLICT_PORTS = 41,
    ERROR_ID_CONFLICT_SPINES = 42,
    ERROR_ID_CONFLICT_RAILS = 43,
    ERROR_ID_CONFLICT_NVLINK = 44,
    ERROR_ID_CONFLICT_ECN = 45,
    ERROR_ID_CONFLICT_BUFFER = 46,
    ERROR_ID_CONFLICT_RATE = 47,
    ERROR_ID_CONFLICT_MODEL = 50,
    ERROR_ID_CONFLICT_EXPERTS = 51,
    ERROR_ID_CONFLICT_TRAFFIC = 52,
    ERROR_ID_CONFLICT_POLICIES = 53,
    ERROR_ID_CONFLICT_CONTROL = 54,
    ERROR_ID_CONFLICT_FAILURES = 55,
    ERROR_ID_CONFLICT_RECORD = 56,
    ERROR_ID_SIZE = 57,
    ERROR_ID_UNSUPPORTED = 59,
    ERROR_ID_MODEL_INCOMPLETE = 61,
    ERROR_ID_MATRIX = 62,
    ERROR_ID_EXPERT_LOAD = 63,
    ERROR_ID_PLACEMENT = 64,
    ERROR_ID_HTSIM_TOPOLOGY = 65,
    ERROR_ID_WORKLOAD_TEXT = 67,
    ERROR_ID_HPCC_TOPOLOGY = 68,
    ERROR_ID_LOG = 69,
    ERROR_ID_USAGE = 70,
    ERROR_ID_RUN_STALLED = 80,
    ERROR_ID_RUN_LIMIT = 81,
    ERROR_ID_RUN_WALL_TIME = 82,
    ERROR_ID_RUN_MEMORY = 83,
    ERROR_ID_FILE_MISSING = 90,
    ERROR_ID_FILE_UNREADABLE = 91,
    ERROR_ID_FILE_DIRECTORY = 92,
    ERROR_ID_FILE_EMPTY = 93,
    ERROR_ID_FILE_BINARY = 94,
    ERROR_ID_FILE_SIZE = 95,
    ERROR_ID_FILE_UNWRITABLE = 96,
    ERROR_ID_FILE_PATH = 97,
    ERROR_ID_RESULT = 98,
    ERROR_ID_RESULT_NEWER = 99,
};

/** One line of the registry. */
struct error_id_entry {
    enum error_id id;
    const char *meaning; /**< one sentence: what the number stands for and what to do */
};

/** All numbers in ascending order; *count receives how many. */
const struct error_id_entry *error_id_entries(size_t *count);

/** The entry of a number, or NULL. */
const struct error_id_entry *error_id_find(int id);

#endif
