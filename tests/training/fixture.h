// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A model, clusters and steps that the suites of the training room share.
 */
#ifndef MOEFABRIC_TESTS_TRAINING_FIXTURE_H
#define MOEFABRIC_TESTS_TRAINING_FIXTURE_H

#include "training/training_step.h"

#include <check.h>

/** An NVL72 rack of which 64 GPUs are used, with so many planes of 400 Gb/s a GPU, 4,096 B in packets of 4,160. */
struct topology fixture_rack(uint32_t planes);

/** HGX nodes of 8 GPUs on 4 NVSwitch chips, one plane, so many NICs a leaf, and as many uplinks and spines. */
struct topology fixture_nodes(uint32_t nodes, uint32_t leaf_nics);

/** DeepSeek-V3 on 256 GB300: four stages of four parts, a group of 64 on each, 512 sequences of 4,096 tokens a step. */
void fixture_deepseek_v3(struct experiment *experiment);

/** What a step of the experiment is made of, without exchanges, NVLink at 720 GB/s; the test fails if something does not divide. */
struct training_setup fixture_setup(const struct experiment *experiment);

/** The step; the test fails if it is refused. Ends with training_result_fini. */
struct training_result fixture_step(const struct training_setup *setup);

#endif
