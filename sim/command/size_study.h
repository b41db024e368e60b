// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A sizing as a whole: what was asked, all designs, and which keys tell them apart.
 */
#ifndef MOEFABRIC_COMMAND_SIZE_STUDY_H
#define MOEFABRIC_COMMAND_SIZE_STUDY_H

#include "config/experiment_file.h"
#include "config/size_check.h"
#include "fabric/parts_prices.h"
#include "sizing/front.h"

/** One design with what sets it apart. */
struct size_design {
    char *values[EXPERIMENT_AXES]; /**< [n_axes] as one line of YAML; owned */
};

/** All of it. */
struct size_study {
    const char *configuration; /**< path */
    char name[EXPERIMENT_NAME_SIZE];
    char currency[PARTS_CURRENCY_SIZE]; /**< empty: no prices */
    struct experiment_size size;
    enum size_target target;
    struct front_demand demand;
    char axes[EXPERIMENT_AXES][EXPERIMENT_AXIS_SIZE];
    uint32_t n_axes;
    struct design_figures *designs; /**< [n_designs] */
    struct size_design *labels;     /**< [n_designs] */
    uint32_t n_designs;
    uint32_t left;     /**< designs that might be among the best and were not simulated by packets */
    bool with_packets; /**< the front is of designs that were simulated by packets */
    bool measured;     /**< values are known; else the designs are only listed */
};

/** Targets in words. */
extern const char *const size_study_target_words[SIZE_TARGETS];

/** The design at the cheap end of the front; NULL: none keeps all limits. */
const struct design_figures *size_study_best(const struct size_study *study);

/** The setting of a design, "planes=2, oversubscription=4": keys without their section. Returns buffer. */
char *size_study_settings(const struct size_study *study, uint32_t design, char *buffer, size_t size);

/** A value in the target's own unit for people: "1.93 s", "2.1 million tokens/s". Returns buffer (QUANTITY_TEXT_SIZE). */
char *size_study_value(const struct size_study *study, double value, char *buffer);

/** What a design costs or draws, for people. Returns buffer (QUANTITY_TEXT_SIZE). */
char *size_study_expense(const struct size_study *study, const struct design_figures *design, char *buffer);

/** Prints tables and findings. */
void size_report_print(FILE *stream, const struct size_study *study, bool detail);

/** Prints the designs and their parts alone. */
void size_report_list(FILE *stream, const struct size_study *study);

/** Why no design does it: fills *error with the constraint that makes it so, at its place in the configuration. */
void size_report_impossible(const struct size_study *study, struct error *error);

/** Prints everything as JSON. */
void size_json_print(FILE *stream, const struct size_study *study);

/** Writes the designs as a sweep's result, for `report`, `show` and `export`. False with *error. */
bool size_result_write(const struct size_study *study, const char *path, struct error *error);

#endif
