// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From the section `record` of a configuration to what the devices record, and from there to the series of a measurement.
 */
#ifndef MOEFABRIC_COMMAND_RECORD_H
#define MOEFABRIC_COMMAND_RECORD_H

#include "base/error.h"
#include "config/experiment.h"
#include "device/recorder.h"
#include "fabric/fabric.h"
#include "results/series.h"

/** What an experiment wishes for, names looked up; n_intervals is 0 if nothing. Ends with record_fini. False with *error (nothing to free) if a name is unknown. */
bool record_init(struct recorder_wishes *wishes, const struct experiment *experiment, const struct fabric *fabric,
                 struct error *error);

/** Frees what the wishes hold. */
void record_fini(struct recorder_wishes *wishes);

/** Most memory that the series of so many runs can take; 0 without. */
uint64_t record_most_bytes(const struct experiment *experiment, const struct fabric *fabric, uint32_t n_policies);

/** Whether record_init would succeed, and the series of so many policies fit limits.memory: to be asked before anything is simulated. */
bool record_check(const struct experiment *experiment, const struct fabric *fabric, uint32_t n_policies,
                  struct error *error);

/** Takes the values of a recorder over; NULL for NULL. end_ps: when the run ended. Freed by series_free. */
struct series *record_series(struct recorder *recorder, const struct recorder_wishes *wishes, uint64_t end_ps);

#endif
