// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Controllers as the program runs them: the defaults of the key tables, by the program's own way to parameters.
 */
#ifndef MOEFABRIC_TESTS_CONGESTION_USUAL_H
#define MOEFABRIC_TESTS_CONGESTION_USUAL_H

#include "congestion/congestion.h"

/** What an experiment that says nothing of controllers runs with, on a NIC of this rate; `kind` acts. Without early pacing. */
struct congestion_parameters usual_congestion(enum congestion_kind kind, uint64_t line_bits_per_s);

#endif
