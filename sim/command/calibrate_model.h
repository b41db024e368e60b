// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Rows of logs simulated with figures of a platform in place of the topology's.
 */
#ifndef MOEFABRIC_COMMAND_CALIBRATE_MODEL_H
#define MOEFABRIC_COMMAND_CALIBRATE_MODEL_H

#include "command/arguments.h"
#include "command/calibrate_log.h"
#include "config/experiment.h"

/** Figures that can be sought. */
enum calibrate_figure {
    CALIBRATE_NVLINK_FRACTION,
    CALIBRATE_NIC_FRACTION,
    CALIBRATE_BASE_LATENCY,
    CALIBRATE_MESSAGE_COST,
    CALIBRATE_SM_COPY_RATE,
    CALIBRATE_FIGURES
};

/** Values of all of them: fractions, picoseconds, bytes a second; 0 = nothing, not limiting (of times and the rate). */
struct calibrate_values {
    double of[CALIBRATE_FIGURES];
};

/** What rows are simulated on. Owner of its experiments; zero-initialise; ends with calibrate_model_fini. */
struct calibrate_model {
    const struct arguments *given;
    const char *topology;
    struct calibrate_log *log;       /**< borrowed */
    struct experiment **experiments; /**< [rows] */
    struct calibrate_values own;     /**< those of the topology file */
};

/** Makes the experiment of each row. False with *exit_code, after a message. */
bool calibrate_model_init(struct calibrate_model *model, int *exit_code);

/** Simulated time of a row in us; NAN if it did not finish. False with *error if it could not start. */
bool calibrate_model_simulate(const struct calibrate_model *model, uint32_t row, const struct calibrate_values *values,
                              double *time_us, struct error *error);

/** NVLink domains of a row's ranks. */
uint32_t calibrate_model_racks(const struct calibrate_model *model, uint32_t row);

/** Frees what it holds. */
void calibrate_model_fini(struct calibrate_model *model);

#endif
