// SPDX-License-Identifier: GPL-3.0-or-later
/* Five policies with three seeds each, made from the sample measurement: the comparison of the golden texts. */
#ifndef MOEFABRIC_TESTS_RESULTS_GOLDEN_H
#define MOEFABRIC_TESTS_RESULTS_GOLDEN_H

#include "results/comparison.h"

/** The comparison; to be freed by the caller. */
struct comparison *golden_comparison(void);

#endif
