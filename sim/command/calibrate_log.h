// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What logs of measurements say to `calibrate`: one row a measured time, whatever program measured it.
 */
#ifndef MOEFABRIC_COMMAND_CALIBRATE_LOG_H
#define MOEFABRIC_COMMAND_CALIBRATE_LOG_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum calibrate_kind { CALIBRATE_ALLTOALL, CALIBRATE_DISPATCH, CALIBRATE_COMBINE };

/** One measured time. */
struct calibrate_row {
    enum calibrate_kind kind;
    uint32_t ranks; /**< that the log says; 0: none */
    uint64_t size;  /**< bytes of a rank's buffer, or tokens of a GPU */
    uint32_t sms;   /**< dispatch, combine: 0 = not said */
    bool bf16;      /**< dispatched tokens */
    double measured_us, fitted_us;
    const char *path; /**< of the log, as given */
    unsigned line;    /**< of it */
    bool odd;         /**< does not fit, and was left out */
};

/** All rows of all logs. Zero-initialise; ends with calibrate_log_fini. */
struct calibrate_log {
    struct calibrate_row *rows;
    uint32_t count;
};

/** Adds the rows of a log of nccl-tests' alltoall_perf, or of DeepEP's tests: which it is, it says itself. False with *error. */
bool calibrate_log_read(struct calibrate_log *log, const char *path, struct error *error);

/** Frees what it holds. */
void calibrate_log_fini(struct calibrate_log *log);

/** Name of a kind in tables. */
const char *calibrate_log_kind_name(enum calibrate_kind kind);

#endif
