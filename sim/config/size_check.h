// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Does a section `size` say what is asked, once and without contradiction?
 */
#ifndef MOEFABRIC_CONFIG_SIZE_CHECK_H
#define MOEFABRIC_CONFIG_SIZE_CHECK_H

#include "config/contradiction.h"
#include "config/experiment.h"

/** What a cluster is to reach. */
enum size_target {
    SIZE_TARGET_STEP_TIME,
    SIZE_TARGET_TIME_TO_TRAIN,
    SIZE_TARGET_TOKENS_PER_S,
    SIZE_TARGET_ALL_TO_ALL_P99,
    SIZE_TARGET_TOKENS_PER_S_GPU, /**< decoding */
    SIZE_TARGETS
};

/** The key of a target, "size.step_time". */
extern const char *const size_check_target_keys[SIZE_TARGETS];

/** What a section asks for of a target, in seconds or tokens a second; 0 = nothing. */
double size_check_asked(const struct experiment_size *size, enum size_target target);

/** The first target that is asked for; SIZE_TARGETS: none. */
enum size_target size_check_target(const struct experiment_size *size);

/** Reports every contradiction of the section, where there is one. */
void size_check(const struct experiment *experiment, const struct contradiction_scope *scope);

#endif
